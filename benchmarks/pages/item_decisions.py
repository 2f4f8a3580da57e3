"""On an item's page: what the filters of its stage and people decided on it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext_lazy

from benchmarks.models import FilterResult, Item
from benchmarks.pages.filter_texts import filter_name, result_text
from benchmarks.pages.filters import read_rules
from benchmarks.pages.panels import Panel
from benchmarks.rules.filters.registry import BY_HAND

STYLES = {FilterResult.State.KEPT: "ok", FilterResult.State.DROPPED: "no", FilterResult.State.WAITING: "wait"}


@dataclass(frozen=True)
class FilterDecision:
    """`name`: of the filter; empty of a decision by hand. `text`: why it was dropped, or what it waits for."""

    name: str
    state: str
    style: str
    text: str
    at: datetime


@dataclass(frozen=True)
class ItemDecisions:
    item: Item
    rows: Sequence[FilterDecision]
    version: int


def item_decisions(item: Item) -> ItemDecisions | None:
    """Results of the newest version of the filters, the decision by hand first. Two queries; None without filters."""
    rules, _error = read_rules(item.stage)
    by_key = {rule.key: rule for rule in rules}
    results = list(item.filter_results.select_related("version", "decided_by").order_by("pk"))
    newest = max((result.version.number for result in results if result.key != BY_HAND), default=0)
    shown = [result for result in results if result.key == BY_HAND or result.version.number == newest]
    if not shown:
        return None
    shown.sort(key=lambda result: result.key != BY_HAND)
    rows = []
    for result in shown:
        state = FilterResult.State(result.state)
        is_reason = result.key == BY_HAND or state != FilterResult.State.KEPT
        rows.append(
            FilterDecision(
                filter_name(by_key[result.key]) if result.key in by_key else "",
                str(state.label),
                STYLES[state],
                result_text(result, by_key) if is_reason else "",
                result.decided_at or result.version.created_at,
            )
        )
    return ItemDecisions(item, rows, newest)


PANEL = Panel("benchmarks/item_decisions.html", item_decisions, anchor="filters", title=gettext_lazy("Filters"))
