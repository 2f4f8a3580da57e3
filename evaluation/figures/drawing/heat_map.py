"""A heat map with its numbers and their n in the cells: rows x columns, one colour scale, hatched where there is no
value. Nothing is wider than asked: rows and columns change places, or the columns go on below, where they must."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace

from evaluation.figures.drawing.axis import Value, format_value, tick_words
from evaluation.figures.drawing.colours import EDGE, INK, INK_2, heat
from evaluation.figures.drawing.names import LEADING, Name, distinct_names, name_texts, widest_line
from evaluation.figures.drawing.scene import Canvas, Rect, Text, VectorScene, rect
from evaluation.figures.drawing.text import clean, width_of

ROW, COLUMN, WIDEST = 38.0, 48.0, 120.0
TURN, LONGEST = 40.0, 150.0
SMALL = 8  # a value on fewer items is hatched and grey


@dataclass(frozen=True)
class HeatMap:
    """`cells[row][column]`. `low` and `high` are the ends of the colour scale; a value beyond them has the end's.
    `counted`: what the small number below each value is, nothing where they have none. `common`: with "{n}", said
    where most values have the same n, which is then not repeated in their cells."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[tuple[Value, ...], ...]
    low: float
    high: float
    scale: str = ""  # what the colours stand for
    none: str = ""  # what hatched stands for
    counted: str = ""
    common: str = ""

    @property
    def common_n(self) -> int | None:
        """The n that most of the coloured values have; None where none is said once for them."""
        counts = Counter(
            cell.n for row in self.cells for cell in row if cell.value is not None and not _is_small(self, cell)
        )
        for n, times in counts.most_common(1):
            return n if self.common and times > 1 and times * 2 > counts.total() else None
        return None

    @property
    def transpose(self) -> HeatMap:
        """With rows and columns in each other's place."""
        cells = tuple(zip(*self.cells, strict=True)) if self.rows else tuple(() for _ in self.columns)
        return replace(self, rows=self.columns, columns=self.rows, cells=cells)


@dataclass(frozen=True)
class ColumnHeads:
    """Names of the columns: level in a few lines, or turned. `over`: how far the last reaches beyond the cells."""

    names: list[Name]
    high: float
    over: float = 4.0
    turn: float = 0.0


