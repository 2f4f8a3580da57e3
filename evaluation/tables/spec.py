"""How a table is made: its heading, what it needs, and the function that builds it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from benchmarks.models import Benchmark
from evaluation.rendering.report import Words
from evaluation.tables.table import Table, TableHeading, TableOption
from evaluation.tables.table_inputs import TableInputs


@dataclass(frozen=True)
class TableSpec:
    """How a table is made. `number` is the paper's own ("Table 14"), empty for one that is ours; `needs` says what has
    to be there first."""

    key: str
    number: str
    title: Words
    needs: Words
    build: Callable[[TableInputs], Table]
    options: tuple[TableOption, ...] = ()
    parameters: tuple[str, ...] = ()  # what else of the address it reads
    requirements: tuple[Callable[[TableInputs], None], ...] = ()  # each raises MissingData, and computes nothing
    state: Callable[[Benchmark], Sequence[object]] | None = None  # what else it is made from, besides answers and runs
    composed: bool = False  # by a researcher, for one benchmark
    judges_stage: str = ""  # the page "Judge" of this stage names the table
    code_texts: Mapping[str, Words] = field(default_factory=dict)  # of codes in its labels, for pages

    def within(self, benchmark: Benchmark) -> TableSpec:
        """With the values that its options have in this benchmark."""
        return replace(self, options=tuple(option.within(benchmark) for option in self.options))

    @property
    def heading(self) -> TableHeading:
        return TableHeading(self.key, self.number, self.title, self.options)
