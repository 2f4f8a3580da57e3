"""From a posted form to JSON. Each input is named by its type and its place: `i:sheet.fields[0].config.most`.

Nothing typed is dropped: what is no number stays as it was typed, and the check of the sheet names it.
"""

import json
import re
from collections.abc import Callable, Iterable
from typing import Any, Protocol

from annotation.composer.paths import Steps, parse_path

UNREAD = "~unread"
MAP = "~map"
OMIT = object()
MOST = 200
DEEPEST = 30
"""Places and JSON that lie deeper are nobody's setting."""


class IterablePostData(Protocol):
    """Django's QueryDict, as far as it is read here."""

    def __iter__(self) -> Any: ...
    def getlist(self, key: str) -> list[Any]: ...


def clean(text: str) -> str:
    return text.replace("\x00", "").replace("\r\n", "\n")


def _number(text: str) -> Any:
    text = text.strip().replace(",", ".")
    if not text:
        return OMIT
    try:
        return int(text) if re.fullmatch(r"-?\d{1,15}", text) else float(text)
    except ValueError:
        return text


def _finite(text: str) -> Any:
    number = _number(text)
    return text if isinstance(number, float) and (number != number or abs(number) == float("inf")) else number


def _json(text: str) -> Any:
    """Merged into what is there. Unreadable text is kept under a name that no check lets pass."""
    if not text.strip():
        return OMIT
    try:
        parsed = json.loads(text)
        return parsed if _is_storable(parsed) else {UNREAD: text}
    except (ValueError, RecursionError):
        return {UNREAD: text}


def _is_storable(value: Any) -> bool:
    """Whether the database can keep it: not too deep, no infinity, no half characters."""
    layer = [value]
    for _depth in range(DEEPEST):
        layer = [x for part in layer for x in ([*part, *part.values()] if isinstance(part, dict) else _parts(part))]
    if layer:
        return False
    encoded = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return bool(encoded.encode()) and "\\u0000" not in encoded


def _parts(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


READ: dict[str, Callable[[list[str]], Any]] = {
    "s": lambda all: clean(all[-1]).strip(),
    "t": lambda all: clean(all[-1]),
    "w": lambda all: clean(all[-1]).strip() or OMIT,
    "i": lambda all: _finite(all[-1]),
    "b": lambda all: all[-1] == "1",
    "l": lambda all: [line.strip() for line in clean(all[-1]).split("\n") if line.strip()],
    "m": lambda all: list(dict.fromkeys(text for text in all if text)),
    "j": lambda all: _json(clean(all[-1])),
    "e": lambda all: {"[]": [], "{}": {}}.get(all[-1], OMIT),
}
"""By type: the last value of a text, in a language, a number, a box, lines, many, JSON, an empty list or object."""


def parse_form(posted: IterablePostData) -> dict[str, Any]:
    """The JSON that a form describes. Lists keep the order of their numbers, which may have gaps."""
    root: dict[Any, Any] = {}
    for name in posted:
        type_, _colon, path = name.partition(":")
        place = parse_path(path)
        far = len(place) > DEEPEST or any(isinstance(step, int) and step >= MOST for step in place)
        if not place or far or type_ not in READ:
            continue
        parsed = READ[type_]([str(text) for text in posted.getlist(name)])
        if parsed is not OMIT:
            _insert(root, place, parsed)
    listed: dict[str, Any] = _to_lists(root)
    return listed


def _insert(root: dict[Any, Any], place: Steps, value: Any) -> None:
    """While it is read, a list is an object with numbers for names."""
    for step in place[:-1]:
        inner = root.setdefault(step, {})
        if not isinstance(inner, dict):
            inner = root[step] = {}
        root = inner
    last = place[-1]
    known = root.get(last)
    if value == [] and known is None:
        root[last] = _Rows()
    elif isinstance(value, dict) and isinstance(known, dict):
        for key, inner_value in value.items():
            known.setdefault(key, inner_value)
    elif known is None:
        root[last] = value


class _Rows(dict[Any, Any]):
    """A list, perhaps an empty one."""


def _to_lists(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    numbers = [key for key in value if isinstance(key, int)]
    if numbers or isinstance(value, _Rows):
        return [_to_lists(value[number]) for number in sorted(numbers)]
    converted: dict[str, Any] = {}
    for key, inner in value.items():
        if key.endswith(MAP):
            converted[key.removesuffix(MAP)] = rows_to_object(_to_lists(inner))
        else:
            converted[key] = _to_lists(inner)
    return converted


def rows_to_object(rows: Any) -> dict[str, Any]:
    """An object out of its rows of name and value. A row without a name keeps its place as "", and a name that is there
    twice gets a number, so that nothing typed is dropped."""
    members: dict[str, Any] = {}
    for row in rows if isinstance(rows, list) else []:
        if isinstance(row, dict):
            name = str(row.get("name") or "")
            members[unique_name(name, members)] = row.get("value", "")
    return members


def object_to_rows(value: Any) -> list[dict[str, Any]]:
    """The rows of an object, for its form."""
    return [{"name": key, "value": inner} for key, inner in value.items()] if isinstance(value, dict) else []


def unique_name(wanted: str, taken: Iterable[str]) -> str:
    """The name itself, or with the first number behind it that nobody has."""
    taken, stem, number = set(taken), re.sub(r"_\d+$", "", wanted), 2
    if wanted not in taken:
        return wanted
    while f"{stem}_{number}" in taken:
        number += 1
    return f"{stem}_{number}"


def unreadable_paths(value: Any, path: str = "") -> list[str]:
    """The places of JSON that could not be read."""
    if isinstance(value, dict):
        own_paths = [path] if UNREAD in value else []
        return own_paths + [
            at for key, inner in value.items() for at in unreadable_paths(inner, f"{path}.{key}" if path else key)
        ]
    if isinstance(value, list):
        return [at for number, inner in enumerate(value) for at in unreadable_paths(inner, f"{path}[{number}]")]
    return []
