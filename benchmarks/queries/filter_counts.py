"""What the filters of a stage did, counted and listed for its page."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from django.db import connection
from django.db.models import Count, Exists, OuterRef, Prefetch, Q, QuerySet, Subquery

from benchmarks.models import FilterResult, FilterVersion, Item, ItemFact, ItemImage, Stage
from benchmarks.rules.filters.registry import BY_HAND

PAGE = 30
SHOWN = ("dropped", "waiting", "kept", "by_hand")
COUNTS = """
SELECT key, count(*) FILTER (WHERE state = 'dropped'), count(*) FILTER (WHERE state = 'dropped' AND n = 1),
  count(*) FILTER (WHERE state = 'waiting' AND intake = 'waiting')
FROM (
  SELECT r.key, r.state, i.intake, count(*) FILTER (WHERE r.state = 'dropped') OVER (PARTITION BY r.item_id) AS n
  FROM benchmarks_filterresult r JOIN benchmarks_item i ON i.id = r.item_id
  WHERE r.version_id = %s AND r.key <> 'by_hand' AND i.withdrawn_at IS NULL
) judged GROUP BY key
"""


@dataclass(frozen=True)
class FilterCounts:
    """Of one filter: items that it drops, that no other filter drops, and that wait for it."""

    dropped: int = 0
    alone: int = 0
    waiting: int = 0


def count_by_filter(version: FilterVersion | None) -> dict[str, FilterCounts]:
    """By the key of the filter, of items that are not withdrawn. One query."""
    if version is None:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(COUNTS, [version.pk])
        return {key: FilterCounts(*counts) for key, *counts in cursor.fetchall()}


def count_by_state(stage: Stage) -> dict[str, int]:
    """Items that are not withdrawn: kept, dropped, waiting, by_hand, and "" for those not judged yet."""
    rows = stage.items.filter(withdrawn_at=None).order_by().values_list("intake").annotate(n=Count("pk"))
    by_hand = FilterResult.objects.filter(key=BY_HAND, item__stage=stage, item__withdrawn_at=None).count()
    return {**dict.fromkeys(("", "kept", "dropped", "waiting"), 0), **dict(rows), "by_hand": by_hand}


def count_waiting(stages: Iterable[Stage]) -> dict[int, dict[str, int]]:
    """Items that wait, by stage and by the name of what a filter waits for. One query."""
    newest = FilterVersion.objects.filter(stage=OuterRef("item__stage")).order_by("-number").values("pk")[:1]
    rows = FilterResult.objects.filter(
        item__stage__in=stages,
        item__withdrawn_at=None,
        item__intake=Item.Intake.WAITING,
        state=FilterResult.State.WAITING,
        version=Subquery(newest),
    )
    counts: dict[int, dict[str, int]] = {}
    grouped = rows.order_by().values_list("item__stage", "value").annotate(n=Count("item", distinct=True))
    for stage, name, n in grouped:
        counts.setdefault(stage, {})[str(name)] = n
    return counts


def filter_waits(item_ids: Collection[int]) -> dict[int, list[str]]:
    """Of the items that wait, the names of what their filters wait for. One query."""
    newest = FilterVersion.objects.filter(stage=OuterRef("item__stage")).order_by("-number").values("pk")[:1]
    rows = FilterResult.objects.filter(
        item__in=item_ids,
        item__intake=Item.Intake.WAITING,
        state=FilterResult.State.WAITING,
        version=Subquery(newest),
    )
    waits: dict[int, list[str]] = {}
    for item, name in rows.order_by("item", "pk").values_list("item", "value"):
        waits.setdefault(item, []).append(str(name))
    return waits


def items_waiting_for(stage: Stage, name: str) -> QuerySet[Item]:
    """Items that wait, of which a filter waits for this."""
    newest = stage.filter_versions.order_by("-number").values("pk")[:1]
    results = FilterResult.objects.filter(
        item=OuterRef("pk"), version=Subquery(newest), state=FilterResult.State.WAITING, value=name
    )
    return stage.items.filter(Exists(results), withdrawn_at=None, intake=Item.Intake.WAITING)


def judged_items(
    stage: Stage, version: FilterVersion | None, chosen: Mapping[str, str], after: int
) -> tuple[list[Item], int | None]:
    """One page of items with their results, and the key to continue after; None at the end.

    `chosen`: `show` (one of SHOWN) and `filter` (the key of a filter that dropped or holds the item).
    """
    items: QuerySet[Item] = stage.items.filter(withdrawn_at=None, pk__gt=after)
    results = FilterResult.objects.filter(Q(version=version) | Q(key=BY_HAND))
    if chosen["show"] == BY_HAND:
        items = items.filter(Exists(FilterResult.objects.filter(item=OuterRef("pk"), key=BY_HAND)))
    else:
        items = items.filter(intake=chosen["show"])
    if chosen["filter"]:
        of_filter = results.filter(item=OuterRef("pk"), key=chosen["filter"]).exclude(state=FilterResult.State.KEPT)
        items = items.filter(Exists(of_filter))
    pictures = Prefetch("images", ItemImage.objects.select_related("image").order_by("role"))
    reasons = Prefetch("filter_results", results.select_related("decided_by").order_by("pk"))
    rows = list(items.order_by("pk").prefetch_related(pictures, reasons, "facts")[: PAGE + 1])
    return rows[:PAGE], rows[PAGE - 1].pk if len(rows) > PAGE else None


def fact_keys(stage: Stage) -> list[str]:
    """Keys of facts that items of the stage have."""
    rows = ItemFact.objects.filter(item__stage=stage).order_by().values_list("key", flat=True).distinct()
    return sorted(rows)[:30]
