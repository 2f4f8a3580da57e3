"""What the comparison of two linked stages costs: `python tests/performance/linked.py [--items 20000]`.

Half of the items are boxes, and half the boxes that others drew in the same pictures. Times the comparison, as a worker
makes it, once, and what the agreement page does with it at each view; prints the ratio of the view to the comparison
and of the comparison to a bare SELECT of the answers, so that a slow or busy machine says the same. Ends with 1 if a
view makes more queries than with a tenth of the items, or costs more than a twentieth of the comparison.
"""

import argparse
import os
import sys
import time
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

sys.path[0] = str(Path(__file__).resolve().parents[2])  # our own folder holds a queue that is not Python's

from tests.load import server  # noqa: E402
from tests.performance import board  # noqa: E402

SHARE = 0.05  # of the comparison that a view may cost
BARE = """SELECT an.answers FROM annotation_annotation an JOIN annotation_assignment a ON a.id = an.assignment_id
  JOIN annotation_campaign c ON c.id = a.campaign_id JOIN benchmarks_stage s ON s.id = c.stage_id
  WHERE s.benchmark_id = %s AND an.live"""
BOXES = """UPDATE annotation_annotation SET answers = jsonb_build_object('box', jsonb_build_array(jsonb_build_object(
  'x0', 0, 'y0', 0, 'x1', 0.3 + 0.1 * (id % 7), 'y1', 0.5)))"""
LINKS = """INSERT INTO annotation_itemsource (item_id, source_id, role)
  SELECT later.id, first.id, '' FROM benchmarks_item later JOIN benchmarks_stage l ON l.id = later.stage_id
  JOIN benchmarks_item first ON first.key = later.key JOIN benchmarks_stage f ON f.id = first.stage_id
  WHERE l.benchmark_id = %s AND f.benchmark_id = %s AND f.position = 0 AND l.position = 1"""


def make(items: int) -> Any:
    """A benchmark of two linked stages and one that settles what differs."""
    from django.db import connection

    from benchmarks.models import Stage

    benchmark, _looker = board.make(items, 4, 2)
    first, second = benchmark.stages.order_by("position")
    Stage.objects.filter(pk=second.pk).update(acceptance="on_submit")
    between = [{"stage": stage.key, "field": "box"} for stage in (first, second)]
    settling = Stage.objects.get(pk=first.pk)
    settling.pk, settling.key, settling.name, settling.position = None, "settling", "Settling", 2
    settling.derivation = {
        "kind": "disagree",
        "from": [first.key, second.key],
        "params": {"between": between, "measure": "iou", "under": 0.5},
    }
    settling.save()
    with connection.cursor() as sql:
        sql.execute("UPDATE annotation_campaign SET state = 'closed'")  # which waits for no further answer
        sql.execute(BOXES)
        sql.execute(LINKS, [benchmark.pk, benchmark.pk])
        sql.execute("VACUUM ANALYZE")
    return benchmark, first.key


def measure(items: int) -> tuple[int, float]:
    """Queries of a view, and what share of the comparison it costs."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    from evaluation.reports import linked_stages
    from jobs.queries.statements import fetch
    from tests.annotation.queue import factories

    benchmark, stage = make(items)
    at = factories.timezone.now()
    linked_stages.LIVE_LIMIT = 1  # also of the tenth of the items

    def view() -> None:
        shown = linked_stages.linked_stages(benchmark, stage, at, ZoneInfo("UTC"))
        assert shown is not None and shown.total > items // 10, shown

    view()
    link = linked_stages._link_of(benchmark, stage)
    assert link is not None
    with CaptureQueriesContext(connection) as queries:
        view()
        asked = len(queries)
    board.RUNS = 5
    bare, _late = board.times_ms(lambda: fetch(BARE, [benchmark.pk]))
    begun = time.perf_counter()
    linked_stages._compare(benchmark, link)
    compared = 1000 * (time.perf_counter() - begun)
    viewed, _late = board.times_ms(view)
    print(f"{items:,} items; load {os.getloadavg()[0]:.1f}")
    print(f"  bare SELECT {bare:.1f} ms, comparison {compared:.0f} ms ({compared / bare:.0f} of bare)")
    print(f"  view {viewed:.1f} ms ({viewed / compared:.4f} of the comparison), {asked} queries", flush=True)
    return asked, viewed / compared


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--items", type=int, default=20_000)
    chosen = options.parse_args()
    with server.database():
        few, _share = measure(chosen.items // 10)
        many, share = measure(chosen.items)
    return 1 if many > few or share > SHARE else 0


if __name__ == "__main__":
    sys.exit(main())
