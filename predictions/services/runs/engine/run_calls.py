"""Calls, replies and attempts as the driver reads and writes them: many in a statement. Needs a transaction."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, NamedTuple

from annotation.services.sql import execute, fetch
from predictions.models import Call, Run
from predictions.prompts.contract import Reply
from predictions.requests.serialization import reply_from_json, reply_to_json, storable

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
# Nobody pauses or stops the run while calls are claimed, so what is claimed is seen by who has paused it.
GOES_ON = """SELECT 1 FROM predictions_run WHERE id = %(run)s AND state = 'running' AND job_id = %(job)s
  AND withdrawn_at IS NULL FOR SHARE"""
# Of a driver whose time is over, and at once of an earlier life of this very job: that one writes nothing any more.
LOST = """
UPDATE predictions_call SET state = 'pending', holder = '', lease_until = NULL
WHERE run_id = %(run)s AND state = 'running' AND holder <> %(holder)s
  AND (lease_until < %(at)s OR holder LIKE %(job)s) RETURNING asked_at IS NOT NULL
"""
OTHERS = """SELECT 1 FROM predictions_call WHERE run_id = %(run)s AND state = 'running' AND holder <> %(holder)s
  AND lease_until > %(at)s LIMIT 1"""
SPENT = """SELECT r.unaccounted + coalesce((SELECT sum(cost) FROM predictions_call WHERE run_id = r.id), 0)
  FROM predictions_run r WHERE r.id = %(run)s"""
LET_GO = """
UPDATE predictions_call SET state = 'pending', holder = '', lease_until = NULL
WHERE run_id = %(run)s AND state = 'running' AND holder = %(holder)s AND NOT id = ANY(%(but)s)
"""
RENEW = """UPDATE predictions_call SET lease_until = %(until)s
  WHERE run_id = %(run)s AND state = 'running' AND holder = %(holder)s"""
GOES_OUT = """UPDATE predictions_call SET asked_at = %(at)s
  WHERE id = ANY(%(ids)s) AND state = 'running' AND holder = %(holder)s RETURNING id"""
HELD = """SELECT id FROM predictions_call WHERE id = ANY(%(ids)s) AND state = 'running' AND holder = %(holder)s
  ORDER BY id FOR NO KEY UPDATE"""
KNOWN = """
SELECT DISTINCT ON (key) key, id, body FROM predictions_reply
WHERE team_id = %(team)s AND key = ANY(%(keys)s) AND created_at >= %(since)s ORDER BY key, number DESC
"""
KEEP = """
INSERT INTO predictions_reply (team_id, key, number, request, body, created_at)
SELECT %(team)s, r.key, 1 + coalesce((SELECT max(number) FROM predictions_reply o
  WHERE o.team_id = %(team)s AND o.key = r.key), 0), r.request::jsonb, r.body::jsonb, r.at
FROM unnest(%(keys)s::text[], %(requests)s::text[], %(bodies)s::text[], %(ats)s::timestamptz[])
  AS r(key, request, body, at)
ON CONFLICT DO NOTHING RETURNING key, id
"""
ATTEMPTS = """
INSERT INTO predictions_attempt (call_id, number, part, at, seconds, outcome, status, tokens_in, tokens_out, cost,
  prices_id, provider_id, error, reply_id)
SELECT call, number, part, at, seconds, outcome, status, tokens_in, tokens_out, cost, %(prices)s, provider, error, reply
FROM unnest(%(call)s::bigint[], %(number)s::int[], %(part)s::int[], %(at)s::timestamptz[], %(seconds)s::float8[],
  %(outcome)s::text[], %(status)s::int[], %(tokens_in)s::int[], %(tokens_out)s::int[], %(cost)s::numeric[],
  %(provider)s::text[], %(error)s::text[], %(reply)s::bigint[])
  AS a(call, number, part, at, seconds, outcome, status, tokens_in, tokens_out, cost, provider, error, reply)
