"""A table of a paper: what stands in each cell, how it is rounded, and what the paper prints there."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal, InvalidOperation
from typing import TYPE_CHECKING

from django.utils.functional import Promise

from evaluation.metrics.estimate import Estimate

if TYPE_CHECKING:
    from benchmarks.models import Benchmark
    from evaluation.selection import Selection
    from evaluation.tables.sources import Choice
    from evaluation.tables.table_inputs import TableInputs
    from predictions.models import Run

Words = str | Promise


@dataclass(frozen=True)
class Rounding:
    """`scale` 100 shows a share in percent. `cut` leaves the further decimals off, as some papers do."""

    decimals: int = 2
    scale: float = 1.0
    cut: bool = False

    def text(self, value: float) -> str:
        """The number as the table shows it, with a plain minus sign; what rounds to nothing has none.

        Rounded as decimals are, half away from zero: 0.285 is 0.29, though the nearest binary number lies below it.
        Thirteen digits are looked at, so that the last bits of a sum decide nothing.
        """
        exact = Decimal(f"{float(value):.13g}") * Decimal(repr(float(self.scale)))
        rounded = exact.quantize(Decimal(1).scaleb(-self.decimals), ROUND_DOWN if self.cut else ROUND_HALF_UP)
        return str(abs(rounded) if rounded == 0 else rounded)


@dataclass(frozen=True)
class PrintedValue:
    """What the paper has in this cell, as printed; `known`: why another number is right, where that is known."""

    text: str
    known: Words = ""


@dataclass(frozen=True)
class Cell:
    """A number, or a text (a name, a sign). A number is always an Estimate: with n, and an interval or a reason."""

    estimate: Estimate | None = None
    text: str = ""
    rounding: Rounding = field(default_factory=Rounding)
    printed: PrintedValue | None = None
    empty: bool = False  # the table has no such cell (clothing has no taste)

    @property
    def shown(self) -> str:
        """The rounded number, or the text; empty where there is no value."""
        if self.estimate is None:
            return self.text
        return self.rounding.text(self.estimate.value) if self.estimate.value is not None else ""

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
        if value is None or not printed.is_finite():
            return "differs"
        if Decimal(self.shown) == printed:  # ".40", "0.4"
            return "same"
        unit = float(Decimal(1).scaleb(int(printed.as_tuple().exponent)))
        near = math.isclose(value * self.rounding.scale, float(printed), rel_tol=0, abs_tol=unit * (1 + 1e-9))
        return "rounding" if near else "differs"


@dataclass(frozen=True)
class Row:
    """`group` heads a block of rows (a model family, a condition); rows of one group stand together."""

    label: str
    cells: tuple[Cell, ...]
    group: str = ""


@dataclass(frozen=True)
class Table:
    """`words` are the sentences that stand under it: what was counted, and every option that was in force."""

    key: str
    number: str
    title: Words
    corner: Words  # what the rows are
    columns: tuple[Words, ...]
    rows: tuple[Row, ...]
    words: tuple[Words, ...] = ()
    counted: tuple[Selection, ...] = ()  # every selection that was read
    runs: tuple[Run, ...] = ()  # every run that was read
    chosen: Mapping[str, str] = field(default_factory=dict)  # option to value
    choices: tuple[Choice, ...] = ()  # of collections, runs, campaigns and prompt variants
    computed_at: datetime | None = None
    watermark: int = 0


@dataclass(frozen=True)
class Option:
    """A choice that changes the numbers: printed under the table, carried in its address. The first is the default.

    `more`: values that are the benchmark's own, such as its judges; `within` adds them.
    """

    key: str
    label: Words
    values: Mapping[str, Words]
    more: Callable[[Benchmark], Mapping[str, Words]] | None = None

    def within(self, benchmark: Benchmark) -> Option:
        if self.more is None:
            return self
        return replace(self, values={**self.values, **self.more(benchmark)}, more=None)

    @property
    def default(self) -> str:
        return next(iter(self.values))


@dataclass(frozen=True)
class TableSpec:
    """How a table is made. `number` is the paper's own ("Table 14"), empty for one that is ours; `needs` says what has
    to be there first."""

    key: str
    number: str
    title: Words
    needs: Words
    build: Callable[[TableInputs], Table]
    options: tuple[Option, ...] = ()
    parameters: tuple[str, ...] = ()  # what else of the address it reads
    requirements: tuple[Callable[[TableInputs], None], ...] = ()  # each raises MissingData, and computes nothing
    state: Callable[[Benchmark], Sequence[object]] | None = None  # what else it is made from, besides answers and runs
    judges_stage: str = ""  # the page "Judge" of this stage names the table

    def within(self, benchmark: Benchmark) -> TableSpec:
        """With the values that its options have in this benchmark."""
        return replace(self, options=tuple(option.within(benchmark) for option in self.options))


@dataclass(frozen=True)
class ActionLink:
    """Where what is missing is brought: a route, its arguments after the benchmark's, its query, and its name.
    `campaign`: over which a run of a model brings it too."""

    route: str
    label: Words
    args: tuple[int, ...] = ()
    query: str = ""
    campaign: int | None = None


class MissingData(Exception):
    """There is nothing to make the table from; `message` says what to bring, in the reader's language, `action` where.
    `by_people`: no run of a model brings it."""

    def __init__(self, message: Words, action: ActionLink | None = None, *, by_people: bool = False) -> None:
        super().__init__(str(message))
        self.message, self.action, self.by_people = message, action, by_people
