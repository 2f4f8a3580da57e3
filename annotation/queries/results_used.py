"""How much of a stage goes on to the stages that take its results."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count

from annotation.models import ItemSource
from benchmarks.models import Item, ItemImage, Stage
from benchmarks.queries.availability import is_kept

UNGROUP = "ungroup"


@dataclass(frozen=True)
class ResultsUsed:
    """`n` of `total` items, or pictures of sheets, go on to the `later` stage."""

    later: Stage
    n: int
    total: int

    @property
    def are_pictures(self) -> bool:
        return str((self.later.derivation or {}).get("kind")) == UNGROUP


def later_stages(stage: Stage) -> list[Stage]:
    """The stages that take items from this one."""
    others = stage.benchmark.stages.exclude(pk=stage.pk)
    return [later for later in others if stage.key in (later.derivation or {}).get("from", ())]


def results_used(stage: Stage) -> list[ResultsUsed]:
    """By later stage. Three queries for each kind of later stage at most."""
    later = later_stages(stage)
    if not later:
        return []
    links = ItemSource.objects.filter(source__stage=stage, source__withdrawn_at=None, item__withdrawn_at=None)
    links = links.filter(item__stage__in=later).order_by()
    used = dict(links.values_list("item__stage").annotate(n=Count("source", distinct=True)))
    item_counts = dict(links.values_list("item__stage").annotate(n=Count("item", distinct=True)))
    items, pictures = _totals(stage, later)
    rows = []
    for after in later:
        of_pictures = str((after.derivation or {}).get("kind")) == UNGROUP
        counts = item_counts if of_pictures else used
        rows.append(ResultsUsed(after, counts.get(after.pk, 0), pictures if of_pictures else items))
    return rows


def _totals(stage: Stage, later: Sequence[Stage]) -> tuple[int, int]:
    """Items of the stage, and pictures on them where a later stage takes pictures."""
    live = Item.objects.filter(is_kept(), stage=stage)
    takes_pictures = any(str((after.derivation or {}).get("kind")) == UNGROUP for after in later)
    return live.count(), ItemImage.objects.filter(item__in=live).count() if takes_pictures else 0
