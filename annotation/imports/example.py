"""What this sheet takes out of a file: its questions' keys and codes, and a table to begin with."""

from collections.abc import Mapping, Sequence
from typing import Any

from annotation.sheets.sheet import Field, Sheet, localise

HEAD = ("item", "target", "cohort", "rater", "rater_kind", "setting", "field", "code")
LIKE = "item-1"


def allowed_codes(field: Field) -> Sequence[str]:
    """The codes of a field that has a list of them, as its schema says."""
    schema: Mapping[str, Any] = field.spec.rubric("", field.config).schema
    codes: Sequence[str] = schema.get("enum") or schema.get("items", {}).get("enum") or ()
    return codes


def questions(sheet: Sheet, language: str) -> list[tuple[str, str, Sequence[str]]]:
    """Key, words and codes of each question; without codes it takes words, or JSON as an export writes it."""
    return [
        (field.key, localise(field.label, language).replace("{target}", "…"), allowed_codes(field))
        for field in sheet.fields
    ]


def rows(sheet: Sheet, items: Sequence[str], cohorts: Sequence[str], *, has_target: bool) -> list[list[str]]:
    """A person of each cohort and a model, with the first codes there are. They stand for nobody: write over them."""
    asked = [field for field in sheet.fields if allowed_codes(field) and field.show_if is None]
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
            str(allowed_codes(field)[0]),
        ]
        for item in (items or [LIKE])[:2]
        for cohort, rater, kind, setting in raters
        for field in asked
    ]
