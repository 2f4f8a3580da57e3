"""How much of what was asked for is there: rows of items or of concepts, one column a cohort. Reads, and nothing else.

The matrix is one aggregated query over a campaign's slots; what a hole lacks, and who could fill it, is read for one
cell at a time.
"""

# ruff: noqa: S608  (only constants of this file are put into the statements)

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta
from typing import Any, Literal

from django.utils import timezone

from annotation.models import Campaign, CampaignCohort
from annotation.queries.sql import AVAILABLE
from benchmarks.queries.availability import is_available
from jobs.queries.statements import fetch

By = Literal["concept", "item"]
Show = Literal["", "missing", "holes"]
PAGE = 50
GAP_FACTOR = 5  # a cell is a hole while it has less than one in five of what is due by now, and one answer is due
IDLE = timedelta(days=7)  # without dates, nothing is due in the first week

ASKED = "greatest(s.wanted, coalesce(s.share, cc.target_answers))"
# Of a full cell (annotation.services.queue.full_cells) nothing more is asked than what is there and in people's hands.
STILL_ASKED = f"CASE WHEN s.cell_full THEN s.wanted ELSE {ASKED} END"
UNITS = "count(*) FILTER (WHERE NOT (s.cell_full AND s.wanted = 0))"
SLOTS = """annotation_slot s JOIN annotation_campaigncohort cc ON cc.id = s.cohort_id
  JOIN annotation_unit u ON u.id = s.unit_id JOIN benchmarks_item i ON i.id = u.item_id"""
# Whether the unit of a slot is accepted: by the rule, by a reviewer, or because it has all its answers. Nothing is
# accepted while the item waits for a fact.
ACCEPTED = f"""i.intake <> 'waiting' AND CASE %(acceptance)s
  WHEN 'by_rule' THEN EXISTS (SELECT FROM annotation_outcome o
    WHERE o.campaign_id = cc.campaign_id AND o.unit_id = s.unit_id AND o.state = 'accepted')
  WHEN 'by_review' THEN EXISTS (SELECT FROM annotation_assignment a WHERE a.slot_id = s.id AND a.state = 'accepted')
  ELSE s.submitted >= {ASKED} END"""
CHOSEN = f"""cc.campaign_id = %(campaign)s AND {AVAILABLE}
  AND (%(condition)s = '' OR i.condition = %(condition)s) AND (%(concept)s = '' OR i.concept = %(concept)s)"""
SHOWN = {
    "": "true",
    "missing": "bool_or(counted < asked OR accepted < units)",
    "holes": f"bool_or(counted * {GAP_FACTOR} < asked * %(due)s AND asked * %(due)s >= 1)",
}
KEYS = {"concept": ("i.concept", "i.origin"), "item": ("i.concept", "i.key")}
MATRIX = """
WITH cells AS (
  SELECT {name} AS name, {part} AS part, s.cohort_id, min(i.id) AS item, {units} AS units, sum({asked}) AS asked,
    sum(s.submitted) AS counted, sum(s.reserved) AS held, count(*) FILTER (WHERE s.retired) AS retired,
    count(*) FILTER (WHERE s.urgent AND s.open) AS urgent, count(*) FILTER (WHERE {accepted}) AS accepted
  FROM {slots} WHERE {chosen} GROUP BY 1, 2, s.cohort_id
)
SELECT name, part, min(item), array_agg(cohort_id), array_agg(units), array_agg(asked), array_agg(counted),
  array_agg(held), array_agg(retired), array_agg(urgent), array_agg(accepted), count(*) OVER ()
FROM cells GROUP BY name, part HAVING {shown} ORDER BY name, part LIMIT %(limit)s OFFSET %(offset)s
"""
MATRICES = {
    (by, show): MATRIX.format(
        name=name,
        part=part,
        units=UNITS,
        asked=STILL_ASKED,
        accepted=ACCEPTED,
        slots=SLOTS,
        chosen=CHOSEN,
        shown=having,
    )
    for by, (name, part) in KEYS.items()
    for show, having in SHOWN.items()
}


@dataclass(frozen=True)
class CoverageFilter:
    """What is looked at. `row` is an item: itself, or the concept and origin it stands for."""

    by: By = "concept"
    condition: str = ""
    concept: str = ""
    show: Show = ""
    page: int = 1

    @property
    def params(self) -> dict[str, Any]:
        offset = (self.page - 1) * PAGE
        return {"condition": self.condition, "concept": self.concept, "limit": PAGE, "offset": offset}


