"""One page of the explorer: its items, how many there are, and what to do where there are none."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _

from benchmarks.models import Item, StageTally
from benchmarks.pages.item_explorer import ItemExplorer
from benchmarks.queries.item_selection import MOST_COUNTED
from benchmarks.queries.items import load_items


@dataclass(frozen=True)
class ItemList:
    """`total`: at most MOST_COUNTED; `is_more`: there are more than that. `first`, `earlier` and `later` are addresses.
    `is_partial`: the order leaves out items without a value. `known_at`: as of when disagreement is known, of the stage
    that is furthest behind; None where it is not asked for, or was never computed."""

    items: Sequence[Item]
    total: int
    is_more: bool
    first: str
    earlier: str
    later: str
    is_partial: bool
    by_disagreement: bool
    known_at: datetime | None
    note: str

    @property
    def pages(self) -> bool:
        return bool(self.earlier or self.later)


def item_list(explorer: ItemExplorer, after: int, before: int) -> ItemList:
    """The page after or before an item. The same number of queries for each page of a selection."""
    selection = explorer.selection
    page = selection.page(after=after, before=before)
    total = selection.count()
    sorted_by_value = selection.sort.field.startswith("tally")
    by_disagreement = bool(selection.disagreement) or sorted_by_value
    note = ""
    if selection.text and not selection.searches_parts:
        note = _(
            "Whole words and beginnings of words were searched. Parts of words are searched where the other filters"
            " leave at most %(n)s items."
        ) % {"n": f"{MOST_COUNTED:,}"}
    return ItemList(
        load_items(page.ids),
        min(total, MOST_COUNTED),
        total > MOST_COUNTED,
        explorer.query if page.before else "",
        explorer.with_value("before", page.ids[0]) if page.before and page.ids else "",
        explorer.with_value("after", page.ids[-1]) if page.after and page.ids else "",
        sorted_by_value,
        by_disagreement,
        _known_at(explorer) if by_disagreement else None,
        note,
    )


def _known_at(explorer: ItemExplorer) -> datetime | None:
    times = StageTally.objects.filter(stage__in=explorer.selection.stages).order_by("at").values_list("at", flat=True)
    return times.first()
