"""What reading changes costs: `python tests/performance/changes.py [--items 10000] [--answers 10]`.

100,000 annotations of items with a picture each; 100 answers and 100 items change. For each kind of rows: a page of
100 rows as it is, the page of what has changed since (`changed_after`), the page where nothing has changed, and the
stream of the changes, as the server makes them; medians in ms, and the ratio to the first. Ends with 1 if a page has
other rows than those that changed.
"""

import argparse
import os
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[0] = str(ROOT)

from tests.load import server  # noqa: E402

CHANGED = 100
ANSWERS = """UPDATE annotation_annotation SET counted = false, uncounted_because = 'excluded' WHERE id IN (
  SELECT id FROM annotation_annotation ORDER BY md5(id::text) LIMIT %s)"""
ITEMS = """UPDATE benchmarks_item SET concept = 'changed' WHERE id IN (
  SELECT id FROM benchmarks_item ORDER BY md5(id::text) LIMIT %s)"""
EXPECTED = {"annotations": CHANGED, "ratings": CHANGED, "items": CHANGED, "outcomes": 0, "reviews": 0}
STREAM = {"accept": "application/x-ndjson"}


class Reader:
    """A program that reads rows of the benchmark, `times` times each."""

    def __init__(self, campaign: Any, times: int) -> None:
        from benchmarks.models import Role
        from people.models import TeamMember
        from tests.annotation.queue import factories
        from tests.api.clients import program

        benchmark, user = campaign.stage.benchmark, factories.a_person().user
        assert user is not None
        TeamMember.objects.create(team=benchmark.team, user=user, role="member")
        Role.objects.create(benchmark=benchmark, user=user, name=Role.Name.OWNER)
        self.slug, self.times, self.client = benchmark.slug, times, program(user, "export")
        self.client.defaults["SERVER_NAME"] = "localhost"

    def page(self, kind: str, query: str) -> tuple[float, Any]:
        return self._timed(lambda: self.client.get(f"/api/v1/benchmarks/{self.slug}/{kind}/?{query}"))

    def stream(self, kind: str, query: str) -> float:
        def read() -> Any:
            reply = self.client.get(f"/api/v1/benchmarks/{self.slug}/{kind}/?{query}", headers=STREAM)
            b"".join(reply.streaming_content)
            return reply

        return self._timed(read)[0]

    def _timed(self, ask: Any) -> tuple[float, Any]:
        from tests.api.clients import reset_request_counts

        reset_request_counts()
        seconds = []
        for _ in range(self.times):
            began = time.perf_counter()
            reply = ask()
            seconds.append((time.perf_counter() - began) * 1000)
            assert reply.status_code == 200, reply.content
        return median(seconds), reply


def measure(items: int, answers: int, times: int) -> int:
    from django.db import connection

    from releases.rows.changes import CHANGES
    from tests.performance.releases import make

    reader = Reader(make(items, answers), times)
    first = {kind: reader.page(kind, "page_size=100") for kind in CHANGES}
    moment = first["items"][1]["X-Emic-Changed-After"]
    with connection.cursor() as sql:
        sql.execute(ANSWERS, [CHANGED])
        sql.execute(ITEMS, [CHANGED])
    later = reader.page("items", "page_size=1")[1]["X-Emic-Changed-After"]
    print(f"{items:,} items, {items * answers:,} annotations, load {os.getloadavg()[0]:.1f}; {times} times each; ms")
    print("kind            rows   page   changes           none            stream", flush=True)
    wrong = []
    for kind, (plain, _reply) in first.items():
        changes, reply = reader.page(kind, f"page_size=1000&changed_after={moment}")
        none, empty = reader.page(kind, f"page_size=100&changed_after={later}")
        stream = reader.stream(kind, f"changed_after={moment}")
        rows = (len(reply.json()["results"]), len(empty.json()["results"]))
        wrong += [f"{kind}: {rows} rows"] if rows != (EXPECTED[kind], 0) else []
        cells = "".join(f"{value:>9.1f} ({value / plain:>4.1f})" for value in (changes, none, stream))
        print(f"{kind:<14}{rows[0]:>6}{plain:>7.1f}{cells}", flush=True)
    print("\n".join(wrong) or "each page has the rows that changed")
    return int(bool(wrong))


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--items", type=int, default=10_000)
    options.add_argument("--answers", type=int, default=10)
    options.add_argument("--times", type=int, default=7)
    arguments = options.parse_args()
    with server.database():
        return measure(arguments.items, arguments.answers, arguments.times)


if __name__ == "__main__":
    sys.exit(main())
