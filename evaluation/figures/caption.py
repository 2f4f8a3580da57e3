"""One sentence under a figure: its highest and its lowest value that rest on enough items."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.translation import gettext as _

from evaluation.figures.drawing.heat_map import SMALL
from evaluation.figures.drawing.text import isolate_direction
from evaluation.figures.estimate_text import number_columns
from evaluation.figures.figure import Datum, Figure
from evaluation.rendering.number_format import format_number

LONGEST = 220  # letters of a text alternative that stands as the sentence


def caption_of(figure: Figure) -> str:
    """What is said of the extremes; of a figure without such numbers its text alternative, where that is short."""
    columns = number_columns()
    if figure.columns[-len(columns) :] != columns or len(figure.columns) == len(columns):
        return figure.alt if len(figure.alt) <= LONGEST else ""
    first = len(figure.columns) - len(columns)
    rows = [row for row in figure.rows if isinstance(row[first], int | float)]
    enough = [row for row in rows if isinstance(row[first + 3], int) and int(row[first + 3] or 0) >= SMALL]
    if not rows:
        return ""
    if not enough:
        return _("Every value rests on fewer than %(n)s items: too few to compare.") % {"n": SMALL}
    return _extremes(enough, first) + (_left_out(len(rows) - len(enough)) if len(enough) < len(rows) else "")


def _extremes(rows: Sequence[Sequence[Datum]], first: int) -> str:
    def value(row: Sequence[Datum]) -> float:
        return float(row[first] or 0)

    low, high = min(rows, key=value), max(rows, key=value)
    words = {
        "highest": _name(high, first),
        "high": format_number(value(high)),
        "lowest": _name(low, first),
        "low": format_number(value(low)),
    }
    if len(rows) == 1:
        return _("%(highest)s: %(high)s.") % words
    return _("Highest: %(highest)s, %(high)s. Lowest: %(lowest)s, %(low)s.") % words


def _left_out(n: int) -> str:
    return " " + _("%(n)s values on fewer than %(least)s items are not compared.") % {"n": n, "least": SMALL}


def _name(row: Sequence[Datum], first: int) -> str:
    return isolate_direction(", ".join(str(part) for part in row[:first] if part))
