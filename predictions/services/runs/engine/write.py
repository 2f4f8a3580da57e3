"""Fifth step: write a batch in one transaction. Replies, attempts, answers through the sheet, and states of calls."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from annotation.services.answers.model_answers import MixedSources, ModelAnswer
from annotation.services.answers.model_answers import write as write_answers
from jobs.queries.statements import execute, fetch
from predictions.models import Call, Run
from predictions.requests.serialization import reply_to_json, storable
from predictions.services.runs.engine import claim
from predictions.services.runs.engine.context import RunContext
from predictions.services.runs.engine.reply_parsing import ParseResult, parse_replies
from predictions.services.runs.engine.settle import AttemptRow, CallProgress, CallUpdate, WriteBatch
from predictions.services.runs.unanswered_calls import WITHOUT, mark_due

STORE_REPLIES = """
INSERT INTO predictions_reply (team_id, key, number, request, body, created_at)
SELECT %(team)s, r.key, 1 + coalesce((SELECT max(number) FROM predictions_reply o
  WHERE o.team_id = %(team)s AND o.key = r.key), 0), r.request::jsonb, r.body::jsonb, r.at
FROM unnest(%(keys)s::text[], %(requests)s::text[], %(bodies)s::text[], %(ats)s::timestamptz[])
  AS r(key, request, body, at)
ON CONFLICT DO NOTHING RETURNING key, id
"""
STORE_ATTEMPTS = """
INSERT INTO predictions_attempt (call_id, number, part, at, seconds, outcome, status, tokens_in, tokens_out, cost,
  prices_id, provider_id, error, reply_id)
SELECT call, number, part, at, seconds, outcome, status, tokens_in, tokens_out, cost, %(prices)s, provider, error, reply
FROM unnest(%(call)s::bigint[], %(number)s::int[], %(part)s::int[], %(at)s::timestamptz[], %(seconds)s::float8[],
  %(outcome)s::text[], %(status)s::int[], %(tokens_in)s::int[], %(tokens_out)s::int[], %(cost)s::numeric[],
  %(provider)s::text[], %(error)s::text[], %(reply)s::bigint[])
  AS a(call, number, part, at, seconds, outcome, status, tokens_in, tokens_out, cost, provider, error, reply)
ON CONFLICT DO NOTHING
"""
ATTEMPT_COLUMNS = ("call", "number", "part", "at", "seconds", "outcome", "status", "tokens_in", "tokens_out", "cost",
                   "provider", "error")  # fmt: skip
UPDATE_CALLS = """
UPDATE predictions_call c SET state = s.state, reason = s.reason, how = s.how, "order" = s.ord::jsonb,
  replies = s.replies::jsonb, notes = s.notes::jsonb, cached = s.cached, attempts_made = s.attempts, cost = s.cost,
  annotation_id = s.annotation, not_before = s.not_before, ended_at = s.ended_at, holder = '', lease_until = NULL
FROM unnest(%(id)s::bigint[], %(state)s::text[], %(reason)s::text[], %(how)s::text[], %(order)s::text[],
  %(replies)s::text[], %(notes)s::text[], %(cached)s::bool[], %(attempts)s::int[], %(cost)s::numeric[],
  %(annotation)s::bigint[], %(not_before)s::timestamptz[], %(ended_at)s::timestamptz[])
  AS s(id, state, reason, how, ord, replies, notes, cached, attempts, cost, annotation, not_before, ended_at)
WHERE c.id = s.id
"""
PARTIAL = """UPDATE predictions_call c SET attempts_made = s.attempts, cost = s.cost, asked_at = NULL
  FROM unnest(%s::bigint[], %s::int[], %s::numeric[]) AS s(id, attempts, cost) WHERE c.id = s.id"""
OVER_BUDGET = """UPDATE predictions_call SET state = 'over_budget', reason = 'budget', holder = '', lease_until = NULL,
  not_before = NULL
