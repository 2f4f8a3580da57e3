"""Figures that show a paper's table: the same cells, so the same numbers, drawn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from evaluation.figures.drawing import bars, heat_map
from evaluation.figures.drawing.axis import Value, agreement_ticks
from evaluation.figures.estimate_text import (
    estimate_text,
    list_text,
    missing_reasons,
    number_columns,
    numbers,
    strip_full_stop,
    value_of,
)
from evaluation.figures.figure import Figure, Words
from evaluation.figures.spec import FigureData, FigureSpec
from evaluation.metrics.estimate import Estimate
from evaluation.rendering.report import Row
from evaluation.tables.spec import TableSpec
from evaluation.tables.table import MissingData, Table

Cells = list[tuple[str, str, Estimate]]  # row, column, number


def table_of(ground: FigureData, spec: TableSpec) -> Table:
    """The table with its options as they are by default. Raises MissingData."""
    ground.heading, ground.chosen = spec.heading, {option.key: option.default for option in spec.options}
    return spec.build(ground)


def numbers_of(table: Table) -> Cells:
    """Its cells that are numbers, in their order."""
    return [
        (_label(row, table), str(column), cell.estimate)
        for row in table.rows
        for column, cell in zip(table.columns, row.cells, strict=True)
        if cell.estimate is not None and not cell.empty
    ]


def _label(row: Row, table: Table) -> str:
    """With the group where rows of several groups have one name."""
    alike = sum(other.label == row.label for other in table.rows)
    return f"{row.label}, {row.group}" if alike > 1 and row.group else str(row.label)


def heat_of(ground: FigureData, *, key: str, spec: TableSpec, title: Words, measure: Words) -> Figure:
    """Rows and columns as in the table. The scale goes from 0 to 1; from -0.2 or -1 where a number lies below 0.
    Shares are not in percent, as in all figures; so the table's own sentences, which may say otherwise, stay there."""
    table = table_of(ground, spec)
    cells = numbers_of(table)
    if not cells:
        raise MissingData(spec.needs)
    estimates = {(row, column): estimate for row, column, estimate in cells}
    rows = list(dict.fromkeys(row for row, *_rest in cells))
    columns = list(dict.fromkeys(column for _row, column, *_rest in cells))
    values = [e.value for _r, _c, e in cells if e.value is not None]
    if not values:
        raise missing_reasons([e for _r, _c, e in cells])
    high = 1.0 if max(values, default=0) <= 1 else max(values)
    drawing = heat_map.HeatMap(
        tuple(rows),
        tuple(columns),
        tuple(tuple(_value(estimates.get((row, column))) for column in columns) for row in rows),
        agreement_ticks(map(Value, values))[0] if min(values, default=0) < 0 else 0.0,
        high,
        str(measure),
        _("No value: see the table"),
        _counted_words([e for _r, _c, e in cells]),
        _("n = {n} where none is shown"),
    )
    return Figure(
        key=key,
        title=title,
        alt=list_text([(f"{row}, {column}", estimate_text(e)) for row, column, e in cells], f"{measure}:"),
        columns=(str(table.corner), _("column"), *number_columns()),
        rows=tuple((row, column, *numbers(e)) for row, column, e in cells),
        draw=lambda width: heat_map.draw(drawing, width),
        words=(*option_words(ground), *ground.words()),
    )


def _counted_words(estimates: Sequence[Estimate]) -> str:
    small = any(e.value is not None and e.n_units < heat_map.SMALL for e in estimates)
    if small:
        return _("n: items of each value; grey: fewer than %(least)s") % {"least": heat_map.SMALL}
    return _("n: items of each value")


def option_words(ground: FigureData) -> Iterator[str]:
    for option in ground.heading.options:
        yield f"{option.label}: {strip_full_stop(str(option.values[ground.chosen[option.key]]))}."


def _value(found: Estimate | None) -> Value:
    return value_of(found) if found else Value(None, why=_("not in this table"))


def bars_of(ground: FigureData, *, key: str, spec: TableSpec, title: Words, column: int, axis: Words) -> Figure:
    """One column of a table as bars with their intervals."""
    table = table_of(ground, spec)
    found = [(_label(row, table), row.cells[column].estimate) for row in table.rows]
    rows = [(name, estimate) for name, estimate in found if estimate is not None]
    if not rows:
        raise MissingData(spec.needs)
    values = [e.value for _name, e in rows if e.value is not None]
    if not values:
        raise missing_reasons([e for _name, e in rows])
    whole = 1.0 if all(0 <= value <= 1 for value in values) else None
    drawing = bars.Bars(tuple(bars.Bar(name, value_of(e)) for name, e in rows), str(axis), whole)
    return Figure(
        key=key,
        title=title,
        alt=list_text([(name, estimate_text(e)) for name, e in rows], f"{axis}:"),
        columns=(str(table.corner), *number_columns()),
        rows=tuple((name, *numbers(e)) for name, e in rows),
        draw=lambda width: bars.draw_bars(drawing, width),
        words=(*option_words(ground), *ground.words()),
    )


def heat_spec(spec: TableSpec, *, measure: Words, key: str = "", title: Words = "", number: str = "") -> FigureSpec:
    """A figure of the whole table, under its key and title unless others are given."""
    named = key or f"{spec.key}-map"
    build = partial(heat_of, key=named, spec=spec, title=title or spec.title, measure=measure)
    return FigureSpec(named, number, title or spec.title, spec.needs, build)


def bars_spec(spec: TableSpec, *, column: int, axis: Words, key: str, title: Words = "") -> FigureSpec:
    """A figure of one column."""
    build = partial(bars_of, key=key, spec=spec, title=title or spec.title, column=column, axis=axis)
    return FigureSpec(key, "", title or spec.title, spec.needs, build)


def spec_of(specs: Sequence[TableSpec], key: str) -> TableSpec:
    """KeyError says which there are."""
    known = {spec.key: spec for spec in specs}
    if key not in known:
        raise KeyError(f"no table {key!r}; there are: {', '.join(known)}")
    return known[key]


ACCURACY = gettext_lazy("Accuracy")
CORRELATION = gettext_lazy("Pearson's r of the model with people")
__all__ = ["ACCURACY", "CORRELATION", "bars_spec", "heat_spec", "numbers_of", "spec_of", "table_of"]
