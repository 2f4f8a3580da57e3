"""Candidates with a score, and what people say of them: what a limit of a filter is chosen by."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.models import ItemSource, Rating
from annotation.services.review.outcomes import facts_of
from benchmarks.models import Stage
from benchmarks.queries.availability import kept_without
from benchmarks.rules.derivations.contract import read_number
from benchmarks.rules.filters import FilterRule
from people.models import Rater


@dataclass(frozen=True)
class Limit:
    """Which end of a filter by a fact is chosen: `side` "least" or "most". Scores are turned so that large is good."""

    fact: str
    side: str
    other_end: float | None

    @classmethod
    def of_rule(cls, rule: FilterRule) -> Limit:
        """The lower limit where there is one, which keeps its upper one as it is; else the upper limit."""
        params = rule.params
        if params.get("least") is not None:
            return cls(str(params["key"]), "least", params.get("most"))
        return cls(str(params["key"]), "most", None)

    @property
    def sign(self) -> int:
        return 1 if self.side == "least" else -1

    def includes(self, score: float) -> bool:
        """Whether the other end of the filter lets it through."""
        return self.other_end is None or score <= self.other_end


@dataclass(frozen=True)
class LabelledScores:
    """Candidates with a score and a majority of people.

    Attributes:
        items: their ids.
        scores: as `Limit` turns them.
        right: whether most people call them relevant.
        people: how many people that is; `cohorts`: how many cohorts they answered for.
        tied: candidates of which people are divided; they are left out.
        unlabelled: candidates with a score that nobody labelled.
        beyond: labelled candidates that the other end of the filter drops; they are left out.
    """

    items: Sequence[int] = ()
    scores: Sequence[float] = ()
    right: Sequence[bool] = ()
    people: int = 0
    cohorts: int = 0
    tied: int = 0
    unlabelled: int = 0
    beyond: int = 0


@dataclass(frozen=True)
class _Vote:
    candidate: int
    rater: int
    cohort: int | None
    right: bool


def labelled_scores(
    stage: Stage, rule: FilterRule, labels: Stage, field: str, codes: Collection[str]
) -> LabelledScores:
    """Labels of candidates of `stage` that every filter but `rule` keeps, by the majority of counted people.

    `labels`: the stage where people answered: one that is derived from `stage`, or `stage` itself. `codes`: the
    answers to `field` that mean relevant. A person has one vote of a candidate, the newest. Six queries.
    """
    limit = Limit.of_rule(rule)
    scores = scores_of(kept_without(stage, rule.key).values_list("pk", flat=True), limit.fact)
    included = {pk: score for pk, score in scores.items() if limit.includes(score)}
    votes = _votes(stage, labels, field, codes, scores)
    counted = [vote for vote in votes if vote.candidate in included]
    shares = _shares(counted)
    known = [pk for pk, share in sorted(shares.items()) if share != 0.5]
    return LabelledScores(
        items=known,
        scores=[limit.sign * included[pk] for pk in known],
        right=[shares[pk] > 0.5 for pk in known],
        people=len({vote.rater for vote in counted}),
        cohorts=len({vote.cohort for vote in counted}),
        tied=len(shares) - len(known),
        unlabelled=len(included) - len(shares),
        beyond=len({vote.candidate for vote in votes} - included.keys()),
    )


def scores_of(items: Iterable[int], fact: str) -> dict[int, float]:
    """Of these items, the newest fact of this key that is a number."""
    values = {pk: read_number(facts.get(fact)) for pk, facts in facts_of(list(items)).items()}
    return {pk: value for pk, value in sorted(values.items()) if value is not None}


def _votes(stage: Stage, labels: Stage, field: str, codes: Collection[str], scores: Mapping[int, Any]) -> list[_Vote]:
    candidates = _candidate_of_item(stage, labels)
    rows = Rating.objects.filter(
        unit__item__stage=labels, unit__item__withdrawn_at=None, field=field, live=True, counted=True,
        rater__kind=Rater.Kind.PERSON,
    ).order_by("pk").values_list("unit__item", "rater", "cohort", "code")  # fmt: skip
    newest: dict[tuple[int, int], _Vote] = {}
    for item, rater, cohort, code in rows:
        candidate = item if labels == stage else candidates.get(item)
        if candidate is not None and candidate in scores:
            newest[candidate, rater] = _Vote(candidate, rater, cohort, code in codes)
    return list(newest.values())


def _candidate_of_item(stage: Stage, labels: Stage) -> dict[int, int]:
    """The candidate that each item of a labelling stage was made of; items made of several are left out."""
    if labels == stage:
        return {}
    rows = ItemSource.objects.filter(item__stage=labels, source__stage=stage).values_list("item", "source")
    candidates: dict[int, set[int]] = defaultdict(set)
    for item, source in rows:
        candidates[item].add(source)
    return {item: next(iter(sources)) for item, sources in candidates.items() if len(sources) == 1}


def _shares(votes: Iterable[_Vote]) -> dict[int, float]:
    """By candidate, the share of people who call it relevant."""
    by_candidate: dict[int, list[bool]] = defaultdict(list)
    for vote in votes:
        by_candidate[vote.candidate].append(vote.right)
    return {pk: sum(rights) / len(rights) for pk, rights in by_candidate.items()}


def labelling_stages(stage: Stage, key: str) -> list[Stage]:
    """The stages whose answers may label candidates: drawn without this filter first, then others, then their own."""
    derived = [
        later
        for later in stage.benchmark.stages.all()
        if stage.key in (later.derivation.get("from") or ()) and later.derivation.get("kind") in ("sample", "promote")
    ]
    return [*sorted(derived, key=lambda later: later.derivation.get("without") != key), stage]
