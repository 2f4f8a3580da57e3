"""Ratings out of the database: one streamed query into numpy arrays, never an object per row."""

from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import numpy.typing as npt
from django.db import connection
from django.db.models import Q, QuerySet

from annotation.models import Annotation
from evaluation.copying import copied
from evaluation.metrics.counts import Floats, Ints, Ratings
from evaluation.selection import Selection
from people.models import Rater

Cell = tuple[int, str]  # cohort, condition

_KEPT = {"cohort": "i4", "condition": "i2", "unit": "i8", "rater": "i8", "annotation": "i8", "value": "f8"}
_KEPT_DATED = {**{name: kind for name, kind in _KEPT.items() if name != "value"}, "at": "i8", "value": "f8"}
WEEKS = 26
MONDAY = date(1969, 12, 29).toordinal()

_QUERY = """
COPY (
  {codes}
  SELECT {seat}::int8, array_position(%(conditions)s::text[], i.condition::text)::int8, r.unit_id::int8,
         r.rater_id::int8, r.annotation_id::int8, {dated}{value}::float8
  FROM annotation_rating r
  JOIN annotation_unit u ON u.id = r.unit_id
  JOIN benchmarks_item i ON i.id = u.item_id
  JOIN people_rater p ON p.id = r.rater_id
  {codes_join}
  {seats}
  {join}
  WHERE r.campaign_id = ANY(%(campaigns)s) AND r.field = %(field)s AND {seat} = ANY(%(cohorts)s)
    AND r.live AND (r.counted OR NOT %(counted)s) AND p.kind = ANY(%(raters)s) AND {value} IS NOT NULL
    AND i.condition = ANY(%(conditions)s) AND (%(all_concepts)s OR i.concept = ANY(%(concepts)s))
    {narrowed}
) TO STDOUT (FORMAT binary)
"""
# A person's rating is of their cohort. A model has none: it is one rater more wherever the unit was asked.
_SEATS = """CROSS JOIN LATERAL (
    SELECT r.cohort_id AS cohort WHERE p.kind = 'person'
    UNION
    SELECT cc.cohort_id FROM annotation_slot s JOIN annotation_campaigncohort cc ON cc.id = s.cohort_id
    WHERE p.kind = 'model' AND s.unit_id = r.unit_id AND cc.campaign_id = ANY(%(campaigns)s)
  ) seat"""
# Several campaigns may have asked a person twice: which answer was given later, only its moment tells.
_AT = "(extract(epoch FROM a.submitted_at) * 1000000)::int8, "
_DATED = "JOIN annotation_annotation a ON a.id = r.annotation_id"
_NARROWED = """
    AND (%(since)s::timestamptz IS NULL OR a.submitted_at >= %(since)s)
    AND (%(until)s::timestamptz IS NULL OR a.submitted_at < %(until)s)
    AND (%(all_versions)s OR a.sheet_version_id = ANY(%(versions)s))
"""
# Codes without an order have no number of their own; any numbering does, since only "same or not" is asked of them.
_CODES = """
  WITH codes AS (
    SELECT code, row_number() OVER (ORDER BY code) AS number
    FROM (SELECT DISTINCT code FROM annotation_rating WHERE campaign_id = ANY(%(campaigns)s) AND field = %(field)s) c
  )
"""


_ASKED = """
  SELECT cc.cohort_id, i.condition, count(DISTINCT s.unit_id)
  FROM annotation_slot s
  JOIN annotation_campaigncohort cc ON cc.id = s.cohort_id
  JOIN annotation_unit u ON u.id = s.unit_id
  JOIN benchmarks_item i ON i.id = u.item_id
  WHERE cc.campaign_id = ANY(%(campaigns)s) AND cc.cohort_id = ANY(%(cohorts)s) AND i.condition = ANY(%(conditions)s)
    AND (%(all_concepts)s OR i.concept = ANY(%(concepts)s))
  GROUP BY cc.cohort_id, i.condition
"""


@dataclass(frozen=True)
class Read:
    """`cells`: Ratings (or Partitions) of every (cohort, condition) selected, also those without any yet; `raters`: how
    many, by cohort."""

    cells: dict[Cell, Any]
    raters: dict[int, int]


