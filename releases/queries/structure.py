"""What two releases have in common besides their rows: columns with their types, and the codes of the questions. Pure.

It is read from the codebooks that a release keeps, so that it can be compared with a release of long ago.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Column = tuple[str, str]
"""Name and type."""


@dataclass(frozen=True)
class Structure:
    """`columns` by table; `questions` by stage and key: kind, level and codes."""

    columns: Mapping[str, frozenset[Column]]
    questions: Mapping[tuple[str, str], tuple[str, str, frozenset[str]]]


def structure_of(codebooks: Mapping[str, Mapping[str, Any]]) -> Structure:
    """`codebooks` by the key of their stage. Codes are those of all versions of a sheet."""
    columns: dict[str, frozenset[Column]] = {}
    questions: dict[tuple[str, str], tuple[str, str, frozenset[str]]] = {}
    for stage, book in codebooks.items():
        answers: set[Column] = set()
        for sheet in book["sheets"]:
            for field in sheet["fields"]:
                answers |= _named(field["columns"])
                place = (stage, field["key"])
                codes = frozenset(_codes(field.get("config") or {}))
                known = questions[place][2] if place in questions else frozenset()
                questions[place] = (field["kind"], field["level"], known | codes)
            if "score" in sheet:
                answers.add((sheet["score"]["column"], "score"))
        columns[f"{stage}/ratings"] = frozenset(_named(book["columns"]) | answers)
        for key, table in book["further"].items():
            columns[f"{stage}/{key}"] = frozenset(_named(table["columns"]))
    return Structure(columns, questions)


def _named(columns: list[dict[str, str]]) -> set[Column]:
    return {(column["name"], column["type"]) for column in columns}


def _codes(settings: Any) -> Iterator[str]:
    if isinstance(settings, dict):
        if isinstance(settings.get("code"), str):
            yield settings["code"]
        for value in settings.values():
            yield from _codes(value)
    elif isinstance(settings, list):
        for value in settings:
            yield from _codes(value)


def changed_columns(before: Structure, now: Structure) -> list[str]:
    """Tables of the earlier release that are gone or have other columns."""
    return sorted(table for table, columns in before.columns.items() if now.columns.get(table) != columns)


def changed_questions(before: Structure, now: Structure) -> list[str]:
    """Questions of the earlier release that are gone or have other codes, as stage/question."""
    changed = (place for place, question in before.questions.items() if now.questions.get(place) != question)
    return sorted("/".join(place) for place in changed)
