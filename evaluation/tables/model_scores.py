"""Ratings by people and scores by models of the same things."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from annotation.sheets.conditions import condition_name, sort_conditions
from benchmarks.rules.derivations.verdicts import HUMAN
from evaluation.metrics.counts import Floats, Ints
from evaluation.metrics.model_human import RatedScores
from evaluation.queries.observations import Observations, ObservedItem, ObservedRater
from evaluation.tables.table_inputs import TableInputs

PLAIN = ("", "main")  # settings that need no word: how the paper's own method asks


def model_label(rater: ObservedRater, *, silent: Sequence[str] = ()) -> str:
    """A model's name, with how it was asked where that is not the usual way."""
    return rater.name if rater.setting in (*PLAIN, *silent) else f"{rater.name} ({rater.setting.replace('_', ' ')})"


def author_label(item: ObservedItem) -> str:
    """Who gave the answer that an item of a judging stage shows: a model by name, with how it was asked, or people."""
    author, setting = (str(item.context.get(name) or "") for name in ("candidate_by", "setting"))
    if author == HUMAN:
        return _("People")
    return author if setting in PLAIN else f"{author} ({setting.replace('_', ' ')})"


def conditions_of(inputs: TableInputs, observations: Observations) -> list[tuple[str, str]]:
    """Keys and names of the conditions of the items seen, in the recipe's order."""
    keys = sort_conditions(inputs.benchmark, {item.condition for item in observations.items})
    return [(key, condition_name(inputs.benchmark, key, get_language() or "en")) for key in keys]


def target_positions(observations: Observations) -> list[tuple[int, str]]:
    """Targets that people rated for, with their places."""
    rated = np.unique(observations.people.target).tolist()
    return [(place, observations.targets[place]) for place in rated]


@dataclass(frozen=True, eq=False)
class RatedAndScored:
    """People's ratings of the things that one model scored too; ``item`` (n,) are places in ``seen.items``."""

    seen: Observations
    scored: RatedScores

    @property
    def item(self) -> Ints:
        return self.scored.image

    def of(self, name: str) -> tuple[Ints, list[str]]:
        """(n,) the item's property as a number, and what the numbers stand for."""
        labels = sorted({str(value) for value in self.seen.item_values(name)})
        at = {label: place for place, label in enumerate(labels)}
        of_item = np.array([at[str(value)] for value in self.seen.item_values(name)], np.int64)
        return of_item[self.item] if self.item.size else self.item, labels


def join_ratings_and_scores(people: Observations, model: Observations) -> RatedAndScored:
    """People's ratings with the score of one model (its rows only); what it did not score is left out."""
    units, first = np.unique(model.unit, return_index=True)
    if not units.size:
        none: Ints = np.zeros(0, np.int64)
        return RatedAndScored(people, RatedScores(none, none, none, np.zeros(0), np.zeros(0)))
    place = np.clip(np.searchsorted(units, people.unit), 0, units.size - 1)
    keep = (units[place] == people.unit) & np.isfinite(people.value) & np.isfinite(model.value[first][place])
    score: Floats = model.value[first][place][keep]
    return RatedAndScored(
        people,
        RatedScores(people.item[keep], people.target[keep], people.rater[keep], people.value[keep], score),
    )


def by_condition(inputs: TableInputs, observations: Observations) -> Iterator[tuple[str, str, Observations]]:
    """Key, name and rows of each condition."""
    for key, name in conditions_of(inputs, observations):
        yield key, name, observations.where(observations.of_item({"condition": key}))
