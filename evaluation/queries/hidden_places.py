"""Where a question that depends on an earlier answer was not shown: nothing is missing there."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field

import numpy as np
from django.db.models import QuerySet

from annotation.models import Annotation
from evaluation.queries.rating_rows import asked_by_cohort, units_of
from evaluation.selections.catalogue import POOLED
from evaluation.selections.selection import Selection

Place = tuple[int, int]  # unit, rater


@dataclass(frozen=True)
class HiddenPlaces:
    """By cohort and condition, the units and raters whose answers to the sheet did not lead to the question."""

    by_cell: dict[tuple[int, str], set[Place]] = field(default_factory=dict)

    def within(self, cohort: int, condition: str | None, places_of: Callable[[], Collection[Place]]) -> "Hidden":
        """Of one cell, or of a cohort under all conditions; `places_of` gives where the question has an answer."""
        if not self.by_cell:
            return Hidden()
        answered = places_of()
        places = {
            place
            for (of_cohort, of_condition), found in self.by_cell.items()
            if cohort in (of_cohort, POOLED) and condition in (None, of_condition)
            for place in found
        } - set(answered)
        raters: dict[int, int] = {}
        for unit, _rater in answered:
            raters[unit] = raters.get(unit, 0) + 1
        units = {unit for unit, count in raters.items() if count > 1}
        people = {rater for unit, rater in answered if unit in units}
        return Hidden(
            n_all=len(places),
            n_compared=sum(unit in units and rater in people for unit, rater in places),
            n_units=len({unit for unit, _rater in places} - raters.keys()),
        )


@dataclass(frozen=True)
class Hidden:
    """`n_all`: answers to the sheet that did not lead to the question; `n_compared`: those of them by people, on units,
    that enter the value; `n_units`: units of which nobody saw the question. `n_others`: of all cohorts together, places
    of a cohort's people at units that only another cohort was asked for, which are among `n_compared`, too; `compared`
    then counts the units and raters that enter the value."""

    n_all: int = 0
    n_compared: int = 0
    n_units: int = 0
    n_others: int = 0
    compared: tuple[int, int] | None = None


def hidden_places(selection: Selection, counted: QuerySet[Annotation]) -> HiddenPlaces:
    """`counted`: the answers to the sheet that the selection counts; not read where everybody is asked the question.
    Those of a model, which is of no cohort, are of each cohort that was asked for the unit."""
    rule = selection.show_if
    if rule is None:
        return HiddenPlaces()
    rows = counted.exclude(answers__has_key=selection.field)
    names = ("cohort_id", "assignment__unit__item__condition", "assignment__unit_id", "rater_id", "answers")
    places: dict[tuple[int, str], set[Place]] = {}
    of_models: list[tuple[str, Place]] = []
    for cohort, condition, unit, rater, answers in rows.values_list(*names).iterator(chunk_size=2000):
        if rule.is_met(answers):
            continue
        if cohort is None:
            of_models.append((condition, (unit, rater)))
        else:
            places.setdefault((cohort, condition), set()).add((unit, rater))
    if of_models:
        units = units_of(selection)
        at = units.place(np.array([unit for _condition, (unit, _rater) in of_models], np.int64))
        for cohort, asked in asked_by_cohort(selection, units):
            for (condition, place), is_asked in zip(of_models, asked[at].tolist(), strict=True):
                if is_asked:
                    places.setdefault((cohort, condition), set()).add(place)
    return HiddenPlaces(places)