@dataclass(frozen=True)
class CoverageCell:
    """Units of one row for one cohort: answers asked for, counted, and in people's hands; units that are accepted.
    `due`: the share, 0 to 1, of the answers that are due by now (see due_share)."""

    cohort_id: int
    units: int
    asked: int
    counted: int
    held: int
    retired: int
    urgent: int
    accepted: int
    due: float = 1.0

    @property
    def style(self) -> str:
        """ "full" only where every item is accepted, too."""
        if self.counted >= self.asked:
            return "part" if self.short else "full"
        due = self.asked * self.due
        return "hole" if due >= 1 and self.counted * GAP_FACTOR < due else "part"

    @property
    def short(self) -> bool:
        """All answers are there, and not every item was accepted."""
        return self.counted >= self.asked and self.accepted < self.units

    @property
    def step(self) -> int:
        """In twentieths, for the page's policy allows no style of its own to a cell."""
        return min(20, 20 * self.counted // self.asked) if self.asked else 20

    @property
    def classes(self) -> str:
        """What the cell looks like."""
        marks = (self.style, f"v{self.step}", "urgent" if self.urgent else "", "apart" if self.retired else "")
        return " ".join(filter(None, marks))

    @property
    def missing(self) -> int:
        return max(0, self.asked - self.counted)


@dataclass(frozen=True)
class CoverageRow:
    """`item` names the row in an address."""

    name: str
    part: str
    item: int
    cells: list[CoverageCell | None]

    @property
    def label(self) -> str:
        return ", ".join(filter(None, (self.name, self.part)))


@dataclass(frozen=True)
class CoverageMatrix:
    cohorts: list[CampaignCohort]
    rows: list[CoverageRow]
    total: int
    page: int
    pages: int

    @property
    def shown(self) -> list[tuple[CoverageRow, list[tuple[CampaignCohort, CoverageCell | None]]]]:
        """Rows, each with its cells beside their cohorts."""
        return [(row, list(zip(self.cohorts, row.cells, strict=True))) for row in self.rows]


def due_share(campaign: Campaign, at: datetime) -> float:
    """Of the answers that a campaign asks for, the share that is due at a moment: the days that are over of those
    between its opening and its last day; without a last day nothing in the first week, then all."""
    if campaign.opened_at is None:
        return 0.0
    if campaign.state == Campaign.State.CLOSED:
        return 1.0
    if campaign.closes_on is None:
        return 1.0 if at - campaign.opened_at >= IDLE else 0.0
    begins = campaign.opened_at
    if campaign.opens_on:
        begins = max(begins, datetime.combine(campaign.opens_on, time.min, UTC))
    days = (datetime.combine(campaign.closes_on, time.max, UTC) - begins) / timedelta(days=1)
    return min(1.0, max(0.0, (at - begins) / timedelta(days=1) / days)) if days > 0 else 1.0


def coverage_page(campaign: Campaign, choice: CoverageFilter, at: datetime | None = None) -> CoverageMatrix:
    """One page of rows, and how many there are."""
    cohorts = list(campaign.cohorts.select_related("cohort__team").order_by("cohort__label"))
    due = due_share(campaign, at or timezone.now())
    params = {"campaign": campaign.pk, "acceptance": campaign.stage.acceptance, "due": due, **choice.params}
    table_rows = fetch(MATRICES[choice.by, choice.show], params)
    total = table_rows[0][-1] if table_rows else 0
    rows = []
    for name, part, item, *columns, _total in table_rows:
        cells_of_row = (replace(CoverageCell(*map(int, counts)), due=due) for counts in zip(*columns, strict=True))
        cells = {cell.cohort_id: cell for cell in cells_of_row}
        rows.append(CoverageRow(name, part, item, [cells.get(cohort.pk) for cohort in cohorts]))
    return CoverageMatrix(cohorts, rows, total, choice.page, max(1, -(-total // PAGE)))


def filter_choices(campaign: Campaign) -> Mapping[str, list[str]]:
    """What can be chosen: what the campaign's items have."""
    items = campaign.stage.items.filter(is_available()).order_by()
    if campaign.conditions:
        items = items.filter(condition__in=campaign.conditions)
    return {
        name: sorted(filter(None, items.values_list(name, flat=True).distinct())) for name in ("condition", "concept")
    }


IN_CELL = f"""SELECT s.id FROM {SLOTS} WHERE {CHOSEN} AND (%(cohort)s = 0 OR cc.id = %(cohort)s) AND CASE WHEN %(one)s
  THEN i.id = %(item)s ELSE (i.concept, i.origin) = (SELECT concept, origin FROM benchmarks_item WHERE id = %(item)s)
  END ORDER BY s.id"""


def slots_in_row(campaign: Campaign, choice: CoverageFilter, item: int, cohort: int = 0) -> list[int]:
    """The slots of a row, of one cohort or of all."""
    params = {"campaign": campaign.pk, **choice.params, "cohort": cohort, "one": choice.by == "item", "item": item}
    return [pk for (pk,) in fetch(IN_CELL, params)]


def slots_by_item_key(campaign: Campaign, keys: Sequence[str]) -> tuple[list[int], list[str]]:
    """The slots of the items with these keys, in all cohorts, and the keys the campaign does not have."""
    sql = f"SELECT s.id, i.key FROM {SLOTS} WHERE cc.campaign_id = %s AND {AVAILABLE} AND i.key = ANY(%s)"
    slot_rows = fetch(sql, [campaign.pk, list(keys)])
    known = {key for _slot, key in slot_rows}
    return [slot for slot, _key in slot_rows], [key for key in dict.fromkeys(keys) if key not in known]
