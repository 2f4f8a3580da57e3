"""Places in a JSON value, written as in its errors: `sheet.fields[2].label.en`."""

import re
from typing import Any

STEP = re.compile(r"([\w~-]+)|\[(\d{1,4})\]")
Steps = tuple[str | int, ...]


def parse_path(path: str) -> Steps:
    """("sheet", "fields", 2, "label", "en"); empty for what is no path."""
    steps = [name or int(number) for name, number in STEP.findall(path)]
    return tuple(steps) if join(steps) == path else ()


def join(parts: Any) -> str:
    path = ""
    for part in parts:
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else part
    return path


def child_path(path: str, key: str) -> str:
    """A setting's place in its object; without a key, the object's own."""
    return f"{path}.{key}" if path and key else path or key


def get_value(value: Any, path: str, otherwise: Any = None) -> Any:
    """What is at a place, or `otherwise`."""
    for step in parse_path(path):
        inner = isinstance(value, dict) and isinstance(step, str) and step in value
        if not inner and not (isinstance(value, list) and isinstance(step, int) and step < len(value)):
            return otherwise
        value = value[step]
    return value


def list_and_index(value: Any, path: str) -> tuple[list[Any], int] | None:
    """The list that a row stands in, and where; None when there is no such row."""
    steps = parse_path(path)
    if not steps or not isinstance(steps[-1], int):
        return None
    rows = get_value(value, join(steps[:-1]))
    return (rows, steps[-1]) if isinstance(rows, list) and steps[-1] < len(rows) else None
