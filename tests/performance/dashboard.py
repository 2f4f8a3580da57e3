"""A million ratings from the database to the agreement report: `python tests/performance/dashboard.py [--items 5000]`.

5,000 items, ten cohorts, twenty people of each. In one run, each part in a process of its own: the bare COPY of the
same rows, a row at a time as psycopg gives them; the rows as `evaluation.queries.rating_rows` reads them, in packs;
the agreement report (alpha with its two-way interval, every cohort and condition), and Table 14's measures;
`observe()`. All parts are run in turn, several times over. Printed are medians: of the seconds, of how many times the
bare COPY of the same turn, of the processor time of this process; and the most memory the process held, with how much
of it was there before the first row (Python, Django, SciPy).
"""

import argparse
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as config/local/gunicorn.py has it
sys.path[0] = str(Path(__file__).resolve().parents[2])  # our own folder holds a queue that is not Python's

from statistics import median  # noqa: E402

from tests.load import server  # noqa: E402

# Every person's answer to every unit of a cohort: unit and person decide most of it.
FILL = """
WITH given AS (
  INSERT INTO annotation_assignment (campaign_id, participation_id, slot_id, unit_id, rater_id, state, in_hand,
    reserved_at, shown_at, changed_at, skip_reason, skip_note)
  SELECT %(campaign)s, NULL, NULL, u.id, r.id, 'submitted', false, now(), now(), now(), '', ''
  FROM annotation_unit u CROSS JOIN unnest(%(raters)s::bigint[]) AS r(id) WHERE u.target = %(target)s
  RETURNING id, unit_id, rater_id
), coded AS (
  SELECT *, 1 + (unit_id * 7919 %% 3 + rater_id * 31 %% 2 + (random() * 2)::int) AS code,
    now() - interval '1 day' * %(days)s * (1 - percent_rank() OVER (ORDER BY unit_id)) AS at FROM given
), written AS (
  INSERT INTO annotation_annotation (assignment_id, rater_id, version, client_key, answers, sheet_version_id,
    rule_version, cohort_id, language, shown_at, submitted_at, active_seconds, confirmed, trace, live,
    counted, uncounted_because)
  SELECT id, rater_id, 1, id::text, jsonb_build_object('relevance', code::text), %(sheet)s, '', %(cohort)s,
    'en', at, at, 7.5, '[]', '{}', true, true, '' FROM coded ORDER BY unit_id, rater_id
  RETURNING id, assignment_id, rater_id
)
INSERT INTO annotation_rating (annotation_id, campaign_id, cohort_id, unit_id, rater_id, field, code, value, live,
  counted)
SELECT w.id, %(campaign)s, %(cohort)s, c.unit_id, w.rater_id, 'relevance', c.code::text, c.code, true, true
FROM written w JOIN coded c ON c.id = w.assignment_id
"""
BARE = """COPY (SELECT r.cohort_id::int8, r.unit_id::int8, r.rater_id::int8, r.annotation_id::int8, r.value::float8
  FROM annotation_rating r WHERE r.field = 'relevance' AND r.live AND r.counted) TO STDOUT (FORMAT binary)"""


def fill(items: int, raters: int, days: int = 0) -> None:
    """`days`: over how many days up to now the answers of each cohort were given."""
    from django.db import connection

    from tests.annotation.queue import factories

    campaign = factories.an_open_campaign(items, 1, labels=[f"Cohort {n}" for n in range(10)])
    with connection.cursor() as cursor:
        cursor.execute("UPDATE benchmarks_item SET condition = 'generated' WHERE id % 2 = 0")
        for row in campaign.cohorts.select_related("cohort"):
            people = [factories.a_person(row.cohort).pk for _ in range(raters)]
            cursor.execute(
                FILL,
                {
                    "campaign": campaign.pk, "raters": people, "target": row.cohort.label, "cohort": row.cohort_id,
                    "sheet": campaign.sheet_version_id, "days": days,
                },
            )  # fmt: skip
        cursor.execute("VACUUM ANALYZE")


