"""The list of a person's benchmarks: pictures, the chain, agreement, and what waits in each.

Apps above this one register the chain and agreement in AppConfig.ready.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

from django.db.models import QuerySet, prefetch_related_objects
from django.utils.translation import ngettext

from benchmarks.access import permissions_asked_once
from benchmarks.models import Benchmark, ItemImage, Stage
from benchmarks.pages.board import board_number
from benchmarks.pages.next_actions import NextAction, waiting_actions
from benchmarks.queries.overview import benchmark_rows, sample_pictures
from jobs.queries.read_together import read_together
from people.models import User

WHOLE = 8  # benchmarks that are shown with everything; the others by name
FURTHER = 2  # of what waits, besides the first
PICTURES, SAMPLE = 3, 24
STAGES = 6


@dataclass(frozen=True)
class CohortBar:
    """How far a cohort is at a stage, in twentieths. `is_stuck`: work is open, and nobody answered for days."""

    twentieths: int
    is_stuck: bool = False


@dataclass(frozen=True)
class StageSummary:
    """A stage that asks people: a bar for each cohort, and the sums in words. No bar and no sum before it has items."""

    name: str
    bars: Sequence[CohortBar]
    done: str = ""
    wanted: str = ""
    note: str = ""
    is_stuck: bool = False


@dataclass(frozen=True)
class BenchmarkRow:
    """`agreement`: what evaluation/parts/list_agreement.html takes; None before anything was computed. `action`: what
    waits for this person; None where nothing does. `further`: other work that waits."""

    benchmark: Benchmark
    pictures: Sequence[ItemImage]
    stages: Sequence[StageSummary]
    more_stages: int
    agreement: Mapping[str, Any] | None
    action: NextAction | None
    further: Sequence[NextAction] = ()


ChainSource = Callable[[Sequence[Stage], datetime], Mapping[int, StageSummary]]
AgreementSource = Callable[[Sequence[Benchmark]], Mapping[int, Mapping[str, Any]]]
RecentSource = Callable[[Sequence[Stage], datetime], tuple[int, int]]
_CHAIN: list[ChainSource] = []
_AGREEMENT: list[AgreementSource] = []
_RECENT: list[RecentSource] = []


def register_chain(source: ChainSource) -> None:
    """The app that has campaigns says how far each stage is."""
    _CHAIN[:] = [source]


def register_agreement(source: AgreementSource) -> None:
    """By benchmark what the row shows, in a fixed number of queries."""
    _AGREEMENT[:] = [source]


def register_recent(source: RecentSource) -> None:
    """How many answers were given at these stages since then, and by how many people. One query."""
    _RECENT[:] = [source]


@dataclass(frozen=True)
class BenchmarkListPage:
    """`recent`: answers of the last day in the rows' benchmarks, and how many people gave them."""

    rows: Sequence[BenchmarkRow]
    others: Sequence[Benchmark]
    recent: tuple[int, int] | None = None

    @property
    def recent_text(self) -> str:
        """Empty where nobody answered."""
        answers, people = self.recent or (0, 0)
        if not answers:
            return ""
        text = ngettext(
            "Answers in the last 24 hours: %(answers)s, from %(n)s person.",
            "Answers in the last 24 hours: %(answers)s, from %(n)s people.",
            people,
        )
        return text % {"answers": board_number(answers), "n": board_number(people)}

    @property
    def n_waiting(self) -> int:
        return sum(row.action is not None for row in self.rows)


def benchmark_list(visible: QuerySet[Benchmark], user: User, at: datetime) -> BenchmarkListPage:
    """Those first in which something waits for this person, then by team and name. As many queries for one benchmark as
    for WHOLE, but where items wait for a fact: why is read of each such stage."""
    benchmarks = list(benchmark_rows(visible, user))
    shown = benchmarks[:WHOLE]
    prefetch_related_objects(shown, "stages")
    stages = [stage for benchmark in shown for stage in benchmark.stages.all()]
    summaries = _CHAIN[0](stages, at) if _CHAIN else {}
    agreement = _AGREEMENT[0](shown) if _AGREEMENT else {}
    pictures = sample_pictures(stages, SAMPLE)
    rows = []
    with permissions_asked_once(), read_together([*shown, *{row.team for row in shown}]):
        for benchmark in shown:
            waiting = list(islice(waiting_actions(benchmark, user), 1 + FURTHER))
            rows.append(_row(benchmark, summaries, pictures, agreement.get(benchmark.pk), waiting))
    recent = _RECENT[0](stages, at - timedelta(days=1)) if _RECENT else None
    return BenchmarkListPage(sorted(rows, key=lambda row: row.action is None), benchmarks[WHOLE:], recent)


def _row(
    benchmark: Benchmark,
    summaries: Mapping[int, StageSummary],
    pictures: Mapping[int, Sequence[ItemImage]],
    agreement: Mapping[str, Any] | None,
    waiting: Sequence[NextAction],
) -> BenchmarkRow:
    stages = list(benchmark.stages.all())
    asked = [summaries[stage.pk] for stage in stages if stage.pk in summaries]
    return BenchmarkRow(
        benchmark, _spread(benchmark, stages, pictures), asked[:STAGES], max(0, len(asked) - STAGES), agreement,
        next(iter(waiting), None), waiting[1:],
    )  # fmt: skip


def _spread(
    benchmark: Benchmark, stages: Sequence[Stage], pictures: Mapping[int, Sequence[ItemImage]]
) -> Sequence[ItemImage]:
    """A few of the stage with the most pictures, other ones in each benchmark."""
    most = max((pictures[stage.pk] for stage in stages), key=len, default=[])
    step = max(1, len(most) // PICTURES)
    return [most[(benchmark.pk + number * step) % len(most)] for number in range(min(PICTURES, len(most)))]
