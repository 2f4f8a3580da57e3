"""Workers and the database are killed while pairs are built; every request is asked once, but for those in flight."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import InterfaceError, OperationalError, connection

from config.local.database import Database
from config.local.servers import Postgres
from jobs.models import Job
from jobs.services import runner
from papers.valueground.builder.models import Build, BuildStep
from predictions.models import Attempt
from tests.killed_workers import finish_despite_kills, start_worker
from tests.operations.servers import database_url, kill_database
from tests.papers.valueground.builder.build_moments import MOMENTS, calling_at
from tests.papers.valueground.builder.build_script import CONTRAST, verdict
from tests.papers.valueground.builder.builder_scene import BuilderScene
from tests.personas import World, make_world
from tests.predictions.model_server import Server
from tests.servers import THROWAWAY
from tests.start.helpers import eventually


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_twenty_builds_survive_ten_kills_without_asking_twice(world: World, scripted_server: Server) -> None:
    scene = BuilderScene(world, scripted_server, questions=20)
    scene.answer(critic=[verdict("revise_edits", b=CONTRAST), verdict()])
    plan = scene.plan(base_seed=5)
    assert plan.job_id is not None
    finish_despite_kills(
        plan.job_id,
        kills=10,
        requests=lambda: scene.server.counts()["total"],
        gap=(5, 30),
        prepare=lambda: Build.objects.update(not_before=None),
    )
    assert set(Build.objects.values_list("state", flat=True)) == {"accepted"}
    scene.check_costs()
    lost = Attempt.objects.filter(outcome="lost").count()
    requests = [json.dumps([asked.path, asked.body], sort_keys=True) for asked in scene.server.asked]
    assert len(requests) - len(set(requests)) <= lost <= 10 * 16
    assert sum(build.unaccounted for build in Build.objects.all()) > 0
    assert BuildStep.objects.exclude(state="done").count() == 0 and len(scene.items()) == 20


def drop_connection() -> None:
    """The server ends this process's connection, as it does when it is killed; who asks next is told so."""
    pid = connection.connection.info.backend_pid
    other = connection.copy()
    with other.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s)", [pid])
    other.close()


@pytest.mark.django_db(transaction=True)
def test_a_connection_lost_in_any_state_fails_no_build_and_asks_nothing_twice(
    world: World, scripted_server: Server
) -> None:
    scene = BuilderScene(world, scripted_server)
    scene.answer(critic=[*[verdict("revise_edits", b=CONTRAST)] * 2, verdict()])  # the first verdict is lost
    plan = scene.plan()
    assert plan.job_id is not None
    for moment in MOMENTS:
        Job.objects.filter(pk=plan.job_id).update(state="queued", lease_until=None)
        with calling_at(moment, drop_connection), pytest.raises((OperationalError, InterfaceError)):
            runner.run(plan.job_id)
        connection.close()
        build = Build.objects.get()
        assert build.state not in ("failed", "stopped") and not build.reason, moment
    Job.objects.filter(pk=plan.job_id).update(state="queued", lease_until=None)
    scene.work(plan)
    check_nothing_is_lost(scene)


@pytest.fixture
def own_database(transactional_db: None, tmp_path: Path) -> Iterator[Postgres]:
    """A server for this test alone, with a copy of the test's database; a killed one keeps what it has committed."""
    server = Postgres(tmp_path / "server", options={**THROWAWAY, "synchronous_commit": "on"})
    server.start()
    Database(database_url()).dump(tmp_path / "dump")
    Database(server.url).load(tmp_path / "dump")
    connection.close()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DATABASE_URL", server.url)
        patch.setitem(connection.settings_dict, "HOST", str(server.sockets))
        patch.setitem(connection.settings_dict, "NAME", server.database)
        yield server
        connection.close()
    server.stop()


@pytest.mark.slow
@pytest.mark.parametrize("worker_dies", [True, False], ids=["with its worker", "alone"])
def test_the_database_is_killed_in_every_state(
    own_database: Postgres, scripted_server: Server, tmp_path: Path, worker_dies: bool
) -> None:
    scene = BuilderScene(make_world(), scripted_server)
    scene.answer(critic=[*[verdict("revise_edits", b=CONTRAST)] * 2, verdict()])  # the first verdict is lost
    plan = scene.plan()
    assert plan.job_id is not None
    for number, moment in enumerate(MOMENTS):
        folder = tmp_path / str(number)
        folder.mkdir()
        Job.objects.filter(pk=plan.job_id).update(state="queued", lease_until=None)
        worker = start_worker(plan.job_id, WAITING.format(moment=moment, folder=str(folder)))
        assert eventually((folder / "reached").exists), moment
        if worker_dies:
            worker.kill()
        kill_database(own_database)
        own_database.start()
        connection.close()
        (folder / "go-on").touch()
        assert worker.wait(60) != 0, "a worker without its database ends with an error"
        build = Build.objects.get()
        assert build.state not in ("failed", "stopped") and not build.reason, moment
    Job.objects.filter(pk=plan.job_id).update(state="queued", lease_until=None)
    scene.work(plan)
    check_nothing_is_lost(scene)


WAITING = """
from pathlib import Path
from tests.papers.valueground.builder.build_moments import calling_at, wait_in
waiting = calling_at({moment!r}, lambda: wait_in(Path({folder!r})))
waiting.__enter__()
"""


def check_nothing_is_lost(scene: BuilderScene) -> None:
    """One build is accepted and published. Lost are only the replies that were there and not stored: of these each was
    asked once more, and may have been charged."""
    build = Build.objects.get()
    assert (build.state, build.edit_round) == ("accepted", 1) and len(scene.items()) == 1
    scene.check_costs()
    lost = Attempt.objects.filter(outcome="lost").count()
    replied = sum(doing == "replied" for _state, doing in MOMENTS)
    assert replied <= lost <= replied + 2, "twice an edit of the other side may be on its way, too"
    assert scene.repeats() <= lost and build.unaccounted > 0
    assert BuildStep.objects.exclude(state="done").count() == 0
