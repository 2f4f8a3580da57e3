"""The status page: for site admins alone; each problem says what to do."""

import io
import re
import zipfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from annotation.models import Assignment
from annotation.services.queue.next_work import get_or_claim_work
from evaluation.queries import status as module
from jobs.connections.broker import WORKER_KEY
from jobs.models import Job
from jobs.services import job_context, kinds, runner
from people.models import OutMail
from people.services.raters import rater_of
from tests.evaluation.data import an_open_campaign
from tests.personas import World


class FakeBroker:
    """What a Valkey would answer."""

    def __init__(self, waiting: int = 0) -> None:
        self.waiting = waiting
        self.kept: dict[str, bytes] = {}

    def info(self, section: str) -> dict[str, str]:
        return {"server_name": "valkey", "valkey_version": "8.1.0", "redis_version": "7.2.4"}

    def llen(self, key: str) -> int:
        return self.waiting

    def get(self, key: str) -> bytes | None:
        return self.kept.get(key)

    def set(self, key: str, value: str, ex: int) -> None:
        self.kept[key] = value.encode()


@pytest.fixture
def broker(monkeypatch: pytest.MonkeyPatch) -> FakeBroker:
    fake = FakeBroker()
    monkeypatch.setattr(module, "broker", lambda do: do(fake))
    monkeypatch.setattr(module, "STARTED", timezone.now() - timedelta(days=1))
    return fake


def page(world: World) -> str:
    reply = world.client(world.site_admin).get("/status/")
    assert reply.status_code == 200
    return reply.content.decode()


def test_all_is_well(world: World, broker: FakeBroker) -> None:
    module.record_heartbeat(timezone.now())
    broker.kept[WORKER_KEY] = timezone.now().isoformat().encode()
    text = page(world)
    assert "No problems" in text
    for words in ("Emic", "Django", "PostgreSQL", "Valkey", "8.1.0", "Data folder", "Jobs: Waiting"):
        assert words in text


def test_only_site_admins_find_it(world: World, broker: FakeBroker) -> None:
    for user in (world.team_admin, world.owner, world.mara, world.nour, world.stranger):
        assert world.client(user).get("/status/").status_code == 404, user
    assert world.client().get("/status/").status_code == 302
    assert world.client(world.site_admin).post("/status/").status_code == 405


def test_a_silent_broker_and_a_late_beat_are_problems(world: World, broker: FakeBroker, monkeypatch: Any) -> None:
    module.record_heartbeat(timezone.now() - timedelta(minutes=20))
    assert "The scheduler has not responded" in page(world)
    monkeypatch.setattr(module, "broker", lambda do: None)
    text = page(world)
    assert "The broker is not responding" in text
    assert "CELERY_BROKER_URL" in text


