"""Figures every benchmark has: agreement over time, each annotator, and how answers are distributed."""

from __future__ import annotations

from datetime import date
from itertools import groupby

import numpy as np
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.text import get_text_list
from django.utils.translation import get_language, gettext_lazy, ngettext
from django.utils.translation import gettext as _

from annotation.sheets.conditions import condition_name
from evaluation.figures.drawing import bars, lines, strip
from evaluation.figures.drawing.colours import kind, steps
from evaluation.figures.drawing.text import isolate_direction
from evaluation.figures.estimate_text import (
    codes_of,
    estimate_text,
    list_text,
    missing_reasons,
    number_columns,
    numbers,
    value_of,
)
from evaluation.figures.figure import Datum, Figure
from evaluation.figures.spec import FigureData, FigureSpec
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.leave_one_out import rater_against_others
from evaluation.queries.observations import Observations, rater_label
from evaluation.queries.ratings import RatingTables, weekly
from evaluation.tables.table import MissingData

MOST_TIED = 3  # answers of a tie that are named
WEEKS = 8  # points of a line; of more weeks, these many evenly spread, the last one among them


def over_time(ground: FigureData) -> Figure:
    """Cumulative: everything said by the end of each week."""
    selection = ground.asked
    ground.used_selections.append(selection)
    if selection.level == "partition":
        raise MissingData(_("Agreement of groupings is shown under Agreement; there is no course of it yet."))
    read = _select_weeks(weekly(selection))
    if not read:
        raise MissingData(_("There are no ratings in the stage “%(stage)s” yet.") % {"stage": selection.stage})
    measure = selection.measures[0]
    courses: dict[str, list[tuple[date, Estimate]]] = {}
    for cohort in selection.cohorts:
        for condition in selection.conditions:
            course = [
                (day, part.cells[cohort, condition]) for day, part in read if part.cells[cohort, condition].n_ratings
            ]
            if course:
                found = [(day, measure.compute(ratings, selection.interval_spec)) for day, ratings in course]
                courses[_panel(ground, cohort, condition)] = found
    if not courses:
        raise MissingData(_("There are no ratings in the stage “%(stage)s” yet.") % {"stage": selection.stage})
    if all(e.value is None for course in courses.values() for _day, e in course):
        raise missing_reasons([course[-1][1] for course in courses.values()])
    panels = tuple(
        lines.LinePanel(name, tuple(_point(day, e) for day, e in course)) for name, course in courses.items()
    )
    marks = (0.0, 0.25, 0.5, 0.75, 1.0) if measure.from_zero else ()
    drawing = lines.LineChart(panels, "n", marks)
    last = [(name, estimate_text(course[-1][1])) for name, course in courses.items()]
    until = min(read[-1][0], timezone.localdate(ground.at, ground.zone))  # the last week may still be under way
    head = _("%(measure)s after %(day)s:") % {"measure": measure.label, "day": date_format(until)}
    return Figure(
        key="over-time",
        title=_("Agreement over time: %(measure)s") % {"measure": measure.label},
        alt=list_text(last, head),
        columns=(_("cohort"), _("until"), *number_columns()),
        rows=tuple((name, day.isoformat(), *numbers(e)) for name, course in courses.items() for day, e in course),
        draw=lambda width: lines.draw(drawing, width),
        words=(_("Each point includes all ratings up to the end of that week. n = ratings."), *ground.words()),
    )


def _select_weeks(read: list[tuple[date, RatingTables]]) -> list[tuple[date, RatingTables]]:
    last, count = len(read) - 1, min(len(read), WEEKS)
    places = sorted({round(last * step / max(count - 1, 1)) for step in range(count)} | {last}) if read else []
    return [read[place] for place in places]


def _panel(ground: FigureData, cohort: int, condition: str) -> str:
    name = ground.catalogue.cohorts[cohort].name
    if len(ground.asked.conditions) < 2:
        return name
    return f"{name}, {condition_name(ground.benchmark, condition, get_language() or 'en')}"


def _point(day: date, estimate: Estimate) -> lines.Point:
    return lines.Point(float(day.toordinal()), date_format(day, "j M"), value_of(estimate, estimate.n_ratings))


def annotators(ground: FigureData) -> Figure:
    """Each person against the mean of the others of their cohort."""
    observations = ground.everybody.people
    if observations.level == "nominal":
        raise MissingData(
            _("One person against the mean of the others needs codes with an order; this question has none.")
        )
    groups = [(name, _against_the_rest(part)) for name, part in _by_cohort(ground, observations)]
    if not groups:
        raise MissingData(_("No person of a cohort has answered yet."))
    if all(e.value is None for _name, group in groups for _who, e in group):
        raise missing_reasons([e for _name, group in groups for _who, e in group])
    drawing = strip.Strip(
        tuple((name, tuple(strip.Rater(who, value_of(e)) for who, e in group)) for name, group in groups), "n"
    )
    ranges = [(name, _range([e for _who, e in group])) for name, group in groups]
    head = _("Spearman's rho of each person with the mean of the others of their cohort:")
    return Figure(
        key="annotators",
        title=_("Each annotator compared with the others of their cohort"),
        alt=list_text(ranges, head),
        columns=(_("cohort"), _("annotator"), *number_columns()),
        rows=tuple((name, who, *numbers(e)) for name, group in groups for who, e in group),
        draw=lambda width: strip.draw(drawing, width),
        words=(
            _("Sorted by pseudonym. The bar is the interval over items. n is the number of shared items."),
            *ground.words(),
        ),
    )


