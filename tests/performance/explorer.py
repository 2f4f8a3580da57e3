"""What the item explorer costs: `python tests/performance/explorer.py [--items 100000] [--answers 10]`.

One stage of a rating task with a picture for each item (its row, no bytes), five cohorts, and so many answers to each
item; a second stage with 1,000 items. Times the page as the server makes it, at the start, in the middle and at the end
of each order, forward and back, and with each filter; beside a bare SELECT of one page of items with their pictures in
the same run. Prints median, p95, the ratio to that SELECT, so that a slow or busy machine says the same, and the
processor time of this process and of the database. Ends with 1 if pages of one kind differ in their number of queries,
or if the p95 of a case is over the limit on a quiet machine.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path[0] = str(Path(__file__).resolve().parents[2])  # our own folder holds a queue that is not Python's

from tests.load import server  # noqa: E402

BARE = """SELECT i.*, p.*, g.* FROM (SELECT * FROM benchmarks_item WHERE stage_id = %s ORDER BY id LIMIT 60) i
  JOIN benchmarks_itemimage p ON p.item_id = i.id JOIN benchmarks_image g ON g.id = p.image_id"""
ITEMS = """
INSERT INTO benchmarks_item (stage_id, key, concept, origin, condition, text, context, intake, withdrawn_because,
  revision, created_at)
SELECT %(stage)s, 'picture-' || lpad(n::text, 7, '0') || '.jpg', 'concept ' || n %% 200, 'Country ' || n %% 50,
  CASE WHEN n %% 2 = 0 THEN 'natural' ELSE 'generated' END,
  'A ' || (ARRAY['wedding', 'market', 'breakfast', 'school', 'lantern'])[1 + n %% 5] || ' number ' || n || ' near '
    || md5(n::text), jsonb_build_object('facet', 'facet ' || n %% 17, 'source_note', md5((n + 1)::text)), '', '', 1,
  now() - interval '1 second' * (%(items)s - n)
FROM generate_series(1, %(items)s) AS n;
"""
PICTURES = """
WITH pictures AS (
  INSERT INTO benchmarks_image (team_id, sha256, format, bytes, width, height, orientation, created_at)
  SELECT %(team)s, lpad(i.id::text, 64, '0'), 'jpeg', 90000, 800, 600, 1, now() FROM benchmarks_item i
  WHERE i.stage_id = %(stage)s RETURNING id, sha256
)
INSERT INTO benchmarks_itemimage (item_id, image_id, role, alt, source, licence, file_name)
SELECT ltrim(sha256, '0')::bigint, id, 'image', '', '', '', '' FROM pictures;
"""
UNITS = """
INSERT INTO annotation_unit (item_id, target) SELECT i.id, c.label FROM benchmarks_item i
  CROSS JOIN annotation_campaigncohort cc JOIN people_cohort c ON c.id = cc.cohort_id
WHERE i.stage_id = %(stage)s AND cc.campaign_id = %(campaign)s;
INSERT INTO annotation_slot (cohort_id, unit_id, position, wanted, reserved, submitted, urgent, retired, cell_full)
SELECT cc.id, u.id, u.id, %(each)s, 0, %(each)s, false, false, false FROM annotation_unit u
  JOIN benchmarks_item i ON i.id = u.item_id AND i.stage_id = %(stage)s
  JOIN annotation_campaigncohort cc ON cc.campaign_id = %(campaign)s
  JOIN people_cohort c ON c.id = cc.cohort_id AND c.label = u.target;
"""
ANSWERS = """
WITH given AS (
  INSERT INTO annotation_assignment (campaign_id, participation_id, slot_id, unit_id, rater_id, state, in_hand,
    reserved_at, shown_at, changed_at, skip_reason, skip_note)
  SELECT %(campaign)s, p.id, s.id, s.unit_id, p.rater_id, 'submitted', false, now(), now(), now(), '', ''
  FROM annotation_slot s JOIN annotation_campaigncohort cc ON cc.id = s.cohort_id
    JOIN annotation_participation p ON p.cohort_id = cc.id
  WHERE cc.campaign_id = %(campaign)s RETURNING id, unit_id, rater_id
), written AS (
  INSERT INTO annotation_annotation (assignment_id, rater_id, version, client_key, answers, sheet_version_id,
    rule_version, cohort_id, language, shown_at, submitted_at, active_seconds, confirmed, trace, live, counted,
    uncounted_because)
  SELECT id, rater_id, 1, id::text, jsonb_build_object('relevance', (1 + (id * 7) %% 5)::text), %(sheet)s, '', NULL,
    'en', now(), now(), 7.5, '[]', '{}', true, true, '' FROM given RETURNING id, assignment_id, rater_id, answers
)
INSERT INTO annotation_rating (annotation_id, campaign_id, cohort_id, unit_id, rater_id, field, code, value, live,
  counted)
