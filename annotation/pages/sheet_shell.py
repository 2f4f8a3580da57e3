"""A sheet as HTML, from a shell that is rendered once and has the same text in nearly every sheet; and what a script
swaps in round it.

Most of a sheet is words and buttons that depend on the language and on what kind of sheet it is. They are rendered with
marks where an item, a person or a request says something, and cut there. A usual sheet is put together from the pieces
and from what goes between them. Sheets with anything more (a draft, a change, a problem, a notice) are rendered whole.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache
from html import escape
from typing import Any

from django.template.loader import render_to_string
from django.utils import translation
from django.utils.html import format_html
from django.utils.safestring import SafeString

from annotation.pages.sheet_view import SheetView, UndoOffer, WorkPage
from annotation.queries.progress import Progress
from people.locales import overlay

TEMPLATE, UNDO = "annotation/sheet/sheet.html", "annotation/sheet/undo.html"
MARK = "\x1e"  # a control character that no template has, and that is not escaped
VALUES = (
    "assignment_id", "base", "shown_at_text", "facts", "stage_html", "tools_html", "cultures_html", "aside_html",
    "texts_html", "fields", "client_key", "draft_version", "trace",
)  # fmt: skip
UNDO_VALUES = ("base", "assignment_id", "version", "seconds", "about", "answers")
ON_SCREEN = '<main id="bench" data-bare data-assignment="{}">{}</main>'
SHARE = 31.62  # stands for a share in a shell: no text of the gauge has its digits


@dataclass(frozen=True)
class Shape:
    """What the words and buttons of a usual sheet depend on, but for the language."""

    single: bool
    many: bool
    has_images: bool
    zooms: bool
    has_facts: bool


def draw_fragment(work_page: WorkPage, csrf_token: object, messages: Any = ()) -> SafeString:
    """What a script swaps in: the gauge, the sheet in hand or why there is none, and the sheet ahead.

    Of a sheet that the page shows already, only what is new is drawn: the strip that takes the last answer back.
    """
    token, hand, ahead = str(csrf_token), work_page.hand, work_page.ahead
    values = {"gauge": draw_gauge(work_page.progress, work_page.cohort_name)}
    if hand is not None:
        values["area"] = draw_sheet(hand, token, work_page.undo, work_page.notice, messages)
    elif work_page.on_screen is not None:
        strip = draw_undo(work_page.undo, token) if work_page.undo else ""
        values["area"] = format_html(ON_SCREEN, work_page.on_screen, strip)
    else:
        context = {"work_page": work_page, "csrf_token": token, "messages": messages}
        values["area"] = render_to_string("annotation/sheet/nothing.html", context)
    if ahead is not None:
        values["ahead"] = draw_sheet(ahead, token)
    return _fill(_fragment_shell(ahead is not None), values)


def draw_gauge(progress: Progress, cohort_name: str) -> SafeString:
    """How far the cohort is, at the head of a sheet."""
    percent = Decimal(str(progress.percent))
    values: dict[str, Any] = {
        "given": progress.submitted_text,
        "asked": progress.target_text,
        "cohort": _escaped(cohort_name),
        "whole": str(percent.quantize(Decimal(1), ROUND_HALF_UP)),
        "exact": str(percent.quantize(Decimal("0.01"), ROUND_HALF_UP)),
    }
    return _fill(_gauge_shell(*_words()), values)


def draw_undo(undo: UndoOffer, token: str) -> SafeString:
    """The strip under the sheet, for the answer just given or the skip."""
    if undo.skipped:
        return render_to_string(UNDO, {"undo": undo, "csrf_token": token})
    values: dict[str, Any] = {name: _escaped(getattr(undo, name)) for name in UNDO_VALUES}
    return _fill(_undo_shell(*_words(), bool(undo.about)), values | {"csrf_token": _escaped(token)})


def draw_sheet(
    face: SheetView, csrf_token: object, undo: UndoOffer | None = None, notice: str = "", messages: Any = ()
) -> SafeString:
    token = str(csrf_token)
    strip = draw_undo(undo, token) if undo else ""
    if not is_usual(face) or notice or messages:
        return render_whole(face, token, strip, notice, messages)
    values: dict[str, Any] = {name: _escaped(getattr(face, name)) for name in VALUES}
    shape = Shape(face.single, face.many, face.has_images, face.zooms, bool(face.facts))
    shell = _shell(*_words(), shape)
    return _fill(shell, values | {"csrf_token": _escaped(token), "undo_strip": strip})


def render_whole(face: Any, token: str, strip: str = "", notice: str = "", messages: Any = ()) -> SafeString:
    context = {"face": face, "csrf_token": token, "undo_strip": strip, "notice": notice, "messages": messages}
    return render_to_string(TEMPLATE, context)


def is_usual(face: SheetView) -> bool:
    """Whether nothing is shown but the sheet itself, empty or not."""
    return not (face.draft_saved_at or face.changing or face.asked_back or face.skipped or face.dispute or face.other)


def _words() -> tuple[str, int]:
    """What the texts of a shell depend on: the language, and the revision of what its speakers wrote."""
    language = translation.get_language() or ""
    return language, overlay.revision(language)


def _escaped(value: object) -> str:
    return value if isinstance(value, SafeString) else escape(str(value))


def _fill(shell: tuple[str, ...], values: Mapping[str, str]) -> SafeString:
    """`values` are escaped."""
    pieces = list(shell)
    pieces[1::2] = [values[name] for name in pieces[1::2]]
    return SafeString("".join(pieces))


def _mark(name: str) -> str:
    return f"{MARK}{name}{MARK}"


def _cut(html: str) -> tuple[str, ...]:
    """The pieces of a template that was rendered with marks; between them, the names of what goes there."""
    return tuple(html.split(MARK))


@lru_cache(maxsize=1024)
def _shell(_language: str, _revision: int, shape: Shape) -> tuple[str, ...]:
    """A sheet in the present language and the present texts of its speakers."""
    face: dict[str, Any] = {name: _mark(name) for name in VALUES}
    face |= {field.name: getattr(shape, field.name) for field in fields(shape)}
    if not shape.has_facts:
        face["facts"] = ""
    return _cut(render_whole(face, _mark("csrf_token"), _mark("undo_strip")))


@lru_cache(maxsize=256)
def _undo_shell(_language: str, _revision: int, has_about: bool) -> tuple[str, ...]:
    undo = {name: _mark(name) for name in UNDO_VALUES} | ({} if has_about else {"about": ""})
    return _cut(render_to_string(UNDO, {"undo": undo, "csrf_token": _mark("csrf_token")}))


@lru_cache(maxsize=128)
def _gauge_shell(_language: str, _revision: int) -> tuple[str, ...]:
    """Numbers go through filters, so a share stands for them: what it becomes is cut out, with two decimals first."""
    marks = {"submitted_text": _mark("given"), "target_text": _mark("asked"), "percent": SHARE}
    context = {"progress": marks, "cohort_name": _mark("cohort"), "id": "gauge"}
    html = render_to_string("annotation/cohort_progress.html", context)
    return _cut(html.replace(str(SHARE), _mark("exact")).replace(str(round(SHARE)), _mark("whole")))


@lru_cache(maxsize=2)
def _fragment_shell(has_ahead: bool) -> tuple[str, ...]:
    parts = {"gauge": _mark("gauge"), "area": _mark("area"), "ahead": _mark("ahead") if has_ahead else ""}
    return _cut(render_to_string("annotation/sheet/fragment.html", parts))
