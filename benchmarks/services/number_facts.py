"""Facts that a stage reads as numbers: an import refuses a row that gives one of them another value.

Filters and the acceptance rule are known here; the apps above register what else reads facts of a stage's items.
"""

from collections.abc import Callable, Collection

from benchmarks.models import Stage
from benchmarks.rules.acceptance import Rule, RuleError
from benchmarks.rules.filters import FilterError, parse_filters

Reader = Callable[[Stage], Collection[str]]
_READERS: list[Reader] = []


def register(reader: Reader) -> None:
    """`reader(stage)` gives keys of facts. Registering twice adds nothing."""
    if reader not in _READERS:
        _READERS.append(reader)


def facts_read_as_numbers(stage: Stage) -> frozenset[str]:
    """Keys of facts. What is written wrongly reads none."""
    return frozenset({*_read_by_filters(stage), *_read_by_rule(stage)}.union(*(reader(stage) for reader in _READERS)))


def facts_of_rule(stage: Stage) -> frozenset[str]:
    """Keys of facts that the stage's rule of acceptance reads: without one of them it decides nothing."""
    rule = _rule_of(stage)
    return rule.facts if rule else frozenset()


def _rule_of(stage: Stage) -> Rule | None:
    if stage.acceptance != Stage.Acceptance.BY_RULE:
        return None
    try:
        return Rule.from_json(stage.acceptance_rule)
    except RuleError:
        return None


def _read_by_filters(stage: Stage) -> list[str]:
    try:
        return [rule.needs for rule in parse_filters(stage.filters) if rule.kind == "fact"]
    except FilterError:
        return []


def _read_by_rule(stage: Stage) -> Collection[str]:
    rule = _rule_of(stage)
    return rule.number_facts if rule else ()
