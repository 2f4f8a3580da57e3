"""On an item's page: the items that it is made of, and what was made of it in later stages."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext_lazy

from annotation.models import ItemSource
from benchmarks.models import Item, Stage
from benchmarks.pages.panels import Panel

MOST = 20
ROLES = {
    "item": gettext_lazy("the item itself"),
    "candidate": gettext_lazy("the answer that is judged"),
    "reference": gettext_lazy("a reference"),
}


@dataclass(frozen=True)
class LinkedItem:
    """`role`: as what it was used; empty where there is only one way."""

    item: Item
    role: str


@dataclass(frozen=True)
class DerivedItems:
    """Items of one stage that are made of an item: the first MOST, and how many there are with those withdrawn."""

    stage: Stage
    items: Sequence[Item]
    total: int


@dataclass(frozen=True)
class ItemOrigin:
    sources: Sequence[LinkedItem]
    derived: Sequence[DerivedItems]


def item_origin(item: Item) -> ItemOrigin | None:
    """Two queries. None for an item that was imported and used nowhere."""
    rows = ItemSource.objects.filter(item=item).select_related("source__stage").order_by("pk")
    sources = {(row.source_id, row.role): LinkedItem(row.source, _role(row.role)) for row in rows[:200]}
    derived: dict[int, dict[int, Item]] = {}
    later = ItemSource.objects.filter(source=item).select_related("item__stage").order_by("item__stage", "item")
    for row in later[:2000]:
        derived.setdefault(row.item.stage_id, {})[row.item_id] = row.item
    groups = [list(items.values()) for items in derived.values()]
    if not sources and not groups:
        return None
    return ItemOrigin(
        list(sources.values()), [DerivedItems(items[0].stage, items[:MOST], len(items)) for items in groups]
    )


def _role(role: str) -> str:
    return str(ROLES.get(role, role))


PANEL = Panel(
    "annotation/item_origin.html", item_origin, anchor="origin", title=gettext_lazy("Earlier and later stages")
)
