"""What a drawing consists of: four kinds of marks in groups of one look. Lengths are pixels, y grows downwards.

Positions are worked out here and in the modules beside it; templates/evaluation/figures/svg.html only writes them down.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import ClassVar

from evaluation.figures.drawing.text import fitted_width, shorten

MARGIN = 10.0


@dataclass(frozen=True)
class Rect:
    """`fill` is a colour, `pattern` the name of one in `patterns.py`, drawn over the colour; empty: the group's."""

    tag: ClassVar[str] = "rect"
    x: float
    y: float
    width: float
    height: float
    fill: str = ""
    pattern: str = ""
    title: str = ""


@dataclass(frozen=True)
class Path:
    """`d` as SVG has it; `title` is what a pointer over it is told."""

    tag: ClassVar[str] = "path"
    d: str
    title: str = ""


@dataclass(frozen=True)
class Text:
    """`y` is the base line. `full` is the whole text where `words` had to be cut. `turn`: degrees around (x, y)."""

    tag: ClassVar[str] = "text"
    x: float
    y: float
    words: str
    anchor: str = "start"
    full: str = ""
    fill: str = ""
    turn: float = 0
    size: float = 0
    bold: bool = False


@dataclass(frozen=True)
class Picture:
    """An image, whole inside its frame. `sha` names it; `href` is filled in by whoever may read it."""

    tag: ClassVar[str] = "image"
    x: float
    y: float
    width: float
    height: float
    sha: str
    title: str = ""
    href: str = ""


Mark = Rect | Path | Text | Picture


@dataclass(frozen=True)
class Group:
    """Marks of one look; a mark's own fill goes before the group's. `layer`: of what a page can hide, its number."""

    marks: tuple[Mark, ...]
    fill: str = "none"
    stroke: str = ""
    width: float = 1
    dash: str = ""
    cap: str = ""
    opacity: float = 1
    layer: int = 0


@dataclass(frozen=True)
class VectorScene:
    width: float
    height: float
    groups: tuple[Group, ...]

    @property
    def size(self) -> tuple[float, float]:
        """Width and height with the margin around it."""
        return self.width + 2 * MARGIN, self.height + 2 * MARGIN

    @property
    def margin(self) -> float:
        return MARGIN

    @property
    def marks(self) -> Iterator[Mark]:
        for group in self.groups:
            yield from group.marks

    @property
    def texts(self) -> list[str]:
        return [mark.words for mark in self.marks if isinstance(mark, Text)]

    @property
    def patterns(self) -> list[str]:
        """Names of those in use, in the order of the alphabet."""
        return sorted({mark.pattern for mark in self.marks if isinstance(mark, Rect) and mark.pattern})

    def with_pictures(self, href: Callable[[str], str]) -> VectorScene:
        """With every picture's address; one that has none is left out, its frame stays."""
        if not any(isinstance(mark, Picture) for mark in self.marks):
            return self
        return replace(
            self, groups=tuple(replace(g, marks=tuple(_address_pictures(g.marks, href))) for g in self.groups)
        )


def _address_pictures(marks: Iterable[Mark], href: Callable[[str], str]) -> Iterator[Mark]:
    for mark in marks:
        if not isinstance(mark, Picture):
            yield mark
        elif address := href(mark.sha):
            yield replace(mark, href=address)


@dataclass
class Canvas:
    """A scene in the making."""

    width: float
    groups: list[Group] = field(default_factory=list)

    def add(
        self,
        *marks: Mark,
        fill: str = "none",
        stroke: str = "",
        width: float = 1,
        dash: str = "",
        cap: str = "",
        opacity: float = 1,
        layer: int = 0,
    ) -> None:
        kept = tuple(mark for mark in marks if not (isinstance(mark, Path) and not mark.d))
        if kept:
            self.groups.append(Group(kept, fill, stroke, width, dash, cap, opacity, layer))

    def scene(self, height: float) -> VectorScene:
        return VectorScene(round(self.width, 1), round(height, 1), tuple(self.groups))


def n(value: float) -> str:
    """A length in path data: one decimal, no more."""
    text = f"{value:.1f}"
    return text.removesuffix(".0")


def horizontal_line(x0: float, x1: float, y: float) -> str:
    return f"M{n(x0)} {n(y)}H{n(x1)}"


def vertical_line(x: float, y0: float, y1: float) -> str:
    return f"M{n(x)} {n(y0)}V{n(y1)}"


def dot(x: float, y: float) -> str:
    """A dot is a line without length: with round caps it is as wide as its stroke. Hundreds fit in one path."""
    return f"M{n(x)} {n(y)}h0"


def arrow(x: float, y: float, *, down: bool = False) -> str:
    """What goes on beyond the end of the axis: a small head pointing to the left, or down."""
    return f"M{n(x)} {n(y)}l-4 -6h8z" if down else f"M{n(x)} {n(y)}l6 -4v8z"


def polyline(points: Iterable[tuple[float, float]]) -> str:
    return "".join(f"{'L' if place else 'M'}{n(x)} {n(y)}" for place, (x, y) in enumerate(points))


def label(
    x: float,
    y: float,
    words: str,
    room: float,
    *,
    anchor: str = "start",
    size: float = 13,
    bold: bool = False,
    turn: float = 0,
    fill: str = "",
) -> Text:
    """A text that is never wider than `room`: cut where it must be, and whole in its title."""
    shown, full = shorten(words, size, room, bold=bold)
    return Text(round(x, 1), round(y, 1), shown, anchor, full, fill, turn, size if size != 13 else 0, bold)


def rect(
    x: float, y: float, width: float, height: float, fill: str = "", *, pattern: str = "", title: str = ""
) -> Rect:
    sizes = (round(max(width, 0), 1), round(max(height, 0), 1))
    return Rect(round(x, 1), round(y, 1), *sizes, fill, pattern, title)


__all__ = [
    "Canvas",
    "Group",
    "Mark",
    "Path",
    "Picture",
    "Rect",
    "Text",
    "VectorScene",
    "arrow",
    "dot",
    "fitted_width",
    "horizontal_line",
    "label",
    "n",
    "polyline",
    "rect",
    "vertical_line",
]  # fmt: skip
