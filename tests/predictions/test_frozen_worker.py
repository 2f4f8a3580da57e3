"""A run whose worker hangs is not called running: its page says since when nothing goes on, and recovers by itself."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone
from django.utils.formats import date_format

from jobs.models import Job
from jobs.services import job_context, runner
from predictions.models import Call, Run
from predictions.queries.progress import progress_of
from predictions.services.runs.engine import retries
from tests.personas import World
from tests.predictions.model_server import Server
from tests.predictions.request_helpers import (
    Plainly,
    a_campaign,
    a_plan,
    an_endpoint,
    drive_run,
    start_run,
    states,
    use,
)
from tests.predictions.test_run_ends import load_run_page

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(world: World, scripted_server: Server, monkeypatch: Any) -> Run:
    prompt = Plainly()
    use(monkeypatch, prompt)
    monkeypatch.setattr(retries, "BACKOFF", 0.02)
    return start_run(world, a_plan(a_campaign(world, 3), an_endpoint(world, scripted_server.base_url), prompt))


def claim_job(run: Run, sign_of_life: datetime) -> None:
    """A worker took the job, and renewed its lease at that moment for the last time."""
    job = Job.objects.filter(pk=run.job_id)
    job.update(state="running", attempts=1, started_at=sign_of_life, lease_until=sign_of_life + job_context.LEASE)


def load_run_list(world: World) -> str:
    return world.client(world.mara).get(f"/b/{world.benchmark.slug}/predictions/").content.decode()


def test_a_worker_that_gives_signs_of_life_runs(world: World, run: Run) -> None:
    claim_job(run, timezone.now() - timedelta(seconds=20))
    page = load_run_page(world, run)
    assert "Running</span>" in page and "The run is in progress" in page and "Running</span>" in load_run_list(world)


def test_a_frozen_worker_is_named_with_the_time_of_its_last_sign(world: World, run: Run) -> None:
    since = timezone.now() - timedelta(seconds=58)
    claim_job(run, since)
    page = load_run_page(world, run)
    at = date_format(timezone.localtime(since), "TIME_FORMAT")
    assert f"No progress since {at}: the worker does not respond" in page
    assert (
        "Running</span>" not in page
        and "The run is in progress" not in page
        and "Waiting</span>" in load_run_list(world)
    )
    assert "hx-get" in page, "it goes on asking, so that it recovers without a hand"


def test_one_that_was_frozen_over_the_lease_waits_for_a_worker(world: World, run: Run) -> None:
    long_ago = timezone.now() - timedelta(minutes=4)
    claim_job(run, long_ago)
    Run.objects.filter(pk=run.pk).update(started_at=long_ago)
    Job.objects.filter(pk=run.job_id).update(created_at=long_ago)
    runner.requeue_stalled(timezone.now())
    page = load_run_page(world, run)
    assert "no worker is free" in page and "Running</span>" not in page
    assert drive_run(run).state == "done" and states(run) == {"answered": 3}
    assert "3 of 3 calls answered" in load_run_page(world, run)


def test_a_run_that_was_just_started_waits_for_nobody(world: World, run: Run) -> None:
    assert progress_of(run).silence == "" and "The run is in progress" in load_run_page(world, run)


def test_a_server_that_asked_to_wait_is_not_a_frozen_worker(world: World, run: Run) -> None:
    ago, later = timezone.now() - timedelta(minutes=2), timezone.now() + timedelta(minutes=3)
    Run.objects.filter(pk=run.pk).update(started_at=ago)
    Job.objects.filter(pk=run.job_id).update(created_at=ago, started_at=ago, lease_until=later, given_back=1)
    Call.objects.filter(run=run).update(not_before=later)
    at = date_format(timezone.localtime(later), "TIME_FORMAT")
    assert f"The server asked us to wait. The run goes on at {at}." in load_run_page(world, run)


def test_the_live_part_changes_when_the_worker_freezes(world: World, run: Run) -> None:
    claim_job(run, timezone.now())
    client = world.client(world.mara)
    base = f"/b/{world.benchmark.slug}/predictions/run/{run.pk}/"
    address = client.get(base).content.decode().split('hx-get="')[1].split('"')[0].replace("&amp;", "&")
    assert client.get(address).status_code == 204
    claim_job(run, timezone.now() - timedelta(seconds=58))
    assert "the worker does not respond" in client.get(address).content.decode()
