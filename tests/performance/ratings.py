"""What ratings made elsewhere cost: `python tests/performance/ratings.py [--items 400] [--raters 20] [--form long]`.

400 items, ten cultures, twenty people of each: 80,000 ratings, brought as a worker would, then the same file again.
Rows per second and the most memory the process held.
"""

import argparse
import csv
import io
import random
import resource
import sys
import time
from pathlib import Path
from typing import Any

sys.path[0] = str(Path(__file__).resolve().parents[2])

from tests.load import server  # noqa: E402

CULTURES = ("Brazil", "China", "Egypt", "Germany", "India", "Japan", "Mexico", "Nigeria", "Turkey", "Vietnam")


def ratings(items: int, raters: int, form: str) -> bytes:
    """Item by item, as a study's table is sorted; seeded, so that each run brings the same."""
    draw = random.Random(4)
    out = io.StringIO()
    write = csv.writer(out)
    asked = ("field", "code") if form == "long" else ("answer.answer",)
    write.writerow(("item", "cohort", "rater", "rater_kind", *asked))
    for item in range(items):
        for culture in CULTURES:
            for rater in range(raters):
                code = draw.choice("12345")
                cells = ("answer", code) if form == "long" else (code,)
                write.writerow((f"item-{item:05}", culture, f"{culture} {rater}", "person", *cells))
    return out.getvalue().encode()


def measure(name: str, job: Any) -> None:
    from jobs.services import runner

    began, cpu = time.perf_counter(), time.process_time()
    runner.run(job.pk)
    took, cpu = time.perf_counter() - began, time.process_time() - cpu
    job.refresh_from_db()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{name:<22}{job.state:>8}  {job.done:>6} rows  {took:7.1f} s  {job.done / took:7.0f}/s  cpu {cpu:6.1f} s  "
        f"peak {peak:5.0f} MB  {job.result.get('counts')} {job.error}",
        flush=True,
    )


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--items", type=int, default=400)
    options.add_argument("--raters", type=int, default=20)
    options.add_argument("--form", choices=("long", "wide"), default="long")
    arguments = options.parse_args()
    with server.database():
        from django.core.files.uploadedfile import SimpleUploadedFile
        from django.utils import timezone

        from annotation.services.campaigns import lifecycle
        from annotation.services.files import answer_files
        from benchmarks.services.benchmarks import create_blank
        from people.models import Cohort, Team, User
        from tests.personas import make_items

        actor = User.objects.create_user("a@example.org", "A")
        team = Team.objects.create(name="A", slug="a")
        stage = create_blank(team, "Load", "load", actor, question="Is it?").stages.get()
        make_items(stage, arguments.items)
        asked = {Cohort.objects.create(team=team, label=culture): arguments.raters for culture in CULTURES}
        campaign = lifecycle.create(stage, "Elsewhere", actor, asked)
        lifecycle.open_campaign(campaign, actor, timezone.now())
        data = ratings(arguments.items, arguments.raters, arguments.form)
        for again in ("", ", again"):
            upload = SimpleUploadedFile("ratings.csv", data)
            measure(f"{arguments.form}{again}", answer_files.start(campaign, actor, upload))


if __name__ == "__main__":
    main()
