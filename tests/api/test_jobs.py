"""Jobs by REST: visible by those who see their page, awaited, stopped and resumed, with the report of each row."""

import threading
import time
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from api.views import jobs as views
from jobs.models import Job, JobRow
from people.services import tokens
from tests.api.clients import pages, program
from tests.api.test_protocol import problem, send
from tests.personas import World

API = "/api/v1/jobs/"


def make_job(world: World, **values: Any) -> Job:
    scope = values.pop("scope", world.benchmark.scope)
    if values.get("state") not in ("queued", "running", None):
        values.setdefault("finished_at", timezone.now())
    return Job.objects.create(kind="import_items", title="Import of a.csv", scope=scope, **values)


@pytest.fixture
def job(world: World) -> Job:
    job = make_job(world, state="done", done=3, total=3, result={"counts": {"created": 2, "error": 1}})
    for number, outcome in ((2, "created"), (3, "error"), (4, "created")):
        JobRow.objects.create(job=job, number=number, name=f"r{number}", outcome=outcome, message="Why.")
    return job


def test_a_job_says_how_far_it_is_and_what_became_of_each_row(world: World, job: Job) -> None:
    client = program(world.mara, "read")
    data = client.get(f"{API}{job.pk}/").json()
    assert (data["state"], data["done"], data["total"], data["benchmark"]) == ("done", 3, 3, "sea-and-river")
    assert data["counts"] == {"created": 2, "error": 1} and data["page"] == f"/jobs/{job.pk}/"
    assert [row["number"] for row in client.get(f"{API}{job.pk}/rows/?outcome=error").json()["results"]] == [3]
    rows = [row for page in pages(client, f"{API}{job.pk}/rows/?page_size=2") for row in page["results"]]
    assert [row["number"] for row in rows] == [2, 3, 4] and rows[0]["message"] == "Why."


def test_the_list_has_the_jobs_of_ones_own_benchmarks_and_teams(world: World, job: Job) -> None:
    team_job = make_job(world, scope=f"team:{world.team.pk}")
    make_job(world, scope=world.other_benchmark.scope)
    client = program(world.mara, "read")
    assert [row["id"] for row in client.get(API).json()["results"]] == [job.pk, team_job.pk]
    assert [row["id"] for row in client.get(f"{API}?state=queued").json()["results"]] == [team_job.pk]
    assert [row["id"] for row in client.get(f"{API}?benchmark=sea-and-river").json()["results"]] == [job.pk]
    assert client.get(f"{API}?benchmark={world.other_benchmark.slug}").json()["results"] == []
    assert problem(client.get(f"{API}?state=odd"), 400, "invalid-request")["parameter"] == "state"
    assert program(world.stranger).get(API).json()["results"] == []


def test_who_does_not_see_the_page_sees_no_job(world: World, job: Job) -> None:
    for user in (world.stranger, world.rival, world.nour):
        for rest in ("", "rows/"):
            problem(program(user).get(f"{API}{job.pk}/{rest}"), 404, "not-found")
        for rest in ("cancel/", "resume/"):
            problem(send(program(user, "write"), "POST", f"{API}{job.pk}/{rest}"), 404, "not-found")
    problem(send(program(world.reviewer, "write"), "POST", f"{API}{job.pk}/cancel/"), 404, "not-found")
    problem(send(program(world.mara, "read"), "POST", f"{API}{job.pk}/cancel/"), 403, "insufficient-scope")


def test_a_token_for_chosen_benchmarks_sees_their_jobs_alone(world: World, job: Job) -> None:
    from django.test import Client

    make_job(world, scope=f"team:{world.team.pk}")
    for chosen, visible in ((world.benchmark.pk, [job.pk]), (world.other_benchmark.pk, [])):
        _token, text = tokens.create_token(world.mara, "x", timezone.now(), scopes=["write"], benchmark_ids=[chosen])
        client = Client(headers={"authorization": f"Bearer {text}"})
        assert [row["id"] for row in client.get(API).json()["results"]] == visible
        assert client.get(f"{API}{job.pk}/").status_code == (200 if visible else 404)
        assert send(client, "POST", f"{API}{job.pk}/cancel/").status_code == (200 if visible else 404)


def test_a_job_is_stopped_and_resumed_as_on_its_page(world: World) -> None:
    job = make_job(world, state="queued")
    client = program(world.mara, "write")
    assert send(client, "POST", f"{API}{job.pk}/cancel/").json()["state"] == "cancelled"
    assert send(client, "POST", f"{API}{job.pk}/resume/").json()["state"] == "queued"
    problem(send(client, "POST", f"{API}{job.pk}/resume/"), 409, "conflict")


def test_a_wait_ends_when_its_time_is_over_or_there_is_no_room(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    job = make_job(world, state="queued")
    client = program(world.mara, "read")
    problem(client.get(f"{API}{job.pk}/?wait=31"), 400, "invalid-request")
    problem(client.get(f"{API}{job.pk}/?wait=soon"), 400, "invalid-request")
    began = time.monotonic()
    assert client.get(f"{API}{job.pk}/?wait=1").json()["state"] == "queued"
    assert time.monotonic() - began >= 1
    monkeypatch.setattr(views, "WAITING", threading.BoundedSemaphore(1))
    with views.WAITING:
        assert client.get(f"{API}{job.pk}/?wait=30").json()["state"] == "queued", "answered at once"
    Job.objects.filter(pk=job.pk).update(state="failed", finished_at=timezone.now(), error="Disk full.")
    assert client.get(f"{API}{job.pk}/?wait=30").json()["error"] == "Disk full."


@pytest.mark.django_db(transaction=True)
def test_a_wait_ends_with_the_job_and_holds_no_connection(world: World) -> None:
    job = make_job(world, state="running")
    visible: list[str] = []

    def wait() -> None:
        mine = Job.objects.get(pk=job.pk)
        views.await_end(mine, 30)
        visible.append(mine.state)
        connection.close()

    waiter = threading.Thread(target=wait)
    waiter.start()
    Job.objects.filter(pk=job.pk).update(state="done", finished_at=timezone.now())
    waiter.join(20)
    assert visible == ["done"]
