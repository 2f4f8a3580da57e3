"""Disagreements of people that nobody has settled yet, by stage and cohort."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count, Exists, Max, Min, OuterRef

from annotation.models import Campaign, Resolution
from annotation.queries.opened_stages import RUNNING
from annotation.queries.resolutions import settles_disputes
from benchmarks.models import Benchmark, Item, Stage
from benchmarks.queries.availability import is_available
from benchmarks.queries.cultures import culture
from jobs.queries.read_together import read_for_each


@dataclass(frozen=True)
class OpenDisputes:
    """`cohort`: the culture of the items; `origin`: the same, if it is their origin, by which items are listed.
    `is_asked`: whether a campaign of the stage is running."""

    stage: Stage
    cohort: str
    n: int
    is_asked: bool
    origin: str = ""


def open_disputes(benchmark: Benchmark) -> list[OpenDisputes]:
    """In the order of stages, then of cohorts. Three queries; one where no stage settles anything."""
    if not any(map(settles_disputes, benchmark.stages.all())):
        return []
    return list(read_for_each(benchmark, _disputes_of_each) or ())


def _disputes_of_each(benchmarks: Sequence[Benchmark]) -> Mapping[int, Sequence[OpenDisputes]]:
    rows: dict[int, list[OpenDisputes]] = defaultdict(list)
    stages = {stage.pk: stage for row in benchmarks for stage in row.stages.all() if settles_disputes(stage)}
    settled = Resolution.objects.filter(live=True, annotation__assignment__unit__item=OuterRef("pk"))
    items = Item.objects.filter(is_available(), ~Exists(settled), stage__in=stages).order_by()
    by_culture = items.annotate(of_culture=culture()).values_list("stage", "of_culture")
    counted = by_culture.annotate(n=Count("pk"), first=Min("origin"), last=Max("origin"))
    asked = set(Campaign.objects.filter(stage__in=stages, state__in=RUNNING).values_list("stage", flat=True))
    for pk, cohort, n, first, last in sorted(counted, key=lambda row: (stages[row[0]].position, row[1])):
        origin = cohort if first == last == cohort else ""
        rows[stages[pk].benchmark_id].append(OpenDisputes(stages[pk], cohort, n, pk in asked, origin))
    return rows
