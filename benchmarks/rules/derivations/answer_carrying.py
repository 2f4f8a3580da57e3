"""Whether the items of a derivation hold answers, so that whoever sees them judges what somebody said. Pure."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

from benchmarks.rules.derivations import pair, promote
from benchmarks.rules.derivations.contract import grouping_fields

ONE_CULTURE = frozenset({"unit.target", "unit.cohort", "item.origin"})


def _promoted(params: Mapping[str, Any]) -> bool:
    """A picture that people picked is one of the item's own."""
    return not params.get("picked") and promote.carries_answers(params)


HOLDS: Mapping[str, Callable[[Mapping[str, Any]], bool]] = {
    "verdicts": lambda params: True,
    "disagree": lambda params: True,
    "promote": _promoted,
    "sample": _promoted,
    "pair": pair.carries_answers,
}


def holds_answers(derivation: Mapping[str, Any]) -> bool:
    """Of a derivation as a stage stores it, also an incomplete one."""
    holds, params = HOLDS.get(str(derivation.get("kind"))), derivation.get("params")
    return holds is not None and holds(params if isinstance(params, Mapping) else {})


def holds_answers_of(derivation: Mapping[str, Any], stages: Collection[str]) -> bool:
    """Whether the items hold answers, and are made of one of these stages."""
    return holds_answers(derivation) and not set(stages).isdisjoint(derivation.get("from") or ())


def may_mix_cultures(derivation: Mapping[str, Any]) -> bool:
    """Whether one item may hold answers about two cultures."""
    params = derivation.get("params") or {}
    return derivation.get("kind") == "pair" and not ONE_CULTURE & set(grouping_fields(params))
