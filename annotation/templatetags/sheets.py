"""The sheets of a page: {% sheet_in_hand face undo notice %} and {% sheet_ahead face %}."""

from django import template
from django.template import Context
from django.utils.safestring import SafeString

from annotation.pages.sheet_shell import draw_sheet
from annotation.pages.sheet_view import SheetView, UndoOffer

register = template.Library()


@register.simple_tag(takes_context=True)
def sheet_in_hand(context: Context, face: SheetView, undo: UndoOffer | None, notice: str) -> SafeString:
    return draw_sheet(face, context.get("csrf_token", ""), undo, notice, context.get("messages"))


@register.simple_tag(takes_context=True)
def sheet_ahead(context: Context, face: SheetView) -> SafeString:
    return draw_sheet(face, context.get("csrf_token", ""))
