"""What the board of a chain costs: `python tests/performance/board.py [--items 20000] [--cohorts 15] [--stages 8]`.

A chain of eight stages, two by review and one by a rule, the items spread over its stages and cohorts; two of three are
answered, and two models were asked at each stage. Times the overview as the server makes it, the board alone, and a
bare SELECT of the slots with their items; prints medians and p95, the ratios to that SELECT, so that a slow or busy
machine says the same, and the processor time of the overview in this process. Ends with 1 if the board makes more
queries than that of a chain with a tenth of the items, or if the p95 of the page is over the limit on a quiet machine.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path[0] = str(Path(__file__).resolve().parents[2])  # our own folder holds a queue that is not Python's

from config import memory  # noqa: E402
from tests.load import server  # noqa: E402

BARE = """SELECT c.stage_id, s.cohort_id, i.origin, i.intake, s.wanted, s.submitted, s.reserved
  FROM annotation_slot s JOIN annotation_campaigncohort cc ON cc.id = s.cohort_id
  JOIN annotation_campaign c ON c.id = cc.campaign_id JOIN annotation_unit u ON u.id = s.unit_id
  JOIN benchmarks_item i ON i.id = u.item_id JOIN benchmarks_stage st ON st.id = c.stage_id
  WHERE st.benchmark_id = %s"""
ANSWERS = """
WITH given AS (
  INSERT INTO annotation_assignment (campaign_id, participation_id, slot_id, unit_id, rater_id, state, in_hand,
    reserved_at, shown_at, changed_at, skip_reason, skip_note)
  SELECT cc.campaign_id, p.id, s.id, s.unit_id, p.rater_id,
    CASE WHEN st.acceptance = 'by_review' AND s.id %% 3 = 0 THEN 'accepted' ELSE 'submitted' END, false,
    now(), now(), now() - interval '1 day' * (s.id %% 10), '', ''
  FROM annotation_slot s JOIN annotation_campaigncohort cc ON cc.id = s.cohort_id
    JOIN annotation_campaign c ON c.id = cc.campaign_id JOIN benchmarks_stage st ON st.id = c.stage_id
    JOIN annotation_participation p ON p.cohort_id = cc.id
  WHERE s.id %% 3 <> 1 AND st.benchmark_id = %s RETURNING id, campaign_id, rater_id, changed_at
)
INSERT INTO annotation_annotation (assignment_id, rater_id, version, client_key, answers, sheet_version_id,
  rule_version, cohort_id, language, shown_at, submitted_at, active_seconds, confirmed, trace, live, counted,
  uncounted_because)
SELECT given.id, rater_id, 1, given.id::text, '{}', c.sheet_version_id, '', NULL, 'en', changed_at, changed_at, 7.5,
  '[]', '{}', true, true, '' FROM given JOIN annotation_campaign c ON c.id = given.campaign_id
"""
TALLIES = """
UPDATE annotation_slot SET submitted = 1 WHERE id % 3 <> 1;
UPDATE annotation_tally t SET submitted = (SELECT count(*) FROM annotation_slot s
  WHERE s.cohort_id = t.cohort_id AND s.submitted = 1) WHERE t.shard = 0;
