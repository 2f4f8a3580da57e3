"""Which stages of a benchmark were opened, or ask somebody now, for pages that ask it of one benchmark or of many."""

from collections.abc import Mapping, Sequence

from django.db.models import Exists, OuterRef, QuerySet

from annotation.models import Campaign, Slot
from benchmarks.models import Benchmark
from benchmarks.queries.stage_states import by_benchmark
from jobs.queries.read_together import read_for_each

RUNNING = (Campaign.State.OPEN, Campaign.State.PAUSED)


def opened_stages(benchmark: Benchmark) -> frozenset[int]:
    """Stages with a campaign that is open, or was."""
    return read_for_each(benchmark, _opened) or frozenset()


def running_stages(benchmark: Benchmark) -> frozenset[int]:
    """Stages with a campaign that is open or paused."""
    return read_for_each(benchmark, _running) or frozenset()


def stages_with_open_work(benchmark: Benchmark) -> frozenset[int]:
    """Stages in which an answer is still wanted."""
    return read_for_each(benchmark, _with_open_work) or frozenset()


def _opened(benchmarks: Sequence[Benchmark]) -> Mapping[int, frozenset[int]]:
    return _stages_of(Campaign.objects.filter(stage__benchmark__in=benchmarks, opened_at__isnull=False))


def _running(benchmarks: Sequence[Benchmark]) -> Mapping[int, frozenset[int]]:
    return _stages_of(Campaign.objects.filter(stage__benchmark__in=benchmarks, state__in=RUNNING))


def _with_open_work(benchmarks: Sequence[Benchmark]) -> Mapping[int, frozenset[int]]:
    campaigns = Campaign.objects.filter(stage__benchmark__in=benchmarks)
    open_slots = Slot.objects.filter(cohort__campaign=OuterRef("pk"), open=True)
    return _stages_of(campaigns.filter(Exists(open_slots)))


def _stages_of(campaigns: QuerySet[Campaign]) -> Mapping[int, frozenset[int]]:
    return by_benchmark(campaigns.order_by().values_list("stage__benchmark", "stage").distinct())
