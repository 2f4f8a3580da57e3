"""What a stage has of what it wants, cell by cell: see benchmarks.rules.coverage. Reads, and nothing else.

All cells are one aggregated query over the items of the stage, for any number of cells. An item has one state in its
cell; where every cohort answers every item, it has one in the cell of each cohort.
"""

# ruff: noqa: S608  (only constants of this file are put into the statements)

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Literal

from django.utils import translation

from benchmarks.models import CohortLabel, Stage
from benchmarks.queries.cultures import CULTURE
from benchmarks.queries.label_sets import find_set, set_for_tables
from benchmarks.queries.saved_recipes import recipe_of
from benchmarks.rules.coverage import CoverageError, CoverageSpec
from benchmarks.rules.label_sets.contract import LabelSpec, fold, spellings
from jobs.queries.statements import fetch
from people.models import Cohort

GapReason = Literal[
    "no_cohort", "no_candidates", "waiting_for_facts", "campaign_closed", "nobody_active", "in_work",
    "candidates_used_up", "retired_by_skips",
]  # fmt: skip
IDLE = timedelta(days=7)
DAYS = 7  # whose accepted items a forecast reads

# The row and the column of an item `i` and a cohort `co`, as they are written there.
NAME = f"CASE WHEN %(own)s THEN {CULTURE} ELSE coalesce(co.label, '') END"
PART = "CASE WHEN %(columns)s = 'conditions' THEN i.condition ELSE i.concept END"
# Whether a slot's unit is accepted: by the rule, by a reviewer, or because it has all its answers.
ACCEPTED = """CASE %(acceptance)s WHEN 'by_rule' THEN o.state = 'accepted'
  WHEN 'by_review' THEN EXISTS (SELECT FROM annotation_assignment a WHERE a.slot_id = s.id AND a.state = 'accepted')
  ELSE s.submitted >= greatest(s.wanted, coalesce(s.share, cc.target_answers)) END"""
# Why not: what the sheet asked for as a reason, else the first clause that failed; or what the reviewer gave as reason.
REASON = """CASE WHEN o.state IN ('rejected', 'undecided') THEN coalesce((
    SELECT r.field || '=' || r.code FROM annotation_assignment a
      JOIN annotation_annotation an ON an.assignment_id = a.id AND an.live AND an.counted
      JOIN annotation_rating r ON r.annotation_id = an.id AND r.field = ANY(%(reason_fields)s::text[])
    WHERE a.slot_id = s.id ORDER BY an.id DESC, r.field LIMIT 1), 'rule=' || (o.failed ->> 0), 'rule=undecided')
  WHEN %(acceptance)s = 'by_review' THEN (
    SELECT 'review=' || v.reason FROM annotation_assignment a
      JOIN annotation_annotation an ON an.assignment_id = a.id AND an.live
      JOIN annotation_review v ON v.annotation_id = an.id AND v.undone_at IS NULL AND v.decision = 'reject'
    WHERE a.slot_id = s.id AND a.state = 'rejected' ORDER BY v.at DESC LIMIT 1) END"""
