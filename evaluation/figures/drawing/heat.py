"""A heat map with its numbers in the cells: rows x columns, one colour scale, hatched where there is no value."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from evaluation.figures.drawing.axis import Value, said, tick_words
from evaluation.figures.drawing.colours import EDGE, INK, INK_2, ink_on, sequential
from evaluation.figures.drawing.scene import Canvas, Rect, Scene, Text, label, rect
from evaluation.figures.drawing.text import clean, fitting, width_of

ROW, COLUMN, TURN = 30.0, 58.0, 40.0


@dataclass(frozen=True)
class HeatMap:
    """`cells[row][column]`. `low` and `high` are the ends of the colour scale; a value beyond them has the end's."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[tuple[Value, ...], ...]
    low: float
    high: float
    scale: str = ""  # what the colours stand for
    none: str = ""  # what hatched stands for
    shown: Callable[[float], str] = field(default=said)


def draw(data: HeatMap, width: float) -> Scene:
    """As wide as asked; wider where the columns need it."""
    left = fitting(list(data.rows), 13, 40, min(200, width * 0.36)) + 8
    most = max(len(data.columns), 1)
    column = min(max((width - left - 4) / most, COLUMN), 120)
    turned = any(width_of(clean(name), 13) > column - 8 for name in data.columns)
    top, over = _head(data, column, turned)
    canvas = Canvas(max(width, left + column * len(data.columns) + over))
    _columns(canvas, data, left, column, top, turned)
    cells = canvas
    for place, name in enumerate(data.rows):
        y = top + place * ROW
        cells.add(label(left - 8, y + ROW / 2 + 4.5, name, left - 10, anchor="end"), fill=INK)
    _cells(cells, data, left, column, top)
    bottom = top + len(data.rows) * ROW
    return canvas.scene(_legend(canvas, data, left, bottom + 14))


def _head(data: HeatMap, column: float, turned: bool) -> tuple[float, float]:
    """Height of the columns' names, and how far the last of them reaches beyond the cells."""
    if not turned:
        return 26.0, 4.0
    longest = fitting(list(data.columns), 13, 40, 150)
    angle = math.radians(TURN)
    return longest * math.sin(angle) + 22, max(longest * math.cos(angle) - column / 2 + 8, 4.0)


def _columns(canvas: Canvas, data: HeatMap, left: float, column: float, top: float, turned: bool) -> None:
    for place, name in enumerate(data.columns):
        x = left + (place + 0.5) * column
        if turned:
            canvas.add(label(x, top - 8, name, 150, turn=-TURN), fill=INK)
        else:
            canvas.add(label(x, top - 9, name, column - 6, anchor="middle"), fill=INK)


def _cells(canvas: Canvas, data: HeatMap, left: float, column: float, top: float) -> None:
    boxes: list[Rect] = []
    words: list[Text] = []
    for i, row in enumerate(data.cells):
        for j, cell in enumerate(row):
            x, y = left + j * column, top + i * ROW
            name = f"{clean(data.rows[i])}, {clean(data.columns[j])}"
            if cell.value is None:
                boxes.append(rect(x, y, column - 2, ROW - 2, pattern="hatch", title=f"{name}: {clean(cell.why)}"))
                continue
            fill = sequential((cell.value - data.low) / (data.high - data.low))
            shown = data.shown(cell.value)
            boxes.append(rect(x, y, column - 2, ROW - 2, fill, title=f"{name}: {shown}"))
            middle = (round(x + column / 2 - 1, 1), round(y + ROW / 2 + 3.5, 1))
            words.append(Text(*middle, shown, "middle", fill=ink_on(fill)))
    canvas.add(*boxes, fill="#fff")
    canvas.add(*words)


def _legend(canvas: Canvas, data: HeatMap, left: float, y: float) -> float:
    """The colour scale with its numbers; what hatched means, where some cell is. Returns the height so far."""
    count, size = 6, 24.0
    here = min(left, max(canvas.width - 320, 4))
    steps = [data.low + (data.high - data.low) * place / (count - 1) for place in range(count)]
    fills = [sequential(place / (count - 1)) for place in range(count)]
    canvas.add(*(rect(here + i * size, y, size, 10, fill) for i, fill in enumerate(fills)), stroke=EDGE, width=0.5)
    ends = ((0.5, steps[0], "middle"), (count - 0.5, steps[-1], "middle"))
    canvas.add(*(Text(round(here + x * size, 1), y + 23, tick_words(v), a, size=12) for x, v, a in ends), fill=INK_2)
    after = here + count * size + 10
    canvas.add(label(after, y + 10, data.scale, max(canvas.width - after - 2, 60), size=12), fill=INK_2)
    y += 30
    if any(cell.value is None for row in data.cells for cell in row):
        canvas.add(rect(here, y, size, 12, pattern="hatch"), stroke=EDGE, width=0.5)
        canvas.add(label(here + size + 8, y + 10.5, data.none, canvas.width - here - size - 10, size=12), fill=INK_2)
        y += 20
    return y
