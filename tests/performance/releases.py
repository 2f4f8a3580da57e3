"""What a large release costs: `python tests/performance/releases.py [--items 100000] [--answers 10]`.

100,000 items with a picture each (metadata only) and 1,000,000 annotations, built by a worker that is killed twice and
resumed. Prints the time, the progress at each kill, which files were written twice, and the most memory that a worker
held above what it had when it began. Ends with 1 if that is more than 300 MB, if a finished file was written again, or
if progress went back.
"""

import argparse
import os
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[0] = str(ROOT)

from tests.load import server  # noqa: E402

LIMIT = 300  # MB above rest
PICTURES = """
WITH made AS (
  INSERT INTO benchmarks_image (team_id, sha256, format, bytes, width, height, orientation, created_at)
  SELECT %s, encode(sha256(i.key::bytea), 'hex'), 'jpeg', 200000, 1024, 768, 1, now()
  FROM benchmarks_item i WHERE i.stage_id = %s RETURNING id, sha256
)
INSERT INTO benchmarks_itemimage (item_id, image_id, role, alt, source, licence, file_name)
SELECT i.id, made.id, 'image', '', 'A museum', 'CC-BY-4.0', 'Pictures/' || i.key || '.jpg'
FROM benchmarks_item i JOIN made ON made.sha256 = encode(sha256(i.key::bytea), 'hex') WHERE i.stage_id = %s
"""
ANSWERS = """
WITH given AS (
  INSERT INTO annotation_assignment (campaign_id, participation_id, slot_id, unit_id, rater_id, state, in_hand,
    reserved_at, shown_at, changed_at, skip_reason, skip_note)
  SELECT cc.campaign_id, p.id, s.id, s.unit_id, p.rater_id, 'submitted', false, now(), now(), now(), '', ''
  FROM annotation_slot s JOIN annotation_campaigncohort cc ON cc.id = s.cohort_id
    JOIN annotation_participation p ON p.cohort_id = cc.id
  WHERE cc.campaign_id = %s RETURNING id, campaign_id, rater_id, unit_id, changed_at
), answered AS (
  INSERT INTO annotation_annotation (assignment_id, rater_id, version, client_key, answers, sheet_version_id,
    rule_version, cohort_id, language, shown_at, submitted_at, active_seconds, confirmed, trace, live, counted,
    uncounted_because)
  SELECT given.id, rater_id, 1, given.id::text, jsonb_build_object('relevance', (1 + given.id %% 5)::text),
    c.sheet_version_id, '', cc.cohort_id, 'en', changed_at, changed_at, 7.5, '[]', '{}', true, true, ''
  FROM given JOIN annotation_campaign c ON c.id = given.campaign_id
    JOIN annotation_campaigncohort cc ON cc.campaign_id = c.id RETURNING id, assignment_id, rater_id, cohort_id
)
INSERT INTO annotation_rating (annotation_id, campaign_id, cohort_id, unit_id, rater_id, field, code, value, live,
  counted)
SELECT answered.id, given.campaign_id, answered.cohort_id, given.unit_id, given.rater_id, 'relevance',
  (1 + given.id %% 5)::text, 1 + given.id %% 5, true, true
FROM answered JOIN given ON given.id = answered.assignment_id
"""


def make(items: int, answers: int) -> Any:
    """A stage with its answers; returns the campaign."""
    from django.db import connection

    from annotation.models import Participation
    from benchmarks.models import Item
    from people.models import Rater
    from tests.annotation.queue import factories

    stage = factories.a_stage(0)
    team = stage.benchmark.team
    Item.objects.bulk_create(
        (Item(stage=stage, key=f"item-{n:06}", concept=f"concept {n % 40}") for n in range(items)), batch_size=10_000
    )
    with connection.cursor() as sql:
        sql.execute(PICTURES, [team.pk, stage.pk, stage.pk])
        sql.execute("UPDATE benchmarks_benchmark SET licence = 'CC-BY-4.0'")
    cohort = factories.a_cohort(team, "Everybody")
    campaign = factories.lifecycle.create(stage, "Round", None, {cohort: answers}, seed=1)
    now = factories.timezone.now()
    factories.lifecycle.open_campaign(campaign, None, now)
    raters = [Rater.objects.create(kind="person", team=team, name=f"Person {n}") for n in range(answers)]
    row = campaign.cohorts.get()
    Participation.objects.bulk_create(Participation(cohort=row, rater=rater, last_seen_at=now) for rater in raters)
    with connection.cursor() as sql:
        sql.execute(ANSWERS, [campaign.pk])
        sql.execute("VACUUM ANALYZE")
    return campaign


