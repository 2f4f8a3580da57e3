"""Texts whose English was changed while their translations stayed. Pure but for what a new question begins with."""

from collections.abc import Iterator, Mapping
from typing import Any

from annotation.composer.paths import child_path
from annotation.fields.registry import kind_or_unknown


def previous_texts(now: Any, before: Any, path: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The texts that were there before, by the place where they are now. Rows are found again by key or code."""
    if isinstance(now, Mapping) and isinstance(before, Mapping):
        if isinstance(now.get("en"), str) and isinstance(before.get("en"), str):
            yield path, before
        for key, inner in now.items():
            yield from previous_texts(inner, before.get(key), child_path(path, str(key)))
    elif isinstance(now, list):
        rows = {_name(row): row for row in before} if isinstance(before, list) else {}
        for at, row in enumerate(now):
            yield from previous_texts(
                row, (rows.get(_name(row)) if _name(row) else None) or _starting_texts(row), f"{path}[{at}]"
            )


def _name(row: Any) -> str:
    return str(row.get("key") or row.get("code") or "") if isinstance(row, Mapping) else ""


def _starting_texts(row: Any) -> Any:
    """A question that is new came with texts, too."""
    known = isinstance(row, Mapping) and isinstance(row.get("kind"), str)
    return {"config": kind_or_unknown(row["kind"]).start} if known else None


def stale_languages(known: Mapping[str, Any], before: Mapping[str, Any]) -> list[str]:
    """The languages whose text is what it was: older than the English, once that is another."""
    return [code for code, text in known.items() if code != "en" and text and text == before.get(code)]
