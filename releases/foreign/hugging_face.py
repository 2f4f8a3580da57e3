"""A folder as `datasets` writes it: Parquet, with pictures inside and names of class labels in the schema. Pure.

The columns mean what a person says: who answered, what the answers are.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from benchmarks.imports.problems import RowProblem
from benchmarks.imports.tables.roles import NAMES, fold
from releases.foreign.contract import (
    ForeignAnswer,
    ForeignField,
    ForeignFile,
    ForeignMapping,
    ForeignProblem,
    ForeignRecord,
    SourceProgram,
)
from releases.foreign.parquet_rows import class_names, is_parquet, parquet_names, read_parquet_rows
from releases.foreign.values import as_code, build_item, picture_column, problem_of

RATERS, ANSWERS, KEYS = (frozenset(NAMES[role]) for role in ("rater", "answer", "key"))


class HuggingFaceReader:
    key, name = "hugging_face", "Hugging Face folder"

    def sniff(self, files: Sequence[ForeignFile]) -> float:
        return 0.6 if any(map(is_parquet, files)) else 0.0

    def program(self, files: Sequence[ForeignFile]) -> SourceProgram:
        names = {name for file in files if is_parquet(file) for name in class_names(file)}
        return SourceProgram("datasets" if names else "", sign="ClassLabel" if names else "")

    def sheet(self, files: Sequence[ForeignFile]) -> list[ForeignField]:
        fields: dict[str, ForeignField] = {}
        for file in filter(is_parquet, files):
            for column, names in class_names(file).items():
                options = tuple(dict.fromkeys((name, name) for name in names))
                fields.setdefault(column, ForeignField(column, "single", column, options))
        return list(fields.values())

    def read(self, files: Sequence[ForeignFile], mapping: ForeignMapping) -> Iterator[ForeignRecord]:
        for file in sorted(filter(is_parquet, files), key=lambda file: file.name):
            names = parquet_names(file)
            rater = mapping.rater_member or next((name for name in names if fold(name) in RATERS), "")
            labels = class_names(file)
            questions = list(mapping.answers) if mapping.answers else _questions(names, labels)
            for number, row in read_parquet_rows(file):
                if isinstance(row, RowProblem):
                    yield problem_of(file, number, row)
                else:
                    yield from _read_row(file, number, row, mapping, rater, questions, labels)


def _questions(names: Sequence[str], labels: Mapping[str, Any]) -> list[str]:
    return [name for name in names if name in labels or fold(name) in ANSWERS]


def _read_row(
    file: ForeignFile, number: int, row: Mapping[str, Any], mapping: ForeignMapping, rater: str,
    questions: Sequence[str], labels: Mapping[str, list[str]],
) -> Iterator[ForeignRecord]:  # fmt: skip
    data = {name: _plain(number, name, value) for name, value in row.items()}
    data = {name: value for name, value in data.items() if name not in questions and name != rater}
    inside = next((name for name, value in row.items() if _content(value)), "")
    key = mapping.key or next((name for name in data if fold(name) in KEYS), "")
    chosen = replace(mapping, key=key, picture=mapping.picture or picture_column(data) or inside)
    item = build_item(file, number, data, f"{file.base}-{number}", chosen)
    item = replace(item, content=_content(row.get(item.columns.get("picture", ""))))
    yield item
    for name in (name for name, value in row.items() if isinstance(value, bytes)):
        yield ForeignProblem(file.name, number, "left_out", name, left_out="bytes")
    values = {name: _coded(row.get(name), labels.get(name)) for name in questions if row.get(name) is not None}
    if values:
        name = as_code(row[rater]) if rater and row.get(rater) not in (None, "") else mapping.rater
        yield ForeignAnswer(file.name, number, item.key, name, values)


def _plain(number: int, name: str, value: Any) -> Any:
    """A picture becomes its path, or a name of its own where it has none."""
    if isinstance(value, dict) and "bytes" in value:
        return value.get("path") or f"{name}-{number}"
    return None if isinstance(value, bytes) else value


def _content(value: Any) -> bytes | None:
    data = value.get("bytes") if isinstance(value, dict) else None
    return data if isinstance(data, bytes) else None


def _coded(value: Any, names: list[str] | None) -> Any:
    if isinstance(value, list):
        return [_coded_one(one, names) for one in value]
    return [_coded_one(value, names)] if names else value if isinstance(value, str) else as_code(value)


def _coded_one(value: Any, names: list[str] | None) -> str:
    if names and isinstance(value, int) and 0 <= value < len(names):
        return names[value]
    return as_code(value)
