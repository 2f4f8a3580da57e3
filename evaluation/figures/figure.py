"""A figure: a drawing with a title, its text alternative, and its data as a table; and what draws it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from django.template.loader import render_to_string
from django.utils.functional import Promise

from evaluation.figures.drawing.scene import VectorScene
from evaluation.rendering.number_format import format_number
from jobs.formats.csv_safety import csv_lines

Words = str | Promise
Datum = str | int | float | None
WIDE, NARROW = 760.0, 330.0


@dataclass(frozen=True)
class Figure:
    """`alt` says in a sentence or two what is seen, with the main numbers. `columns` and `rows` are the data, whole and
    not rounded. `draw` takes a width in pixels. `words` stand under it: what was counted, and options in force."""

    key: str
    title: Words
    alt: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Datum, ...], ...]
    draw: Callable[[float], VectorScene]
    words: tuple[Words, ...] = ()
    links_head: Words = ""
    links: tuple[tuple[str, str, bool], ...] = ()  # label, query of the address, whether it is the one shown

    @property
    def shown_rows(self) -> Iterator[list[tuple[bool, str]]]:
        """For a page: (whether it is a number, how it is written), rounded as on the drawing."""
        for row in self.rows:
            yield [(isinstance(one, int | float), _written(one)) for one in row]

    def csv(self) -> Iterator[str]:
        return csv_lines(self.columns, ([*row] for row in self.rows))

    def svg(self, width: float = WIDE, *, prefix: str = "", href: Callable[[str], str] = lambda _sha: "") -> str:
        """`prefix` keeps ids apart where several stand on one page; `href` gives the address of a picture."""
        scene = self.draw(width).with_pictures(href)
        context: dict[str, Any] = {"scene": scene, "title": self.title, "alt": self.alt, "prefix": prefix or self.key}
        return render_to_string("evaluation/figures/svg.html", context)


def _written(value: Datum) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return format_number(value)
    return f"{value:,}" if isinstance(value, int) else value
