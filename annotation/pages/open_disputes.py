"""What the overview says of disagreements that nobody has settled yet: how many there are of each stage and cohort."""

from collections.abc import Sequence
from dataclasses import dataclass

from annotation.queries.disputes import OpenDisputes, open_disputes
from benchmarks.models import Benchmark
from benchmarks.pages.panels import Panel


@dataclass(frozen=True)
class WaitingDisputes:
    """`rows`: at least one."""

    rows: Sequence[OpenDisputes]

    @property
    def total(self) -> int:
        return sum(row.n for row in self.rows)


def waiting_disputes(benchmark: Benchmark) -> WaitingDisputes | None:
    rows = open_disputes(benchmark)
    return WaitingDisputes(rows) if rows else None


PANEL = Panel("annotation/open_disputes.html", waiting_disputes)
