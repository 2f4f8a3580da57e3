"""All changes of slots but the claim (claim.py); no other module writes slots. The SQL is written out because its
locks and its constant work are the point of it.

Read docs/explanation/queue.md first. Every function needs a transaction, and the lock of the Participation that it
acts for (bulk changes, which act for nobody, take slots in the order of their ids).
"""

# ruff: noqa: S608  (only constants of this file are put into the statements)

from collections.abc import Mapping, Sequence
from typing import Any

from annotation.models import Tally
from annotation.queries.progress import Progress
from annotation.queries.sql import AVAILABLE
from annotation.services.derivation import outbox
from jobs.models import events
from jobs.queries.statements import execute, fetch

# To the end of the queue: later than every cursor (see HORIZON in claim.py).
END = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint"
# The same for all rows of a statement, which has its own order: a subquery is evaluated once, not anew for each row.
SAME_END = f"(SELECT {END})"

# How many places a slot `o` should have: none beyond those in use if it is retired, if its cell is full, or if its item
# is withdrawn, dropped by a filter, or waits for a fact in a stage that does not assign waiting items.
PLACES = f"""CASE WHEN o.retired OR o.cell_full OR NOT (SELECT {AVAILABLE} FROM annotation_unit u
  JOIN benchmarks_item i ON i.id = u.item_id WHERE u.id = o.unit_id) THEN 0
  ELSE coalesce(o.share, cc.target_answers) END"""

# Every other change of one slot. A slot keeps more places than its cohort's target only while they are used (the target
# was lowered), and goes to the end of the queue when it opens again.
OLD = f"""SELECT o.id, o.wanted, o.open, o.reserved + o.submitted + %(by)s AS used,
    CASE WHEN %(by)s > 0 THEN 0 ELSE {PLACES} END AS target
  FROM annotation_slot o JOIN annotation_campaigncohort cc ON cc.id = o.cohort_id
  WHERE o.id = %(slot)s FOR NO KEY UPDATE OF o"""
FITTING = "SELECT id, wanted, open, used, greatest(least(wanted, target), used) AS fits FROM {old}"
# Of the slot `s`, which `fitted` says how many places it has.
COUNTERS = f"""reserved = s.reserved + %(reserved)s, submitted = s.submitted + %(submitted)s,
  wanted = CASE WHEN %(by)s > 0 THEN s.wanted ELSE fitted.fits END,
  position = CASE WHEN NOT fitted.open AND fitted.fits > fitted.used AND %(by)s < 0 THEN {END} ELSE s.position END"""
SHIFTED = f"""old AS MATERIALIZED (
  {OLD}
), fitting AS MATERIALIZED ({FITTING.format(old="old")}
), shifted AS (UPDATE annotation_slot s SET {COUNTERS}
FROM fitting fitted WHERE s.id = fitted.id AND (fitted.open OR NOT %(if_open)s)
RETURNING s.wanted - fitted.wanted AS more)"""
SHIFT = f"WITH {SHIFTED} SELECT more FROM shifted"

# Answers over the target wait in their slot, oldest first; a place that comes free is theirs before it is anyone's.
PROMOTE = """
WITH places AS MATERIALIZED (
  SELECT id, wanted - reserved - submitted AS free FROM annotation_slot WHERE id = ANY(%(slots)s) AND open
), waiting AS (
  SELECT an.id, a.slot_id, p.free,
    row_number() OVER (PARTITION BY a.slot_id ORDER BY an.submitted_at, an.id) AS rank
  FROM places p JOIN annotation_assignment a ON a.slot_id = p.id
    JOIN annotation_annotation an ON an.assignment_id = a.id
      AND an.live AND NOT an.counted AND an.uncounted_because = 'surplus'
), chosen AS MATERIALIZED (SELECT id, slot_id FROM waiting WHERE rank <= free),
answers AS (
  UPDATE annotation_annotation an SET counted = true, uncounted_because = '' FROM chosen WHERE an.id = chosen.id
), ratings AS (
  UPDATE annotation_rating r SET counted = true FROM chosen WHERE r.annotation_id = chosen.id
)
UPDATE annotation_slot s SET submitted = s.submitted + c.n
FROM (SELECT slot_id, count(*) AS n FROM chosen GROUP BY slot_id) c WHERE s.id = c.slot_id RETURNING c.n
"""


def adjust_counters(slot_id: int, *, reserved: int = 0, submitted: int = 0, if_open: bool = False) -> int | None:
    """Change the counters of a slot, locking it. Says by how much `wanted` changed; None: it was not open."""
    changed = fetch(SHIFT, shift_params(slot_id, reserved, submitted, if_open))
    return int(changed[0][0]) if changed else None


def shift_params(slot_id: int, reserved: int, submitted: int, if_open: bool = False) -> dict[str, Any]:
    """Values of SHIFTED."""
    by = reserved + submitted
    return {"slot": slot_id, "reserved": reserved, "submitted": submitted, "by": by, "if_open": if_open}


