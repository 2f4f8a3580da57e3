"""All filters of a stage over its candidates. Pure: the result does not depend on the order of the candidates."""

from collections.abc import Iterable, Mapping, Sequence

from benchmarks.rules.filters.contract import Candidate, FilterOutcome, FilterState, within_of
from benchmarks.rules.filters.registry import KINDS, FilterRule

PRECEDENCE = (FilterState.DROPPED, FilterState.WAITING, FilterState.KEPT)
Outcomes = dict[int, dict[str, FilterOutcome]]


def judge_all(
    rules: Sequence[FilterRule], candidates: Iterable[Candidate], by_hand: Mapping[int, FilterState] | None = None
) -> Outcomes:
    """The outcome of every filter for every candidate, by id and filter key.

    Filters are judged in order. A candidate that an earlier filter drops is judged by the later ones too, but no other
    candidate is a duplicate of it. `by_hand`: decisions of people, by id; they take the place of earlier filters.
    """
    ordered = sorted(candidates, key=lambda candidate: (candidate.place, candidate.id))
    decisions = by_hand or {}
    outcomes: Outcomes = {candidate.id: {} for candidate in ordered}
    dropped_earlier = {pk for pk, state in decisions.items() if state == FilterState.DROPPED}
    for rule in rules:
        kind = KINDS[rule.kind]
        groups = group_candidates(rule, ordered) if kind.grouped else [ordered]
        dropped_now = set()
        for group in groups:
            judged = kind.judge(group, rule.params, dropped_earlier)
            for candidate, outcome in zip(group, judged, strict=True):
                outcomes[candidate.id][rule.key] = outcome
                if outcome.state == FilterState.DROPPED and candidate.id not in decisions:
                    dropped_now.add(candidate.id)
        dropped_earlier |= dropped_now
    return outcomes


def group_candidates(rule: FilterRule, candidates: Iterable[Candidate]) -> list[list[Candidate]]:
    """Candidates that share the values of `within`, in their order."""
    groups: dict[tuple[str, ...], list[Candidate]] = {}
    for candidate in candidates:
        groups.setdefault(group_values(rule, candidate.values), []).append(candidate)
    return list(groups.values())


def group_values(rule: FilterRule, values: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(values.get(name, "") for name in within_of(rule.params))


def combine(outcomes: Iterable[FilterOutcome], by_hand: FilterState | None = None) -> FilterState | None:
    """The state of a candidate: a decision by hand, else dropped before waiting before kept; None without filters."""
    if by_hand is not None:
        return by_hand
    states = {outcome.state for outcome in outcomes}
    return next((state for state in PRECEDENCE if state in states), None)
