"""Reports that take long, kept as they were until they are made anew. What is kept is shown as kept, never silently.

Small data is read each time. From THRESHOLD answers on, what was made last is shown at once, with the moment it was
made and how many answers came since; a worker makes it anew. A snapshot belongs to one benchmark and to one selection,
word for word: another filter has another key.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from time import perf_counter
from typing import Any

from django.core.cache import cache
from django.db import connection, transaction
from django.db.models import Max, Sum

from annotation.models import Annotation, Tally
from annotation.queries.answers import watermark
from benchmarks.models import Benchmark
from evaluation.models import Snapshot
from evaluation.selections.selection import Selection
from jobs.connections.broker import dispatch

THRESHOLD = 200_000  # answers of a benchmark: see docs/reference/measurements.md
CODE = 6  # higher when the same selection gives other numbers than before: kept ones are then made anew
MOST = 10_000  # newer answers are counted to here: beyond it "more than" says enough, and the count stays small work
TASK = "evaluation.renew"
REST = timedelta(seconds=30)
QUEUED = timedelta(minutes=10)  # a worker that has not come by then is asked again
KEPT = 100  # reports of a benchmark: each filter has its own, and whoever looks makes one
MOST_ASKED, WHILE = 10, 600  # by one person, in so many seconds

Compute = Callable[[], Any]


@dataclass(frozen=True)
class ReportState:
    """`data` is what `compute` gave; `seconds`: what it took, where it is kept. `newer`: answers submitted since, and
    `changed`: whether anything has changed, a withdrawal too. A live look is never either."""

    data: Any
    watermark: int
    computed_at: datetime
    stored: bool = False
    changed: bool = False
    newer: int = 0
    now: int = 0
    snapshot: int = 0
    seconds: float = 0.0


def key_of(benchmark: Benchmark, report: str, selection: Selection) -> str:
    """SHA-256 of everything that was chosen."""
    chosen = [benchmark.pk, report, CODE, selection.to_json()]
    return hashlib.sha256(json.dumps(chosen, sort_keys=True).encode()).hexdigest()


def stored_at(benchmark: Benchmark, report: str, key: str) -> str:
    """When the kept report was made; empty where none is kept."""
    rows = Snapshot.objects.filter(benchmark=benchmark, report=report, key=key)
    return next((moment.isoformat() for moment in rows.values_list("computed_at", flat=True)), "")


def size_of(benchmark: Benchmark) -> int:
    """How many answers a report would have to read, at most: from the tallies, so it is the same work always."""
    rows = Tally.objects.filter(cohort__campaign__stage__benchmark=benchmark)
    return int(rows.aggregate(all=Sum("submitted"))["all"] or 0)


def get_or_compute(
    benchmark: Benchmark, report: str, key: str, compute: Compute, at: datetime, *, threshold: int = THRESHOLD
) -> ReportState:
    """Live below the threshold; else what is kept, however old. Only where nothing is kept yet, it is waited for."""
    if size_of(benchmark) < threshold:
        mark = watermark(benchmark)
        return ReportState(compute(), mark, at, now=mark)
    snapshot = Snapshot.objects.filter(benchmark=benchmark, report=report, key=key).first()
    return report_state(snapshot or compute_and_store(benchmark, report, key, compute, at))


def load_and_renew(
    benchmark: Benchmark, report: str, key: str, compute: Compute, at: datetime, query: str, zone: str = "UTC",
    *, threshold: int = THRESHOLD,
) -> ReportState:  # fmt: skip
    """As `get_or_compute`; where the stored report is out of date, a worker is asked to compute it again.

    `query`, `zone`: what `evaluation.tasks.recompute_report` computes it from.
    """
    state = get_or_compute(benchmark, report, key, compute, at, threshold=threshold)
    if needs_recompute(state, at):
        request_recompute(benchmark, report, key, query, zone, at)
    return state


def report_state(snapshot: Snapshot) -> ReportState:
    """What is kept, and how far it is behind."""
    now = watermark(snapshot.benchmark)
    changed = now != snapshot.watermark
    return ReportState(
        data=snapshot.data["report"],
        watermark=snapshot.watermark,
        computed_at=snapshot.computed_at,
        stored=True,
        changed=changed,
        newer=count_newer(snapshot) if changed else 0,
        now=now,
        snapshot=snapshot.pk,
        seconds=snapshot.seconds,
    )


def count_newer(snapshot: Snapshot) -> int:
    """Answers given after the reading began, MOST at most. An answer that was changed is a new one."""
    rows = Annotation.objects.filter(
        pk__gt=snapshot.data["last"], assignment__campaign__stage__benchmark=snapshot.benchmark_id, live=True
    )
    return rows.values("pk")[:MOST].count()


def compute_and_store(benchmark: Benchmark, report: str, key: str, compute: Compute, at: datetime) -> Snapshot:
    """Compute and keep. Who comes while another computes waits for it, and computes nothing."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_number(key)])
        return _compute_snapshot(benchmark, report, key, compute, at)