CELLS = f"""
WITH parts AS (
  SELECT i.id, {NAME} AS name, {PART} AS part,
    i.intake = 'dropped' AS dropped, i.intake = 'waiting' AND NOT %(assign_waiting)s OR o.state = 'waiting' AS waits,
    i.intake <> 'waiting' AND {ACCEPTED} AS accepted, {REASON} AS reason,
    o.state IN ('rejected', 'undecided') AS judged,
    s.submitted, s.reserved, s.retired
  FROM benchmarks_item i LEFT JOIN (annotation_unit u JOIN annotation_slot s ON s.unit_id = u.id
      JOIN annotation_campaigncohort cc ON cc.id = s.cohort_id JOIN people_cohort co ON co.id = cc.cohort_id
      LEFT JOIN annotation_outcome o ON o.campaign_id = cc.campaign_id AND o.unit_id = s.unit_id) ON u.item_id = i.id
  WHERE i.stage_id = %(stage)s AND i.withdrawn_at IS NULL
    AND (%(only)s::text[] IS NULL OR {PART} = ANY(%(only)s))
), items AS (
  SELECT id, name, part, coalesce(sum(submitted), 0) AS counted, max(reason) AS reason, bool_or(accepted) AS accepted,
    CASE WHEN bool_or(dropped) THEN 'dropped' WHEN bool_or(accepted) THEN 'accepted' WHEN bool_or(waits) THEN 'waiting'
      WHEN bool_or(judged) THEN 'rejected' WHEN sum(reserved + submitted) > 0 THEN 'in_work'
      WHEN bool_and(retired) THEN 'retired' ELSE 'left' END AS state
  FROM parts GROUP BY id, name, part
), reasons AS (
  SELECT name, part, jsonb_object_agg(reason, n) AS reasons FROM (
    SELECT name, part, reason, count(*) AS n FROM items
    WHERE reason IS NOT NULL AND accepted IS NOT TRUE AND state <> 'dropped' GROUP BY 1, 2, 3) each_reason
  GROUP BY name, part
), counts AS (
  SELECT name, part, sum(counted) AS counted, count(*) FILTER (WHERE state = 'accepted') AS accepted,
    count(*) FILTER (WHERE state = 'in_work') AS in_work, count(*) FILTER (WHERE state = 'left') AS left_over,
    count(*) FILTER (WHERE state = 'waiting') AS waiting, count(*) FILTER (WHERE state = 'retired') AS retired,
    count(*) FILTER (WHERE state = 'rejected') AS rejected
  FROM items GROUP BY name, part
)
SELECT c.name, c.part, c.counted, c.accepted, c.in_work, c.left_over, c.waiting, c.retired, c.rejected, r.reasons
FROM counts c LEFT JOIN reasons r ON r.name = c.name AND r.part = c.part
"""
# Which cohorts may answer now, and whether somebody of them did in the last week, or has not yet had a week for it.
COHORTS = """
SELECT cc.cohort_id,
  bool_or(c.state = 'open' AND NOT cc.paused AND co.paused_at IS NULL
    AND coalesce(c.opens_on <= %(today)s, true) AND coalesce(c.closes_on >= %(today)s, true)),
  bool_or(c.opened_at >= %(since)s OR EXISTS (SELECT FROM annotation_participation p
      JOIN annotation_assignment a ON a.participation_id = p.id
        AND a.state IN ('submitted', 'returned', 'accepted', 'rejected')
      JOIN annotation_annotation an ON an.assignment_id = a.id AND an.submitted_at >= %(since)s
    WHERE p.cohort_id = cc.id AND p.last_seen_at >= %(since)s - interval '1 hour'))
FROM annotation_campaigncohort cc JOIN annotation_campaign c ON c.id = cc.campaign_id
  JOIN people_cohort co ON co.id = cc.cohort_id
WHERE c.stage_id = %(stage)s AND c.opened_at IS NOT NULL GROUP BY cc.cohort_id
"""
# On which of the last days items were accepted, or answers counted.
MOMENTS = {
    "by_rule": """SELECT u.item_id AS id, min(o.at) AS at FROM annotation_outcome o
      JOIN annotation_campaign c ON c.id = o.campaign_id JOIN annotation_unit u ON u.id = o.unit_id
      WHERE c.stage_id = %(stage)s AND o.state = 'accepted' GROUP BY 1""",
    "by_review": """SELECT u.item_id AS id, min(v.at) AS at FROM annotation_campaign c
      JOIN annotation_assignment a ON a.campaign_id = c.id AND a.state = 'accepted'
      JOIN annotation_unit u ON u.id = a.unit_id JOIN annotation_annotation an ON an.assignment_id = a.id AND an.live
      JOIN annotation_review v ON v.annotation_id = an.id AND v.undone_at IS NULL AND v.decision = 'accept'
      WHERE c.stage_id = %(stage)s GROUP BY 1""",
    "on_submit": """SELECT u.item_id AS id, max(an.submitted_at) AS at FROM annotation_campaign c
      JOIN annotation_campaigncohort cc ON cc.campaign_id = c.id
      JOIN annotation_slot s ON s.cohort_id = cc.id
        AND s.submitted >= greatest(s.wanted, coalesce(s.share, cc.target_answers))
      JOIN annotation_unit u ON u.id = s.unit_id JOIN annotation_assignment a ON a.slot_id = s.id
      JOIN annotation_annotation an ON an.assignment_id = a.id AND an.counted
      WHERE c.stage_id = %(stage)s GROUP BY 1""",
    "answers": """SELECT an.id, an.submitted_at AS at FROM annotation_campaign c
      JOIN annotation_assignment a ON a.campaign_id = c.id AND a.slot_id IS NOT NULL
      JOIN annotation_annotation an ON an.assignment_id = a.id AND an.counted
      WHERE c.stage_id = %(stage)s""",
}
SERIES = """SELECT (at AT TIME ZONE 'UTC')::date, count(*) FROM ({moments}) dated
  WHERE at >= %(since)s AND at < %(today)s GROUP BY 1"""
DAILY = {counted: SERIES.format(moments=moments) for counted, moments in MOMENTS.items()}


