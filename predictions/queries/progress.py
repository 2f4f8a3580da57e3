"""How far a run is, and what became of its calls."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from django.db.models import Count, Q, Sum
from django.utils import timezone

from jobs.models import Job
from jobs.queries.statements import fetch
from jobs.services.job_context import LEASE
from predictions.models import Attempt, Call, Run
from predictions.models.calls import INCOMPLETE
from predictions.texts.call_reasons import MISSING_INPUT

RATE_SECONDS = 120
ERRORS = 5
SILENT = LEASE * 0.75
"""A worker that holds a job renews its lease far more often than this; one that does not for so long hangs."""
QUEUED_LONG = timedelta(seconds=30)
FROZEN, QUEUED, WAITS = "frozen", "queued", "waits"

UNASKED = "unasked"
"""How pages call calls that waited as their run was stopped: kept as failed, for the reason "stopped"."""
WAITED = Q(state=Call.State.FAILED, reason="stopped")
MISSING = Q(state=Call.State.FAILED, reason__in=list(MISSING_INPUT))
"""Calls that were not sent, since their item lacked something."""

COUNTS = """
SELECT state, count(*), coalesce(sum(cost), 0), count(*) FILTER (WHERE cached),
  count(*) FILTER (WHERE ended_at > %(since)s), count(*) FILTER (WHERE state = 'running' AND lease_until > %(at)s),
  count(*) FILTER (WHERE state = 'answered' AND reason = 'incomplete'),
  max(ended_at), min(not_before) FILTER (WHERE state = 'pending'),
  count(*) FILTER (WHERE state = 'pending' AND (not_before IS NULL OR not_before <= %(at)s)),
  count(*) FILTER (WHERE state = 'failed' AND reason = 'stopped')
FROM predictions_call WHERE run_id = %(run)s GROUP BY state
"""


@dataclass(frozen=True)
class RunProgress:
    """`rate`: calls that ended in a minute, lately; None while nobody knows. `cost`: US dollars, as far as it is known;
    `unaccounted`: what requests of unknown cost may have cost at most. `unpriced`: calls with such a request.
    `incomplete`: answered calls without a readable answer to some question. `stalled`: it runs, but no job has it in
    hand. `silence`: why nothing goes on in a run that is called running: FROZEN (its worker has given no sign of life
    since `since`), QUEUED (no worker has taken it since then), WAITS (for `since`, as the server asked); empty where it
    goes on. `by_state`: those that waited as the run was stopped are UNASKED.
    """

    total: int
    by_state: Mapping[str, int]
    cached: int
    rate: float | None
    seconds_left: float | None
    cost: Decimal
    unaccounted: Decimal
    unpriced: int
    tokens_in: int
    tokens_out: int
    in_flight: int
    stalled: bool
    errors: Sequence[Attempt]
    job: Job | None
    incomplete: int = 0
    silence: str = ""
    since: datetime | None = None

    @property
    def ended(self) -> int:
        """What the budget has no room for, and what a stop came before, was never asked."""
        waits = ("pending", "running", "over_budget", UNASKED)
        return self.total - sum(self.by_state.get(state, 0) for state in waits)


def in_states(states: Iterable[str]) -> Q:
    """Calls in these states, as pages tell them."""
    wanted = set(states)
    failed = Q(state=Call.State.FAILED) & ~WAITED if Call.State.FAILED in wanted else Q(pk__in=[])
    unasked = WAITED if UNASKED in wanted else Q(pk__in=[])
    some = Q(state=Call.State.ANSWERED, reason=INCOMPLETE) if INCOMPLETE in wanted else Q(pk__in=[])
    return Q(state__in=wanted - {Call.State.FAILED, UNASKED, INCOMPLETE}) | failed | unasked | some


def progress_of(run: Run, at: datetime | None = None) -> RunProgress:
    now = at or timezone.now()
    job = Job.objects.filter(pk=run.job_id).first() if run.job_id else None
    began = max((time for time in (run.started_at, job.started_at if job else None) if time), default=now)
    window = min(float(RATE_SECONDS), max(1.0, (now - began).total_seconds()))
    since = now - timedelta(seconds=window)
    rows = fetch(COUNTS, {"run": run.pk, "since": since, "at": now})
    counts = {state: n - row[-1] for state, n, *row in rows} | {UNASKED: sum(row[-1] for row in rows)}
    by_state = {state: n for state, n in counts.items() if n}
    left = by_state.get("pending", 0) + by_state.get("running", 0)
    lately = sum(row[4] for row in rows)
    rate = lately * 60 / window if lately and run.state == Run.State.RUNNING else None
    attempts = Attempt.objects.filter(call__run=run)
    unpriced = Count("call", distinct=True, filter=Q(cost=None))
    totals = attempts.aggregate(into=Sum("tokens_in"), out=Sum("tokens_out"), unpriced=unpriced)
    live = job is not None and job.state in Job.LIVE and not job.cancel_asked
    ended = max((row[7] for row in rows if row[7]), default=began)
    wakes = min((row[8] for row in rows if row[8]), default=None) if not sum(row[9] for row in rows) else None
    silence, quiet_since = _silence(run, job, ended, wakes, now)
    return RunProgress(
        total=sum(by_state.values()),
        by_state=by_state,
        cached=sum(row[3] for row in rows),
        rate=rate,
        seconds_left=left * 60 / rate if rate and left else None,
        cost=sum((row[2] for row in rows), Decimal(0)),
        unaccounted=run.unaccounted,
        unpriced=totals["unpriced"],
        tokens_in=totals["into"] or 0,
        tokens_out=totals["out"] or 0,
        in_flight=sum(row[5] for row in rows),
        stalled=run.state == Run.State.RUNNING and not live,
        errors=list(attempts.exclude(outcome="reply").order_by("-pk")[:ERRORS]),
        job=job,
        incomplete=sum(row[6] for row in rows),
        silence=silence,
        since=quiet_since,
    )


def _silence(
    run: Run, job: Job | None, ended: datetime, wakes: datetime | None, now: datetime
) -> tuple[str, datetime | None]:
    """`ended`: when a call of the run ended last. `wakes`: when the first of its calls may be asked again, where all of
    them wait."""
    if run.state != Run.State.RUNNING or job is None or job.state not in Job.LIVE or job.cancel_asked:
        return "", None
    if is_frozen(job, now):
        return FROZEN, (job.lease_until or now) - LEASE
    if job.state != Job.State.QUEUED:
        return "", None
    if wakes is not None and wakes > now:
        return WAITS, wakes
    last = max(ended, job.created_at)
    return (QUEUED, last) if now - last > QUEUED_LONG else ("", None)


def is_frozen(job: Job, now: datetime) -> bool:
    """Whether the worker that holds a job gives no sign of life: it hangs, or it is gone and nobody has noticed yet."""
    held = job.state == Job.State.RUNNING and job.lease_until is not None
    return held and now - (job.lease_until - LEASE) > SILENT  # type: ignore[operator]


def attempts_of(call: Call) -> list[Attempt]:
    """In the order in which they were made."""
    return list(Attempt.objects.filter(call=call).select_related("prices").order_by("number"))
