"""A table of a paper or of a benchmark: its cells, its options, and what is missing where it cannot be made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from benchmarks.models import Benchmark
from evaluation.rendering.report import Row, Words
from evaluation.selections.selection import Selection
from evaluation.tables.sources import Choice
from predictions.models import Run


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
class TableOption:
    """A choice that changes the numbers: printed under the table, carried in its address. The first is the default.

    `more`: values that are the benchmark's own, such as its judges; `within` adds them. `preferred`: the value that is
    the default in a benchmark; `within` puts it first.
    """

    key: str
    label: Words
    values: Mapping[str, Words]
    more: Callable[[Benchmark], Mapping[str, Words]] | None = None
    preferred: Callable[[Benchmark], str] | None = None

    def within(self, benchmark: Benchmark) -> TableOption:
        values = {**self.values, **(self.more(benchmark) if self.more else {})}
        if self.preferred is not None:
            first = self.preferred(benchmark)
            values = {first: values[first], **values}
        return replace(self, values=values, more=None, preferred=None)

    def default_in(self, benchmark: Benchmark) -> str:
        return self.preferred(benchmark) if self.preferred is not None else self.default

    @property
    def default(self) -> str:
        return next(iter(self.values))


@dataclass(frozen=True)
class TableHeading:
    """What a table is called, and the options it has. `number` is the paper's own ("Table 14"), else empty."""

    key: str
    number: str
    title: Words
    options: tuple[TableOption, ...] = ()


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
