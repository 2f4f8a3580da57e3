"""What a bulk action on items is about, as the explorer posts it."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import parse_qsl

from django.http import QueryDict

from annotation.services.bulk_actions import ACTIONS, ItemAction
from benchmarks.imports.records import clean
from benchmarks.models import Benchmark, Item
from benchmarks.queries.asked_items import asked_items, has_lost_choice, params_of
from benchmarks.queries.item_selection import ItemSelection
from jobs.formats.numbers import parse_id

ALL, SELECTED = "all", "selected"
MOST_SELECTED = 1000
LONGEST_REASON = 500
KEYS = "keys"


@dataclass(frozen=True)
class PostedAction:
    """`action`: None for the download of keys. `ids`: None for all that match. `is_wider`: the page had a choice that
    is no longer on offer, so more items match than it showed."""

    action: ItemAction | None
    selection: ItemSelection
    ids: list[int] | None
    reason: str
    is_wider: bool = False

    @property
    def asked(self) -> dict[str, str]:
        return params_of(self.selection)

    @property
    def lacks_reason(self) -> bool:
        return self.action is not None and self.action.needs_reason and not self.reason

    @property
    def is_empty(self) -> bool:
        return self.ids is not None and not self.ids


def posted_action(benchmark: Benchmark, posted: QueryDict) -> PostedAction | None:
    """None for what no page of this benchmark posts."""
    key = posted.get("do", "")
    query = dict(parse_qsl(posted.get("query", "")))
    selection = asked_items(benchmark, query)
    if selection is None or (key not in ACTIONS and key != KEYS):
        return None
    ids = None
    if posted.get("scope") != ALL:
        wanted = [parse_id(value) for value in posted.getlist("item")[:MOST_SELECTED]]
        own = Item.objects.filter(pk__in=wanted, stage__benchmark=benchmark)
        ids = list(own.order_by("pk").values_list("pk", flat=True))
    is_wider = ids is None and has_lost_choice(selection, query)
    return PostedAction(ACTIONS.get(key), selection, ids, clean(posted.get("reason"))[:LONGEST_REASON], is_wider)
