"""A heat map with its numbers in the cells: rows x columns, one colour scale, hatched where there is no value."""

from __future__ import annotations

import math
from dataclasses import dataclass

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


def draw(data: HeatMap, width: float) -> Scene:
    """As wide as asked; wider where the columns need it."""
    left = fitting(list(data.rows), 13, 40, min(200, width * 0.36)) + 8
    most = max(len(data.columns), 1)
    column = min(max((width - left - 4) / most, COLUMN), 120)
    turned = any(width_of(clean(name), 13) > column - 8 for name in data.columns)
    top, over = _head(data, column, turned)
    canvas = Canvas(max(width, left + column * len(data.columns) + over))
    _columns(canvas, data, left, column, top, turned)
    for place, name in enumerate(data.rows):
        y = top + place * ROW
        canvas.add(label(left - 8, y + ROW / 2 + 4.5, name, left - 8, anchor="end"), fill=INK)
    _cells(canvas, data, left, column, top)
    bottom = top + len(data.rows) * ROW
    return canvas.scene(_legend(canvas, data, bottom + 14, width))


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
            shown = said(cell.value)
            boxes.append(rect(x, y, column - 2, ROW - 2, fill, title=f"{name}: {shown}"))
            middle = (round(x + column / 2 - 1, 1), round(y + ROW / 2 + 3.5, 1))
            words.append(Text(*middle, shown, "middle", fill=ink_on(fill)))
    canvas.add(*boxes, fill="#fff")
    canvas.add(*words)


def _legend(canvas: Canvas, data: HeatMap, y: float, width: float) -> float:
    """What the colours stand for, the scale with its numbers, and, where some cell is, what hatched means."""
    count, size = 6, 24.0
    canvas.add(label(0, y + 10, data.scale, width, size=12), fill=INK_2)
    y += 18
    steps = [data.low + (data.high - data.low) * place / (count - 1) for place in range(count)]
    fills = [sequential(place / (count - 1)) for place in range(count)]
    canvas.add(*(rect(i * size, y, size, 10, fill) for i, fill in enumerate(fills)), stroke=EDGE, width=0.5)
    ends = ((0.0, steps[0], "start"), (count, steps[-1], "end"))
    canvas.add(*(Text(round(x * size, 1), y + 23, tick_words(v), a, size=12) for x, v, a in ends), fill=INK_2)
    if any(cell.value is None for row in data.cells for cell in row):
        x = count * size + 16
        canvas.add(rect(x, y - 1, size, 12, pattern="hatch"), stroke=EDGE, width=0.5)
        canvas.add(label(x + size + 8, y + 9.5, data.none, width - x - size - 8, size=12), fill=INK_2)
    return y + 30
