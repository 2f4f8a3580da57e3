"""Rows and columns of cells, each with an Estimate, a text or a reason: pages and files are rendered from them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Any, Literal

from django.utils.functional import Promise

from evaluation.metrics.estimate import Estimate
from evaluation.rendering.axis import Axis
from evaluation.rendering.number_format import format_interval, format_number, round_decimal
from evaluation.rendering.reason_text import interval_sentence, reason_sentence, reason_title

Words = str | Promise
Facts = Mapping[str, Any]


@dataclass(frozen=True)
class Rounding:
    """`scale` 100 shows a share in percent. `cut` leaves the further decimals off, as some papers do."""

    decimals: int = 2
    scale: float = 1.0
    cut: bool = False

    def text(self, value: float) -> str:
        """The number as the table shows it, with a plain minus sign."""
        return round_decimal(value, self.decimals, self.scale, cut=self.cut)


@dataclass(frozen=True)
class PrintedValue:
    """What the paper has in this cell, as printed; `known`: why another number is right, where that is known."""

    text: str
    known: Words = ""


@dataclass(frozen=True)
class Reason:
    """Why a cell has no value: a short name and a sentence."""

    title: Words
    sentence: Words


@dataclass(frozen=True)
class Cell:
    """A number, or a text (a name, a sign). A number is always an Estimate: with n, and an interval or a reason.

    Attributes:
        rounding: None for the two decimals of the pages that are not a paper's.
        empty: the table has no such cell (clothing has no taste).
        reason: replaces the sentence for the estimate's own reason.
        label: which of several numbers of one cell this is.
        others: further numbers of the same cell.
        plain: a number that is no estimate: of a drawing's data, where its n stands in a cell of its own.
        chip: the class of a mark that the text stands in, on pages; beside a number, the text has its mark.
        at: a moment instead of a text, on pages.
        signed: the number is a difference, shown with its sign.
        notes: short lines below the number, on pages.
        n: on pages, where it is not units × raters.
        facts: columns of its line in CSV.
        footnote: the number of the reason why the printed value differs.
        people: the people's estimates next to a judge's, and `ceiling` their mean.
    """

    estimate: Estimate | None = None
    text: Words = ""
    rounding: Rounding | None = field(default_factory=Rounding)
    printed: PrintedValue | None = None
    empty: bool = False
    reason: Reason | None = None
    label: str = ""
    others: tuple[Cell, ...] = ()
    plain: int | float | None = None
    chip: str = ""
    at: datetime | None = None
    signed: bool = False
    notes: tuple[Words, ...] = ()
    n: str = ""
    facts: Facts = field(default_factory=dict)
    footnote: int | None = None
    people: tuple[Estimate, ...] = ()
    ceiling: Estimate | None = None

    @property
    def numbers(self) -> tuple[Cell, ...]:
        """The cell and the further numbers in it."""
        return (self, *self.others)

    def with_others(self, others: Sequence[Cell]) -> Cell:
        return replace(self, others=tuple(others))

    @property
    def shown(self) -> str:
        """The rounded number, or the text; empty where there is no value."""
        if self.plain is not None:
            return f"{self.plain:,}" if isinstance(self.plain, int) else format_number(self.plain)
        if self.estimate is None:
            return str(self.text)
        if self.estimate.value is None:
            return ""
        value = self.estimate.value
        text = self.rounding.text(value) if self.rounding else format_number(value)
        return f"+{text}" if self.signed and value > 0 and text != "0.00" else text

    @property
    def shown_interval(self) -> str:
        """Both ends, rounded as the value and never cut; empty without an interval."""
        if self.estimate is None or self.estimate.low is None or self.estimate.high is None:
            return ""
        if self.rounding is None:
            return format_interval(self.estimate)
        ends = Rounding(self.rounding.decimals, self.rounding.scale)
        return f"[{ends.text(self.estimate.low)}, {ends.text(self.estimate.high)}]"

    @property
    def why_no_value(self) -> Reason:
        """Of a number without a value."""
        assert self.estimate is not None
        return self.reason or Reason(reason_title(self.estimate), reason_sentence(self.estimate))

    @property
    def why(self) -> Reason | None:
        """Why there is no value, or no interval; a text has neither."""
        if self.estimate is None or self.estimate.low is not None:
            return None
        if self.estimate.value is None:
            return self.why_no_value
        sentence = interval_sentence(self.estimate)
        return Reason("", sentence) if sentence else None

    @property
    def mark(self) -> str:
        """Beside the paper's: "same", "rounding" (within one unit of the last printed digit), "differs", or ""."""
        if self.printed is None:
            return ""
        theirs = self.printed.text.strip().replace("\u2212", "-")
        if self.shown == theirs:
            return "same"
        try:
            printed = Decimal(theirs)
        except InvalidOperation:
            return "differs"
        value = self.estimate.value if self.estimate is not None else None
        if value is None or self.rounding is None or not printed.is_finite():
            return "differs"
        if Decimal(self.shown) == printed:  # ".40", "0.4"
            return "same"
        unit = float(Decimal(1).scaleb(int(printed.as_tuple().exponent)))
        near = math.isclose(value * self.rounding.scale, float(printed), rel_tol=0, abs_tol=unit * (1 + 1e-9))
        return "rounding" if near else "differs"