def compute_if_unlocked(benchmark: Benchmark, report: str, key: str, compute: Compute, at: datetime) -> Snapshot | None:
    """None while another is at it."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [_number(key)])
        [free] = cursor.fetchone()
        return _compute_snapshot(benchmark, report, key, compute, at) if free else None


def _compute_snapshot(benchmark: Benchmark, report: str, key: str, compute: Compute, at: datetime) -> Snapshot:
    """The watermark and the last answer are read first: what comes meanwhile counts as newer."""
    mark = watermark(benchmark)
    snapshot = Snapshot.objects.filter(benchmark=benchmark, report=report, key=key).first()
    if snapshot and snapshot.watermark == mark:
        _mark_requested(snapshot, None)
        return snapshot
    last = Annotation.objects.aggregate(last=Max("pk"))["last"] or 0
    answers = size_of(benchmark)
    began = perf_counter()
    data = {"report": compute(), "last": last}
    facts = {"watermark": mark, "answers": answers, "data": data, "computed_at": at, "seconds": perf_counter() - began}
    made = Snapshot.objects.update_or_create(benchmark=benchmark, report=report, key=key, defaults=facts)[0]
    _prune(benchmark)
    return made


def _prune(benchmark: Benchmark) -> None:
    """What was made longest ago goes, so many at a time that it is the same work always."""
    rows = Snapshot.objects.filter(benchmark=benchmark).order_by("-computed_at", "-pk").values_list("pk", flat=True)
    Snapshot.objects.filter(pk__in=list(rows[KEPT : 2 * KEPT])).delete()


def needs_recompute(look: ReportState, at: datetime) -> bool:
    return look.stored and look.changed and at - look.computed_at > REST


def may_request(person: int) -> bool:
    """Whether this person has not asked too often. Counted in each process of the site on its own."""
    key = f"renew:asked:{person}"
    cache.add(key, 0, WHILE)
    return cache.incr(key) <= MOST_ASKED


def request_recompute(
    benchmark: Benchmark, report: str, key: str, query: str, zone: str, at: datetime, *language: str
) -> bool:
    """Let a worker make anew what is kept under this key, a table in this language; False where nothing is. It is on
    its way once, whoever asks. Without a broker the page still shows what is kept, and says how old it is."""
    rows = Snapshot.objects.filter(benchmark=benchmark, report=report, key=key)
    if not cache.add(f"renew:{key}", 1, 60):
        return rows.exists()
    with transaction.atomic():
        snapshot = rows.select_for_update(no_key=True).first()
        if snapshot is None:
            return False
        asked = snapshot.data.get("asked")
        if asked and at - datetime.fromisoformat(asked) < QUEUED:
            return True
        _mark_requested(snapshot, at)
    if not dispatch(TASK, benchmark.pk, report, query, zone, *language):
        _mark_requested(snapshot, None)
    return True


def _mark_requested(snapshot: Snapshot, at: datetime | None) -> None:
    """That a worker was asked; every process reads it. What is made anew has no mark."""
    data = {name: value for name, value in snapshot.data.items() if name != "asked"}
    data |= {"asked": at.isoformat()} if at else {}
    if data != snapshot.data:
        Snapshot.objects.filter(pk=snapshot.pk, computed_at=snapshot.computed_at).update(data=data)
        snapshot.data = data


def _number(key: str) -> int:
    """A key as Postgres' locks take it."""
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], signed=True)