@dataclass(frozen=True)
class CellCounts:
    """Items of a cell by state; `counted`: their answers. `reasons`: of items that were not accepted, by code."""

    counted: int = 0
    accepted: int = 0
    in_work: int = 0
    left: int = 0
    waiting: int = 0
    retired: int = 0
    rejected: int = 0
    reasons: Mapping[str, int] = field(default_factory=dict)

    def __add__(self, other: "CellCounts") -> "CellCounts":
        reasons = dict(self.reasons)
        for code, n in other.reasons.items():
            reasons[code] = reasons.get(code, 0) + n
        return CellCounts(
            self.counted + other.counted,
            self.accepted + other.accepted,
            self.in_work + other.in_work,
            self.left + other.left,
            self.waiting + other.waiting,
            self.retired + other.retired,
            self.rejected + other.rejected,
            reasons,
        )

    @property
    def items(self) -> int:
        """Candidates, whatever became of them; those that filters dropped are none."""
        return self.accepted + self.in_work + self.left + self.waiting + self.retired + self.rejected


@dataclass(frozen=True)
class CohortState:
    """`is_open`: its people may answer now. `is_active`: somebody of it submitted in the last seven days, or it is
    asked since then only. `is_asked`: a campaign of the stage was opened to it, whether or not it is over."""

    cohort: Cohort
    is_open: bool = False
    is_active: bool = False
    is_asked: bool = False


@dataclass(frozen=True)
class CellRow:
    """A label that is wanted, and the cohort whose people have it."""

    key: str
    label: LabelSpec
    state: CohortState | None

    @property
    def name(self) -> str:
        """In the language of the page, or as it is."""
        language = (translation.get_language() or "en").split("-")[0]
        return self.state.cohort.name if self.state else self.label.names.get(language, self.label.text)


