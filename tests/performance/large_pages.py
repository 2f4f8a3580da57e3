"""Pages of results over a million ratings: `python tests/performance/large_pages.py [--items 5000] [--raters 20]`.

Ten cohorts whose people have rated every item of their culture under two conditions, and two models. Each page is
opened once, when a worker may have to compute its snapshot (done in this process, and timed apart), and then as often
as RUNS says, with nothing changed: median and p95 in ms, queries and kilobytes, and how many times the median of the
page *Campaigns* of the same run, which counts no ratings. Ends with 1 if a p95 is over the limit on a quiet machine.
"""

import argparse
import os
import sys
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as config/local/gunicorn.py has it
sys.path[0] = str(Path(__file__).resolve().parents[2])  # our own folder holds a queue that is not Python's

from config import memory  # noqa: E402
from tests.load import server  # noqa: E402
from tests.performance import dashboard  # noqa: E402

RUNS, LIMIT = 20, 300  # ms, on a quiet machine
DAYS = 60  # in which the answers were given
SEATS = """
WITH seats AS (
  INSERT INTO annotation_participation (rater_id, cohort_id, cursor, urgent_cursor, last_seen_at)
  SELECT DISTINCT a.rater_id, cc.id, 0, 0, now() FROM annotation_assignment a
    JOIN annotation_annotation an ON an.assignment_id = a.id
    JOIN annotation_campaigncohort cc ON cc.campaign_id = a.campaign_id AND cc.cohort_id = an.cohort_id
  RETURNING id, rater_id
) UPDATE annotation_assignment a SET participation_id = s.id FROM seats s WHERE s.rater_id = a.rater_id
"""
TALLIES = """
UPDATE annotation_slot SET wanted = %(raters)s, submitted = %(raters)s;
UPDATE annotation_tally t SET wanted = n.slots * %(raters)s, submitted = n.slots * %(raters)s, changes = 1
  FROM (SELECT cohort_id, count(*) AS slots FROM annotation_slot GROUP BY cohort_id) n
  WHERE n.cohort_id = t.cohort_id AND t.shard = 0;
"""
PAGES = {
    "Campaigns": "/b/{slug}/campaigns/",
    "Overview": "/b/{slug}/",
    "Agreement": "/b/{slug}/agreement/",
    "Agreement, all questions": "/b/{slug}/tables/all-questions/",
    "Models": "/b/{slug}/models/",
    "Figures": "/b/{slug}/figures/",
    "Disagreement": "/b/{slug}/disagreement/",
    "People": "/b/{slug}/people/?cohort=all",
    "People of a cohort": "/b/{slug}/people/?cohort={cohort}",
    "A person": "/b/{slug}/people/{rater}/",
    "Tables": "/b/{slug}/tables/",
    "Benchmarks": "/benchmarks/",
}
OWN = {
    "Annotator's work": "/work/",
    "Annotator's history": "/work/history/",
    "Annotator's statistics": "/me/statistics/",
}


def make(items: int, raters: int) -> tuple[Any, Any, Any]:
    """A benchmark, somebody who works on it, and one of those who rated."""
    from django.db import connection

    from annotation.models import Campaign, Participation
    from benchmarks.models import Role
    from people.models import Rater, TeamMember
    from tests.annotation.queue import factories

    dashboard.fill(items, raters, DAYS)
    campaign = Campaign.objects.select_related("stage__benchmark__team").get()
    benchmark = campaign.stage.benchmark
    models = [Rater.objects.create(kind="model", team=benchmark.team, name=f"Model {n}", setting="") for n in range(2)]
    with connection.cursor() as cursor:
        cursor.execute(SEATS)
        cursor.execute(TALLIES, {"raters": raters})
        for row in campaign.cohorts.select_related("cohort"):
            cursor.execute(
                dashboard.FILL,
                {
                    "campaign": campaign.pk, "raters": [model.pk for model in models], "target": row.cohort.label,
                    "cohort": None, "sheet": campaign.sheet_version_id, "days": DAYS,
                },
            )  # fmt: skip
        cursor.execute("VACUUM ANALYZE")
    reader = factories.a_person().user
    TeamMember.objects.create(team=benchmark.team, user=reader)
    Role.objects.create(benchmark=benchmark, user=reader, name=Role.Name.RESEARCHER)
    return benchmark, reader, Participation.objects.select_related("rater__user", "cohort").order_by("pk").first()


def measure(client: Any, address: str) -> tuple[float, float, float, int, int]:
    """Seconds of the first visit, median and p95 in ms of those after it, queries, bytes."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    begun = time.perf_counter()
    reply = client.get(address)
    first = time.perf_counter() - begun
    assert reply.status_code == 200, (address, reply.status_code)
    client.get(address)
    times = []
    for _ in range(RUNS):
        begun = time.perf_counter()
        reply = client.get(address)
        times.append(1000 * (time.perf_counter() - begun))
    times.sort()
    with CaptureQueriesContext(connection) as queries:
        client.get(address)
    return first, times[RUNS // 2], times[int(0.95 * RUNS)], len(queries), len(reply.getvalue())


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--items", type=int, default=5_000)
    options.add_argument("--raters", type=int, default=20, help="of each of ten cohorts")
    chosen = options.parse_args()
    with server.database():
        from django.test import Client

        from config.celery import app

        app.conf.task_always_eager = True
        begun = time.perf_counter()
        benchmark, reader, seat = make(chosen.items, chosen.raters)
        print(f"{chosen.items * chosen.raters * 10:,} ratings written in {time.perf_counter() - begun:.0f} s")
        print(f"load average {os.getloadavg()[0]:.1f} of {os.cpu_count()} cores")
        memory.share_imports()
        researcher, annotator = Client(HTTP_HOST="localhost"), Client(HTTP_HOST="localhost")
        researcher.force_login(reader)
        annotator.force_login(seat.rater.user)
        values = {"slug": benchmark.slug, "cohort": seat.cohort.cohort_id, "rater": seat.rater_id}
        print(f"{'':<26}{'first s':>9}{'median ms':>11}{'p95 ms':>9}{'times':>7}{'queries':>9}{'kB':>7}")
        slow, base = [], 0.0
        for client, pages in ((researcher, PAGES), (annotator, OWN)):
            for name, address in pages.items():
                first, middle, p95, queries, size = measure(client, address.format(**values))
                base = base or middle
                slow += [name] if p95 > LIMIT else []
                line = f"{name:<26}{first:>9.1f}{middle:>11.0f}{p95:>9.0f}{middle / base:>7.1f}{queries:>9}"
                print(f"{line}{size / 1000:>7.0f}", flush=True)
        print(f"load average {os.getloadavg()[0]:.1f} at the end")
        if slow:
            print(f"over {LIMIT} ms: {', '.join(slow)}")
        return int(bool(slow))


if __name__ == "__main__":
    sys.exit(main())
