"""The list of a person's benchmarks: pictures, the chain, agreement, and what waits in each.

Apps above this one register the chain and agreement in AppConfig.ready.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet, prefetch_related_objects

from benchmarks.access import permissions_asked_once
from benchmarks.models import Benchmark, ItemImage, Stage
from benchmarks.pages.next_actions import NextAction, waiting_action
from benchmarks.queries.overview import benchmark_rows, sample_pictures
from jobs.queries.read_together import read_together
from people.models import User

WHOLE = 8  # benchmarks that are shown with everything; the others by name
PICTURES, SAMPLE = 3, 24
STAGES = 6


@dataclass(frozen=True)
class StageSummary:
    """A stage that asks people: one bar for each cohort, in twentieths, and the sums in words."""

    name: str
    bars: Sequence[int]
    done: str
    wanted: str
    note: str = ""


@dataclass(frozen=True)
class BenchmarkRow:
    """`agreement`: what evaluation/parts/list_agreement.html takes; None before anything was computed. `action`: what
    waits for this person; None where nothing does."""

    benchmark: Benchmark
    pictures: Sequence[ItemImage]
    stages: Sequence[StageSummary]
    more_stages: int
    agreement: Mapping[str, Any] | None
    action: NextAction | None


ChainSource = Callable[[Sequence[Stage]], Mapping[int, StageSummary]]
AgreementSource = Callable[[Sequence[Benchmark]], Mapping[int, Mapping[str, Any]]]
_CHAIN: list[ChainSource] = []
_AGREEMENT: list[AgreementSource] = []


def register_chain(source: ChainSource) -> None:
    """The app that has campaigns says how far each stage is."""
    _CHAIN[:] = [source]


def register_agreement(source: AgreementSource) -> None:
    """By benchmark what the row shows, in a fixed number of queries."""
    _AGREEMENT[:] = [source]


@dataclass(frozen=True)
class BenchmarkListPage:
    rows: Sequence[BenchmarkRow]
    others: Sequence[Benchmark]

    @property
    def n_waiting(self) -> int:
        return sum(row.action is not None for row in self.rows)


def benchmark_list(visible: QuerySet[Benchmark], user: User) -> BenchmarkListPage:
    """Those first in which something waits for this person, then by team and name. As many queries for one benchmark as
    for WHOLE, but where items wait for a fact: why is read of each such stage."""
    benchmarks = list(benchmark_rows(visible, user))
    shown = benchmarks[:WHOLE]
    prefetch_related_objects(shown, "stages")
    stages = [stage for benchmark in shown for stage in benchmark.stages.all()]
    summaries = _CHAIN[0](stages) if _CHAIN else {}
    agreement = _AGREEMENT[0](shown) if _AGREEMENT else {}
    pictures = sample_pictures(stages, SAMPLE)
    rows = []
    with permissions_asked_once(), read_together([*shown, *{row.team for row in shown}]):
        for benchmark in shown:
            action = waiting_action(benchmark, user)
            rows.append(_row(benchmark, summaries, pictures, agreement.get(benchmark.pk), action))
    return BenchmarkListPage(sorted(rows, key=lambda row: row.action is None), benchmarks[WHOLE:])


def _row(
    benchmark: Benchmark,
    summaries: Mapping[int, StageSummary],
    pictures: Mapping[int, Sequence[ItemImage]],
    agreement: Mapping[str, Any] | None,
    action: NextAction | None,
) -> BenchmarkRow:
    stages = list(benchmark.stages.all())
    asked = [summaries[stage.pk] for stage in stages if stage.pk in summaries]
    return BenchmarkRow(
        benchmark, _spread(benchmark, stages, pictures), asked[:STAGES], max(0, len(asked) - STAGES), agreement, action
    )


def _spread(
    benchmark: Benchmark, stages: Sequence[Stage], pictures: Mapping[int, Sequence[ItemImage]]
) -> Sequence[ItemImage]:
    """A few of the stage with the most pictures, other ones in each benchmark."""
    most = max((pictures[stage.pk] for stage in stages), key=len, default=[])
    step = max(1, len(most) // PICTURES)
    return [most[(benchmark.pk + number * step) % len(most)] for number in range(min(PICTURES, len(most)))]