def promote(slot_ids: Sequence[int]) -> int:
    """Count waiting surplus answers where these slots have places free; says how many. Holds the slots' locks."""
    count = sum(int(n) for (n,) in fetch(PROMOTE, {"slots": list(slot_ids)}))
    if count:
        outbox.mark_slots_due(slot_ids)
    return count


def release_places(slot_id: int, *, reserved: int = 0, submitted: int = 0) -> tuple[int, int]:
    """Give places back, to a waiting surplus answer first: the changes of `wanted` and of `submitted`."""
    wanted = adjust_counters(slot_id, reserved=reserved, submitted=submitted) or 0
    return wanted, submitted + promote([slot_id])


TALLY = """UPDATE annotation_tally SET wanted = wanted + %(wanted)s, submitted = submitted + %(submitted)s,
  skipped = skipped + %(skipped)s, changes = changes + 1 WHERE cohort_id = %(cohort)s AND shard = %(shard)s"""
# The sums of the cohort's rows as they were before, and what this statement adds to them.
TALLY_AND_EVENT = f"""WITH event AS ({events.INSERT}), tally AS ({TALLY})
SELECT coalesce(sum(submitted), 0) + %(submitted)s, coalesce(sum(wanted), 0) + %(wanted)s
FROM annotation_tally WHERE cohort_id = %(cohort)s"""


def update_tally(
    cohort_id: int,
    shard_of: int,
    *,
    wanted: int = 0,
    submitted: int = 0,
    skipped: int = 0,
) -> None:
    """The last lock of a transaction, for many people share these rows."""
    fetch(TALLY, _tally_params(cohort_id, shard_of, wanted, submitted, skipped))


def update_tally_and_record(
    event: Mapping[str, Any], cohort_id: int, shard_of: int, *, wanted: int = 0, submitted: int = 0, skipped: int = 0
) -> Progress:
    """The same, and the event (of `event_params`), in one round trip. Returns how far the cohort is."""
    params = {**_tally_params(cohort_id, shard_of, wanted, submitted, skipped), **event}
    [(given, asked)] = fetch(TALLY_AND_EVENT, params)
    return Progress(int(given), int(asked))


def _tally_params(cohort_id: int, shard_of: int, wanted: int, submitted: int, skipped: int) -> dict[str, int]:
    shard = shard_of % Tally.SHARDS
    return {"wanted": wanted, "submitted": submitted, "skipped": skipped, "cohort": cohort_id, "shard": shard}


def lock_slots(slot_ids: Sequence[int]) -> None:
    """Take several slots, always in the same order."""
    fetch("SELECT id FROM annotation_slot WHERE id = ANY(%s) ORDER BY id FOR NO KEY UPDATE", [list(slot_ids)])


def analyze() -> None:
    """After a bulk change: the claim's plan depends on knowing that there are many slots."""
    execute("ANALYZE benchmarks_item, annotation_unit, annotation_slot", [])


RETARGET = f"""
UPDATE annotation_slot s SET wanted = t.target,
  position = CASE WHEN NOT s.open AND t.target > s.reserved + s.submitted THEN {END} ELSE s.position END
FROM (
  SELECT o.id, o.wanted AS old, greatest({PLACES}, o.reserved + o.submitted) AS target
  FROM annotation_slot o JOIN annotation_campaigncohort cc ON cc.id = o.cohort_id WHERE o.id = ANY(%(slots)s)
) t WHERE s.id = t.id AND s.wanted <> t.target RETURNING s.wanted - t.old
"""


def retarget(cohort_id: int, after: int, limit: int) -> tuple[list[int], int, int]:
    """Bring the next slots to their cohort's target: their ids, and what changed of `wanted` and `submitted`."""
    sql = "SELECT id FROM annotation_slot WHERE cohort_id = %s AND id > %s ORDER BY id LIMIT %s FOR NO KEY UPDATE"
    ids = [pk for (pk,) in fetch(sql, [cohort_id, after, limit])]
    return ids, *_to_target(ids)


def _to_target(ids: Sequence[int]) -> tuple[int, int]:
    """What changes of `wanted` and of `submitted`. Holds the slots' locks."""
    wanted = sum(int(by) for (by,) in fetch(RETARGET, {"slots": list(ids)}))
    return wanted, promote(ids)


def retire(slot_ids: Sequence[int], *, retired: bool = True) -> tuple[int, int]:
    """No new places in these slots, which are locked, or again those asked for: `wanted` and `submitted` change."""
    fetch("UPDATE annotation_slot SET retired = %s WHERE id = ANY(%s)", [retired, list(slot_ids)])
    return _to_target(slot_ids)


def set_cell_full(slot_ids: Sequence[int], *, full: bool) -> tuple[int, int]:
    """No new places in these slots, which are locked, while their cell has what is wanted, or again those asked for:
    `wanted` and `submitted` change. What is in hand keeps its place."""
    fetch("UPDATE annotation_slot SET cell_full = %s WHERE id = ANY(%s)", [full, list(slot_ids)])
    return _to_target(slot_ids)


