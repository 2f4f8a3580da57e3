"""A simulated CAIRE through the file door: `python tests/performance/caire.py [--images 400] [--raters 20]`.

Ten cohorts, 400 images, twenty people of each cohort and three models of known skill (tests/evaluation/simulation.py)
in one file of ratings; imported as a worker would, then Tables 2 and 14 to 17 and the pages. Seconds of each, the most
memory, and how many of the intervals hold the known truth.
"""

import argparse
import os
import resource
import sys
import time
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parents[2])  # our own folder holds a queue that is not Python's

from tests.load import server  # noqa: E402

KEYS = ("table-2", "table-14", "table-15", "table-16", "table-17")
PAGES = ("agreement/?measure=table", "models/", "judge/", "tables/table-14/")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--images", type=int, default=400)
    options.add_argument("--raters", type=int, default=20)
    options.add_argument("--draws", type=int, default=40, help="studies the true values are means of")
    arguments = options.parse_args()
    print(f"load average {os.getloadavg()[0]:.1f} of {os.cpu_count()} cores")
    with server.database():
        import numpy as np
        from django.http import QueryDict
        from django.test import Client
        from django.utils import timezone

        from evaluation.tables.registry import tables_of
        from evaluation.tables.table_builder import build_table
        from people.models import Team, TeamMember, User
        from tests.evaluation import simulated_study
        from tests.evaluation.simulation import StudyDesign, draw

        recipe = StudyDesign(images=arguments.images, raters=arguments.raters)
        study = draw(recipe, np.random.default_rng(2026))
        actor = User.objects.create_user("a@example.org", "A")
        team = Team.objects.create(name="A", slug="a")
        TeamMember.objects.create(team=team, user=actor, role=TeamMember.Role.ADMIN)
        campaign = simulated_study.make_benchmark(study, team, actor)
        data = simulated_study.long_file(study)
        began = time.perf_counter()
        job = simulated_study.import_ratings(campaign, actor, data)
        took = time.perf_counter() - began
        rows = data.count(b"\n") - 1
        print(
            f"import of {rows:,} rows: {job.state}, {took:.1f} s, {rows / took:,.0f} a second, {job.result['counts']}"
        )
        true = simulated_study.truths(recipe, arguments.draws)
        benchmark = campaign.stage.benchmark
        for spec in tables_of(benchmark):
            if spec.key not in KEYS:
                continue
            began = time.perf_counter()
            table = build_table(benchmark, spec, QueryDict(""), timezone.now())
            took = time.perf_counter() - began
            covered = (
                simulated_study.covered_intervals(table, true)
                if spec.key in ("table-2", "table-14", "table-17")
                else []
            )
            words = f"; {sum(covered)} of {len(covered)} intervals hold the truth" if covered else ""
            print(f"{spec.number:<10}{took:6.2f} s, {len(table.rows)} rows{words}", flush=True)
        client = Client(HTTP_HOST="localhost")
        client.force_login(actor, backend="django.contrib.auth.backends.ModelBackend")
        for page in PAGES:
            began = time.perf_counter()
            reply = client.get(f"/b/{benchmark.slug}/{page}")
            took = time.perf_counter() - began
            print(f"{page:<26}{took:6.2f} s, {reply.status_code}, {len(reply.content) / 1024:.0f} KB", flush=True)
        print(f"peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB, load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