ON CONFLICT DO NOTHING
"""
SETTLE = """
UPDATE predictions_call c SET state = s.state, reason = s.reason, how = s.how, "order" = s.ord::jsonb,
  replies = s.replies::jsonb, notes = s.notes::jsonb, cached = s.cached, attempts_made = s.attempts, cost = s.cost,
  annotation_id = s.annotation, not_before = s.not_before, ended_at = s.ended_at, holder = '', lease_until = NULL
FROM unnest(%(id)s::bigint[], %(state)s::text[], %(reason)s::text[], %(how)s::text[], %(order)s::text[],
  %(replies)s::text[], %(notes)s::text[], %(cached)s::bool[], %(attempts)s::int[], %(cost)s::numeric[],
  %(annotation)s::bigint[], %(not_before)s::timestamptz[], %(ended_at)s::timestamptz[])
  AS s(id, state, reason, how, ord, replies, notes, cached, attempts, cost, annotation, not_before, ended_at)
WHERE c.id = s.id
"""


class ClaimedCall(NamedTuple):
    """`read`: ids of replies that were read before; asking again does not take those. `before`: of `attempts` those
    that were made before somebody asked for it again."""

    id: int
    unit: int
    item: int
    repeat: int
    attempts: int
    read: frozenset[int]
    cost: Decimal
    before: int = 0


@dataclass
class AttemptRow:
    """An attempt to be written; `body` and `request` where a reply came."""

    call: int
    number: int
    part: int
    at: datetime
    seconds: float
    outcome: str
    status: int | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: Decimal | None = None
    provider: str = ""
    error: str = ""
    key: str = ""
    request: Mapping[str, Any] = field(default_factory=dict)
    said: Reply | None = None
    reply: int | None = None


@dataclass
class CallUpdate:
    """What a call becomes. `pending` with `not_before`: it is asked again."""

    id: int
    state: str
    reason: str = ""
    how: str = ""
    order: Sequence[str] = ()
    replies: Sequence[int] = ()
    notes: Mapping[str, Any] = field(default_factory=dict)
    cached: bool = False
    attempts: int = 0
    cost: Decimal = Decimal(0)
    annotation: int | None = None
    not_before: datetime | None = None
    ended_at: datetime | None = None


def claim_calls(run: int, job: int, holder: str, most: int, at: datetime) -> list[ClaimedCall]:
    """None where the run does not go on, or another job drives it."""
    if not fetch(GOES_ON, {"run": run, "job": job}):
        return []
    params = {"run": run, "holder": holder, "until": at + LEASE, "at": at, "most": most}
    calls = [
        ClaimedCall(pk, unit, item, repeat, made, frozenset(json.loads(read)), cost, before)
        for pk, unit, item, repeat, made, read, cost, before in fetch(CLAIM, params)
    ]
    return sorted(calls, key=lambda one: one.id)


def reclaim_expired(run: int, holder: str, at: datetime) -> int:
    """Calls of drivers that are no more wait again; says how many of them went out and may have to be paid."""
    job = holder.partition(":")[0] + ":%"
    return sum(asked for (asked,) in fetch(LOST, {"run": run, "holder": holder, "job": job, "at": at}))


def mark_dispatched(ids: Sequence[int], holder: str, at: datetime) -> set[int]:
    """Write down that these are asked now; says which of them this driver still holds."""
    return {pk for (pk,) in fetch(GOES_OUT, {"ids": list(ids), "holder": holder, "at": at})}


def has_other_claims(run: int, holder: str, at: datetime) -> bool:
    """Whether another driver still holds calls."""
    return bool(fetch(OTHERS, {"run": run, "holder": holder, "at": at}))


def spent_cost(run: int) -> Decimal:
    """In US dollars, with what may have been spent."""
    [(dollars,)] = fetch(SPENT, {"run": run})
    return Decimal(dollars)


def release_claims(run: int, holder: str, but: Iterable[int] = ()) -> None:
    """What this driver holds and has not asked waits again."""
    fetch(LET_GO, {"run": run, "holder": holder, "but": list(but)})


def renew_claims(run: int, holder: str, at: datetime) -> None:
    fetch(RENEW, {"run": run, "holder": holder, "until": at + LEASE})


def lock_held_calls(ids: Sequence[int], holder: str) -> set[int]:
    """Those of the calls that this driver still holds, locked."""
    return {pk for (pk,) in fetch(HELD, {"ids": list(ids), "holder": holder})}


def cached_replies(team: int, keys: Iterable[str], since: datetime) -> dict[str, tuple[int, Reply]]:
    """The newest reply to each request, where there is one."""
    wanted = list(keys)
    if not wanted:
        return {}
    rows = fetch(KNOWN, {"team": team, "keys": wanted, "since": since})
    return {key: (pk, reply_from_json(_loaded(body))) for key, pk, body in rows}


def _loaded(body: Any) -> Any:
    return json.loads(body) if isinstance(body, str | bytes) else body


def save_attempts(team: int, sent: Sequence[AttemptRow], prices: int | None) -> None:
    """Write attempts and the replies they brought; sets the reply's id on each. A key that has one gets another."""
    left = [attempt_row for attempt_row in sent if attempt_row.said is not None]
    while left:
        batch = {attempt_row.key: attempt_row for attempt_row in reversed(left)}
        many = list(batch.values())
        rows = fetch(
            KEEP,
            {
                "team": team, "keys": [row.key for row in many], "ats": [row.at for row in many],
                "requests": [json.dumps(storable(row.request)) for row in many],
                "bodies": [json.dumps(reply_to_json(row.said)) if row.said else "{}" for row in many],
            },
        )  # fmt: skip
        for key, pk in rows:
            batch[key].reply = pk
        left = [attempt_row for attempt_row in left if attempt_row.reply is None]
    if sent:
        names = [name for name in AttemptRow.__dataclass_fields__ if name not in ("key", "request", "said")]
        columns = {name: [getattr(attempt_row, name) for attempt_row in sent] for name in names}
        fetch(ATTEMPTS, {**columns, "prices": prices})