# An urgent slot is put behind all cursors, as one that opens; it stays there when it is urgent no longer.
HURRY = f"""
UPDATE annotation_slot s SET urgent = %(urgent)s,
  position = CASE WHEN %(urgent)s THEN {SAME_END} + o.rank ELSE s.position END
FROM (
  SELECT id, row_number() OVER (ORDER BY position, id) AS rank FROM annotation_slot WHERE id = ANY(%(slots)s)
) o WHERE s.id = o.id AND s.urgent <> %(urgent)s RETURNING s.id
"""


def prioritise(slot_ids: Sequence[int], *, urgent: bool = True) -> int:
    """Hand these slots, which are locked, out before all others, or no longer; says how many that changed."""
    return len(fetch(HURRY, {"slots": list(slot_ids), "urgent": urgent}))


# Items that were withdrawn or dropped, or came back, since the slots were made.
MISFITS = f"o.wanted <> greatest({PLACES}, o.reserved + o.submitted)"
FOLLOWS = f"""
SELECT o.id FROM annotation_slot o JOIN annotation_campaigncohort cc ON cc.id = o.cohort_id
WHERE o.cohort_id = %(cohort)s AND {MISFITS}
ORDER BY o.id LIMIT %(limit)s FOR NO KEY UPDATE OF o
"""
FOLLOWS_OF = FOLLOWS.replace(
    "ORDER BY", "AND o.unit_id IN (SELECT id FROM annotation_unit WHERE item_id = ANY(%(only)s)) ORDER BY"
)


def sync_with_items(cohort_id: int, limit: int, only: Sequence[int] | None = None) -> tuple[int, int, int]:
    """Bring slots (of `only` these items) to what is asked for now: how many, and what changes of `wanted` and
    `submitted`."""
    params = {"cohort": cohort_id, "limit": limit, "only": list(only or ())}
    ids = [pk for (pk,) in fetch(FOLLOWS if only is None else FOLLOWS_OF, params)]
    return len(ids), *_to_target(ids)


# Somebody who has a part in an item now may be given it: then it must not lie behind their cursor.
TO_END = f"""
WITH due AS MATERIALIZED (
  SELECT s.id FROM annotation_slot s JOIN annotation_unit u ON u.id = s.unit_id
  WHERE u.item_id = ANY(%s) AND s.open ORDER BY s.id FOR NO KEY UPDATE OF s
)
UPDATE annotation_slot s SET position = {END} FROM due WHERE s.id = due.id
"""


# At the end of the queue, in their order, as they were before: behind all cursors, so that none loses them.
LAST = f"""
UPDATE annotation_slot s SET urgent = false, position = {SAME_END} + o.rank
FROM (
  SELECT id, row_number() OVER (ORDER BY position, id) AS rank FROM annotation_slot WHERE id = ANY(%(slots)s) AND open
) o WHERE s.id = o.id RETURNING s.id
"""


def put_last(slot_ids: Sequence[int]) -> list[int]:
    """Hand what is open of these slots, which are locked, out after all that is open now."""
    return [pk for (pk,) in fetch(LAST, {"slots": list(slot_ids)})]


# Where they were, or as far to the front as nobody's cursor is past it.
PUT_BACK = """
UPDATE annotation_slot s SET position = least(s.position, greatest(b.position, (
  SELECT coalesce(max(p.cursor), 0) FROM annotation_participation p WHERE p.cohort_id = s.cohort_id)))
FROM unnest(%(slots)s::bigint[], %(positions)s::bigint[]) AS b(id, position) WHERE s.id = b.id
"""


def put_back(positions: Mapping[int, int]) -> None:
    """Undo `put_last`. Needs the locks of the slots and of all participations of their cohorts."""
    fetch(PUT_BACK, {"slots": list(positions), "positions": list(positions.values())})


def move_to_end(item_ids: Sequence[int]) -> None:
    """Put what is open of these items behind all cursors."""
    fetch(TO_END, [list(item_ids)])


UNCOUNT = f"""
UPDATE annotation_slot s SET submitted = s.submitted - t.fewer, wanted = t.fits,
  position = CASE WHEN NOT s.open AND t.fits > s.reserved + s.submitted - t.fewer THEN {END} ELSE s.position END
FROM (
  SELECT o.id, o.wanted AS old, lost.fewer,
    greatest(least(o.wanted, {PLACES}), o.reserved + o.submitted - lost.fewer) AS fits
  FROM (SELECT id, count(*) AS fewer FROM unnest(%(slots)s::bigint[]) AS every(id) GROUP BY id) lost
    JOIN annotation_slot o ON o.id = lost.id JOIN annotation_campaigncohort cc ON cc.id = o.cohort_id
) t WHERE s.id = t.id RETURNING s.wanted - t.old, t.fewer
"""


def uncount(slot_ids: Sequence[int]) -> tuple[int, int]:
    """One answer less in each of these slots, which are locked: the changes of `wanted` and of `submitted`. A slot that
    is named twice loses two."""
    rows = fetch(UNCOUNT, {"slots": list(slot_ids)})
    return sum(int(by) for by, _fewer in rows), promote(slot_ids) - sum(int(fewer) for _by, fewer in rows)