def test_right_after_a_start_the_beat_is_only_not_there_yet(
    world: World, broker: FakeBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "The scheduler has not responded" in page(world)
    monkeypatch.setattr(module, "STARTED", timezone.now())
    for last in (None, timezone.now() - timedelta(hours=9)):  # never, and before the site was stopped
        if last:
            module.record_heartbeat(last)
        text = page(world)
        assert "not yet since the start" in text
        assert "The scheduler has not responded" not in text


def test_site_admins_find_it_in_the_tabs_and_the_tables_from_there(world: World, broker: FakeBroker) -> None:
    client = world.client(world.site_admin)
    tab = '<a href="/status/">Status</a>'
    assert tab in client.get("/benchmarks/").content.decode()
    for user in (world.team_admin, world.nour):
        assert "/status/" not in world.client(user).get("/me").content.decode()
    text = page(world)
    assert '<a href="/status/" aria-current="page">Status</a>' in text
    assert '<a href="/benchmarks/">Benchmarks</a>' in text
    assert 'href="/admin/"' in text
    tables = client.get("/admin/").content.decode()
    for name in ("campaign", "annotation", "assignment"):
        assert f'href="/admin/annotation/{name}/"' in tables
        assert client.get(f"/admin/annotation/{name}/").status_code == 200
    assert world.client(world.team_admin).get("/admin/").status_code == 302


def test_a_full_queue_is_a_problem(world: World, broker: FakeBroker) -> None:
    broker.waiting = module.MANY_WAITING + 1
    assert "Many messages wait" in page(world)


def test_failed_and_stalled_jobs_are_named(world: World, broker: FakeBroker) -> None:
    now = timezone.now()
    Job.objects.create(
        kind="k", title="Import of stamps", scope=world.benchmark.scope, state="failed", error="Disk full",
        finished_at=now,
    )  # fmt: skip
    Job.objects.create(
        kind="k", title="Stuck", scope=world.benchmark.scope, state="running", lease_until=now - timedelta(hours=1)
    )
    text = page(world)
    assert "1 job failed in the last seven days." in text
    assert "Import of stamps" in text
    assert "Disk full" in text
    assert "1 job has stopped." in text


def test_all_failed_jobs_are_counted_though_twenty_are_shown(world: World, broker: FakeBroker) -> None:
    at, scope = timezone.now(), world.benchmark.scope
    for number in range(23):
        Job.objects.create(kind="k", title=f"Job {number}", scope=scope, state="failed", finished_at=at)
    text = page(world)
    assert "23 jobs failed in the last seven days. The latest 20 are shown." in text


def test_the_size_of_a_folder_of_too_many_files_is_no_exact_number(
    world: World, broker: FakeBroker, monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path
) -> None:
    settings.DATA_DIR = tmp_path
    for number in range(3):
        (tmp_path / f"{number}").write_bytes(bytes(2048))
    assert f"{tmp_path} (6 KiB)" in page(world)
    monkeypatch.setattr(module, "MOST_FILES", 2)
    assert f"{tmp_path} (more than 4 KiB)" in page(world)


def test_a_file_that_was_refused_is_no_failure_of_the_site(world: World, broker: FakeBroker) -> None:
    """Through the import page, with a column that is spelled wrongly."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as written:
        written.writestr("manifest.csv", "fiel,kex\na.png,b\n")
    file = SimpleUploadedFile("items.zip", archive.getvalue())
    world.client(world.owner).post("/b/sea-and-river/import/", {"stage": world.stage.pk, "archive": file})
    job = Job.objects.get()
    runner.run(job.pk)
    job.refresh_from_db()
    assert job.state == "failed" and job.error
    text = page(world)
    assert "failed in the last seven days" not in text
    assert job.title not in text


def test_a_full_disk_is_a_failure_of_the_site(world: World, broker: FakeBroker) -> None:
    def full(work: job_context.JobContext) -> None:
        raise job_context.SiteFailure("The disk is full.")

    job = Job.objects.create(kind="k", title="Stamps", scope=world.benchmark.scope)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runner.kinds, "find_kind", lambda key: kinds.JobKind("k", full))
        runner.run(job.pk)
    assert "1 job failed in the last seven days." in page(world)


def test_places_over_their_time_are_named(world: World, broker: FakeBroker) -> None:
    world.add_items(2)
    campaign = an_open_campaign(world)
    get_or_claim_work(rater_of(world.nour), campaign.cohorts.get(cohort=world.egypt), timezone.now())
    assert "Reservations have expired" not in page(world)
    Assignment.objects.update(lease_until=timezone.now() - timedelta(hours=1))
    assert "Reservations have expired" in page(world)


def test_a_full_disk_is_a_problem_of_its_own(world: World, broker: FakeBroker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "NO_SPACE", 10**18)
    text = page(world)
    assert "The disk of the data folder is full" in text
    assert "Less than 2 GiB" not in text


def test_little_space_is_a_problem(world: World, broker: FakeBroker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LITTLE_SPACE", 10**18)
    assert "EMIC_DATA" in page(world)


def chips(text: str) -> dict[str, tuple[bool, str]]:
    """What the page says first: of each part whether it is well, and the words beside it."""
    parts = re.findall(r'<span class="chip (\w+)">([^<]+)</span> <span><bdi>([^<]+)</bdi>', text)
    return {name: (chip == "ok", words) for chip, name, words in parts}


def test_nothing_is_called_well_first_and_a_problem_below(
    world: World, broker: FakeBroker, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    now = timezone.now()
    times = {"at": now, "next_at": now, "changed_at": now}
    letter = OutMail.objects.create(to="amina@example.org", kind="test", message_id="<1@emic>", **times)
    monkeypatch.setattr(module, "LITTLE_SPACE", 0)
    monkeypatch.setattr(module, "NO_SPACE", 0)
    well = chips(page(world))
    assert well["Mail"] == (True, "is sent") and well["Free space"][0]
    OutMail.objects.filter(pk=letter.pk).update(at=now - timedelta(hours=1))
    monkeypatch.setattr(module, "LITTLE_SPACE", 10**18)
    text = page(world)
    assert "Mail has been waiting" in text and "Less than 2 GiB" in text
    assert chips(text)["Mail"] == (False, "waits") and not chips(text)["Free space"][0]
