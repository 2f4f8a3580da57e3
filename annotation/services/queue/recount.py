"""Counters are only believed because they can be recounted. Each check finds what differs, and can put it right."""

# ruff: noqa: S608  (only constants of this file are put into the statements)

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.db import connection, transaction

from annotation.queries.sql import AVAILABLE
from annotation.services.answers.inclusion import BAR, JOINS
from jobs.queries.statements import execute, fetch


@dataclass(frozen=True)
class CounterCheck:
    """`find_sql` selects an id, what is stored and what is true; `repair_sql` makes it so."""

    name: str
    find_sql: str
    repair_sql: str


@dataclass(frozen=True)
class Difference:
    check: str
    id: int
    stored: str
    true: str


HELD = """SELECT slot_id, count(*) AS n FROM annotation_assignment
          WHERE state = 'reserved' AND slot_id IS NOT NULL GROUP BY slot_id"""
COUNTED = """SELECT a.slot_id, count(*) AS n FROM annotation_annotation an
             JOIN annotation_assignment a ON a.id = an.assignment_id
             WHERE an.counted AND a.slot_id IS NOT NULL GROUP BY a.slot_id"""
TRUE_SLOTS = f"""
SELECT s.id, s.cohort_id, s.reserved, s.submitted, s.wanted, coalesce(h.n, 0) AS held, coalesce(c.n, 0) AS counted,
  greatest(CASE WHEN s.retired OR s.cell_full OR NOT {AVAILABLE} THEN 0
    ELSE coalesce(s.share, cc.target_answers) END,
    coalesce(h.n, 0) + coalesce(c.n, 0)) AS places
FROM annotation_slot s JOIN annotation_campaigncohort cc ON cc.id = s.cohort_id
  JOIN annotation_unit u ON u.id = s.unit_id JOIN benchmarks_item i ON i.id = u.item_id
  LEFT JOIN ({HELD}) h ON h.slot_id = s.id LEFT JOIN ({COUNTED}) c ON c.slot_id = s.id
"""
TRUE_TALLIES = """
SELECT cc.id,
  (SELECT coalesce(sum(wanted), 0) FROM annotation_slot s WHERE s.cohort_id = cc.id) AS wanted,
  (SELECT coalesce(sum(submitted), 0) FROM annotation_slot s WHERE s.cohort_id = cc.id) AS submitted,
  (SELECT count(*) FROM annotation_assignment a JOIN annotation_participation p ON p.id = a.participation_id
   WHERE p.cohort_id = cc.id AND a.state = 'skipped') AS skipped
FROM annotation_campaigncohort cc
"""
STORED_TALLIES = """SELECT cohort_id AS id, sum(wanted) AS wanted, sum(submitted) AS submitted, sum(skipped) AS skipped
                    FROM annotation_tally GROUP BY cohort_id"""
MISSED = """
SELECT p.id, p.cursor, min(s.position) AS first FROM annotation_participation p
  JOIN annotation_campaigncohort cc ON cc.id = p.cohort_id
  JOIN annotation_campaign c ON c.id = cc.campaign_id JOIN benchmarks_stage st ON st.id = c.stage_id
  JOIN annotation_slot s ON s.cohort_id = p.cohort_id AND s.open AND s.position < p.cursor
WHERE NOT EXISTS (SELECT FROM annotation_assignment a
  WHERE a.campaign_id = cc.campaign_id AND a.unit_id = s.unit_id AND a.rater_id = p.rater_id)
  AND (st.staffing = 'anyone' OR (st.staffing = 'contributors') = EXISTS (
    SELECT FROM annotation_unit u JOIN annotation_itemcontributor k ON k.item_id = u.item_id
    WHERE u.id = s.unit_id AND k.rater_id = p.rater_id AND (k.own OR st.staffing <> 'not_own')))
  AND (st.staffing = 'contributors' OR NOT EXISTS (
    SELECT FROM annotation_unit u JOIN benchmarks_formerjudge f ON f.item_id = u.item_id
      JOIN people_rater r ON r.user_id = f.user_id WHERE u.id = s.unit_id AND r.id = p.rater_id))
GROUP BY p.id, p.cursor
"""
MISSED_URGENT = MISSED.replace("AND s.open AND", "AND s.open AND s.urgent AND").replace("cursor", "urgent_cursor")

REASONS = f"""
SELECT * FROM (SELECT an.id, an.counted, an.uncounted_because AS because, a.slot_id IS NOT NULL AS placed, {BAR} AS bar
  {JOINS} WHERE an.live) t
WHERE CASE WHEN bar <> '' THEN counted OR because <> bar
  WHEN placed THEN NOT counted AND because <> 'surplus' ELSE NOT counted END
"""