"""
RUNS, LIMIT = 40, 300  # ms, on a quiet machine


def times_ms(deed: Callable[[], Any]) -> tuple[float, float]:
    """Median and p95."""
    times = []
    for _ in range(RUNS):
        begun = time.perf_counter()
        deed()
        times.append(1000 * (time.perf_counter() - begun))
    times.sort()
    return times[RUNS // 2], times[int(0.95 * RUNS)]


def make(items: int, cohorts: int, stages: int) -> tuple[Any, Any]:
    """A benchmark, and somebody who works on it."""
    from django.db import connection

    from annotation.models import Participation
    from benchmarks.models import Item, Role
    from people.models import Rater, TeamMember
    from predictions.models import Run
    from tests.annotation.queue import factories

    first = factories.a_stage(0)
    benchmark, team = first.benchmark, first.benchmark.team
    people = [factories.a_cohort(team, f"Cohort {n}") for n in range(cohorts)]
    looker = factories.a_person().user
    TeamMember.objects.create(team=team, user=looker)
    Role.objects.create(benchmark=benchmark, user=looker, name=Role.Name.RESEARCHER)
    raters = [factories.a_person(cohort) for cohort in people]
    models = [Rater.objects.create(kind="model", team=team, name=f"Model {n}", setting="main") for n in range(2)]
    kinds = ["by_review", "by_rule", "by_review"]
    now = factories.timezone.now()
    for n in range(stages):
        stage = first if n == 0 else type(first).objects.get(pk=first.pk)
        stage.pk, stage.key, stage.position = (first.pk, first.key, 0) if n == 0 else (None, f"stage-{n}", n)
        stage.name, stage.own_items_only = f"Stage {n}", True
        stage.acceptance = kinds[n - 1] if 0 < n < 4 else "on_submit"
        if stage.acceptance == "by_rule":
            clause = {"key": "fits", "expression": "relevance >= 3", "words": {"en": "It fits"}}
            stage.acceptance_rule = {"clauses": [clause], "over": "majority"}
        stage.save()
        Item.objects.bulk_create(
            Item(stage=stage, key=f"item-{k}", concept=f"concept {k % 40}", origin=people[k % cohorts].label)
            for k in range(items // stages)
        )
        with connection.cursor() as sql:  # what the display needs
            sql.execute("UPDATE benchmarks_stage SET layout = '{}', display = 'words', pictures = 'none' WHERE id = %s",
                        [stage.pk])  # fmt: skip
            sql.execute("UPDATE benchmarks_item SET text = key WHERE stage_id = %s", [stage.pk])
        stage.refresh_from_db()
        campaign = factories.lifecycle.create(stage, f"Round {n}", None, dict.fromkeys(people, 1), seed=1)
        factories.lifecycle.open_campaign(campaign, None, now)
        rows = campaign.cohorts.order_by("pk")
        Participation.objects.bulk_create(
            Participation(cohort=row, rater=rater, last_seen_at=now) for row, rater in zip(rows, raters, strict=True)
        )
        for model in models:
            run = Run.objects.create(
                benchmark=benchmark, rater=model, campaign=campaign, task=Run.Task.ANSWERS, complete=True
            )
            with connection.cursor() as sql:
                sql.execute(
                    "INSERT INTO predictions_call (run_id, item_id, repeat, state, reason, how, \"order\", replies,"
                    " notes, cached, attempts_made, cost, holder) SELECT %s, id, 0, 'answered', '', '', '[]', '[]',"
                    " '{}', false, 1, 0, '' FROM benchmarks_item WHERE stage_id = %s", [run.pk, stage.pk],
                )  # fmt: skip
    with connection.cursor() as sql:
        sql.execute(ANSWERS, [benchmark.pk])
        sql.execute(TALLIES)
        sql.execute("VACUUM ANALYZE")
    return benchmark, looker


def measure(items: int, cohorts: int, stages: int) -> tuple[int, float]:
    """Queries of the page, and its p95."""
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    from benchmarks.pages.board import board_of
    from evaluation.tasks import renew_board
    from jobs.queries.statements import fetch
    from tests.annotation.queue import factories

    benchmark, looker = make(items, cohorts, stages)
    begun = time.perf_counter()
    assert renew_board(benchmark.pk), "agreement, which a worker computes"
    print(f"  agreement of all stages, in a worker: {time.perf_counter() - begun:.1f} s")
    client = Client(HTTP_HOST="localhost")
    client.force_login(looker, backend="django.contrib.auth.backends.ModelBackend")
    address = f"/b/{benchmark.slug}/"
    reply = client.get(address)
    assert reply.status_code == 200, reply.status_code
    memory.share_imports()  # as a site does: else Python looks through all that is imported while a page is made
    at = factories.timezone.now()
    with CaptureQueriesContext(connection) as queries:
        board_of(benchmark, looker, at)
        asked = len(queries)
    bare, late_bare = times_ms(lambda: fetch(BARE, [benchmark.pk]))
    print(f"{items:,} items, {cohorts} cohorts, {stages} stages; load {os.getloadavg()[0]:.1f}; {RUNS} times each")
    print(f"  {'bare SELECT of the slots':<26} median {bare:7.1f}  p95 {late_bare:7.1f} ms")
    for name, deed in (
        ("board", lambda: board_of(benchmark, looker, at)),
        ("overview", lambda: client.get(address)),
    ):
        middle, late = times_ms(deed)
        ratios = f"({middle / bare:.1f} and {late / late_bare:.1f} of bare)"
        print(f"  {name:<26} median {middle:7.1f}  p95 {late:7.1f} ms {ratios}")
    begun = time.process_time()
    for _ in range(10):
        client.get(address)
    used = 100 * (time.process_time() - begun)
    size = len(reply.content) / 1024
    print(f"  board {asked} queries; page {size:.0f} KB, {used:.0f} ms of processor time here", flush=True)
    return asked, late


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--items", type=int, default=20_000)
    options.add_argument("--cohorts", type=int, default=15)
    options.add_argument("--stages", type=int, default=8)
    chosen = options.parse_args()
    with server.database():
        few, _late = measure(chosen.items // 10, chosen.cohorts, chosen.stages)
        many, late = measure(chosen.items, chosen.cohorts, chosen.stages)
    if many > few:
        print(f"queries grow: {few}, then {many}")
    too_slow = late > LIMIT and os.getloadavg()[0] < 1.5
    return 1 if many > few or too_slow else 0


if __name__ == "__main__":
    sys.exit(main())
