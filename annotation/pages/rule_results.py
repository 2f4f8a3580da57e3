"""What an item's page says of the rule's verdicts on it: in which campaign, on how many answers, and what failed.

And the filter by verdict on the page of all items.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet
from django.utils.translation import get_language, gettext, gettext_lazy

from annotation.models import Outcome
from annotation.services.sheets.rule_versions import rule_of
from annotation.sheets.sheet import localise
from benchmarks.models import Item, Stage
from benchmarks.pages.filter_texts import WAITS
from benchmarks.pages.panels import Panel
from benchmarks.queries.item_filters import Filter
from benchmarks.rules.acceptance import FACTS


@dataclass(frozen=True)
class FailedClause:
    """A clause in words. `answers`: how many failed it; None where the rule is put to their means."""

    words: str
    answers: int | None


@dataclass(frozen=True)
class RuleResult:
    """`waits_for`: what is missing. `score`: the mean of the answers' totals, and `most` the most there is; None where
    the rule has none. `least`: how many answers must meet everything; 0 where it is more than half."""

    outcome: Outcome
    waits_for: list[str]
    failed: list[FailedClause]
    score: float | None
    most: float
    least: int = 0


def rule_results(item: Item) -> list[RuleResult] | None:
    """One query. The newest verdict first."""
    rows = Outcome.objects.filter(unit__item=item).select_related("campaign", "rule_version", "unit")
    return [_rule_result(row) for row in rows.order_by("-at", "-pk")] or None


def _rule_result(outcome: Outcome) -> RuleResult:
    rule = rule_of(outcome.rule_version)
    numbers: Mapping[str, Any] = outcome.numbers
    counts = numbers.get("clauses", {})
    language = get_language() or "en"
    gates = {f"{FACTS}{key}": (key, *values) for key, values in numbers.get("gates", {}).items()}
    failed = [
        _failed_gate(*gates[key])
        if key in gates
        else FailedClause(localise(rule.words(key), language), counts.get(key))
        for key in outcome.failed
    ]
    waits = [str(WAITS.get(name, name)) for name in outcome.waits_for]
    most = rule.score.maximum if rule.score else 0
    return RuleResult(outcome, waits, failed, numbers.get("score"), most, rule.least)


def _failed_gate(key: str, value: float, at_least: float) -> FailedClause:
    """A number known of the item that a question needs."""
    words = gettext("%(fact)s is %(value)s, and at least %(least)s is needed")
    return FailedClause(words % {"fact": key, "value": f"{value:g}", "least": f"{at_least:g}"}, None)


def choices(stage: Stage) -> Sequence[tuple[str, str]]:
    if stage.acceptance != Stage.Acceptance.BY_RULE:
        return []
    accepted, rejected, undecided = Outcome.State.ACCEPTED, Outcome.State.REJECTED, Outcome.State.UNDECIDED
    waiting = Outcome.State.WAITING
    return [
        (accepted.value, str(accepted.label)),
        (rejected.value, str(rejected.label)),
        (waiting.value, str(waiting.label)),
        (undecided.value, gettext("Not decided yet")),
    ]


def filter_by_result(items: QuerySet[Item], state: str) -> QuerySet[Item]:
    """Items that the rule says so of in any campaign; undecided are all that it neither accepted nor rejected."""
    outcomes = Outcome.objects.filter(unit__item=OuterRef("pk"))
    if state == Outcome.State.UNDECIDED:
        return items.filter(~Exists(outcomes.exclude(state=Outcome.State.UNDECIDED)))
    return items.filter(Exists(outcomes.filter(state=state)))


FILTER = Filter("verdict", gettext_lazy("What the rule says"), choices, filter_by_result)
PANEL = Panel("annotation/verdict.html", rule_results, anchor="verdict", title=gettext_lazy("What the rule says"))
