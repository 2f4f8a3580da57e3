# ruff: noqa: S608  (only names of columns are put into the statements)
"""Assignments as a sheet needs them. What those of one campaign's cohort share is read once, not joined to each."""

from collections.abc import Sequence
from typing import Any

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
from annotation.queries.recent_rows import RecentRows
from benchmarks.models import Benchmark, Image, Item, ItemFact, ItemImage, Stage
from jobs.queries.statements import JoinedColumns, fetch
from people.models import Cohort, Rater

PLACE = JoinedColumns(
    cc=CampaignCohort, c=Campaign, co=Cohort, st=Stage, b=Benchmark, v=SheetVersion, rv=RuleVersion
)  # fmt: skip
PLACE_SQL = f"""
SELECT {PLACE.sql} FROM annotation_campaigncohort cc
  JOIN annotation_campaign c ON c.id = cc.campaign_id JOIN people_cohort co ON co.id = cc.cohort_id
  JOIN benchmarks_stage st ON st.id = c.stage_id JOIN benchmarks_benchmark b ON b.id = st.benchmark_id
  JOIN annotation_sheetversion v ON v.id = c.sheet_version_id
  LEFT JOIN annotation_ruleversion rv ON rv.id = c.rule_version_id
WHERE cc.id = %(id)s
"""
# What a sheet says of these. Anything else, as the person, is read when it is asked for.
ONLY = {
    "p": ("id", "cohort_id", "rater_id"),
    "r": ("id", "kind", "user_id"),
    "i": ("id", "stage_id", "key", "concept", "answer_target", "text", "context"),
    "x": ("id", "item_id", "image_id", "role", "alt"),
    "m": ("id", "team_id", "sha256", "width", "height"),
}
ROW = JoinedColumns(ONLY, a=Assignment, u=Unit, i=Item, d=Draft, x=ItemImage, m=Image)
RATER = ROW.parts["a"].names.index("rater_id")
OWNER = JoinedColumns(ONLY, p=Participation, r=Rater)
FACTS = (
    """(SELECT json_agg(json_build_array(f.id, f.key, f.value)) FROM benchmarks_itemfact f WHERE f.item_id = i.id)"""
)
SOURCES = """FROM annotation_assignment a
  JOIN annotation_unit u ON u.id = a.unit_id JOIN benchmarks_item i ON i.id = u.item_id
  LEFT JOIN annotation_draft d ON d.assignment_id = a.id
  LEFT JOIN benchmarks_itemimage x ON x.item_id = i.id LEFT JOIN benchmarks_image m ON m.id = x.image_id"""
OWN = f"""SELECT {ROW.sql}, {OWNER.sql}, {FACTS} {SOURCES}
  JOIN annotation_participation p ON p.id = a.participation_id JOIN people_rater r ON r.id = a.rater_id
WHERE a.id = %s AND r.user_id = %s"""
HELD = f"""SELECT {ROW.sql}, {FACTS} {SOURCES}
WHERE a.participation_id = %s AND a.state = 'reserved' AND """
RESERVED = HELD + "NOT a.packed"
PACKED = HELD + "a.packed ORDER BY a.id"


# All that a decision needs is read anew under the lock (see gate.py and locked_state.py): of these sheets are drawn.
PLACES = RecentRows(PLACE_SQL)


def load_campaign_cohort(cohort_id: int) -> CampaignCohort:
    """A campaign's cohort with the campaign, its stage, benchmark and sheet, as they were up to two seconds ago."""
    parts = PLACE.read(PLACES.fetch(cohort_id))
    place: CampaignCohort = parts["cc"]
    _relate(place, cohort=parts["co"], campaign=parts["c"])
    _relate(parts["c"], stage=parts["st"], sheet_version=parts["v"], rule_version=parts["rv"])
    _relate(parts["st"], benchmark=parts["b"])
    return place


def load_own_assignment(assignment_id: int, user_id: int | None) -> Assignment | None:
    """A person's own assignment, if it is one of a person."""
    rows = fetch(OWN, [assignment_id, user_id])
    if not rows:
        return None
    owner = OWNER.read(rows[0], ROW.width)
    [assignment] = _read_assignments(rows, owner["p"], load_campaign_cohort(owner["p"].cohort_id))
    _relate(assignment, rater=owner["r"])
    return assignment


def reserved_assignments(participation_id: int, place: CampaignCohort) -> list[Assignment]:
    """What a person has in hand and ahead."""
    return _load_held(RESERVED, participation_id, place)


def packed_assignments(participation_id: int, place: CampaignCohort) -> list[Assignment]:
    """What a person has taken in a pack and not answered yet, in the order of the queue."""
    return _load_held(PACKED, participation_id, place)


def _load_held(sql: str, participation_id: int, place: CampaignCohort) -> list[Assignment]:
    rows = fetch(sql, [participation_id])
    if not rows:
        return []
    rater_id = rows[0][RATER]
    own = Participation.from_db("default", ONLY["p"], [participation_id, place.pk, rater_id])
    return _read_assignments(rows, own, place)


def _read_assignments(rows: Sequence[Sequence[Any]], own: Participation, place: CampaignCohort) -> list[Assignment]:
    """One object for each assignment; its pictures come in rows of their own."""
    _relate(own, cohort=place)
    assignments: dict[int, Assignment] = {}
    uses: dict[int, list[ItemImage]] = {}
    for raw in rows:
        row = ROW.read(raw)
        assignment: Assignment = assignments.setdefault(raw[0], row["a"])
        if assignment is row["a"]:
            uses[assignment.pk] = []
            facts = [ItemFact(pk=pk, key=key, value=value) for pk, key, value in raw[-1] or ()]
            _attach_related(row, own, uses[assignment.pk], facts)
        if row["x"] is not None:
            _relate(row["x"], image=row["m"])
            uses[assignment.pk].append(row["x"])
    return list(assignments.values())


def _attach_related(row: dict[str, Any], own: Participation, uses: list[ItemImage], facts: list[ItemFact]) -> None:
    """The same as select_related and prefetch_related would make."""
    assignment: Assignment = row["a"]
    _relate(assignment, participation=own, campaign=own.cohort.campaign, unit=row["u"])
    _relate(row["u"], item=row["i"])
    row["i"]._prefetched_objects_cache = {
        "images": _fetched_queryset(ItemImage, uses),
        "facts": _fetched_queryset(ItemFact, facts),
    }
    if row["d"] is None:
        Assignment._meta.get_field("draft").set_cached_value(assignment, None)
    else:
        row["d"].assignment = assignment


def _relate(instance: Model, **related: Any) -> None:
    """Rows that were read by its foreign keys, as select_related leaves them: the keys are there and not set again."""
    instance._state.fields_cache.update(related)


def _fetched_queryset(model: type[Model], rows: list[Any]) -> QuerySet[Any]:
    """As prefetch_related leaves it."""
    fetched: QuerySet[Any] = QuerySet(model)
    fetched._result_cache, fetched._prefetch_done = rows, True  # type: ignore[attr-defined]
    return fetched