def draw(data: HeatMap, width: float) -> VectorScene:
    data = _oriented(data, width)
    names = _row_names(data, width)
    left = _room_for_rows(names)
    fit = _fitting(data, width)
    blocks = -(-len(data.columns) // fit) if data.columns else 1
    each = -(-len(data.columns) // blocks) or 1  # of one length, as far as that goes
    head = _head(data.columns, left, each, width)
    column = min(max((width - left - head.over) / each, COLUMN), WIDEST)
    canvas, top = Canvas(width), 0.0
    for start in range(0, max(len(data.columns), 1), each):
        top += head.high
        _columns(canvas, head, range(start, min(start + each, len(data.columns))), left, column, top)
        for place, name in enumerate(names):
            canvas.add(*name_texts(name, left - 8, top + (place + 0.5) * ROW - 1, anchor="end"), fill=INK)
        _cells(canvas, data, range(start, min(start + each, len(data.columns))), left, column, top)
        top += len(data.rows) * ROW + 14
    return canvas.scene(_legend(canvas, data, top, width))


def _row_names(data: HeatMap, width: float) -> list[Name]:
    return distinct_names(data.rows, 13, min(240, width * 0.36))


def _room_for_rows(names: list[Name]) -> float:
    """Where the cells begin, right of the names."""
    return max(widest_line(names, 13) + 1, 40) + 8


def _oriented(data: HeatMap, width: float) -> HeatMap:
    """With rows and columns in each other's place where the columns have no room, or where only so the names of both
    are level and whole: names of rows may be long."""
    if len(data.columns) > max(len(data.rows), _fitting(data, width)):
        return data.transpose
    other = data.transpose
    fits = len(other.columns) <= _fitting(other, width)
    return other if fits and _is_turned(data, width) and not _is_turned(other, width) else data


def _is_turned(data: HeatMap, width: float) -> bool:
    """Whether names of columns are turned, and so cut short."""
    left = _room_for_rows(_row_names(data, width))
    return bool(_head(data.columns, left, max(len(data.columns), 1), width).turn)


def _fitting(data: HeatMap, width: float) -> int:
    """How many columns have room beside the names of the rows."""
    left = _room_for_rows(_row_names(data, width))
    return max(int((width - left - 4) // COLUMN), 1)


def _head(columns: tuple[str, ...], left: float, each: int, width: float) -> ColumnHeads:
    """Level where every name fits in five lines; else slanted where the last has room, else upright."""
    column = min((width - left - 4) / each, WIDEST)
    names = distinct_names(columns, 13, column - 6, most=5)
    if not any(name.full for name in names):
        return ColumnHeads(names, max((len(name.lines) for name in names), default=1) * 13 * LEADING + 10)
    names = distinct_names(columns, 13, LONGEST, most=1)
    long, angle = widest_line(names, 13), math.radians(TURN)
    over = max(long * math.cos(angle) - COLUMN / 2 + 8, 4.0)
    if left + each * COLUMN + over <= width:
        return ColumnHeads(names, long * math.sin(angle) + 24, over, TURN)
    return ColumnHeads(names, long + 18, 4.0, 90)


def _columns(canvas: Canvas, head: ColumnHeads, shown: range, left: float, column: float, top: float) -> None:
    for place, number in enumerate(shown):
        x, name = left + (place + 0.5) * column - 1, head.names[number]
        if head.turn:
            x = round(x + (4.5 if head.turn == 90 else 0), 1)
            canvas.add(Text(x, round(top - 8, 1), name.lines[0], "start", name.full, "", -head.turn), fill=INK)
        else:
            middle = top - 8 - len(name.lines) * 13 * LEADING / 2
            canvas.add(*name_texts(name, x, middle, anchor="middle"), fill=INK)


def _cells(canvas: Canvas, data: HeatMap, shown: range, left: float, column: float, top: float) -> None:
    boxes: list[Rect] = []
    words: list[Text] = []
    common = data.common_n
    for i, row in enumerate(data.cells):
        for place, j in enumerate(shown):
            cell, x, y = row[j], left + place * column, top + i * ROW
            name = f"{clean(data.rows[i])}, {clean(data.columns[j])}"
            if cell.value is None:
                boxes.append(rect(x, y, column - 2, ROW - 2, pattern="hatch", title=f"{name}: {clean(cell.why)}"))
                continue
            fill, pattern, ink = _look(data, cell)
            ends = (
                ""
                if cell.low is None or cell.high is None
                else f" [{format_value(cell.low)}, {format_value(cell.high)}]"
            )
            counted = f"n = {cell.n:,}" if data.counted and cell.n else ""
            title = f"{name}: {format_value(cell.value)}{ends}" + (f", {counted}" if counted else "")
            counted = "" if cell.n == common else counted
            boxes.append(rect(x, y, column - 2, ROW - 2, fill, pattern=pattern, title=title))
            middle = round(x + column / 2 - 1, 1)
            line = round(y + (ROW / 2 - 3 if counted else ROW / 2 + 3.5), 1)
            words.append(Text(middle, line, format_value(cell.value), "middle", fill=ink))
            if counted:
                small = counted if width_of(counted, 11) <= column - 4 else f"{cell.n:,}"
                words.append(Text(middle, round(y + ROW - 7.5, 1), small, "middle", fill=ink, size=11))
    canvas.add(*boxes, fill="#fff")
    canvas.add(*words)


def _look(data: HeatMap, cell: Value) -> tuple[str, str, str]:
    """Fill, pattern and colour of the number; a value on few items has no colour of the scale."""
    assert cell.value is not None
    if _is_small(data, cell):
        return "", "faint", INK_2
    return heat((cell.value - data.low) / (data.high - data.low)), "", INK


def _is_small(data: HeatMap, cell: Value) -> bool:
    return cell.value is not None and bool(data.counted) and cell.n is not None and cell.n < SMALL


def _legend(canvas: Canvas, data: HeatMap, y: float, width: float) -> float:
    """What the colours stand for, the scale with its numbers, what is counted, and, where some cell is, what hatched
    means: beside the scale where that has room, else below it."""
    count, size = 6, 24.0
    scale = distinct_names([data.scale], 12, width, most=3)[0]
    high = len(scale.lines) * 12 * LEADING
    canvas.add(*name_texts(scale, 0, y + high / 2, size=12), fill=INK_2)
    y += high + 5
    steps = [data.low + (data.high - data.low) * place / (count - 1) for place in range(count)]
    fills = [heat(place / (count - 1)) for place in range(count)]
    canvas.add(*(rect(i * size, y, size, 10, fill) for i, fill in enumerate(fills)), stroke=EDGE, width=0.5)
    ends = ((0.0, steps[0], "start"), (count, steps[-1], "end"))
    canvas.add(*(Text(round(x * size, 1), y + 23, tick_words(v), a, size=12) for x, v, a in ends), fill=INK_2)
    x, line = count * size + 16, y
    if any(cell.value is None for row in data.cells for cell in row):
        if x + size + 8 + width_of(data.none, 12) > width:
            x, line = 0.0, y + 32
        canvas.add(rect(x, line - 1, size, 12, pattern="hatch"), stroke=EDGE, width=0.5)
        none = distinct_names([data.none], 12, width - x - size - 8, most=2)[0]
        canvas.add(*name_texts(none, x + size + 8, line + 5 + (len(none.lines) - 1) * 7, size=12), fill=INK_2)
        line += (len(none.lines) - 1) * 14
        x += size + 8 + widest_line([none], 12) + 16
    if data.counted:
        common = data.common_n
        legend = data.counted if common is None else f"{data.counted}; {data.common.format(n=f'{common:,}')}"
        if x + width_of(legend, 12) > width:
            x, line = 0.0, max(line, y) + 32 if line == y else line + 18
        counted = distinct_names([legend], 12, width - x, most=3)[0]
        canvas.add(*name_texts(counted, x, line + 5 + (len(counted.lines) - 1) * 7, size=12), fill=INK_2)
        line += (len(counted.lines) - 1) * 14
    return max(line + 18, y + 30)
