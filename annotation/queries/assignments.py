# ruff: noqa: S608  (only names of columns are put into the statements)
"""Assignments as a sheet needs them. What those of one campaign's cohort share is read once, not joined to each."""

import time
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.models import Model, QuerySet

from annotation.models import (
    Assignment,
    Campaign,
    CampaignCohort,
    Draft,
    Participation,
    RuleVersion,
    SheetVersion,
    Unit,
)
from benchmarks.models import Benchmark, Image, Item, ItemFact, ItemImage, Stage
from jobs.queries.statements import JoinedColumns, fetch
from people.models import Cohort, Rater, User

PLACE = JoinedColumns(
    cc=CampaignCohort, c=Campaign, co=Cohort, st=Stage, b=Benchmark, v=SheetVersion, rv=RuleVersion
)  # fmt: skip
PLACE_SQL = f"""
SELECT {PLACE.sql} FROM annotation_campaigncohort cc
  JOIN annotation_campaign c ON c.id = cc.campaign_id JOIN people_cohort co ON co.id = cc.cohort_id
  JOIN benchmarks_stage st ON st.id = c.stage_id JOIN benchmarks_benchmark b ON b.id = st.benchmark_id
  JOIN annotation_sheetversion v ON v.id = c.sheet_version_id
  LEFT JOIN annotation_ruleversion rv ON rv.id = c.rule_version_id
WHERE cc.id = %s
"""
# What a sheet says of these. Anything else is read when it is asked for.
ONLY = {
    "p": ("id", "cohort_id", "rater_id"),
    "i": ("id", "stage_id", "key", "concept", "answer_target", "text", "context"),
    "r": ("id", "kind", "user_id"),
    "us": ("id", "name", "language", "time_zone", "is_active"),
    "x": ("id", "item_id", "image_id", "role", "alt"),
    "m": ("id", "team_id", "sha256", "width", "height"),
}
ROW = JoinedColumns(
    ONLY, a=Assignment, p=Participation, u=Unit, i=Item, r=Rater, us=User, d=Draft, x=ItemImage, m=Image
)  # fmt: skip
FACTS = (
    """(SELECT json_agg(json_build_array(f.id, f.key, f.value)) FROM benchmarks_itemfact f WHERE f.item_id = i.id)"""
)
ROW_SQL = f"""
SELECT {ROW.sql}, {FACTS} FROM annotation_assignment a
  JOIN annotation_participation p ON p.id = a.participation_id
  JOIN annotation_unit u ON u.id = a.unit_id JOIN benchmarks_item i ON i.id = u.item_id
  JOIN people_rater r ON r.id = a.rater_id JOIN people_user us ON us.id = r.user_id
  LEFT JOIN annotation_draft d ON d.assignment_id = a.id
  LEFT JOIN benchmarks_itemimage x ON x.item_id = i.id LEFT JOIN benchmarks_image m ON m.id = x.image_id
"""
OWN = ROW_SQL + "WHERE a.id = %s AND r.user_id = %s"
RESERVED = ROW_SQL + "WHERE a.participation_id = %s AND a.state = 'reserved' AND NOT a.packed"
PACKED = ROW_SQL + "WHERE a.participation_id = %s AND a.state = 'reserved' AND a.packed ORDER BY a.id"


# Rows as this process read them last, with the time. All that a decision needs is read anew under the lock (see gate.py
# and locked_state.py): of these rows sheets are drawn.
_places: dict[int, tuple[float, tuple[Any, ...]]] = {}
MOST_PLACES = 512


def _place_row(cohort_id: int) -> tuple[Any, ...]:
    """What this process read within `PLACE_SECONDS` is used again; what a transaction may take back is not kept."""
    now = time.monotonic()
    read_at, row = _places.get(cohort_id, (float("-inf"), ()))
    if now - read_at < settings.PLACE_SECONDS:
        return row
    row = fetch(PLACE_SQL, [cohort_id])[0]
    if not connection.in_atomic_block:
        if len(_places) >= MOST_PLACES:
            _places.clear()
        _places[cohort_id] = (now, row)
    return row


def load_campaign_cohort(cohort_id: int) -> CampaignCohort:
    """A campaign's cohort with the campaign, its stage, benchmark and sheet, as they were up to two seconds ago."""
    parts = PLACE.read(_place_row(cohort_id))
    place: CampaignCohort = parts["cc"]
    place.cohort, place.campaign = parts["co"], parts["c"]
    place.campaign.stage, place.campaign.sheet_version, place.campaign.rule_version = (
        parts["st"],
        parts["v"],
        parts["rv"],
    )
    place.campaign.stage.benchmark = parts["b"]
    return place


def load_own_assignment(assignment_id: int, user_id: int | None) -> Assignment | None:
    """A person's own assignment, if it is one of a person."""
    rows = _load_assignments(OWN, [assignment_id, user_id])
    return rows[0] if rows else None


def reserved_assignments(participation_id: int, place: CampaignCohort | None = None) -> list[Assignment]:
    """What a person has in hand and ahead."""
    return _load_assignments(RESERVED, [participation_id], place)


def packed_assignments(participation_id: int, place: CampaignCohort | None = None) -> list[Assignment]:
    """What a person has taken in a pack and not answered yet, in the order of the queue."""
    return _load_assignments(PACKED, [participation_id], place)


def _load_assignments(sql: str, params: list[int | None], place: CampaignCohort | None = None) -> list[Assignment]:
    """One object for each assignment; its pictures come in rows of their own."""
    assignments: dict[int, Assignment] = {}
    uses: dict[int, list[ItemImage]] = {}
    facts: dict[int, list[ItemFact]] = {}
    for raw in fetch(sql, params):
        row = ROW.read(raw)
        assignment: Assignment = row["a"]
        if assignment.pk not in assignments:
            place = place or load_campaign_cohort(row["p"].cohort_id)
            assignments[assignment.pk] = _attach_related(row, place)
            uses[assignment.pk] = []
            facts[assignment.pk] = [ItemFact(pk=pk, key=key, value=value) for pk, key, value in raw[-1] or ()]
        if row["x"] is not None:
            row["x"].image = row["m"]
            uses[assignment.pk].append(row["x"])
    for pk, assignment in assignments.items():
        read = {"images": _fetched_queryset(ItemImage, uses[pk]), "facts": _fetched_queryset(ItemFact, facts[pk])}
        assignment.unit.item._prefetched_objects_cache = read  # type: ignore[attr-defined]
    return list(assignments.values())


def _fetched_queryset(model: type[Model], rows: list[Any]) -> QuerySet[Any]:
    """As prefetch_related leaves it."""
    fetched: QuerySet[Any] = QuerySet(model)
    fetched._result_cache, fetched._prefetch_done = rows, True  # type: ignore[attr-defined]
    return fetched


def _attach_related(row: dict[str, Any], place: CampaignCohort) -> Assignment:
    """The same as select_related would make."""
    assignment: Assignment = row["a"]
    assignment.participation, assignment.unit, assignment.rater = row["p"], row["u"], row["r"]
    assignment.unit.item, assignment.rater.user = row["i"], row["us"]
    row["p"].cohort, assignment.campaign = place, place.campaign
    if row["d"] is None:
        Assignment._meta.get_field("draft").set_cached_value(assignment, None)
    else:
        row["d"].assignment = assignment
    return assignment
