"""First step: the hold on calls. Claim, renew, release and reclaim them, and note which requests go out.

Each function is a few statements for many calls and needs a transaction where it says so.
"""

import json
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import NamedTuple

from django.db.models import QuerySet

from jobs.queries.statements import execute, fetch
from predictions.models import Call

LEASE = timedelta(seconds=90)

# Materialised: as a part of the join the inner query may be run once for each row beside it, and its limit with it.
CLAIM = """
WITH free AS MATERIALIZED (
  SELECT id FROM predictions_call WHERE run_id = %(run)s AND state = 'pending'
    AND (not_before IS NULL OR not_before <= %(at)s)
  ORDER BY id LIMIT %(most)s FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE predictions_call c SET state = 'running', holder = %(holder)s, lease_until = %(until)s, not_before = NULL,
  asked_at = NULL
FROM free WHERE c.id = free.id
RETURNING c.id, c.unit_id, c.item_id, c.repeat, c.attempts_made, c.replies::text, c.cost,
  coalesce((c.notes ->> 'before')::int, 0)
"""
# Nobody pauses or stops the run while calls are claimed, so who has paused it sees what is claimed.
RUN_IS_ACTIVE = """SELECT 1 FROM predictions_run WHERE id = %(run)s AND state = 'running' AND job_id = %(job)s
  AND withdrawn_at IS NULL FOR SHARE"""
# Of an executor whose lease is over, and at once of an earlier attempt of this very job: that one writes nothing more.
# What went out is an attempt of unknown duration and cost; of the tries that a call has, it takes none.
RECLAIM = """
WITH lost AS MATERIALIZED (
  SELECT id, asked_at, attempts_made FROM predictions_call
  WHERE run_id = %(run)s AND state = 'running' AND holder <> %(holder)s
    AND (lease_until < %(at)s OR holder LIKE %(job)s) ORDER BY id FOR NO KEY UPDATE
), freed AS (
  UPDATE predictions_call c SET state = 'pending', holder = '', lease_until = NULL, asked_at = NULL,
    attempts_made = l.attempts_made + (l.asked_at IS NOT NULL)::int,
    notes = CASE WHEN l.asked_at IS NULL THEN c.notes
      ELSE c.notes || jsonb_build_object('before', coalesce((c.notes ->> 'before')::int, 0) + 1) END
  FROM lost l WHERE c.id = l.id
), attempts AS (
  INSERT INTO predictions_attempt (call_id, number, part, at, outcome, provider_id, error)
  SELECT id, attempts_made + 1, 0, asked_at, 'lost', '', %(error)s FROM lost WHERE asked_at IS NOT NULL
  ON CONFLICT DO NOTHING
)
SELECT asked_at IS NOT NULL FROM lost
"""
LOST = "The worker stopped before the reply was stored. The provider may charge for this request."
OTHER_CLAIMS = """SELECT 1 FROM predictions_call WHERE run_id = %(run)s AND state = 'running' AND holder <> %(holder)s
  AND lease_until > %(at)s LIMIT 1"""
SPENT = """SELECT r.unaccounted + coalesce((SELECT sum(cost) FROM predictions_call WHERE run_id = r.id), 0)
  FROM predictions_run r WHERE r.id = %(run)s"""
RELEASE = """
UPDATE predictions_call SET state = 'pending', holder = '', lease_until = NULL
WHERE run_id = %(run)s AND state = 'running' AND holder = %(holder)s AND NOT id = ANY(%(but)s)
"""
RENEW = """UPDATE predictions_call SET lease_until = %(until)s
  WHERE run_id = %(run)s AND state = 'running' AND holder = %(holder)s"""
MARK_DISPATCHED = """UPDATE predictions_call SET asked_at = %(at)s
  WHERE id = ANY(%(ids)s) AND state = 'running' AND holder = %(holder)s RETURNING id"""
LOCK_HELD = """SELECT id FROM predictions_call WHERE id = ANY(%(ids)s) AND state = 'running' AND holder = %(holder)s
  ORDER BY id FOR NO KEY UPDATE"""

RESET = """UPDATE predictions_call SET state = 'pending', reason = '', ended_at = NULL, not_before = NULL,
  notes = jsonb_build_object('before', attempts_made) WHERE id = ANY(%(ids)s)"""


class ClaimedCall(NamedTuple):
    """A call as it was claimed.

    Attributes:
        attempts: attempts before this claim, in all.
        read: ids of replies that were read before; a retry does not take those from the cache.
        cost: of those attempts, in US dollars.
        before: how many of `attempts` take no try: made before a person retried the call, or lost with a worker.
    """

    id: int
    unit: int
    item: int
    repeat: int
    attempts: int
    read: frozenset[int]
    cost: Decimal
    before: int = 0


def claim_calls(run: int, job: int, holder: str, most: int, at: datetime) -> list[ClaimedCall]:
    """Claim at most `most` pending calls, in a transaction. None where the run is not active, or has another job."""
    if not fetch(RUN_IS_ACTIVE, {"run": run, "job": job}):
        return []
    params = {"run": run, "holder": holder, "until": at + LEASE, "at": at, "most": most}
    calls = [
        ClaimedCall(pk, unit, item, repeat, attempts, frozenset(json.loads(read)), cost, before)
        for pk, unit, item, repeat, attempts, read, cost, before in fetch(CLAIM, params)
    ]
    return sorted(calls, key=lambda call: call.id)


def reclaim_expired(run: int, holder: str, at: datetime) -> int:
    """Set calls of lost executors to pending; return how many of them went out and may have to be paid."""
    params = {"run": run, "holder": holder, "job": holder.partition(":")[0] + ":%", "at": at, "error": LOST}
    return sum(asked for (asked,) in fetch(RECLAIM, params))


def mark_dispatched(ids: Sequence[int], holder: str, at: datetime) -> set[int]:
    """Note that these calls are asked now; return those that this executor still holds."""
    return {pk for (pk,) in fetch(MARK_DISPATCHED, {"ids": list(ids), "holder": holder, "at": at})}


def has_other_claims(run: int, holder: str, at: datetime) -> bool:
    """Whether another executor still holds calls."""
    return bool(fetch(OTHER_CLAIMS, {"run": run, "holder": holder, "at": at}))


def spent_cost(run: int) -> Decimal:
    """In US dollars, with what may have been spent (`Run.unaccounted`)."""
    [(dollars,)] = fetch(SPENT, {"run": run})
    return Decimal(dollars)


def release_claims(run: int, holder: str, but: Iterable[int] = ()) -> None:
    """Set what this executor holds and has not asked to pending."""
    fetch(RELEASE, {"run": run, "holder": holder, "but": list(but)})


def renew_claims(run: int, holder: str, at: datetime) -> None:
    fetch(RENEW, {"run": run, "holder": holder, "until": at + LEASE})


def lock_held_calls(ids: Sequence[int], holder: str) -> set[int]:
    """Lock and return those of the calls that this executor still holds. Needs a transaction."""
    return {pk for (pk,) in fetch(LOCK_HELD, {"ids": list(ids), "holder": holder})}


def reset_calls(rows: "QuerySet[Call]") -> int:
    """Set ended calls to pending, with as many tries as at first; return how many. Needs a transaction."""
    pks = list(rows.select_for_update(no_key=True).values_list("pk", flat=True))
    return execute(RESET, {"ids": pks})
