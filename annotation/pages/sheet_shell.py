"""A sheet as HTML, from a shell that is rendered once and has the same text in nearly every sheet.

Most of a sheet is words and buttons that depend on the language and on what kind of sheet it is. They are rendered with
marks where an item, a person or a request says something, and cut there. A usual sheet is put together from the pieces
and from what goes between them. Sheets with anything more (a draft, a change, a problem, a notice) are rendered whole.
"""

import re
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any

from django.template.loader import render_to_string
from django.utils import translation
from django.utils.html import conditional_escape
from django.utils.safestring import SafeString

from annotation.pages.sheet_view import SheetView, UndoOffer
from people.locales import overlay

TEMPLATE = "annotation/sheet/sheet.html"
MARK = "\x1e"  # a control character that no template has, and that is not escaped
VALUES = (
    "assignment_id", "base", "shown_at_text", "facts", "stage_html", "tools_html", "cultures_html", "aside_html",
    "texts_html", "fields", "client_key", "draft_version", "trace",
)  # fmt: skip


@dataclass(frozen=True)
class Shape:
    """What the words and buttons of a usual sheet depend on, but for the language."""

    single: bool
    many: bool
    has_images: bool
    zooms: bool
    has_facts: bool


def draw_sheet(
    face: SheetView, csrf_token: object, undo: UndoOffer | None = None, notice: str = "", messages: Any = ()
) -> SafeString:
    token = str(csrf_token)
    strip = render_to_string("annotation/sheet/undo.html", {"undo": undo, "csrf_token": token}) if undo else ""
    if not is_usual(face) or notice or messages:
        return render_whole(face, token, strip, notice, messages)
    values: dict[str, str] = {name: conditional_escape(getattr(face, name)) for name in VALUES}
    values |= {"csrf_token": conditional_escape(token), "undo_strip": strip}
    shape = Shape(face.single, face.many, face.has_images, face.zooms, bool(face.facts))
    language = translation.get_language() or ""
    pieces = list(_shell(language, overlay.revision(language), shape))
    pieces[1::2] = [values[name] for name in pieces[1::2]]
    return SafeString("".join(pieces))


def render_whole(face: Any, token: str, strip: str = "", notice: str = "", messages: Any = ()) -> SafeString:
    context = {"face": face, "csrf_token": token, "undo_strip": strip, "notice": notice, "messages": messages}
    return render_to_string(TEMPLATE, context)


def is_usual(face: SheetView) -> bool:
    """Whether nothing is shown but the sheet itself, empty or not."""
    unusual = (face.draft_saved_at, face.changing, face.asked_back, face.skipped, face.dispute, face.other)
    return not any(unusual)


@lru_cache(maxsize=1024)
def _shell(_language: str, _revision: int, shape: Shape) -> tuple[str, ...]:
    """The pieces of the template in the present language and the present texts of its speakers; between them, the names
    of what goes there."""
    face: dict[str, Any] = {name: f"{MARK}{name}{MARK}" for name in VALUES}
    face |= {field.name: getattr(shape, field.name) for field in fields(shape)}
    if not shape.has_facts:
        face["facts"] = ""
    return tuple(re.split(MARK, render_whole(face, f"{MARK}csrf_token{MARK}", f"{MARK}undo_strip{MARK}")))