WHERE run_id = %(run)s AND (state = 'pending' OR (state = 'running' AND holder = %(holder)s))"""
UPDATE_READINGS = """
UPDATE predictions_call c SET state = s.state, reason = s.reason, how = s.how, notes = s.notes::jsonb,
  annotation_id = coalesce(s.annotation, c.annotation_id)
FROM unnest(%(id)s::bigint[], %(state)s::text[], %(reason)s::text[], %(how)s::text[], %(notes)s::text[],
  %(annotation)s::bigint[]) AS s(id, state, reason, how, notes, annotation)
WHERE c.id = s.id
"""


class SaveResult(NamedTuple):
    """`ended`: calls that are over. `mixed_sources`: the model has answers from a file by now, so nothing was read."""

    ended: int
    mixed_sources: bool = False


@dataclass(frozen=True)
class ResultWriter:
    """Writes for one executor. `renew`: proves that the job is still its own, and raises LeaseLost otherwise."""

    run: Run
    context: RunContext
    holder: str
    renew: Callable[[], None]

    def save(self, batch: WriteBatch) -> SaveResult:
        """Write all of it or nothing. A call that the executor no longer holds is not written."""
        now = timezone.now()
        ids = {*batch.ended_ids, *(attempt.call for attempt, _progress in batch.attempts)}
        with transaction.atomic():
            if batch.unaccounted:
                Run.objects.filter(pk=self.run.pk).update(unaccounted=F("unaccounted") + batch.unaccounted)
            self.renew()
            mine = claim.lock_held_calls(list(ids), self.holder)
            attempts = [(attempt, progress) for attempt, progress in batch.attempts if attempt.call in mine]
            replies = save_attempts(
                self.context.team, [attempt for attempt, _progress in attempts], self.context.prices
            )
            for attempt, progress in attempts:
                if attempt.body is not None:
                    progress.task.add_reply(attempt.part, replies[attempt.call, attempt.number], attempt.body)
            save_partial_calls([progress for progress in batch.incomplete if progress.task.call.id in mine])
            updates = [update for update in batch.updates if update.id in mine]
            complete = [progress for progress in batch.complete if progress.task.call.id in mine]
            answered = self._write_answers(complete, now)
            updates += answered or []
            update_calls(updates)
            mark_due(update.id for update in updates if update.state in WITHOUT)
        return SaveResult(sum(update.state != Call.State.PENDING for update in updates), answered is None)

    def _write_answers(self, complete: Sequence[CallProgress], now: datetime) -> list[CallUpdate] | None:
        """Parse the replies and write the answers; None where answers from a file are in the way."""
        context = self.context
        results: dict[int, ParseResult] = {}
        answers: list[ModelAnswer] = []
        for progress in complete:
            task, call = progress.task, progress.task.call
            replies = [task.replies[part][1] for part in range(len(task.requests))]
            result = parse_replies(context.prompt, context.sheet, task.scene, task.shown, task.asked, replies)
            results[call.id] = result
            if result.parsed is not None:
                begun = progress.begun or now
                answers.append(
                    ModelAnswer(
                        call.unit, call.item, call.repeat, self._key(call.id), result.parsed, begun, now, self.run.pk
                    )
                )
        try:
            with transaction.atomic():
                annotations = write_answers(context.destination, answers, now)
        except MixedSources:
            save_partial_calls(complete)
            return None
        return [self._call_update(progress, results, annotations, now) for progress in complete]

    def _key(self, call: int) -> str:
        return f"run:{self.run.pk}:{call}:"

    def _call_update(
        self, progress: CallProgress, results: Mapping[int, ParseResult], annotations: Mapping[str, int], now: datetime
    ) -> CallUpdate:
        task, result = progress.task, results[progress.task.call.id]
        return CallUpdate(
            task.call.id, result.state, result.reason, result.how, task.asked.order,
            [task.replies[part][0] for part in range(len(task.requests))], result.notes,
            cached=progress.total_attempts == 0, attempts=progress.total_attempts, cost=progress.total_cost,
            annotation=annotations.get(self._key(task.call.id)), ended_at=now,
        )  # fmt: skip


def save_attempts(team: int, attempts: Sequence[AttemptRow], prices: int | None) -> dict[tuple[int, int], int]:
    """Write attempts and their replies; return the reply's id by call and number. A key that has a reply gets another.
    Needs a transaction."""
    replies: dict[tuple[int, int], int] = {}
    left = [attempt for attempt in attempts if attempt.body is not None]
    while left:
        batch = {attempt.key: attempt for attempt in reversed(left)}
        first = list(batch.values())
        rows = fetch(
            STORE_REPLIES,
            {
                "team": team, "keys": [attempt.key for attempt in first], "ats": [attempt.at for attempt in first],
                "requests": [json.dumps(storable(attempt.request)) for attempt in first],
                "bodies": [json.dumps(reply_to_json(attempt.body)) if attempt.body else "{}" for attempt in first],
            },
        )  # fmt: skip
        replies |= {(batch[key].call, batch[key].number): pk for key, pk in rows}
        left = [attempt for attempt in left if (attempt.call, attempt.number) not in replies]
    if attempts:
        columns: dict[str, Any] = {name: [getattr(row, name) for row in attempts] for name in ATTEMPT_COLUMNS}
        columns["reply"] = [replies.get((row.call, row.number)) for row in attempts]
        fetch(STORE_ATTEMPTS, {**columns, "prices": prices})
    return replies


def update_calls(updates: Sequence[CallUpdate]) -> None:
    """Write new states of calls that this executor holds. Needs a transaction."""
    if not updates:
        return
    plain = ("id", "state", "reason", "how", "cached", "attempts", "cost", "annotation", "not_before", "ended_at")
    columns: dict[str, list[Any]] = {name: [getattr(update, name) for update in updates] for name in plain}
    columns |= {
        "order": [json.dumps(list(update.order)) for update in updates],
        "replies": [json.dumps(list(update.replies)) for update in updates],
        "notes": [json.dumps(dict(update.notes)) for update in updates],
    }
    fetch(UPDATE_CALLS, columns)


def save_partial_calls(rows: Sequence[CallProgress]) -> None:
    """Calls with further requests: attempts and cost so far are kept for whoever claims them next."""
    if rows:
        ids: list[int] = [row.task.call.id for row in rows]
        costs: list[Decimal] = [row.total_cost for row in rows]
        fetch(PARTIAL, [ids, [row.total_attempts for row in rows], costs])


def mark_over_budget(run: int, holder: str) -> int:
    """Set everything that still waits to over budget; return how many calls."""
    return execute(OVER_BUDGET, {"run": run, "holder": holder})


def stop_pending(run: int, at: datetime) -> None:
    """Set calls that were not asked to failed, for the reason that the run was stopped."""
    rows = Call.objects.filter(run=run, state=Call.State.PENDING)
    rows.update(state=Call.State.FAILED, reason="stopped", ended_at=at, not_before=None)


def save_readings(results: Mapping[int, ParseResult], annotations: Mapping[int, int]) -> None:
    """Give ended calls the result of a new reading of their replies, and the annotation that it made; both by call.
    Needs a transaction."""
    if not results:
        return
    columns: dict[str, list[Any]] = {
        "id": list(results),
        "state": [result.state for result in results.values()],
        "reason": [result.reason for result in results.values()],
        "how": [result.how for result in results.values()],
        "notes": [json.dumps(dict(result.notes)) for result in results.values()],
        "annotation": [annotations.get(pk) for pk in results],
    }
    fetch(UPDATE_READINGS, columns)


def ended_state(run: int) -> Run.State:
    """Of a run whose calls have all ended: failed where none of them gave an answer. One without calls waits for items
    to come, and has not failed."""
    calls = Call.objects.filter(run=run)
    answered = calls.filter(state=Call.State.ANSWERED).exists()
    return Run.State.DONE if answered or not calls.exists() else Run.State.FAILED
