"""Argilla: records.json of its SDK with .argilla/settings.json, or the flattened form as Parquet. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from django.utils.translation import gettext as _

from benchmarks.imports.problems import RowProblem, SourceProblem
from releases.foreign.contract import (
    ForeignAnswer,
    ForeignField,
    ForeignFile,
    ForeignMapping,
    ForeignProblem,
    ForeignRecord,
    QuestionKind,
    SourceProgram,
)
from releases.foreign.json_stream import read_json_array, read_json_members
from releases.foreign.parquet_rows import is_parquet, parquet_names, read_parquet_rows
from releases.foreign.values import as_code, build_item, first_object, head_of, problem_of, type_problems

RESPONSES, SUGGESTION = ".responses", ".suggestion"
WITHOUT_STATUS = "records.json"
"""Of a file that does not say which answers were discarded."""
DISCARDED = ("discarded", "draft")
KINDS: Mapping[str, QuestionKind] = {
    "rating": "scale", "label_selection": "single", "multi_label_selection": "several", "text": "words",
}  # fmt: skip
Part = tuple[str, Any, str]
"""Who, what, and its status, which records.json does not have."""


class ArgillaReader:
    key, name = "argilla", "Argilla"

    def sniff(self, files: Sequence[ForeignFile]) -> float:
        return max((0.95 if _form(file) in ("records", "flattened") else 0.0 for file in files), default=0.0)

    def program(self, files: Sequence[ForeignFile]) -> SourceProgram:
        flattened = any(_form(file) == "flattened" for file in files)
        return SourceProgram("Argilla", sign="responses" if flattened else WITHOUT_STATUS)

    def sheet(self, files: Sequence[ForeignFile]) -> list[ForeignField]:
        return [field for question in _questions(files) if (field := _field(question))]

    def read(self, files: Sequence[ForeignFile], mapping: ForeignMapping) -> Iterator[ForeignRecord]:
        """The flattened form where both are there: only it says what was discarded."""
        forms = [(file, _form(file)) for file in files]
        kinds = {str(one.get("name")): str(one.get("type") or "") for one in _questions(files)}
        for wanted, rows in (("flattened", _flat_records), ("records", _records)):
            readable = [file for file, form in forms if form == wanted]
            for file in readable:
                for number, row in rows(file):
                    if isinstance(row, RowProblem):
                        yield problem_of(file, number, row)
                    else:
                        yield from _read_record(file, number, row, mapping, kinds)
            if readable:
                return
        for file in filter(is_parquet, files):
            parquet_names(file)  # raises for one that is damaged, which says nothing of its form


def _form(file: ForeignFile) -> str:
    if is_parquet(file):
        try:
            return "flattened" if any(name.endswith(RESPONSES) for name in parquet_names(file)) else ""
        except SourceProblem:
            return ""
    head = head_of(file)
    if head.startswith("["):
        first = first_object(file)
        known = {"fields", "responses"} <= first.keys()
        return "records" if known or (not first and '"responses"' in head and '"fields"' in head) else ""
    return "settings" if head.startswith("{") and '"questions"' in head and '"distribution"' in head else ""


def _questions(files: Sequence[ForeignFile]) -> list[Mapping[str, Any]]:
    questions: list[Mapping[str, Any]] = []
    for file in files:
        if file.base == "settings.json":
            with file.open() as stream:
                for name, number, value in read_json_members(stream):
                    if name == "questions" and number and isinstance(value, dict):
                        questions.append(value)
    return questions


def _field(question: Mapping[str, Any]) -> ForeignField | None:
    kind, key = KINDS.get(str(question.get("type"))), str(question.get("name") or "")
    if kind is None or not key:
        return None
    settings = question.get("settings")
    rows = settings.get("options") if isinstance(settings, Mapping) else None
    options = [row for row in rows if isinstance(row, Mapping)] if isinstance(rows, list) else []
    pairs = tuple((as_code(row.get("value")), as_code(row.get("text") or row.get("value"))) for row in options)
    return ForeignField(key, kind, str(question.get("title") or key), pairs)


def _records(file: ForeignFile) -> Iterator[tuple[int, Any]]:
    with file.open() as stream:
        for number, row in read_json_array(stream):
            if isinstance(row, RowProblem):
                yield number, row
            elif not isinstance(row, dict) or not all(_is_object(row.get(name)) for name in ("fields", "responses")):
                yield number, RowProblem("unreadable", _("This record has no objects “fields” and “responses”."))
            else:
                yield number, row


def _is_object(value: Any) -> bool:
    return value is None or isinstance(value, dict)


def _flat_records(file: ForeignFile) -> Iterator[tuple[int, Any]]:
    """The same shape as in records.json, with a status."""
    names = parquet_names(file)
    questions = [name.removesuffix(RESPONSES) for name in names if name.endswith(RESPONSES)]
    own = {name for name in names for question in questions if name.startswith(f"{question}.")}
    for number, row in read_parquet_rows(file):
        if isinstance(row, RowProblem):
            yield number, row
            continue
        responses = {question: _flat_responses(row, f"{question}{RESPONSES}") for question in questions}
        suggestions = {
            name.removesuffix(SUGGESTION): {"value": row[name], "agent": row.get(f"{name}.agent")}
            for name in names
            if name.endswith(SUGGESTION) and row[name] is not None
        }
        fields = {name: row[name] for name in names if name not in own and name not in ("id", "status", "_server_id")
                  and not any(name.startswith(f"{key}{SUGGESTION}") for key in suggestions)}  # fmt: skip
        yield number, {"id": row.get("id"), "fields": fields, "responses": responses, "suggestions": suggestions}


def _flat_responses(row: Mapping[str, Any], column: str) -> Any:
    """As records.json has them: a value without a person has none there, either, and what is no list stays so."""
    values, users, states = (row.get(f"{column}{suffix}") for suffix in ("", ".users", ".status"))
    if not all(isinstance(part, list | None) for part in (values, users, states)):
        return "no list"
    triples = zip_longest(values or [], users or [], states or [])
    return [{"value": value, "user_id": user, "status": state or ""} for value, user, state in triples]


def _read_record(
    file: ForeignFile, number: int, row: Mapping[str, Any], mapping: ForeignMapping, kinds: Mapping[str, str]
) -> Iterator[ForeignRecord]:
    yield from type_problems(file, number, row, {"metadata": "object", "suggestions": "object"})
    metadata = row.get("metadata")
    data = {**(row.get("fields") or {}), **(metadata if isinstance(metadata, dict) else {})}
    item = build_item(file, number, data, as_code(row.get("id") or number), mapping)
    yield item
    parts: dict[str, list[Part]] = {}
    responses = row.get("responses") or {}
    yield from type_problems(file, number, responses, dict.fromkeys(responses, "list"))
    for question, rows in responses.items():
        for response in rows if isinstance(rows, list) else []:
            if not isinstance(response, dict) or response.get("user_id") in (None, ""):
                text_ = _("A response to “%(question)s” does not say whose it is.")
                yield ForeignProblem(file.name, number, "no_rater", text_ % {"question": question})
                continue
            part = (question, response.get("value"), str(response.get("status") or ""))
            parts.setdefault(as_code(response["user_id"]), []).append(part)
    for user, answered in parts.items():
        yield _answer(file, number, item.key, user, answered, kinds)
    yield from _suggestions(file, number, item.key, row.get("suggestions"), kinds)


def _answer(
    file: ForeignFile, number: int, item: str, user: str, parts: Sequence[Part], kinds: Mapping[str, str], *,
    model: bool = False,
) -> ForeignAnswer:  # fmt: skip
    values: dict[str, Any] = {}
    left_out: dict[str, list[Any]] = {}
    for question, value, _status in parts:
        if value is None:
            continue
        kind = kinds.get(question, "")
        if kind in ("ranking", "span") or (not kind and isinstance(value, list) and _is_ranking(question, value)):
            left_out.setdefault(kind or "ranking", []).append({question: value})
        elif isinstance(value, list):
            values[question] = [as_code(one) for one in value]
        elif kind == "label_selection":
            values[question] = [as_code(value)]
        else:
            values[question] = value if isinstance(value, str) else as_code(value)
    skipped = bool(parts) and all(status in DISCARDED for _question, _value, status in parts)
    return ForeignAnswer(file.name, number, item, user, values, model=model, skipped=skipped, left_out=left_out)


def _is_ranking(question: str, value: Sequence[Any]) -> bool:
    """Without settings: a list of objects with ranks, or a question that is called so."""
    return any(isinstance(one, dict) for one in value) or question in ("order", "rank", "ranking")


def _suggestions(
    file: ForeignFile, number: int, item: str, suggestions: Any, kinds: Mapping[str, str]
) -> Iterator[ForeignRecord]:
    by_agent: dict[str, list[Part]] = {}
    known = suggestions if isinstance(suggestions, dict) else {}
    yield from type_problems(file, number, known, dict.fromkeys(known, "object"))
    for question, suggestion in known.items():
        if isinstance(suggestion, dict):
            agent = as_code(suggestion.get("agent") or "suggestion")
            by_agent.setdefault(agent, []).append((question, suggestion.get("value"), ""))
    for agent, parts in by_agent.items():
        yield _answer(file, number, item, agent, parts, kinds, model=True)