NOTHING = Cell(empty=True)


def number(estimate: Estimate | None, **more: Any) -> Cell:
    """A cell with the two decimals of the pages; an empty one without an estimate."""
    return Cell(estimate, rounding=None, **more) if estimate is not None else NOTHING


@dataclass(frozen=True)
class Row:
    """One line of a report.

    Attributes:
        label: as files have it.
        group: heads a block of rows (a model family, a condition); rows of one group stand together.
        name: as pages have it, where that differs from `label`.
        setting, about: of a model, shown below its name on pages; `about` of a person, too.
        href: an address that the name leads to, on pages; `opens`: of what a script shows below the row instead.
        facts: columns of its lines in CSV.
    """

    label: str
    cells: tuple[Cell, ...]
    group: str = ""
    name: str = ""
    setting: str = ""
    about: str = ""
    href: str = ""
    opens: str = ""
    facts: Facts = field(default_factory=dict)


@dataclass(frozen=True)
class ReportColumn:
    """What the cells of a column have in common.

    Attributes:
        key: names the column for `evaluation.rendering.html.page_table`.
        shape: how a page draws a cell: a "range" on an `axis`, a "strip" with the people on it, a "short" number
            without a ruler, a "text", or as a number or text of a "paper", next to what the paper prints.
        short: the label inside a card on a phone, where it differs.
        style: a class of the cells: "num", "wide", ...
        with_n: whether a range has its n beside it.
        brief: whether a short number without a value gives its reason in a word.
        sort_key, n_key: what a page can sort the rows by: the values of the column, or the n beside them.
        in_files: whether CSV has a line for its numbers.
        facts: columns of these lines.
    """

    label: Words = ""
    key: str = ""
    shape: Literal["range", "strip", "short", "text", "paper"] = "range"
    axis: Axis | None = None
    short: Words = ""
    style: str = ""
    with_n: bool = True
    brief: bool = False
    sort_key: str = ""
    n_key: str = ""
    in_files: bool = True
    facts: Facts = field(default_factory=dict)


@dataclass(frozen=True)
class Report:
    """`corner`: what the rows are. `facts`: columns that all lines of the CSV share; `csv_columns`: all of them;
    without them, the CSV has the rows and columns of the report.
    `footnotes`: why printed values differ; cells have their numbers, from 1."""

    corner: Words
    columns: tuple[ReportColumn, ...]
    rows: tuple[Row, ...]
    facts: Facts = field(default_factory=dict)
    csv_columns: tuple[str, ...] = ()
    footnotes: tuple[Words, ...] = ()

    @property
    def cells(self) -> Iterator[Cell]:
        """Every cell that the table has, row by row."""
        return (cell for row in self.rows for cell in row.cells if not cell.empty)
