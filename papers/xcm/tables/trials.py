"""Forced choices of runs as arrays: each trial's candidates by role, joined by the query's and the entries' keys."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from django.db.models import QuerySet

from benchmarks.rules.label_sets.countries import country_code
from evaluation.metrics.counts import Bools, Floats
from evaluation.tables.ranked_lists import by_family, family_of, labels_of
from evaluation.tables.sources import Usable
from evaluation.tables.table_inputs import TableInputs
from predictions.models import Query, Ranking, Run

THREE = ("correct", "language_biased", "irrelevant")
SIX = (
    "correct", "object_language_biased", "object_relevant", "descriptor_relevant", "language_biased", "irrelevant",
)  # fmt: skip
ORDER = ("US", "GB", "AU", "DE", "CN", "JP", "FR", "ES", "AR", "PT", "BR", "SA", "TH", "IN", "KE", "NG")  # the paper's


@dataclass(frozen=True)
class TrialCandidates:
    """What is asked: the candidate of each role (an entry's key), and what numbers are cut by."""

    key: str
    roles: Mapping[str, str] = field(hash=False)
    about: Mapping[str, Any] = field(hash=False)

    @property
    def country(self) -> str:
        return country_code(str(self.about.get("country") or ""))

    @property
    def cluster(self) -> str:
        """All images of one concept and country repeat one text."""
        concept, country = self.about.get("concept"), self.about.get("country")
        return f"{concept}\t{country}" if concept and country else f"\t{self.key}"


@dataclass(frozen=True, eq=False)
class TrialScores:
    """A run's n trials. `similarity` (n, c) by the order of `roles`, NaN where the run has none."""

    run: Run
    label: str
    roles: tuple[str, ...]
    trials: tuple[TrialCandidates, ...]
    similarity: Floats

    @property
    def group(self) -> str:
        return family_of(self.run)

    @cached_property
    def clusters(self) -> npt.NDArray[np.str_]:
        return np.array([trial.cluster for trial in self.trials], np.str_)

    @cached_property
    def countries(self) -> npt.NDArray[np.str_]:
        """Of the query: its language's culture."""
        return np.array([trial.country for trial in self.trials], np.str_)

    @property
    def described(self) -> bool:
        """Whether the queries name a country."""
        return any(trial.about.get("descriptor") for trial in self.trials)

    def where(self, mask: Bools) -> TrialScores:
        kept_trials = tuple(trial for trial, keep in zip(self.trials, mask, strict=True) if keep)
        return replace(self, trials=kept_trials, similarity=self.similarity[mask])


@dataclass(frozen=True)
class TrialKind:
    """Trials of one query set: how many candidates they have, and whether a query among them names a country."""

    n: int
    described: bool


def trial_kinds(runs: Sequence[Run]) -> dict[Run, frozenset[TrialKind]]:
    """Of each run of forced choices the kinds of trials in its query set."""
    read: dict[tuple[int, str], frozenset[TrialKind]] = {}
    for run in runs:
        place = run.pool.pk, run.query_set
        if place not in read:
            rows = Query.objects.filter(collection=place[0], query_set=place[1], roles__has_keys=list(THREE))
            six = rows.filter(roles__has_keys=list(SIX))
            parts = ((len(SIX), six), (len(THREE), rows.exclude(roles__has_keys=list(SIX))))
            read[place] = frozenset(TrialKind(n, _has_descriptor(part)) for n, part in parts if part.exists())
    return {run: read[run.pool.pk, run.query_set] for run in runs}


def _has_descriptor(rows: QuerySet[Query]) -> bool:
    return rows.filter(about__has_key="descriptor").exclude(about__descriptor="").exists()


def with_trials(n: int, *, described: bool | None = None) -> Usable:
    """Chooses runs over trials of n candidates; whose queries name a country or name none, where that is said."""
    wanted = {TrialKind(n, one) for one in ((True, False) if described is None else (described,))}

    def usable(runs: Sequence[Run]) -> list[Run]:
        return [run for run, kinds in trial_kinds(runs).items() if kinds & wanted]

    return usable


def with_both_queries(runs: Sequence[Run]) -> list[Run]:
    """Runs over trials of six of models that were asked with a country's name and without it, in the same way."""
    kinds = trial_kinds(runs)
    asked: dict[tuple[int, str], set[bool]] = {}
    for run in runs:
        asked.setdefault((run.rater_id, run.system_prompt), set()).update(
            kind.described for kind in kinds[run] if kind.n == len(SIX)
        )
    return [run for run in runs if len(asked[run.rater_id, run.system_prompt]) > 1]


OTHER_PART = {"query_set": "system_prompt", "system_prompt": "query_set"}
"""What must be the same where runs are compared by a part of what they were asked."""


def runs_differing_in(name: str) -> Usable:
    """Chooses runs of models that have several values of this (a query set, a system prompt) over trials of three
    candidates, or over trials of six whose queries name a country; with the other of the two the same."""
    other = OTHER_PART[name]

    def usable(runs: Sequence[Run]) -> list[Run]:
        values: dict[tuple[int, str, int], set[str]] = {}
        sizes = {
            run: {kind.n for kind in kinds if kind.n == len(THREE) or kind.described}
            for run, kinds in trial_kinds(runs).items()
        }
        for run, found in sizes.items():
            for n in found:
                values.setdefault((run.rater_id, getattr(run, other), n), set()).add(getattr(run, name))
        return [run for run in runs if any(len(values[run.rater_id, getattr(run, other), n]) > 1 for n in sizes[run])]

    return usable


def choices_of(runs: Sequence[Run], roles: tuple[str, ...]) -> list[TrialScores]:
    """By family: the runs whose queries have exactly these roles; other queries of a run are left out."""
    labels = labels_of(runs)
    asked: dict[tuple[int, str], dict[int, TrialCandidates]] = {}
    score_sets = []
    for run in by_family(runs):
        place = run.pool.pk, run.query_set
        if place not in asked:
            asked[place] = _trials(run, roles)
        if asked[place]:
            score_sets.append(_choices(run, labels[run.pk], roles, asked[place]))
    return [scores for scores in score_sets if scores.trials]


def _trials(run: Run, roles: tuple[str, ...]) -> dict[int, TrialCandidates]:
    rows = Query.objects.filter(collection=run.collection_id, query_set=run.query_set).order_by("key")
    found = rows.values_list("pk", "key", "roles", "about").iterator(chunk_size=5000)
    return {pk: TrialCandidates(key, named, about) for pk, key, named, about in found if set(named) == set(roles)}


def _choices(run: Run, label: str, roles: tuple[str, ...], asked: Mapping[int, TrialCandidates]) -> TrialScores:
    rows = Ranking.objects.filter(run=run).values_list("query_id", "keys", "scores")
    scored = {query: dict(zip(keys, scores, strict=True)) for query, keys, scores in rows.iterator(chunk_size=5000)}
    pks = [pk for pk in asked if pk in scored]
    similarity = [[scored[pk].get(asked[pk].roles[role], np.nan) for role in roles] for pk in pks]
    table = np.array(similarity, np.float64).reshape(len(pks), len(roles))
    return TrialScores(run, label, roles, tuple(asked[pk] for pk in pks), table)


def select_query_sets(score_sets: Iterable[TrialScores], *names: str) -> list[TrialScores]:
    """Those of the main query set, by its name, asked without a special system prompt; all of them where none is. A
    label tells apart only what is left."""
    listed = list(score_sets)
    plain = [
        scores
        for scores in listed
        if scores.run.query_set in ("", *names) and scores.run.system_prompt in ("", "default")
    ]
    kept = plain or listed
    labels = labels_of([scores.run for scores in kept])
    return [replace(scores, label=labels[scores.run.pk]) for scores in kept]


def main_query_set(inputs: TableInputs, score_sets: Sequence[TrialScores], name: str) -> list[TrialScores]:
    """Those that `select_query_sets` keeps; the note of what was counted names no others."""
    kept = select_query_sets(score_sets, name)
    inputs.leave_out({scores.run for scores in score_sets} - {scores.run for scores in kept})
    return kept


def countries_of(score_sets: Iterable[TrialScores]) -> list[str]:
    """In the paper's order, others after them."""
    there = {str(country) for scores in score_sets for country in scores.countries if country}
    return [scores for scores in ORDER if scores in there] + sorted(there - set(ORDER))