def bare(query: str) -> int:
    from django.db import connection

    size = 0
    with connection.cursor() as cursor, cursor.copy(query) as copy:
        for data in copy:
            size += len(data)
    return size


def rows() -> int:
    from django.http import QueryDict

    from benchmarks.models import Benchmark
    from evaluation.queries.rating_rows import rating_rows
    from evaluation.selections.catalogue import catalogue_of
    from evaluation.selections.selection import select

    return int(rating_rows(select(catalogue_of(Benchmark.objects.get()), QueryDict(""))).size)


def report(measure: str) -> int:
    from django.http import QueryDict
    from django.utils import timezone

    from benchmarks.models import Benchmark
    from evaluation.reports.agreement import agreement
    from evaluation.selections.catalogue import catalogue_of
    from evaluation.selections.selection import select

    catalogue = catalogue_of(Benchmark.objects.get())
    return agreement(catalogue, select(catalogue, QueryDict(measure)), timezone.now()).n_ratings


def observed() -> int:
    from django.http import QueryDict

    from benchmarks.models import Benchmark
    from evaluation.queries.observations import observe
    from evaluation.selections.catalogue import catalogue_of
    from evaluation.selections.selection import select

    return observe(select(catalogue_of(Benchmark.objects.get()), QueryDict(""))).n


PARTS: dict[str, tuple[str, Callable[[], int]]] = {
    "bare": ("bare COPY of the rows", lambda: bare(BARE)),
    "rows": ("rating_rows()", rows),
    "alpha": ("agreement report, alpha and interval", lambda: report("")),
    "table": ("agreement report, Table 14's measures", lambda: report("measure=table")),
    "observe": ("observe()", observed),
}


def part(name: str) -> None:
    """In a process of its own: seconds, most memory, memory before."""
    import django

    django.setup()
    from django.db import connection

    import evaluation.queries.observations
    import evaluation.reports.agreement  # noqa: F401

    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began, cpu = time.perf_counter(), time.process_time()
    found = PARTS[name][1]()
    took, cpu = time.perf_counter() - began, time.process_time() - cpu
    print(took, cpu, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, before / 1024, found)


def measured(name: str) -> list[float]:
    process = subprocess.run(
        [sys.executable, str(Path(__file__).resolve()), "--part", name],
        cwd=server.ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return [float(word) for word in process.stdout.split()]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--items", type=int, default=5_000)
    options.add_argument("--raters", type=int, default=20, help="of each of ten cohorts")
    options.add_argument("--times", type=int, default=7, help="how often each part is run")
    options.add_argument("--part", choices=PARTS)
    chosen = options.parse_args()
    if chosen.part:
        part(chosen.part)
        return
    with server.database():
        began = time.perf_counter()
        fill(chosen.items, chosen.raters)
        print(f"{chosen.items * chosen.raters * 10:,} ratings written in {time.perf_counter() - began:.0f} s")
        print(f"load average {os.getloadavg()[0]:.1f} of {os.cpu_count()} cores")
        print(f"{'':<40}{'seconds':>8}{'x bare':>8}{'cpu s':>8}{'peak MB':>9}{'of it before':>14}")
        turns = [{name: measured(name) for name in PARTS} for _ in range(chosen.times)]
        print(f"load average {os.getloadavg()[0]:.1f} at the end")
        for name, (label, _deed) in PARTS.items():
            seconds, cpu, peak, before, found = (median(turn[name][n] for turn in turns) for n in range(5))
            assert name == "bare" or found == chosen.items * chosen.raters * 10, found
            times = median(turn[name][0] / turn["bare"][0] for turn in turns)
            print(f"{label:<40}{seconds:>8.2f}{times:>8.2f}{cpu:>8.2f}{peak:>9.0f}{before:>14.0f}", flush=True)


if __name__ == "__main__":
    main()
