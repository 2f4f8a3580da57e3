"""The stored description of the API, and what a newer one must not lack of it.

After an addition: `python -m tests.contracts.openapi` writes the stored one again.
"""

import functools
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

STORED = Path(__file__).parent / "openapi-v1.json"
NAMED = ("name", "in")


def current() -> Any:
    """A copy of the description that this code has."""
    return json.loads(_current_text())


@functools.cache
def _current_text() -> str:
    from drf_spectacular.generators import SchemaGenerator

    return json.dumps(SchemaGenerator().get_schema(request=None, public=True), default=str)


def removed(stored: Any, now: Any, at: str = "") -> Iterator[str]:
    """Places of paths, operations, parameters, members, statuses and enum values that are there no more, and of
    parameters and members of a body that are required now and were not."""
    if isinstance(stored, dict) and isinstance(now, dict):
        for name, value in stored.items():
            if name in ("description", "summary", "example", "title", "help_text", "required"):
                continue
            if name not in now:
                yield f"{at}/{name}"
            else:
                yield from removed(value, now[name], f"{at}/{name}")
        yield from _newly_required(stored, now, at)
    elif isinstance(stored, list) and isinstance(now, list):
        known = {_identity(entry): entry for entry in now}
        for entry in stored:
            if _identity(entry) not in known:
                yield f"{at}/{_identity(entry)}"
            else:
                yield from removed(entry, known[_identity(entry)], f"{at}/{_identity(entry)}")
    elif type(stored) is not type(now) or (at.endswith(("/$ref", "/operationId", "/type")) and stored != now):
        yield at


def _newly_required(stored: Any, now: Any, at: str) -> Iterator[str]:
    before, after = stored.get("required"), now.get("required")
    if isinstance(after, bool) and after and not before and "in" in now:
        yield f"{at}: required now"


def _identity(entry: Any) -> str:
    if isinstance(entry, dict) and "name" in entry:
        return f"{entry['name']} in {entry.get('in', '')}"
    return json.dumps(entry, sort_keys=True)


def without_examples(node: Any) -> Any:
    """Examples are made of the rest: they are not kept. A member of that name is a description, and stays."""
    if isinstance(node, dict):
        is_media = "schema" in node and "example" in node
        return {name: without_examples(member) for name, member in node.items() if name != "example" or not is_media}
    return [without_examples(member) for member in node] if isinstance(node, list) else node


def write() -> None:
    STORED.write_text(
        json.dumps(without_examples(current()), indent=1, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8"
    )


if __name__ == "__main__":
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    write()
