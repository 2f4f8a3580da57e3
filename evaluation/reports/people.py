"""A cohort's people in numbers: each against the rest, and all of them together."""

from dataclasses import dataclass
from statistics import median
from typing import Any

from django.http import QueryDict

from evaluation.catalogue import Catalogue
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.leave_one_out import with_the_rest
from evaluation.partitions import cohort_partitions
from evaluation.raters import RaterLine
from evaluation.readers import cohort_ratings
from evaluation.reports.numbers import shown_share
from evaluation.reports.page import Axis, axis_for, line
from evaluation.selection import Selection, SelectionError, select
from people.models import Cohort


@dataclass(frozen=True)
class CohortNumbers:
    """`rest`: for each rater, the agreement with the others; empty where the question has no order."""

    selection: Selection
    together: Estimate
    rest: dict[int, Estimate]


def numbers(catalogue: Catalogue, cohort: Cohort) -> CohortNumbers | None:
    """By the default selection; None where there is nothing to be measured."""
    if not catalogue.stages:
        return None
    try:
        selection = select(catalogue, QueryDict(f"cohort={cohort.pk}"))
    except SelectionError:
        return None
    [measure] = selection.measures
    if selection.level == "partition":  # two people's groupings are compared; one against all others has no meaning
        given = cohort_partitions(selection, cohort.pk)
        return CohortNumbers(selection, measure.compute(given, selection.wanted_interval), {})
    ratings, raters = cohort_ratings(selection, cohort.pk)
    ordered = selection.level != "nominal"
    rest = {rater: with_the_rest(ratings, number) for number, rater in enumerate(raters)} if ordered else {}
    return CohortNumbers(selection, measure.compute(ratings, selection.wanted_interval), rest)


def people_context(found: CohortNumbers | None, lines: list[RaterLine]) -> dict[str, Any]:
    """What templates/evaluation/people.html takes when a cohort was picked."""
    paces = [one.pace for one in lines if one.pace is not None]
    shown = sum(one.done + one.skipped for one in lines)
    context: dict[str, Any] = {
        "active": sum(one.at_work for one in lines),
        "pace": median(paces) if paces else None,
        "skipped": shown_share(sum(one.skipped for one in lines) / shown) if shown else "",
        "shown": shown,
    }
    if found is None:
        return context
    axis = axis_for(list(found.rest.values()))
    drawn = {rater: _drawn(estimate, axis) for rater, estimate in found.rest.items()}
    together = line(found.together, axis_for([found.together]))
    return context | {
        "axis": axis if found.rest else None,
        "rows": [(one, drawn.get(one.rater.pk)) for one in lines],
        "together": together,
        "measure": found.selection.measures[0].label,
    }


def _drawn(estimate: Estimate, axis: Axis) -> dict[str, Any]:
    """Here n is the number of units shared with somebody; the others are always all."""
    return {**line(estimate, axis), "n": f"n = {estimate.n_units}"}
