"""Argilla: records.json and .argilla/settings.json, as the SDK writes them. Pure."""

import json
import uuid
from collections.abc import Iterator, Mapping
from typing import Any

from annotation.fields.contract import localise
from annotation.sheets.sheet import Field
from releases.writers.contract import (
    File,
    Row,
    TaskSource,
    options_of,
    picture_path,
    takes_boxes,
    takes_text,
    whole_number,
)

PEOPLE = uuid.UUID("6f1c1a52-6d0e-5d8e-9d0b-2f8f3f1f6a10")
"""Argilla knows people by UUID: each pseudonym has its own, the same in every export."""


def write_argilla(source: TaskSource) -> list[File]:
    return [("records.json", _records(source)), (".argilla/settings.json", [_settings(source)])]


def takes(field: Field) -> bool:
    return not takes_boxes(field) and (bool(options_of(field)) or takes_text(field))


def _fields(source: TaskSource) -> list[Field]:
    return list(filter(takes, source.sheet.fields))


def _records(source: TaskSource) -> Iterator[bytes]:
    yield b"["
    for place, (item, answers) in enumerate(source.tasks()):
        yield (b",\n" if place else b"\n") + json.dumps(
            _record(source, item, list(answers)), ensure_ascii=False
        ).encode()
    yield b"\n]\n"


def _record(source: TaskSource, item: Row, answers: list[Row]) -> dict[str, Any]:
    responses: dict[str, list[dict[str, Any]]] = {field.key: [] for field in _fields(source)}
    suggestions: dict[str, dict[str, Any]] = {}
    for row in answers:
        for field in _fields(source):
            answer = row["answers"].get(field.key)
            value = whole_number(answer) if _is_rating(field) else answer
            if value is None:
                continue
            if row["rater_kind"] == "person":
                user = str(uuid.uuid5(PEOPLE, row["rater"]))
                responses[field.key].append({"value": value, "user_id": user})
            else:
                suggestions[field.key] = {"value": value, "score": None, "agent": row["rater"]}
    context = {name: value for name, value in item["context"].items() if isinstance(value, str | int | float)}
    fields = {"text": item["text"]} | ({"image": picture_path(item)} if item["pictures"] else {})
    return {
        "id": item["key"], "fields": fields, "metadata": context, "suggestions": suggestions, "responses": responses,
        "vectors": {}, "status": "pending", "_server_id": None,
    }  # fmt: skip


def _is_rating(field: Field) -> bool:
    """Ratings there are whole numbers from 0 to 10."""
    codes = [point.code for point in getattr(field.config, "points", ())]
    return bool(codes) and all(code.isdecimal() and int(code) <= 10 for code in codes)


def _settings(source: TaskSource) -> bytes:
    questions = [_question(field) for field in _fields(source)]
    fields = [{"name": "text", "title": "text", "required": False, "type": "text",
               "settings": {"type": "text", "use_markdown": False}},
              {"name": "image", "title": "image", "required": False, "type": "image",
               "settings": {"type": "image"}}]  # fmt: skip
    content = {"guidelines": "", "questions": questions, "fields": fields, "vectors": [], "metadata": [],
               "allow_extra_metadata": True, "distribution": {"strategy": "overlap", "min_submitted": 1},
               "mapping": None}  # fmt: skip
    return json.dumps(content, ensure_ascii=False, indent=1).encode() + b"\n"


def _question(field: Field) -> Mapping[str, Any]:
    options = options_of(field)
    several = bool(getattr(field.config, "many", False))
    form = "text" if not options else "rating" if _is_rating(field) else \
        "multi_label_selection" if several else "label_selection"  # fmt: skip
    rows: dict[str, Any] = {"type": form}
    if form == "rating":
        rows["options"] = [{"value": int(option.code)} for option in options]
    elif options:
        rows["options"] = [{"value": option.code, "text": localise(option.label, "en")} for option in options]
    title = localise(field.label, "en")
    is_required = field.required and not field.required_unless
    return {"name": field.key, "title": title, "description": None, "required": is_required, "type": form,
            "settings": rows}  # fmt: skip