SELECT w.id, %(campaign)s, NULL, g.unit_id, w.rater_id, 'relevance', w.answers ->> 'relevance',
  (w.answers ->> 'relevance')::float8, true, true FROM written w JOIN given g ON g.id = w.assignment_id;
"""
COHORTS, RUNS, LIMIT = 5, 30, 300  # ms, on a quiet machine


def ticks_of_database() -> float:
    """Milliseconds of processor time that this connection's process of PostgreSQL has used."""
    from jobs.queries.statements import fetch

    [(pid,)] = fetch("SELECT pg_backend_pid()", [])
    values = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    return 1000 * sum(map(int, values[11:13])) / os.sysconf("SC_CLK_TCK")


def times_ms(deed: Callable[[], Any], runs: int = RUNS) -> tuple[float, float, float, float]:
    """Median, p95, and mean processor time of this process and of the database."""
    times = []
    used, database_ms = time.process_time(), ticks_of_database()
    for _ in range(runs):
        begun = time.perf_counter()
        deed()
        times.append(1000 * (time.perf_counter() - begun))
    used, database_ms = 1000 * (time.process_time() - used) / runs, (ticks_of_database() - database_ms) / runs
    times.sort()
    return times[runs // 2], times[int(0.95 * runs)], used, database_ms


def make(items: int, answers: int) -> tuple[Any, Any]:
    """The stage, and somebody who works on its benchmark."""
    from django.db import connection

    from annotation.models import Participation
    from benchmarks.models import Role
    from people.models import Rater, TeamMember
    from tests.annotation.queue import factories

    stage = factories.a_stage(0)
    benchmark, team = stage.benchmark, stage.benchmark.team
    looker = factories.a_person().user
    TeamMember.objects.create(team=team, user=looker)
    Role.objects.create(benchmark=benchmark, user=looker, name=Role.Name.RESEARCHER)
    cohorts = [factories.a_cohort(team, f"Cohort {n}") for n in range(COHORTS)]
    each = answers // COHORTS
    campaign = factories.lifecycle.create(stage, "Round 1", None, dict.fromkeys(cohorts, each), seed=1)
    for row in campaign.cohorts.order_by("pk"):
        for n in range(each):
            rater = Rater.objects.create(kind="person", team=team, name=f"Person {row.pk}-{n}")
            Participation.objects.create(cohort=row, rater=rater, last_seen_at=factories.timezone.now())
    other = type(stage).objects.get(pk=stage.pk)
    other.pk, other.key, other.name, other.position = None, "second", "Second", 1
    other.save()
    values = {"stage": stage.pk, "items": items, "team": team.pk, "campaign": campaign.pk, "each": each,
              "sheet": campaign.sheet_version_id}  # fmt: skip
    with connection.cursor() as sql:
        for statement in (ITEMS, PICTURES, UNITS, ANSWERS):
            begun = time.perf_counter()
            sql.execute(statement, values)
            print(f"  {statement.split()[2][:30]:<30} {time.perf_counter() - begun:6.1f} s", flush=True)
        sql.execute(ITEMS, {**values, "stage": other.pk, "items": 1000})
        sql.execute("UPDATE annotation_campaign SET state = 'open', opened_at = now() WHERE id = %s", [campaign.pk])
        sql.execute("VACUUM ANALYZE")
    return stage, looker


def cases(stage: Any) -> list[tuple[str, dict[str, str]]]:
    """Name and query of each page that is timed."""
    from benchmarks.queries.item_selection import SORTS, ItemSelection

    rows = []
    for key, sort in SORTS.items():
        ids = list(ItemSelection((stage,), sort=sort).rows().order_by(*dict.fromkeys(sort.order()))
                   .values_list("pk", flat=True))  # fmt: skip
        name = key or "oldest"
        rows.append((f"{name}, first page", {"order": key}))
        for share in (0.1, 0.5, 0.99):
            place = str(ids[int(share * (len(ids) - 1))])
            rows.append((f"{name}, after {share:.0%}", {"order": key, "after": place}))
        rows.append((f"{name}, back from 90 %", {"order": key, "before": str(ids[int(0.9 * (len(ids) - 1))])}))
    middle = str(ids[len(ids) // 2])
    cohort = stage.campaigns.get().cohorts.order_by("pk").first().cohort_id
    filters: list[tuple[str, dict[str, str]]] = [
        ("concept (1 in 200)", {"concept": "concept 7"}),
        ("origin (1 in 50)", {"origin": "Country 9"}),
        ("condition (1 in 2)", {"condition": "natural"}),
        ("concept, origin, condition", {"concept": "concept 8", "origin": "Country 8", "condition": "natural"}),
        ("state: with answers", {"state": "answered"}),
        ("state: without answers", {"state": "unanswered"}),
        ("state: withdrawn", {"state": "withdrawn"}),
        ("cohort", {"cohort": str(cohort)}),
        ("disagreement: none", {"disagreement": "none"}),
        ("disagreement: half", {"disagreement": "half"}),
        ("disagreement: unknown", {"disagreement": "unknown"}),
        ("text: a word of 1 in 5", {"text": "lantern"}),
        ("text: a word of one item", {"text": "picture-0050001.jpg"}),
        ("text: the beginning of all", {"text": "pic"}),
        ("text: nothing", {"text": "zzz"}),
        ("text: part, among 500", {"text": "icture", "concept": "concept 7"}),
        ("text: part, among 2,000", {"text": "number 1", "origin": "Country 9"}),
        ("all stages", {"stage": "*"}),
        ("all stages, by disagreement", {"stage": "*", "order": "disagreement"}),
    ]
    for name, query in filters:
        rows += [(name, query), (f"{name}, after 50%", {"order": "disagreement", **query, "after": middle})]
    return rows


def measure(stage: Any, looker: Any) -> bool:
    """Print all cases; false if one of them asks more queries than others, or is too slow on a quiet machine."""
    from django.db import connection
    from django.test import Client

    from jobs.queries.statements import fetch

    client = Client(HTTP_HOST="localhost")
    client.force_login(looker, backend="django.contrib.auth.backends.ModelBackend")
    address = f"/b/{stage.benchmark.slug}/items/"
    bare, late_bare, *_used = times_ms(lambda: fetch(BARE, [stage.pk]))
    print(f"  load {os.getloadavg()[0]:.1f}; {RUNS} times each")
    print(f"  {'bare SELECT of a page':<44} median {bare:7.1f}  p95 {late_bare:7.1f} ms")
    fits, latest, counts = True, [], set()
    for name, query in cases(stage):
        reply = client.get(address, query)
        assert reply.status_code == 200, (name, reply.status_code)
        queries: list[str] = []

        def count(run: Any, sql: str, *rest: Any, queries: list[str] = queries) -> Any:
            queries.append(sql)
            return run(sql, *rest)

        with connection.execute_wrapper(count):
            client.get(address, query)
        middle, late, used, database_ms = times_ms(lambda query=query: client.get(address, query))  # type: ignore[misc]
        latest.append(late)
        if "after" in query and "order" in query and len(query) == 2:
            counts.add((query["order"], len(queries)))
        print(f"  {name:<44} median {middle:7.1f}  p95 {late:7.1f} ms ({middle / bare:5.1f} of bare),"
              f" processor {used:5.0f} + {database_ms:5.0f} ms, {len(queries)} queries", flush=True)  # fmt: skip
    print(f"  worst p95 {max(latest):.0f} ms; load {os.getloadavg()[0]:.1f}")
    if len(counts) > len({order for order, _n in counts}):
        print(f"queries differ with depth: {sorted(counts)}")
        fits = False
    return fits and not (max(latest) > LIMIT and os.getloadavg()[0] < 1.5)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--items", type=int, default=100_000)
    options.add_argument("--answers", type=int, default=10, help="of each item; by five cohorts")
    chosen = options.parse_args()
    with server.database():
        from annotation.services import item_tallies
        from tests.annotation.queue import factories

        print(f"{chosen.items:,} items, {chosen.items * chosen.answers:,} answers")
        stage, looker = make(chosen.items, chosen.answers)
        begun = time.perf_counter()
        item_tallies.renew(stage.pk, 1, factories.timezone.now())
        print(f"  disagreement of all items, in a worker: {time.perf_counter() - begun:.1f} s", flush=True)
        if os.environ.get("EMIC_SQL_SHELL"):
            from django.db import connection

            connection.ensure_connection()
            print(connection.get_connection_params(), flush=True)
            time.sleep(float(os.environ["EMIC_SQL_SHELL"]))
        return 0 if measure(stage, looker) else 1


if __name__ == "__main__":
    sys.exit(main())