def memory(pid: int | str, name: str) -> float:
    """Of a process in MB; `name` as in /proc."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) / 1024
    return 0.0


def work(job: int) -> None:
    """A worker: says what it holds at rest, then runs the job."""
    import django

    django.setup()
    from jobs.services import runner

    print(memory("self", "VmRSS"), flush=True)
    runner.run(job)


def run_worker(job: Any, kill_at: float | None) -> tuple[float, list[int]]:
    """The most memory above rest, and all progress. `kill_at`: the share of the job at which it is killed."""
    from jobs.models import Job

    Job.objects.filter(pk=job.pk, state__in=("queued", "running")).update(state="queued", lease_until=None)
    command = [sys.executable, __file__, "--worker", str(job.pk)]
    child = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert child.stdout
    rest, most, progress_values = float(child.stdout.readline()), 0.0, []
    while child.poll() is None:
        time.sleep(0.2)
        job.refresh_from_db()
        progress_values.append(job.done)
        try:
            most = max(most, memory(child.pid, "VmHWM") - rest)
        except (FileNotFoundError, ProcessLookupError):
            break
        if kill_at is not None and job.total and job.done > kill_at * job.total:
            child.kill()
    child.wait()
    print(
        f"  worker: rest {rest:.0f} MB, {most:.0f} MB above it, {progress_values[-1]:,} of {job.total or 0:,}",
        flush=True,
    )
    return most, progress_values


def measure(items: int, answers: int, formats: tuple[str, ...]) -> int:
    from releases.models import Release, ReleaseFile, ReleaseSelection
    from releases.services import releases as services
    from tests.annotation.queue import factories

    campaign = make(items, answers)
    selection = ReleaseSelection((campaign.stage_id,), (campaign.pk,), formats, pictures="names")
    actor = factories.a_person().user
    benchmark = campaign.stage.benchmark
    release = services.create(benchmark, actor, version="1.0.0", notes="", selection=selection)
    release.refresh_from_db()
    job, began, most, progress_values, committed = (
        release.job,
        time.perf_counter(),
        0.0,
        list[int](),
        list[dict[str, int]](),
    )
    for kill_at in (0.3, 0.6, None):
        above, progress = run_worker(job, kill_at)
        most, progress_values = max(most, above), progress_values + progress
        committed.append(dict(ReleaseFile.objects.values_list("path", "pk")))
        print(f"  files committed: {len(committed[-1])}", flush=True)
    again = [path for path, pk in committed[0].items() if committed[-1].get(path) != pk]
    again += [path for path, pk in committed[1].items() if committed[-1].get(path) != pk]
    back = sum(1 for before, now in pairwise(progress_values) if now < before)
    state = Release.objects.get(pk=release.pk).state
    size = sum(ReleaseFile.objects.values_list("bytes", flat=True)) / 1e6
    print(f"{items:,} items, {items * answers:,} annotations, {', '.join(formats)}: {state}, "
          f"{time.perf_counter() - began:.0f} s, {size:.0f} MB of files, {most:.0f} MB above rest, "
          f"{len(set(progress_values))} different values of progress, back {back} times, "
          f"written again: {again or 'none'}, load {os.getloadavg()[0]:.0f}", flush=True)  # fmt: skip
    # A kill loses the progress inside the unfinished file, which is at most once for each kill.
    return int(most > LIMIT or bool(again) or state != "ready" or back > 2)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--items", type=int, default=100_000)
    options.add_argument("--answers", type=int, default=10)
    options.add_argument("--formats", default="csv,jsonl,parquet")
    options.add_argument("--worker", type=int)
    arguments = options.parse_args()
    if arguments.worker:
        work(arguments.worker)
        return 0
    with server.database():
        return measure(arguments.items, arguments.answers, tuple(arguments.formats.split(",")))


if __name__ == "__main__":
    sys.exit(main())
