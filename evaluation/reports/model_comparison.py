"""A model's answers beside the people's, over the same things: a thing is a unit as one cohort saw it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from evaluation.metrics.counts import Floats, Ints, Ratings
from evaluation.metrics.judges import majority
from evaluation.metrics.model_human import RatedScores
from evaluation.queries.observations import Observations

MAJORITY, GOLD = "people", "gold"


@dataclass(frozen=True, eq=False)
class ModelComparison:
    """The n ratings by people of the chosen cohorts; `unit`, `thing`, `rater`, `cohort` and `item` (n,) are places,
    `value` (n,) the code as a number. `scores` gives a model's value for every thing."""

    observed: Observations
    thing: Ints
    rater: Ints
    cohort: Ints
    item: Ints
    value: Floats
    unit_of: Ints  # (things,)
    cohort_of: Ints  # (things,)
    item_of: Ints  # (things,)

    @classmethod
    def of(cls, observed: Observations, *, pooled: bool = False) -> ModelComparison:
        """`pooled`: a thing is a unit, whoever saw it, and there is one cohort, of everybody."""
        people = observed.people
        people = people.where(np.isfinite(values_of(people)) & (people.cohort >= 0))
        if pooled:
            people = replace(people, cohort=np.zeros(people.n, np.int64))
        width = max(len(observed.cohorts), 1)
        keys, first, thing = np.unique(people.unit * width + people.cohort, return_index=True, return_inverse=True)
        return cls(
            observed, thing, people.rater, people.cohort, people.item, values_of(people),
            people.unit[first], keys % width, people.item[first],
        )  # fmt: skip

    @property
    def n_things(self) -> int:
        return int(self.unit_of.size)

    @cached_property
    def ratings(self) -> Ratings:
        """Units are things; raters are numbered as in `observed`."""
        return Ratings(self.thing, self.rater, self.value, self.n_things, len(self.observed.raters))

    @cached_property
    def means(self) -> Floats:
        """(things,)"""
        return np.asarray(np.bincount(self.thing, self.value, self.n_things) / np.bincount(self.thing))

    def scores(self, model: int) -> Floats:
        """(things,) what the model, a place in `observed.raters`, said of each; NaN where it said nothing."""
        scores: Floats = np.full(self.n_things, np.nan)
        raters, every, what = self._of_models
        mine = slice(*np.searchsorted(raters, [model, model + 1]).tolist())
        units, values = every[mine], what[mine]
        if not units.size:
            return scores
        place = np.minimum(np.searchsorted(units, self.unit_of), units.size - 1)
        there = units[place] == self.unit_of
        scores[there] = values[place[there]]
        return scores

    @cached_property
    def _of_models(self) -> tuple[Ints, Ints, Floats]:
        """Rater, unit and value of everything models said, by both, so that no model is looked for among all rows."""
        model_rows = self.observed.where(self.observed.by_model)
        order = np.lexsort((model_rows.unit, model_rows.rater))
        return model_rows.rater[order], model_rows.unit[order], values_of(model_rows)[order]

    def scored(self, model: int) -> RatedScores:
        score = self.scores(model)[self.thing]
        keep = np.isfinite(score)
        return RatedScores(self.item[keep], self.cohort[keep], self.rater[keep], self.value[keep], score[keep])

    def for_cohort(self, place: int) -> Ratings:
        mine = self.cohort == place
        return Ratings(self.thing[mine], self.rater[mine], self.value[mine], self.n_things, len(self.observed.raters))

    def with_scores(self, score_columns: Sequence[tuple[int, Floats]], cohort: int) -> Ratings:
        """A cohort's ratings, with raters more that are given by number and by their scores (things,)."""
        mine = self.cohort == cohort
        parts = [(self.thing[mine], self.rater[mine], self.value[mine])]
        for number, score in score_columns:
            there = np.flatnonzero(np.isfinite(score) & (self.cohort_of == cohort))
            parts.append((there, np.full(there.size, number), score[there]))
        thing, rater, value = (np.concatenate(part) for part in zip(*parts, strict=True))
        most = max([len(self.observed.raters), *(number + 1 for number, _score in score_columns)])
        return Ratings(thing, rater, value, self.n_things, most)

    def mean_scores(self, models: Collection[int]) -> Floats:
        """(things,) the mean of several models' scores; NaN where one of them said nothing."""
        found: Floats = np.mean([self.scores(model) for model in models], axis=0)
        return found

    def truth(self, which: str) -> Floats:
        """(things,) the code that counts as right: the people's majority (NaN where the first place is shared), or the
        item's gold."""
        return self._majority if which == MAJORITY else gold_codes(self.observed)[self.item_of]

    @cached_property
    def _majority(self) -> Floats:
        return majority(self.ratings)[0]

    @cached_property
    def unit_pks(self) -> Ints:
        """(things,) ids of the units."""
        units, first = np.unique(self.observed.unit, return_index=True)
        found: Ints = self.observed.unit_pk[first][np.searchsorted(units, self.unit_of)]
        return found

    @cached_property
    def repeated(self) -> bool:
        """Whether one item gave several things: then things are not independent."""
        return np.unique(self.item_of).size < self.n_things


def values_of(observed: Observations) -> Floats:
    return observed.code.astype(np.float64) if observed.level == "nominal" else observed.value


def gold_codes(observed: Observations) -> Floats:
    """(items,) the code an item's `gold` names, NaN without."""
    at = {code: place for place, code in enumerate(observed.codes)}

    def code_of(value: Any) -> float:
        return float(at[value]) if isinstance(value, str) and value in at else float("nan")

    return np.array([code_of(gold_value) for gold_value in observed.item_values("gold")], np.float64)


def has_gold(observed: Observations) -> bool:
    return observed.level == "nominal" and bool(np.isfinite(gold_codes(observed)).any())
