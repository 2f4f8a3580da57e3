"""Ranked lists of runs as arrays, for the tables of both retrieval papers. Everything is joined by key.

A number is of each query first (`Scores`), then a mean over queries: so one query that has no value says why.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from evaluation.metrics import resampling, retrieval
from evaluation.metrics.counts import Bools, Floats, Ints
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.intervals import Scale
from predictions.models import Collection, Query, Run
from predictions.queries.results import entries_of, lists_of

About = Mapping[str, Any]


class NoQueryScores(Exception):
    """No query has this number; `reason` is a code of an Estimate."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, eq=False)
class RankedLists:
    """A run: for each query its list, the best first, ties by key. `about` is of the whole collection."""

    run: Run
    label: str
    queries: tuple[Query, ...]
    keys: tuple[tuple[str, ...], ...]
    scores: tuple[tuple[float, ...], ...]
    about: Mapping[str, About]

    @property
    def group(self) -> str:
        return family_of(self.run)

    def only(self, place: int) -> RankedLists:
        parts = ((self.queries[place],), (self.keys[place],), (self.scores[place],))
        return replace(self, queries=parts[0], keys=parts[1], scores=parts[2])


@dataclass
class CollectionEntries:
    """The entries of each collection, read once for a table."""

    _read: dict[int, Mapping[str, About]] = field(default_factory=dict)

    def of(self, collection: Collection) -> Mapping[str, About]:
        if collection.pk not in self._read:
            self._read[collection.pk] = entries_of(collection)
        return self._read[collection.pk]


def family_of(run: Run) -> str:
    return str(run.rater.about.get("family") or "")


def labels_of(runs: Sequence[Run]) -> dict[int, str]:
    """A row's name by the run's key: the model, and what tells it from another run of the same model."""
    named = {run.pk: (run.rater.name, run.rater.setting) for run in runs}
    labels = {}
    for run in runs:
        alike = [one for one in runs if named[one.pk] == named[run.pk]]
        parts = [run.rater.setting] if run.rater.setting else []
        for name in ("query_set", "system_prompt"):
            if len({getattr(one, name) for one in alike}) > 1:
                parts.append(getattr(run, name) or "-")
        if len({one.collection_id for one in alike}) > 1:
            parts.append(str(run.collection))
        labels[run.pk] = f"{run.rater.name} ({', '.join(parts)})" if parts else run.rater.name
    return labels


def by_family(runs: Iterable[Run]) -> list[Run]:
    """Families together, in the order in which they first come; else as given."""
    listed = list(runs)
    seen = list(dict.fromkeys(family_of(run) for run in listed))
    return sorted(listed, key=lambda run: seen.index(family_of(run)))


def ranked_lists(runs: Sequence[Run], pools: CollectionEntries | None = None) -> list[RankedLists]:
    """By family. A run without lists is left out."""
    pools, labels = pools or CollectionEntries(), labels_of(runs)
    lists_of_runs = (_load_lists(run, labels[run.pk], pools.of(run.pool)) for run in by_family(runs))
    return [lists for lists in lists_of_runs if lists.queries]


def _load_lists(run: Run, label: str, about: Mapping[str, About]) -> RankedLists:
    queries, keys, scores = [], [], []
    for result in lists_of(run):
        order = retrieval.rank_order(result.scores, result.keys) if result.keys else np.zeros(0, np.int64)
        queries.append(result.query)
        keys.append(tuple(result.keys[place] for place in order))
        scores.append(tuple(result.scores[place] for place in order))
    return RankedLists(run, label, tuple(queries), tuple(keys), tuple(scores), about)


def top_keys(of: RankedLists, k: int) -> list[Sequence[str]]:
    """The first k keys of each query. Raises NoQueryScores where a list is shorter than k."""
    if not of.queries:
        raise NoQueryScores("nothing_counted")
    try:
        return retrieval.first_places(of.keys, k)
    except ValueError as short:
        raise NoQueryScores("list_too_short") from short


