"""Disagreements of people that nobody has settled yet, by stage and cohort."""

from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef

from annotation.models import Campaign, Resolution
from annotation.queries.resolutions import settles_disputes
from benchmarks.models import Benchmark, Item, Stage

RUNNING = (Campaign.State.OPEN, Campaign.State.PAUSED)


@dataclass(frozen=True)
class OpenDisputes:
    """`cohort`: the origin of the items. `is_asked`: whether a campaign of the stage is running."""

    stage: Stage
    cohort: str
    n: int
    is_asked: bool


def open_disputes(benchmark: Benchmark) -> list[OpenDisputes]:
    """In the order of stages, then of cohorts. Three queries; one where no stage settles anything."""
    stages = {stage.pk: stage for stage in benchmark.stages.all() if settles_disputes(stage)}
    if not stages:
        return []
    settled = Resolution.objects.filter(live=True, annotation__assignment__unit__item=OuterRef("pk"))
    items = Item.objects.filter(~Exists(settled), stage__in=stages, withdrawn_at=None).order_by()
    counted = items.values_list("stage", "origin").annotate(n=Count("pk"))
    asked = set(Campaign.objects.filter(stage__in=stages, state__in=RUNNING).values_list("stage", flat=True))
    rows = [OpenDisputes(stages[pk], origin, n, pk in asked) for pk, origin, n in counted]
    return sorted(rows, key=lambda row: (row.stage.position, row.cohort))
