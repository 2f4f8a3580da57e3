"""What the page of a stage's filters shows."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from django.utils.translation import gettext_lazy as _

from benchmarks.models import FilterResult, Item, Stage
from benchmarks.pages.filter_texts import filter_name, measured_text, result_texts, rule_text
from benchmarks.queries import filter_counts
from benchmarks.queries.filter_counts import FilterCounts
from benchmarks.rules.filters import FilterError, FilterRule, parse_filters
from benchmarks.rules.filters.registry import BY_HAND
from benchmarks.services.number_facts import facts_of_rule

LABELS = {"dropped": _("Dropped"), "waiting": _("Waiting"), "kept": _("Kept"), "by_hand": _("Decided by hand")}


@dataclass(frozen=True)
class FilterRow:
    """`measured`: what was measured when its limit was chosen, in the current version; empty where nothing was."""

    rule: FilterRule
    name: str
    text: str
    counts: FilterCounts
    measured: str = ""

    @property
    def has_limit(self) -> bool:
        """Whether its limit can be chosen by labels."""
        return self.rule.kind == "fact"


@dataclass(frozen=True)
class JudgedItemRow:
    """An item of the list. `decided`: a person decided about it. `awaits`: facts that the rule of acceptance reads and
    the item lacks: a decision by hand does not replace them."""

    item: Item
    reasons: list[str]
    decided: bool
    awaits: list[str]

    @property
    def may_keep(self) -> bool:
        return self.item.intake in (Item.Intake.DROPPED, Item.Intake.WAITING)

    @property
    def may_drop(self) -> bool:
        return self.item.intake != Item.Intake.DROPPED


@dataclass(frozen=True)
class FiltersPage:
    """`not_judged`: items that the newest version has not reached; `tabs`: what can be listed, with its number."""

    rows: list[FilterRow]
    error: str
    total: int
    counts: dict[str, int]
    not_judged: int
    tabs: list[tuple[str, str, int]]
    chosen: dict[str, str]
    items: list[JudgedItemRow]
    further: str


def filters_page(stage: Stage, query: Mapping[str, str], after: int) -> FiltersPage:
    """A fixed number of queries, whatever the number of items."""
    rules, error = read_rules(stage)
    newest = stage.filter_versions.order_by("-number").first()
    measured = newest.seen if newest is not None and newest.definition == stage.filters else {}
    by_filter = filter_counts.count_by_filter(newest)
    counts = filter_counts.count_by_state(stage)
    by_key = {rule.key: rule for rule in rules}
    show = query.get("show", "")
    chosen = {
        "show": show if show in filter_counts.SHOWN else "dropped",
        "filter": query.get("filter", "") if query.get("filter", "") in by_key else "",
    }
    items, further = filter_counts.judged_items(stage, newest, chosen, after)
    rule_facts = facts_of_rule(stage)
    return FiltersPage(
        rows=[
            FilterRow(
                rule,
                filter_name(rule),
                rule_text(rule),
                _counts(by_filter, rule.key),
                measured_text(measured[rule.key]) if rule.key in measured else "",
            )
            for rule in rules
        ],
        error=error,
        total=counts["kept"] + counts["dropped"] + counts["waiting"] + counts[""],
        counts=counts,
        not_judged=counts[""] if rules else 0,
        tabs=[(key, str(LABELS[key]), counts[key]) for key in filter_counts.SHOWN],
        chosen=chosen,
        items=[_item_row(item, by_key, rule_facts) for item in items],
        further=urlencode({**chosen, "after": further}) if further else "",
    )


def _counts(by_filter: Mapping[str, FilterCounts], key: str) -> FilterCounts:
    return by_filter.get(key, FilterCounts())


def read_rules(stage: Stage) -> tuple[tuple[FilterRule, ...], str]:
    """The filters of a stage, and what is wrong where they cannot be read."""
    try:
        return parse_filters(stage.filters), ""
    except FilterError as error:
        return (), str(error)


def _item_row(item: Item, rules: Mapping[str, FilterRule], rule_facts: Collection[str]) -> JudgedItemRow:
    results: list[FilterResult] = list(item.filter_results.all())
    decided = any(result.key == BY_HAND for result in results)
    known = {fact.key for fact in item.facts.all()} if rule_facts else set()
    return JudgedItemRow(item, result_texts(results, rules), decided, sorted(set(rule_facts) - known))
