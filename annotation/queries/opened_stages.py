"""Which stages of a benchmark were opened, or ask somebody now, for pages that ask it of one benchmark or of many."""

from collections.abc import Mapping, Sequence

from django.db.models import Exists, OuterRef, QuerySet

from annotation.models import Annotation, Campaign, Slot
from benchmarks.models import Benchmark
from benchmarks.queries.stage_states import by_benchmark
from jobs.queries.read_together import read_for_each
from people.models import CohortMember

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


def lacks_people(benchmark: Benchmark) -> bool:
    """Whether an open campaign wants answers, and nobody has joined a cohort that is asked or answered anything."""
    return bool(read_for_each(benchmark, _without_people))


def _without_people(benchmarks: Sequence[Benchmark]) -> Mapping[int, bool]:
    wanted = Slot.objects.filter(
        open=True,
        cohort__campaign__state=Campaign.State.OPEN,
        cohort__campaign__stage__benchmark=OuterRef("pk"),
    )
    members = CohortMember.objects.filter(
        left_at=None,
        cohort__campaigns__campaign__state__in=RUNNING,
        cohort__campaigns__campaign__stage__benchmark=OuterRef("pk"),
    )
    answers = Annotation.objects.filter(rater__kind="person", assignment__campaign__stage__benchmark=OuterRef("pk"))
    ids = [row.pk for row in benchmarks]
    rows = Benchmark.objects.filter(Exists(wanted), ~Exists(members), ~Exists(answers), pk__in=ids)
    return dict.fromkeys(rows.order_by().values_list("pk", flat=True), True)


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
