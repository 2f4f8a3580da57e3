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

from celery import current_app
from django.core.cache import cache
from django.db import connection, transaction
from django.db.models import Max, Sum
from kombu.exceptions import OperationalError

from annotation.models import Annotation, Tally
from annotation.readers import watermark
from benchmarks.models import Benchmark
from evaluation.models import Snapshot
from evaluation.selection import Selection

THRESHOLD = 200_000  # answers of a benchmark: see docs/reference/measurements.md
CODE = 3  # higher when the same selection gives other numbers than before: kept ones are then made anew
MOST = 10_000  # newer answers are counted to here: beyond it "more than" says enough, and the count stays small work
TASK = "evaluation.renew"
REST = timedelta(seconds=30)

Compute = Callable[[], Any]


@dataclass(frozen=True)
class Look:
    """`data` is what `compute` gave. `newer`: answers submitted since, and `changed`: whether anything has changed, a
    withdrawal too. A live look is never either."""

    data: Any
    watermark: int
    computed_at: datetime
    stored: bool = False
    changed: bool = False
    newer: int = 0
    now: int = 0
    snapshot: int = 0


def key_of(benchmark: Benchmark, report: str, selection: Selection) -> str:
    """SHA-256 of everything that was chosen."""
    chosen = [benchmark.pk, report, CODE, selection.to_json()]
    return hashlib.sha256(json.dumps(chosen, sort_keys=True).encode()).hexdigest()


def size_of(benchmark: Benchmark) -> int:
    """How many answers a report would have to read, at most: from the tallies, so it is the same work always."""
    rows = Tally.objects.filter(cohort__campaign__stage__benchmark=benchmark)
    return int(rows.aggregate(all=Sum("submitted"))["all"] or 0)


def get_or_compute(
    benchmark: Benchmark, report: str, key: str, compute: Compute, at: datetime, *, threshold: int = THRESHOLD
) -> Look:
    """Live below the threshold; else what is kept, however old. Only where nothing is kept yet, it is waited for."""
    if size_of(benchmark) < threshold:
        mark = watermark(benchmark)
        return Look(compute(), mark, at, now=mark)
    found = Snapshot.objects.filter(benchmark=benchmark, report=report, key=key).first()
    return look_at(found or make(benchmark, report, key, compute, at))


def look_at(found: Snapshot) -> Look:
    """What is kept, and how far it is behind."""
    now = watermark(found.benchmark)
    changed = now != found.watermark
    return Look(
        data=found.data["report"],
        watermark=found.watermark,
        computed_at=found.computed_at,
        stored=True,
        changed=changed,
        newer=newer_than(found) if changed else 0,
        now=now,
        snapshot=found.pk,
    )


def newer_than(found: Snapshot) -> int:
    """Answers given after the reading began, MOST at most. An answer that was changed is a new one."""
    rows = Annotation.objects.filter(
        pk__gt=found.data["last"], assignment__campaign__stage__benchmark=found.benchmark_id, live=True
    )
    return rows.values("pk")[:MOST].count()


def make(benchmark: Benchmark, report: str, key: str, compute: Compute, at: datetime) -> Snapshot:
    """Compute and keep. Who comes while another computes waits for it, and computes nothing."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_number(key)])
        return _made(benchmark, report, key, compute, at)


def make_if_free(benchmark: Benchmark, report: str, key: str, compute: Compute, at: datetime) -> Snapshot | None:
    """None while another is at it."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [_number(key)])
        [free] = cursor.fetchone()
        return _made(benchmark, report, key, compute, at) if free else None


def _made(benchmark: Benchmark, report: str, key: str, compute: Compute, at: datetime) -> Snapshot:
    """The watermark and the last answer are read first: what comes meanwhile counts as newer."""
    mark = watermark(benchmark)
    found = Snapshot.objects.filter(benchmark=benchmark, report=report, key=key).first()
    if found and found.watermark == mark:
        return found
    last = Annotation.objects.aggregate(last=Max("pk"))["last"] or 0
    answers = size_of(benchmark)
    began = perf_counter()
    data = {"report": compute(), "last": last}
    facts = {"watermark": mark, "answers": answers, "data": data, "computed_at": at, "seconds": perf_counter() - began}
    return Snapshot.objects.update_or_create(benchmark=benchmark, report=report, key=key, defaults=facts)[0]


def due(look: Look, at: datetime) -> bool:
    return look.stored and look.changed and at - look.computed_at > REST


def ask_for(benchmark: Benchmark, report: str, query: str, zone: str) -> None:
    """Let a worker make it anew; asked once a minute for the same address, whoever looks. Without a broker the page
    still shows what is kept, and says how old it is."""
    if not cache.add(f"renew:{benchmark.pk}:{report}:{_number(query + zone)}", 1, 60):
        return
    try:
        current_app.send_task(TASK, (benchmark.pk, report, query, zone), retry=False)
    except (OperationalError, OSError):
        return


def _number(key: str) -> int:
    """A key as Postgres' locks take it."""
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], signed=True)