def ratings(selection: Selection) -> Read:
    return _read(_rows(selection), selection)


def weekly(selection: Selection) -> list[tuple[date, Read]]:
    """What had been said by the end of each week in which answers came: the week's Sunday, and all up to it. Of many
    weeks the latest; the first of them holds what was before."""
    rows = _rows(selection, dated=True)
    weeks = weeks_of(rows["at"], selection.zone)
    last = np.unique(weeks)[-WEEKS:]
    return [(sunday(int(week)), _read(rows[weeks <= week], selection)) for week in last]


def weeks_of(micros: Ints, zone: str) -> Ints:
    """The number of the week of each moment, counted from the Monday before 1970, by the days of the zone."""
    quarters, place = np.unique(micros // 900_000_000, return_inverse=True)  # zones differ by quarters of an hour
    local = [datetime.fromtimestamp(int(quarter) * 900, ZoneInfo(zone)).date() for quarter in quarters]
    numbers = np.array([(day.toordinal() - MONDAY) // 7 for day in local], np.int64)
    return numbers[place] if micros.size else np.zeros(0, np.int64)


def sunday(week: int) -> date:
    return date.fromordinal(MONDAY + 7 * week + 6)


def _read(rows: npt.NDArray[np.void], selection: Selection) -> Read:
    cells: dict[Cell, Any] = {}
    raters: dict[int, int] = {}
    for cohort in selection.cohorts:
        of_cohort = rows[rows["cohort"] == cohort]
        raters[cohort] = int(np.unique(of_cohort["rater"]).size)
        for place, condition in enumerate(selection.conditions, start=1):
            cells[cohort, condition] = _numbered(of_cohort[of_cohort["condition"] == place], selection.repeats)
    return Read(cells, raters)


@dataclass(frozen=True)
class OfCohort:
    """One cohort's ratings under all conditions together. `raters`: ids, in the order of their numbers; `at` (n,): when
    each rating was given, in microseconds."""

    ratings: Ratings
    raters: list[int]
    at: Ints


def cohort_ratings(selection: Selection, cohort: int) -> OfCohort:
    rows = _rows(selection, dated=True)
    of_cohort = rows[rows["cohort"] == cohort]
    settled, order = _settled(of_cohort, selection.repeats)
    return OfCohort(settled, [int(r) for r in np.unique(of_cohort["rater"])], of_cohort["at"][order])


def all_together(selection: Selection) -> tuple[Ratings, list[int]]:
    """The ratings of all cohorts and conditions in one, and the units' ids in the order of their numbers."""
    rows = _rows(selection)
    return _numbered(rows, selection.repeats), [int(u) for u in np.unique(rows["unit"])]


def asked_units(selection: Selection) -> dict[Cell, int]:
    """How many units each cohort was asked to answer under each condition."""
    with connection.cursor() as cursor:
        cursor.execute(_ASKED, params_of(selection))
        return {(cohort, condition): count for cohort, condition, count in cursor.fetchall()}


def _rows(selection: Selection, *, dated: bool = False) -> npt.NDArray[np.void]:
    """`dated`: with the moment of each answer, in microseconds; also where somebody may have answered twice."""
    dated = dated or may_repeat(selection)
    nominal = selection.level == "nominal"
    models = "model" in selection.raters
    query = _QUERY.format(
        codes=_CODES if nominal else "",
        codes_join="JOIN codes ON codes.code = r.code" if nominal else "",
        value="codes.number" if nominal else "r.value",
        seats=_SEATS if models else "",
        seat="seat.cohort" if models else "r.cohort_id",
        dated=_AT if dated else "",
        **narrowing(selection, dated=dated),
    )
    rows: npt.NDArray[np.void] = copied(query, params_of(selection), _KEPT_DATED if dated else _KEPT)
    return rows


def params_of(selection: Selection) -> dict[str, Any]:
    """What every query of a selection's rows takes."""
    return {
        "conditions": list(selection.conditions),
        "campaigns": list(selection.campaigns),
        "field": selection.field,
        "cohorts": list(selection.cohorts),
        "counted": selection.counted == "counted",
        "raters": list(selection.raters),
        "all_concepts": not selection.concepts,
        "concepts": list(selection.concepts),
        "since": selection.since,
        "until": selection.until,
        "all_versions": not selection.versions,
        "versions": list(selection.versions),
    }


def counted_annotations(selection: Selection) -> QuerySet[Annotation]:
    """Whole answers, of the same rows that the ratings of the selection are read from, in the order they were given."""
    found = Annotation.objects.filter(
        Q(cohort_id__in=selection.cohorts) | Q(rater__kind=Rater.Kind.MODEL),
        assignment__campaign_id__in=selection.campaigns,
        assignment__unit__item__condition__in=selection.conditions,
        rater__kind__in=selection.raters,
        live=True,
    )
    if selection.counted == "counted":
        found = found.filter(counted=True)
    if selection.concepts:
        found = found.filter(assignment__unit__item__concept__in=selection.concepts)
    if selection.since:
        found = found.filter(submitted_at__gte=selection.since)
    if selection.until:
        found = found.filter(submitted_at__lt=selection.until)
    if selection.versions:
        found = found.filter(sheet_version__in=selection.versions)
    return found.order_by("submitted_at", "pk")


def may_repeat(selection: Selection) -> bool:
    """Whether a person can have answered a unit twice: one campaign keeps one answer of each."""
    return len(selection.campaigns) > 1


def narrowing(selection: Selection, *, dated: bool = False) -> dict[str, str]:
    """`join` and `narrowed` of such a query: moments and versions stand with the annotation, read for them alone."""
    if selection.since or selection.until or selection.versions:
        return {"join": _DATED, "narrowed": _NARROWED}
    return {"join": _DATED if dated else "", "narrowed": ""}


def _numbered(rows: npt.NDArray[np.void], repeats: str) -> Ratings:
    """Units and raters renumbered from 0, with one answer of each person to each unit."""
    return _settled(rows, repeats)[0]


def _settled(rows: npt.NDArray[np.void], repeats: str) -> tuple[Ratings, Ints]:
    """The ratings by unit, then by rater, so that every sum over them is made in one order; and each one's row.

    Of several answers of a person to a unit, in different campaigns, the one that was given first or last.
    """
    units, unit = numbered(rows["unit"])
    raters, rater = numbered(rows["rater"])
    order = _once(unit * max(raters, 1) + rater, units * raters, rows, repeats)
    value: Floats = rows["value"]
    return Ratings(unit[order], rater[order], value[order], units, raters), order


def _once(pair: Ints, places: int, rows: npt.NDArray[np.void], repeats: str) -> Ints:
    """The rows that count, by their pair of unit and rater; a place for each pair is cheaper than sorting, unless most
    are empty."""
    if places <= 8 * pair.size:
        row_of: Ints = np.full(places, -1)
        row_of[pair] = np.arange(pair.size)
        found: Ints = row_of[row_of >= 0]
        if found.size == pair.size:  # nobody answered twice
            return found
    return once(pair, rows, repeats)


def once(pair: Ints, rows: npt.NDArray[np.void], repeats: str) -> Ints:
    """The places of `rows` that count, in the order of their pair (of unit and rater): of several answers the one given
    last, or first, by their moment (`at`, without which there are none) and then by the order they were stored in."""
    names = rows.dtype.names or ()
    order: Ints = np.lexsort((rows["annotation"], *([rows["at"]] if "at" in names else []), pair))
    said = pair[order]
    differs = np.ones(said.size + 1, bool)
    differs[1:-1] = said[1:] != said[:-1]
    return order[differs[1:] if repeats == "latest" else differs[:-1]]


def numbered(ids: Ints) -> tuple[int, Ints]:
    """How many different ids there are, and (n,) the place of each among them; by a lookup where they lie close."""
    if not ids.size:
        return 0, np.zeros(0, np.int64)
    low = ids.min()
    if ids.max() - low < 4 * ids.size:
        there = np.bincount(ids - low) > 0
        return int(there.sum()), (np.cumsum(there) - 1)[ids - low]
    distinct, place = np.unique(ids, return_inverse=True)
    return int(distinct.size), place