def _against_the_rest(part: Observations) -> list[tuple[str, Estimate]]:
    ratings, there = part.ratings, [part.raters[place] for place in np.unique(part.rater)]  # by name, as there
    return [(who.name, rater_against_others(ratings, number)) for number, who in enumerate(there)]


def _range(estimates: list[Estimate]) -> str:
    values = sorted(e.value for e in estimates if e.value is not None)
    people = ngettext("%(n)s person", "%(n)s people", len(estimates)) % {"n": len(estimates)}
    if not values:
        return _("%(people)s, no value yet") % {"people": people}
    parts = {
        "people": people,
        "low": f"{values[0]:.2f}",
        "high": f"{values[-1]:.2f}",
        "mid": f"{np.median(values):.2f}",
    }
    return _("%(people)s, median %(mid)s, from %(low)s to %(high)s") % parts


def _by_cohort(ground: FigureData, observations: Observations) -> list[tuple[str, Observations]]:
    """Each cohort's part under its name, by name; answers that belong to none are left out."""
    names = {cohort.label: cohort.name for cohort in ground.catalogue.cohorts.values()}
    parts = [
        (names.get(one, one), observations.where(observations.cohort == place))
        for place, one in enumerate(observations.cohorts)
    ]
    return sorted([(name, part) for name, part in parts if part.n], key=lambda pair: pair[0])


def distribution(ground: FigureData) -> Figure:
    """Shares of the codes, by cohort, and below them of each model."""
    observations = ground.everybody
    entry = next(stage for stage in ground.catalogue.stages if stage.key == ground.asked.stage)
    campaign = next(c for c in entry.campaigns if c.id in ground.asked.campaigns)
    labels = codes_of(campaign.sheet, ground.asked.field, observations.codes)
    if not labels or len(labels) > 20:
        raise MissingData(_("This question has no codes to count."))
    people = [(_("People"), name, part) for name, part in _by_cohort(ground, observations.people)]
    models = [(_("Models"), rater_label(who), observations.of_rater(place)) for place, who in observations.models()]
    counts = [(head, name, _counts(part, list(labels))) for head, name, part in people + models]
    looks = tuple(kind(n) for n in range(len(labels))) if observations.level == "nominal" else tuple(steps(len(labels)))
    keys = tuple(code if len(code) <= 3 else "" for code in labels)
    drawing = bars.Stacks(tuple(labels.values()), looks, tuple(_stacks(counts)), keys, "n")
    often = [(name, _often(count, list(labels.values()))) for _head, name, count in counts]
    return Figure(
        key="distribution",
        title=_("How answers are distributed"),
        alt=list_text(often, _("Most often:")),
        columns=(_("who"), _("code"), _("answer"), _("count"), _("share")),
        rows=tuple(row for _head, name, count in counts for row in _rows(name, count, labels)),
        draw=lambda width: bars.draw_stacks(drawing, width),
        words=(_("Shares of all answers; n is their number."), *ground.words()),
    )


def _counts(part: Observations, codes: list[str]) -> list[int]:
    place = {code: number for number, code in enumerate(codes)}
    by_code = np.bincount(part.code, minlength=len(part.codes))
    counts = [0] * len(codes)
    for number, code in enumerate(part.codes):
        counts[place[code]] = int(by_code[number])
    return counts


def _stacks(counts: list[tuple[str, str, list[int]]]) -> list[bars.Stack]:
    several = len({head for head, _name, _count in counts}) > 1
    stacks = []
    for head, group in groupby(counts, key=lambda one: one[0]):
        for place, (_head, name, count) in enumerate(group):
            n = sum(count)
            shares = tuple(one / n for one in count) if n else None
            stacks.append(bars.Stack(name, shares, n, _("no answers"), head if several and not place else ""))
    return stacks


def _often(count: list[int], labels: list[str]) -> str:
    """The answer given most often with its share; of a tie all of its answers, or how many they are."""
    n, most = sum(count), max(count)
    tied = [isolate_direction(label) for label, number in zip(labels, count, strict=True) if number == most]
    values = {"percent": f"{100 * most / n:.0f}", "n": f"{n:,}", "count": len(tied), "label": tied[0]}
    if len(tied) == 1:
        return _("%(label)s (%(percent)s %% of %(n)s)") % values
    if len(tied) > MOST_TIED:
        return _("a tie of %(count)s answers (%(percent)s %% of %(n)s each)") % values
    values["labels"] = get_text_list(tied, _("and"))
    return _("%(labels)s (a tie, %(percent)s %% of %(n)s each)") % values


def _rows(name: str, count: list[int], labels: dict[str, str]) -> list[tuple[Datum, ...]]:
    n = sum(count)
    return [(name, code, label, k, k / n) for (code, label), k in zip(labels.items(), count, strict=True)]


GENERAL = (
    FigureSpec(
        "over-time",
        "",
        gettext_lazy("Agreement over time"),
        gettext_lazy("Ratings of a question by two people or more."),
        over_time,
    ),
    FigureSpec(
        "annotators",
        "",
        gettext_lazy("Each annotator compared with the others of their cohort"),
        gettext_lazy("Ratings on an ordered scale by two people or more."),
        annotators,
    ),
    FigureSpec(
        "distribution",
        "",
        gettext_lazy("How answers are distributed"),
        gettext_lazy("Answers to a question with options or a scale."),
        distribution,
    ),
)