@dataclass(frozen=True)
class WantedCell:
    row: CellRow
    column: str
    done: int
    wanted: int
    counts: CellCounts
    gap: GapReason | None

    @property
    def step(self) -> int:
        """In twentieths, for the page's policy allows no style of its own to a cell."""
        return min(20, 20 * self.done // self.wanted)

    @property
    def missing(self) -> int:
        return max(0, self.wanted - self.done)


@dataclass(frozen=True)
class StageCells:
    """`outside`: items of the stage that no cell is for. `rows` is empty where the label set is gone."""

    spec: CoverageSpec
    rows: Sequence[CellRow]
    columns: Sequence[str]
    cells: Mapping[tuple[str, str], WantedCell]
    outside: int

    @property
    def wanted(self) -> int:
        return len(self.cells) * self.spec.per_cell

    @property
    def done(self) -> int:
        """What is more than wanted in a cell fills no other one."""
        return sum(min(cell.done, cell.wanted) for cell in self.cells.values())

    @property
    def full(self) -> int:
        return sum(not cell.missing for cell in self.cells.values())


def coverage_of(stage: Stage) -> CoverageSpec | None:
    """What the stage wants; None where nothing is declared, or it cannot be read."""
    try:
        return CoverageSpec.from_json(stage.coverage)
    except CoverageError:
        return None


def reason_for_gap(counts: CellCounts, cohort: CohortState | None) -> GapReason:
    """Why a cell that is not full is not: the first reason that holds."""
    at_hand = counts.left + counts.in_work
    if cohort is None:
        return "no_cohort"
    if not counts.items:
        return "no_candidates"
    if counts.waiting and not at_hand:
        return "waiting_for_facts"
    if not cohort.is_open:
        return "campaign_closed"
    if at_hand and not cohort.is_active:
        return "nobody_active"
    if at_hand:
        return "in_work"
    return "retired_by_skips" if counts.retired else "candidates_used_up"


def stage_cells(stage: Stage, spec: CoverageSpec, at: datetime) -> StageCells:
    """All cells of a stage; the number of queries does not grow with them."""
    rows = cell_rows(stage, spec, cohort_states(stage, at))
    counts = cell_counts(stage, spec)
    columns = column_names(stage, spec, counts)
    placed, outside = place_counts(counts, rows, columns, own=stage.own_items_only)
    cells = {}
    for row in rows:
        for column in columns:
            of_cell = placed.get((row.key, column), CellCounts())
            done = of_cell.accepted if spec.counts == "accepted" else of_cell.counted
            gap = reason_for_gap(of_cell, row.state) if done < spec.per_cell else None
            cells[row.key, column] = WantedCell(row, column, done, spec.per_cell, of_cell, gap)
    return StageCells(spec, rows, columns, cells, outside)


def cell_counts(
    stage: Stage, spec: CoverageSpec, only: Sequence[str] | None = None
) -> dict[tuple[str, str], CellCounts]:
    """Counts by what the items say: culture, or where every cohort answers every item the cohort's label; and concept
    or condition, of which `only` these. Items that no cohort has yet stand under an empty label. One query."""
    params = {
        "stage": stage.pk, "own": stage.own_items_only, "columns": spec.columns, "acceptance": stage.acceptance,
        "assign_waiting": stage.assign_waiting, "reason_fields": reason_fields(stage),
        "only": None if only is None else list(only),
    }  # fmt: skip
    counts = {}
    for name, part, counted, accepted, in_work, left, waiting, retired, rejected, reasons in fetch(CELLS, params):
        by_reason = json.loads(reasons) if isinstance(reasons, str | bytes) else reasons or {}
        counts[name, part] = CellCounts(int(counted), accepted, in_work, left, waiting, retired, rejected, by_reason)
    return counts


def reason_fields(stage: Stage) -> list[str]:
    """Questions that are asked only after certain answers: "What is wrong with it?"."""
    return [str(row["key"]) for row in stage.sheet.get("fields", []) if row.get("show_if") and row.get("key")]


def cohort_states(stage: Stage, at: datetime) -> list[CohortState]:
    """The team's cohorts by label: who may answer now, and who did. Two queries."""
    params = {"stage": stage.pk, "since": at - IDLE, "today": at.date()}
    states = {cohort: (is_open, is_active, True) for cohort, is_open, is_active in fetch(COHORTS, params)}
    return [CohortState(row.cohort, *states.get(row.cohort.pk, ())) for row in team_cohorts(stage)]


def team_cohorts(stage: Stage) -> list[CohortState]:
    """The team's cohorts by label, without what they do."""
    cohorts = Cohort.objects.filter(team=stage.benchmark.team_id).order_by("label")
    return [CohortState(cohort) for cohort in cohorts]


def cell_rows(stage: Stage, spec: CoverageSpec, states: Sequence[CohortState]) -> list[CellRow]:
    """The rows in their order: the team's cohorts, or the labels of a set, each with the cohort that has it."""
    if not spec.set_key:
        return [CellRow(f"c{state.cohort.pk}", cohort_label(state.cohort), state) for state in states]
    team = stage.benchmark.team
    label_set, stored = set_for_tables(team, spec.set_key), find_set(team, spec.set_key)
    chosen = CohortLabel.objects.filter(label_set=stored).values_list("cohort", "label__key") if stored else ()
    key_of = dict(chosen)
    by_key = {key_of[state.cohort.pk]: state for state in states if state.cohort.pk in key_of}
    by_text = {fold(state.cohort.label): state for state in states if state.cohort.pk not in key_of}
    return [
        CellRow(label.key, label, by_key.get(label.key) or next(filter(None, map(by_text.get, spellings(label))), None))
        for label in (label_set.labels if label_set else ())
    ]


def cohort_label(cohort: Cohort) -> LabelSpec:
    return LabelSpec(str(cohort.pk), cohort.label, dict(cohort.names), cohort.country)


def column_names(stage: Stage, spec: CoverageSpec, counts: Mapping[tuple[str, str], CellCounts]) -> list[str]:
    """Those that are named; else the recipe's; else what the items have."""
    if spec.names:
        return list(spec.names)
    recipe = recipe_of(stage.benchmark)
    if recipe is not None:
        conditions = [condition.key for condition in recipe.conditions]
        if names := conditions if spec.columns == "conditions" else list(recipe.concepts):
            return names
    return sorted({part for _name, part in counts if part})


def place_counts(
    counts: Mapping[tuple[str, str], CellCounts], rows: Sequence[CellRow], columns: Sequence[str], *, own: bool
) -> tuple[dict[tuple[str, str], CellCounts], int]:
    """Counts by cell, and how many items are in none. Where every cohort answers every item (not `own`), a row without
    answers has as many candidates as its column has items."""
    row_of = row_keys(rows)
    column_of = {fold(column): column for column in columns}
    placed: dict[tuple[str, str], CellCounts] = {}
    outside = 0
    most: dict[str, int] = {}
    for (name, part), of_group in counts.items():
        row, column = row_of.get(fold(name)), column_of.get(fold(part))
        if column is not None:
            most[column] = max(most.get(column, 0), of_group.items)
        if row is not None and column is not None:
            placed[row, column] = placed.get((row, column), CellCounts()) + of_group
        elif column is None or (own and row is None):
            outside += of_group.items
    if not own:
        for row_key in {row.key for row in rows}:
            for column, n in most.items():
                placed.setdefault((row_key, column), CellCounts(left=n))
    return placed, outside


def row_keys(rows: Sequence[CellRow]) -> dict[str, str]:
    """The row by each spelling of its label, and by the label of its cohort."""
    keys = {spelling: row.key for row in rows for spelling in spellings(row.label)}
    return keys | {fold(row.state.cohort.label): row.key for row in rows if row.state}


def daily_counts(stage: Stage, spec: CoverageSpec, at: datetime) -> dict[date, int]:
    """On each of the last seven full days (UTC): items accepted, or answers counted. Days without any are left out."""
    today = at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    params = {"stage": stage.pk, "since": today - timedelta(days=DAYS), "today": today}
    return dict(fetch(DAILY["answers" if spec.counts == "answers" else stage.acceptance], params))