CHECKS = (
    CounterCheck(
        "whether an answer counts",
        f"""SELECT id, concat_ws(' ', counted, because),
              CASE WHEN bar = '' AND placed THEN 'true, or false surplus' ELSE concat_ws(' ', bar = '', bar) END
            FROM ({REASONS}) t""",
        f"""UPDATE annotation_annotation an SET counted = t.becomes = '', uncounted_because = t.becomes
            FROM (SELECT id, CASE WHEN bar = '' AND placed THEN 'surplus' ELSE bar END AS becomes FROM ({REASONS}) w) t
            WHERE an.id = t.id""",
    ),
    CounterCheck(
        "places of a slot",
        f"""SELECT id, concat_ws(' ', reserved, submitted, wanted), concat_ws(' ', held, counted, places)
            FROM ({TRUE_SLOTS}) t WHERE (reserved, submitted, wanted) <> (held, counted, places)""",
        f"""UPDATE annotation_slot s SET reserved = t.held, submitted = t.counted, wanted = t.places
            FROM ({TRUE_SLOTS}) t
            WHERE s.id = t.id AND (t.reserved, t.submitted, t.wanted) <> (held, counted, places)""",
    ),
    CounterCheck(
        "tally of a cohort",
        f"""SELECT t.id, concat_ws(' ', s.wanted, s.submitted, s.skipped),
              concat_ws(' ', t.wanted, t.submitted, t.skipped)
            FROM ({TRUE_TALLIES}) t JOIN ({STORED_TALLIES}) s ON s.id = t.id
            WHERE (t.wanted, t.submitted, t.skipped) <> (s.wanted, s.submitted, s.skipped)""",
        f"""UPDATE annotation_tally y SET wanted = y.wanted + t.wanted - s.wanted, changes = y.changes + 1,
              submitted = y.submitted + t.submitted - s.submitted, skipped = y.skipped + t.skipped - s.skipped
            FROM ({TRUE_TALLIES}) t JOIN ({STORED_TALLIES}) s ON s.id = t.id
            WHERE y.cohort_id = t.id AND y.shard = 0
              AND (t.wanted, t.submitted, t.skipped) <> (s.wanted, s.submitted, s.skipped)""",
    ),
    CounterCheck(
        "flags of a rating",
        """SELECT r.id, concat_ws(' ', r.live, r.counted), concat_ws(' ', an.live, an.counted)
           FROM annotation_rating r JOIN annotation_annotation an ON an.id = r.annotation_id
           WHERE (r.live, r.counted) <> (an.live, an.counted)""",
        """UPDATE annotation_rating r SET live = an.live, counted = an.counted FROM annotation_annotation an
           WHERE an.id = r.annotation_id AND (r.live, r.counted) <> (an.live, an.counted)""",
    ),
    CounterCheck(
        "cursor past work never had",
        f"SELECT id, cursor::text, first::text FROM ({MISSED}) m",
        f"UPDATE annotation_participation p SET cursor = m.first FROM ({MISSED}) m WHERE p.id = m.id",
    ),
    CounterCheck(
        "urgent cursor past work never had",
        f"SELECT id, urgent_cursor::text, first::text FROM ({MISSED_URGENT}) m",
        f"UPDATE annotation_participation p SET urgent_cursor = m.first FROM ({MISSED_URGENT}) m WHERE p.id = m.id",
    ),
)


def iter_differences() -> Iterator[Difference]:
    """All of them, as of one moment, while people work on."""
    for check in CHECKS:
        for pk, stored, true in fetch(check.find_sql, []):
            yield Difference(check.name, pk, stored, true)


@transaction.atomic
def find_differences() -> list[Difference]:
    if len(connection.savepoint_ids) == 0:
        execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ", [])
    return list(iter_differences())


@transaction.atomic
def repair() -> list[Difference]:
    """Nobody works for the moment it takes: every deed begins with the lock of a Participation."""
    execute("LOCK TABLE annotation_participation, annotation_slot IN EXCLUSIVE MODE", [])
    differences = []
    for check in CHECKS:
        differences += [Difference(check.name, *row) for row in fetch(check.find_sql, [])]
        execute(check.repair_sql, [])
    return differences


def recount_cohorts(cohort_ids: Sequence[int]) -> None:
    """Set the counters of the slots and tallies of these cohorts of campaigns, in which nobody works yet. Needs a
    transaction."""
    execute(
        f"""UPDATE annotation_slot s SET reserved = t.held, submitted = t.counted, wanted = t.places
            FROM ({TRUE_SLOTS} WHERE s.cohort_id = ANY(%(cohorts)s)) t WHERE s.id = t.id""",
        {"cohorts": list(cohort_ids)},
    )
    execute(
        f"""UPDATE annotation_tally y SET wanted = t.wanted, submitted = t.submitted, skipped = t.skipped
            FROM ({TRUE_TALLIES} WHERE cc.id = ANY(%(cohorts)s)) t WHERE y.cohort_id = t.id AND y.shard = 0""",
        {"cohorts": list(cohort_ids)},
    )
