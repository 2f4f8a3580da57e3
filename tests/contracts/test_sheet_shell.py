"""A sheet that is put together from its shell has the same bytes as the same sheet rendered whole."""

import uuid
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.conf import settings
from django.template.loader import render_to_string
from django.utils import timezone, translation
from django.utils.safestring import SafeString

from annotation.displays import DISPLAYS, Display
from annotation.displays.layout import Layout, resolve_layout
from annotation.fields.bound_field import bind_fields
from annotation.fields.form import Localiser
from annotation.fields.registry import KINDS, Kind
from annotation.pages import sheet_shell
from annotation.pages.sheet_shell import (
    MARK,
    UNDO,
    draw_gauge,
    draw_sheet,
    draw_undo,
    is_usual,
    render_whole,
)
from annotation.pages.sheet_view import SheetView, UndoOffer
from annotation.queries.progress import Progress
from tests.contracts.test_displays import shown_for_display
from tests.contracts.test_field_kinds import sheet_of, shown_to

LANGUAGES = ["en", *settings.CONFIRMED_LANGUAGES]  # both directions; drafts differ in their words alone
AT = datetime(2026, 3, 29, 0, 30, 15, 123456, tzinfo=UTC)
HOSTILE = '"><script>alert(1)</script>&amp;\x1efields\x1e'
SHOWN_TEXT = Layout.from_json({"show": [{"key": "origin", "label": {"en": "Where “it” is from"}}]})


def fields_html(kind: Kind, language: str) -> str:
    sheet = sheet_of(kind)
    bound = bind_fields(sheet.fields, Localiser(language, "Egypt"), {}, shown=shown_to(sheet))
    return SafeString("".join(render_to_string(field.input, {"field": field}) for field in bound))


def a_sheet(display: Display, fields: str, language: str, **changes: Any) -> SheetView:
    shown = shown_for_display(display)
    shown = replace(shown, context={**shown.context, "origin": HOSTILE}, text=HOSTILE)
    values: dict[str, Any] = {
        "assignment_id": 1234567, "base": "/assignments/1234567/", "shown": shown, "display": display,
        "layout": resolve_layout(SHOWN_TEXT, shown, language), "fields": fields, "single": False,
        "many": False, "facts": "", "trace": "", "client_key": str(uuid.uuid4()), "shown_at": AT, "draft_version": 1000,
        "draft_saved_at": None, "refused": False, "changing": "",
    }  # fmt: skip
    return SheetView(**{**values, **changes})


def whole(face: SheetView, token: str, undo: UndoOffer | None = None) -> str:
    strip = render_to_string("annotation/sheet/undo.html", {"undo": undo, "csrf_token": token}) if undo else ""
    return render_whole(face, token, strip)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.key)
def test_every_kind_and_display_in_every_language_is_the_same_either_way(kind: Kind, language: str) -> None:
    undo = UndoOffer(77, 2, SafeString("<b>3</b>"), 29, about=HOSTILE)
    with translation.override(language), timezone.override(ZoneInfo("Asia/Kathmandu")):
        fields = fields_html(kind, language)
        for display in DISPLAYS:
            for offer in (None, undo):
                face = a_sheet(display, fields, language)
                assert is_usual(face)
                drawn = draw_sheet(face, "token-of-this-page", offer)
                assert drawn == whole(face, "token-of-this-page", offer)
                assert drawn.count("token-of-this-page") == (2 if offer else 1)
                assert "<script>" not in drawn


SHAPES = [
    {"single": True},
    {"many": True, "facts": '{"name": "\\"><script>"}'},
    {"trace": '{"opened": "<b>"}', "draft_version": 0},
]


@pytest.mark.parametrize("changes", SHAPES, ids=lambda changes: next(iter(changes)))
def test_each_shape_of_a_sheet_is_the_same_either_way(changes: dict[str, Any]) -> None:
    for display in DISPLAYS:
        face = a_sheet(display, SafeString("<p>field</p>"), "en", **changes)
        without = replace(face, shown=replace(face.shown, images=()))
        for view in (face, without, face):
            assert draw_sheet(view, "a") == whole(view, "a")
            assert draw_sheet(replace(view, assignment_id=5), "b") == whole(replace(view, assignment_id=5), "b")


def test_the_shell_of_one_language_is_not_shown_in_another() -> None:
    face = a_sheet(DISPLAYS[0], "", "en")
    with translation.override("en"):
        english = draw_sheet(face, "a")
    with translation.override("ar"):
        arabic = draw_sheet(face, "a")
        assert arabic == whole(face, "a")
    assert english != arabic


@pytest.mark.parametrize(
    "changes", [{"draft_saved_at": AT}, {"changing": "today"}, {"skipped": "unclear"}, {"other": ["x"]}], ids=str
)
def test_a_sheet_that_says_more_is_rendered_whole(changes: dict[str, Any], monkeypatch: Any) -> None:
    def refuse(*_values: Any) -> tuple[str, ...]:
        raise AssertionError("from the shell")

    monkeypatch.setattr(sheet_shell, "_shell", refuse)
    monkeypatch.setattr(sheet_shell, "render_to_string", lambda *_values: "whole")
    face = a_sheet(DISPLAYS[0], "", "en", **changes)
    assert draw_sheet(face, "a") == "whole"
    usual = a_sheet(DISPLAYS[0], "", "en")
    assert draw_sheet(usual, "a", notice="A notice") == "whole"
    assert draw_sheet(usual, "a", messages=["A message"]) == "whole"
    with pytest.raises(AssertionError, match="from the shell"):
        draw_sheet(usual, "a")


def test_no_mark_is_left_in_a_sheet() -> None:
    shell = sheet_shell._shell("en", 0, sheet_shell.Shape(True, True, True, True, True))
    assert set(shell[1::2]) == {*sheet_shell.VALUES, "csrf_token", "undo_strip"}
    assert MARK not in "".join(shell)


@pytest.mark.parametrize("language", LANGUAGES)
def test_gauge_and_strip_are_the_same_either_way(language: str) -> None:
    with translation.override(language):
        for given, asked in ((0, 0), (0, 3), (1, 3), (3162, 10_000), (1, 8), (5, 1000), (1_000_000, 1_000_000), (7, 3)):
            progress = Progress(given, asked)
            context = {"progress": progress, "cohort_name": HOSTILE.replace(MARK, ""), "id": "gauge"}
            rendered = render_to_string("annotation/cohort_progress.html", context)
            assert draw_gauge(progress, HOSTILE.replace(MARK, "")) == rendered
        for about in ("", HOSTILE):
            offer = UndoOffer(77, 2, SafeString("<b>3</b>"), 29, about)
            assert draw_undo(offer, "a") == render_to_string(UNDO, {"undo": offer, "csrf_token": "a"})
        skipped = draw_undo(UndoOffer(77, 0, "", 29, skipped=HOSTILE), "a")
        assert "&lt;script&gt;" in skipped and "<script>" not in skipped