def relevant_of(of: RankedLists, label: str) -> list[frozenset[str]]:
    """For each query what is right: the keys it names, else the entries that share its `label`; empty where nothing is
    known to be."""
    alike: dict[str, set[str]] = defaultdict(set)
    for key, about in of.about.items():
        alike[str(about.get(label) or "")].add(key)
    alike[""] = set()
    shared = {name: frozenset(keys) for name, keys in alike.items()}  # held once, however many queries ask for it
    return [
        frozenset(query.relevant) if query.relevant else shared.get(str(query.about.get(label) or ""), frozenset())
        for query in of.queries
    ]


def relevant_at(of: RankedLists, k: int, relevant: Sequence[frozenset[str]]) -> tuple[Bools, Bools]:
    """(q, k) which places are right, and (q,) whether anything is known to be."""
    keys = top_keys(of, k)
    hits = [[key in wanted for key in row] for row, wanted in zip(keys, relevant, strict=True)]
    return np.array(hits, bool), np.array([bool(wanted) for wanted in relevant], bool)


def precisions(of: RankedLists, k: int, relevant: Sequence[frozenset[str]]) -> Floats:
    hits, known = relevant_at(of, k, relevant)
    return np.where(known, retrieval.precision(hits), np.nan)


def accuracies(of: RankedLists, k: int, relevant: Sequence[frozenset[str]]) -> Floats:
    hits, known = relevant_at(of, k, relevant)
    return np.where(known, retrieval.accuracy(hits), np.nan)


def gains(of: RankedLists, k: int, relevant: Sequence[frozenset[str]], *, all_relevant: bool) -> Floats:
    """NDCG with gains 0 and 1; the ideal list is of everything right, or of what the list itself found."""
    hits, known = relevant_at(of, k, relevant)
    available = np.arange(k) < np.array([[len(wanted)] for wanted in relevant])
    values = retrieval.ndcg(hits, available) if all_relevant else np.nan_to_num(retrieval.ndcg(hits))
    return np.where(known, values, np.nan)


def labels_of_places(of: RankedLists, label_of: Callable[[About], str | None], universe: Sequence[str]) -> Ints:
    """As `labels_at`, down to the shortest list: cut it with `cut_to`."""
    return labels_at(of, max(1, min((len(key) for key in of.keys), default=0)), label_of, universe)


def cut_to(labels: Ints, k: int) -> Ints:
    """(q, k). Raises NoQueryScores where the lists are shorter."""
    if labels.shape[1] < k:
        raise NoQueryScores("list_too_short")
    return labels[:, :k]


def labels_at(of: RankedLists, k: int, label_of: Callable[[About], str | None], universe: Sequence[str]) -> Ints:
    """(q, k) places in `universe` of what `label_of` says of each found entry; -1 where it says none of these."""
    at = {name: place for place, name in enumerate(universe)}
    keys = top_keys(of, k)
    found = {key for row in keys for key in row}
    place_of = {key: at.get(label_of(of.about.get(key, {})) or "", -1) for key in found}
    return np.array([[place_of[key] for key in row] for row in keys], np.int64)


def mean_over_queries(
    of: RankedLists, scores: Callable[[], Floats], *, method: str, why: str, scale: Scale = resampling.LOGIT
) -> Estimate:
    """The mean of what `scores` gives for each query, over those that have one; `why` the others have none.

    One query is no sample: its number has no interval. `scale`: NOT_NEGATIVE for scores that may exceed 1.
    "n_undefined" in extras: queries without a number.
    """
    try:
        values = scores()
    except NoQueryScores as none:
        return Estimate.undefined(reason=none.reason, method=method, n_units=len(of.queries), n_raters=1)
    defined = np.isfinite(values)
    if values.size and not defined.any():
        return Estimate.undefined(reason=why, method=method, n_units=int(values.size), n_raters=1)
    estimate = resampling.mean(values[defined], np.flatnonzero(defined), scale=scale, method=method)
    if not defined.all():
        estimate = replace(estimate, extras={**estimate.extras, "n_undefined": int((~defined).sum())})
    return estimate
