"""What this sheet takes out of a file: its questions' keys and codes, and a table to begin with."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.sheets.sheet import Field, Sheet, localise

HEAD = ("item", "target", "cohort", "rater", "rater_kind", "setting", "field", "code")
LIKE = "item-1"


@dataclass(frozen=True)
class SheetQuestion:
    """A question as the page of imports lists it. `example`: of an answer that has no codes, with what it means."""

    key: str
    label: str
    codes: Sequence[str]
    example: str
    meaning: str


def allowed_codes(field: Field) -> Sequence[str]:
    """The codes of a field that has a list of them, as its schema says."""
    schema: Mapping[str, Any] = field.spec.rubric("", field.config).schema
    codes: Sequence[str] = schema.get("enum") or schema.get("items", {}).get("enum") or ()
    return codes


def example_value(field: Field) -> str:
    """What a file says for a field, as an example: its first code, or JSON as an export writes it; else empty."""
    codes = allowed_codes(field)
    if codes:
        return str(codes[0])
    sample = field.spec.sample(field.config)
    return "" if sample is None else json.dumps(sample, ensure_ascii=False)


def questions(sheet: Sheet, language: str) -> list[SheetQuestion]:
    """The questions of a sheet; without codes one takes words, or JSON as an export writes it."""
    return [
        SheetQuestion(
            field.key,
            localise(field.label, language).replace("{target}", "…"),
            allowed_codes(field),
            "" if allowed_codes(field) else example_value(field),
            field.spec.columns(field.config)[0].meaning,
        )
        for field in sheet.fields
    ]


def rows(sheet: Sheet, items: Sequence[str], cohorts: Sequence[str], *, has_target: bool) -> list[list[str]]:
    """A person of each cohort and a model, with the first codes there are, and boxes of no picture. They stand for
    nobody: write over them."""
    asked = [field for field in sheet.fields if example_value(field) and field.show_if is None]
    raters = [(cohort, f"rater-{number}", "person", "") for number, cohort in enumerate(cohorts, start=1)]
    raters.append(("", "model-1", "model", "main"))
    about = (cohorts or [""])[0] if has_target else ""
    return [
        [
            item,
            (cohort or about) if has_target else "",
            cohort,
            rater,
            kind,
            setting,
            field.key,
            example_value(field),
        ]
        for item in (items or [LIKE])[:2]
        for cohort, rater, kind, setting in raters
        for field in asked
    ]
