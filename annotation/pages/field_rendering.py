"""The fields of a sheet as HTML, with what stands between them. Nothing here writes."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.template.loader import render_to_string
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from annotation.displays.layout import ResolvedLayout
from annotation.fields.bound_field import BoundField, answer_views, bind_fields
from annotation.fields.contract import Shown
from annotation.fields.form import Localiser
from annotation.models import Draft, SheetVersion
from annotation.services.sheets.sheet_versions import sheet_of
from annotation.sheets.sheet import ParsedSheet, Sheet
from people.locales import overlay

Pieces = tuple[tuple[str, str], ...]
SHORT = 200  # characters of answers that are worth keeping as they were drawn


@dataclass(frozen=True)
class SheetProblem:
    """What does not fit between fields: it blocks, or may be confirmed under `mark`."""

    key: str
    words: str
    blocks: bool
    mark: str


@dataclass(frozen=True)
class SheetInput:
    """What is in the fields already, and what became of it. Nothing of it: the sheet is empty."""

    raw: Mapping[str, Any]
    parsed: ParsedSheet
    confirmed: tuple[str, ...] = ()


def render_empty_fields(version: SheetVersion, layout: ResolvedLayout, spoken: str, target: str) -> str:
    """An empty sheet's fields. They are the same for everybody of a culture, and kept."""
    draw = _cached_renderer(_render_empty_pieces, version)
    return join_with_fold(draw(version, spoken, target, _text_revision()), layout)


def render_filled_fields(
    version: SheetVersion, layout: ResolvedLayout, speech: Localiser, shown: Shown, filled: SheetInput
) -> str:
    """The fields with what is in them, or as they depend on the item."""
    sheet, parsed = sheet_of(version), filled.parsed
    bound = bind_fields(sheet.fields, speech, filled.raw, parsed.errors, parsed.warnings, filled.confirmed, shown)
    pieces = _render_pieces(sheet, bound)
    remarks = _remarks(sheet, speech, parsed)
    marks = [mark for mark in filled.confirmed if any(mark.startswith(f"{check.key}:") for check in sheet.checks)]
    end = render_to_string("annotation/sheet/sheet_problems.html", {"remarks": remarks, "marks": marks})
    return join_with_fold((*pieces, ("", end)), layout)


def render_answers(version: SheetVersion, speech: Localiser, answers: Mapping[str, Any]) -> str:
    """Answers in words. Many people give the same short ones, and these are kept."""
    text = json.dumps(answers, sort_keys=True)
    draw = _cached_renderer(_render_answers, version) if len(text) <= SHORT else _render_answers.__wrapped__
    rendered: str = draw(version, speech, text, _text_revision())
    return rendered


@lru_cache(maxsize=1024)
def _render_answers(version: SheetVersion, speech: Localiser, answers: str, _revision: int) -> str:
    rows = answer_views(sheet_of(version).fields, speech, json.loads(answers))
    return render_to_string("annotation/sheet/answer_rows.html", {"rows": rows})


def from_draft(draft: Draft | None) -> SheetInput:
    return SheetInput(draft.answers if draft else {}, ParsedSheet())


def _text_revision() -> int:
    """What is kept in a language holds the words of its speakers, which may change while the site runs."""
    return overlay.revision(get_language() or "")


def _cached_renderer(draw: Any, version: SheetVersion) -> Any:
    """Kept for saved versions alone: those that are not saved have one id, whatever stage and team they are of."""
    return draw if version.pk else draw.__wrapped__


@lru_cache(maxsize=256)
def _render_empty_pieces(version: SheetVersion, spoken: str, target: str, _revision: int) -> Pieces:
    """A sheet version never changes; it is told from others by its id."""
    sheet, speech = sheet_of(version), Localiser(spoken, target)
    return _render_pieces(sheet, bind_fields(sheet.fields, speech, {}))


def _render_pieces(sheet: Sheet, fields: list[BoundField]) -> Pieces:
    pieces = []
    for sheet_field, field in zip(sheet.fields, fields, strict=True):
        html = render_to_string(field.input, {"field": field})
        if sheet_field.show_if is not None:
            html = format_html('<div class="when" data-when="{}">{}</div>', sheet_field.key, SafeString(html))
        pieces.append((sheet_field.key, html))
    return tuple(pieces)


def join_with_fold(pieces: Pieces, layout: ResolvedLayout) -> str:
    """With the fold behind its gate; without one, before all fields."""
    fold = render_to_string("annotation/displays/fold.html", {"layout": layout}) if layout.part else ""
    at = next((number for number, (key, _html) in enumerate(pieces, start=1) if key and key == layout.gate), 0)
    html = [html for _key, html in pieces]
    return SafeString("".join([*html[:at], fold, *html[at:]]))


def _remarks(sheet: Sheet, speech: Localiser, parsed: ParsedSheet) -> list[SheetProblem]:
    failed = [check for check in sheet.checks if check.key in {**parsed.errors, **parsed.warnings}]
    return [
        SheetProblem(check.key, speech.say(check.words), check.key in parsed.errors, f"{check.key}:check")
        for check in failed
    ]


def rules_of(version: SheetVersion, spoken: str, target: str) -> Mapping[str, Any]:
    """What static/js/rules.js needs; nothing where the sheet has no rules. Who answers sees neither the score nor the
    rule of acceptance: both would tell them which answers are wanted.
    """
    draw = _cached_renderer(_rules, version)
    rendered: Mapping[str, Any] = draw(version, spoken, target, _text_revision())
    return rendered


@lru_cache(maxsize=256)
def _rules(version: SheetVersion, spoken: str, target: str, _revision: int) -> Mapping[str, Any]:
    sheet, speech = sheet_of(version), Localiser(spoken, target)
    data: dict[str, Any] = {}
    if shown := {one.key: one.show_if.to_json() for one in sheet.fields if one.show_if}:
        data["show"] = shown
    if sheet.checks:
        data["checks"] = [
            {"key": one.key, "tree": one.expression.tree, "words": speech.say(one.words), "blocks": one.blocks}
            for one in sheet.checks
        ]
    if data:
        data["words"] = {"asked": _("New question:"), "gone": _("Question removed:")}
    return data
