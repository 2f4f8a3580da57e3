"""doccano: JSON Lines of texts with labels, one file for each question and rater. Pure."""

import json
from collections.abc import Iterator
from typing import Any

from annotation.sheets.sheet import Field
from releases.writers.contract import File, TaskSource, file_names, options_of, takes_text


def takes(field: Field) -> bool:
    return bool(options_of(field)) or takes_text(field)


def write_doccano(source: TaskSource) -> list[File]:
    fields, names = list(filter(takes, source.sheet.fields)), file_names(source.raters)
    return [
        (f"{field.key}/{names[rater]}.jsonl", _lines(source, field, rater))
        for field in fields
        for rater in source.raters
    ]


def _lines(source: TaskSource, field: Field, rater: str) -> Iterator[bytes]:
    for item, answers in source.tasks():
        for row in answers:
            answer = row["answers"].get(field.key)
            if row["rater"] == rater and answer is not None:
                labels = answer if isinstance(answer, list) else [answer]
                line: dict[str, Any] = {"id": item["id"], "text": item["text"], "key": item["key"], "label": labels}
                yield json.dumps({**line, "Comments": []}, ensure_ascii=False).encode() + b"\n"
