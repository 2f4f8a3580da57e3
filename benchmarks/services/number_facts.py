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


def _read_by_filters(stage: Stage) -> list[str]:
    try:
        return [rule.needs for rule in parse_filters(stage.filters) if rule.kind == "fact"]
    except FilterError:
        return []


def _read_by_rule(stage: Stage) -> Collection[str]:
    if stage.acceptance != Stage.Acceptance.BY_RULE:
        return ()
    try:
        return Rule.from_json(stage.acceptance_rule).number_facts
    except RuleError:
        return ()
