"""A figure: a drawing with a title, its text alternative, and its data as a table; and what draws it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.template.loader import render_to_string
from django.utils.functional import Promise

from evaluation.figures.drawing.scene import VectorScene
from evaluation.rendering.report import Cell, Report, ReportColumn, Row

Words = str | Promise
Datum = str | int | float | None
WIDE, NARROW = 760.0, 330.0


@dataclass(frozen=True)
class Figure:
    """`alt` says in a sentence or two what is seen, with the main numbers. `columns` and `rows` are the data, whole and
    not rounded. `draw` takes a width in pixels. `words` stand under it: what was counted, and options in force.
    `layers`: how many boxes of a picture a page can show or hide by their number."""

    key: str
    title: Words
    alt: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Datum, ...], ...]
    draw: Callable[[float], VectorScene]
    words: tuple[Words, ...] = ()
    links_head: Words = ""
    links: tuple[tuple[str, str, bool], ...] = ()  # label, query of the address, whether it is the one shown
    layers: int = 0

    @property
    def layer_numbers(self) -> range:
        return range(1, self.layers + 1)

    @property
    def report(self) -> Report:
        """The data as a table; the first column names the rows."""
        corner, *columns = self.columns
        rows = tuple(Row(str(label), tuple(map(_cell, rest))) for label, *rest in self.rows)
        styles = ["num" if any(row.cells[n].plain is not None for row in rows) else "" for n in range(len(columns))]
        named = zip(columns, styles, strict=True)
        return Report(corner, tuple(ReportColumn(name, shape="text", style=style) for name, style in named), rows)

    def svg(self, width: float = WIDE, *, prefix: str = "", href: Callable[[str], str] = lambda _sha: "") -> str:
        """`prefix` keeps ids apart where several stand on one page; `href` gives the address of a picture."""
        scene = self.draw(width).with_pictures(href)
        context: dict[str, Any] = {"scene": scene, "title": self.title, "alt": self.alt, "prefix": prefix or self.key}
        return render_to_string("evaluation/figures/svg.html", context)


def _cell(value: Datum) -> Cell:
    return Cell(text=value) if isinstance(value, str) else Cell(plain=value)
