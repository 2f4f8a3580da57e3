"""A cohort's people in numbers: each against the rest, and all of them together."""

from collections.abc import Collection
from dataclasses import dataclass
from statistics import median
from typing import Any

from django.http import QueryDict
from django.utils.translation import gettext as _

from annotation.sheets.sheet import localise
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.leave_one_out import rater_against_others
from evaluation.metrics.rater_drift import drift, share_agreeing_with_others, significant_drifts
from evaluation.queries.answer_tables import cohort_answer_tables
from evaluation.queries.raters import RaterRow
from evaluation.queries.ratings import cohort_ratings
from evaluation.rendering.axis import Axis, axis_for
from evaluation.rendering.html import estimate_bar
from evaluation.rendering.number_format import format_interval, format_number, format_percent
from evaluation.rendering.reason_text import interval_sentence, reason_sentence, reason_title
from evaluation.reports.filters import build_select as a_select
from evaluation.selections.catalogue import Catalogue
from evaluation.selections.measures import CODED
from evaluation.selections.selection import Selection, SelectionError, select
from people.models import Cohort


@dataclass(frozen=True)
class CohortNumbers:
    """`rest`: for each rater, the agreement with the others; `drift`: the second half of the answers against the first.
    Both are empty where answers have no code: one against all others has no meaning there."""

    selection: Selection
    together: Estimate
    rest: dict[int, Estimate]
    drift: dict[int, Estimate]


def numbers(
    catalogue: Catalogue, cohort: Cohort, asked: QueryDict | None = None, of: Collection[int] | None = None
) -> CohortNumbers | None:
    """By the default selection, or the stage and question that are `asked` for; None where there is nothing to be
    measured. `of`: the raters to be set against the rest; all of them if left out."""
    query = QueryDict(f"cohort={cohort.pk}", mutable=True)
    for name in ("stage", "field") if asked else ():
        query.setlist(name, asked.getlist(name) if asked else [])
    if not catalogue.stages:
        return None
    try:
        selection = select(catalogue, query, every_question=True)
    except SelectionError:
        return None
    [measure] = selection.measures
    if selection.level not in CODED:
        given = cohort_answer_tables(selection).cells[cohort.pk, ""]
        return CohortNumbers(selection, measure.compute(given, selection.interval_spec), {}, {})
    read = cohort_ratings(selection, cohort.pk)
    nominal = selection.level == "nominal"
    places = {rater: number for number, rater in enumerate(read.raters) if of is None or rater in of}
    against = share_agreeing_with_others if nominal else rater_against_others
    return CohortNumbers(
        selection,
        measure.compute(read.ratings, selection.interval_spec),
        {rater: against(read.ratings, place) for rater, place in places.items()},
        {rater: drift(read.ratings, read.at, place, nominal=nominal) for rater, place in places.items()},
    )


def people_context(
    cohort_numbers: CohortNumbers | None, lines: list[RaterRow], page_rows: list[RaterRow]
) -> dict[str, Any]:
    """What templates/evaluation/people.html takes when a cohort was picked. `page_rows`: the lines of this page."""
    paces = [one.median_seconds for one in lines if one.median_seconds is not None]
    shown = sum(one.done + one.skipped for one in lines)
    context: dict[str, Any] = {
        "count": len(lines),
        "active": sum(one.at_work for one in lines),
        "pace": median(paces) if paces else None,
        "skipped": format_percent(sum(one.skipped for one in lines) / shown) if shown else "",
        "shown": shown,
    }
    if cohort_numbers is None:
        return context
    nominal = cohort_numbers.selection.level == "nominal"
    axis = axis_for(list(cohort_numbers.rest.values()), from_zero=nominal)
    drawn = {rater: _drawn(estimate, axis) for rater, estimate in cohort_numbers.rest.items()}
    marked, tested = significant_drifts(cohort_numbers.drift)
    drifts = {rater: _drift(estimate) | {"marked": rater in marked} for rater, estimate in cohort_numbers.drift.items()}
    together = estimate_bar(cohort_numbers.together, axis_for([cohort_numbers.together]))
    return context | {
        "axis": axis if cohort_numbers.rest else None,
        "nominal": nominal,
        "rows": [(one, drawn.get(one.rater.pk), drifts.get(one.rater.pk)) for one in page_rows],
        "drifts_tested": tested,
        "together": together,
        "measure": cohort_numbers.selection.measures[0].label,
    }


def _drawn(estimate: Estimate, axis: Axis) -> dict[str, Any]:
    """Here n is the number of units shared with somebody; the others are always all."""
    return {**estimate_bar(estimate, axis), "n": f"n = {estimate.n_units}"}


def _drift(estimate: Estimate) -> dict[str, Any]:
    """With its sign, and the size of both halves."""
    if estimate.value is None:
        return {"title": reason_title(estimate), "reason": reason_sentence(estimate)}
    value = format_number(estimate.value)
    sign = "+" if estimate.value > 0 and value != "0.00" else ""
    return {
        "value": sign + value,
        "interval": format_interval(estimate) or interval_sentence(estimate),
        "n": f"n = {estimate.extras['n_first']} + {estimate.extras['n_second']}",
    }


def people_filters(cohort_numbers: CohortNumbers | None, catalogue: Catalogue, language: str) -> list[dict[str, Any]]:
    """Which question people are compared by, where there are several."""
    if cohort_numbers is None:
        return []
    stage = next(one for one in catalogue.stages if one.key == cohort_numbers.selection.stage)
    selects = []
    if len(catalogue.stages) > 1:
        called = {one.key: one.called for one in catalogue.stages}
        selects.append(a_select("stage", _("Stage"), called, stage.key, clears="field"))
    fields = next(one for one in stage.campaigns if one.id in cohort_numbers.selection.campaigns).sheet.fields
    if len(fields) > 1:
        asked = {one.key: localise(one.label, language).replace("{target}", "…") for one in fields}
        selects.append(a_select("field", _("Question"), asked, cohort_numbers.selection.field))
    return selects