def update_calls(rows: Sequence[CallUpdate]) -> None:
    """Of calls that this driver holds."""
    if not rows:
        return
    plain = ("id", "state", "reason", "how", "cached", "attempts", "cost", "annotation", "not_before", "ended_at")
    columns: dict[str, list[Any]] = {name: [getattr(row, name) for row in rows] for name in plain}
    columns |= {
        "order": [json.dumps(list(row.order)) for row in rows],
        "replies": [json.dumps(list(row.replies)) for row in rows],
        "notes": [json.dumps(dict(row.notes)) for row in rows],
    }
    fetch(SETTLE, columns)


def save_partial_calls(rows: Sequence[tuple[ClaimedCall, int, Decimal]]) -> None:
    """Calls that have more requests: what they took so far is kept, for whoever takes them up."""
    if rows:
        fetch(
            """UPDATE predictions_call c SET attempts_made = s.attempts, cost = s.cost, asked_at = NULL
               FROM unnest(%s::bigint[], %s::int[], %s::numeric[]) AS s(id, attempts, cost) WHERE c.id = s.id""",
            [
                [call.id for call, *_rest in rows],
                [call.attempts + attempts for call, attempts, _cost in rows],
                [call.cost + cost for call, _attempts, cost in rows],
            ],
        )


def mark_over_budget(run: int, holder: str) -> int:
    """Everything that still waits is over the budget; says how many."""
    return execute(
        """UPDATE predictions_call SET state = 'over_budget', reason = 'budget', holder = '', lease_until = NULL,
             not_before = NULL
           WHERE run_id = %(run)s AND (state = 'pending' OR (state = 'running' AND holder = %(holder)s))""",
        {"run": run, "holder": holder},
    )


def ended_state(run: int) -> Run.State:
    """Of a run whose calls have all ended: failed where none of them gave an answer."""
    calls = Call.objects.filter(run=run)
    return Run.State.DONE if calls.filter(state=Call.State.ANSWERED).exists() else Run.State.FAILED
