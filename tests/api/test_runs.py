"""Runs of models by REST: planned without a request, created, started, paused, and their calls read."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from predictions.models import Call, Run
from tests.api.clients import program
from tests.api.test_protocol import problem, send
from tests.personas import World
from tests.predictions.request_helpers import Plainly, a_campaign, an_endpoint, drive_run, use

RUNS = "/api/v1/benchmarks/sea-and-river/runs"
PRICES = {"scripted": {"in": "1", "out": "2"}}


@pytest.fixture
def content(world: World, monkeypatch: pytest.MonkeyPatch, scripted_server: Any) -> dict[str, Any]:
    """What plans a run of three items; the scripted server answers."""
    use(monkeypatch, Plainly())
    endpoint = an_endpoint(world, scripted_server.base_url, PRICES)
    return {"campaign": a_campaign(world).pk, "endpoint": endpoint.pk, "prompt": "plainly",
            "budget": "1.00", "asked_about": "cohorts"}  # fmt: skip


def test_a_plan_says_what_is_sent_and_what_it_costs_and_sends_nothing(
    world: World, content: dict[str, Any], scripted_server: Any
) -> None:
    reply = send(program(world.mara, "write"), "POST", f"{RUNS}:plan/", content)
    plan = reply.json()
    assert (reply.status_code, plan["units"], plan["to_ask"], plan["model"]) == (200, 3, 3, "scripted"), plan
    assert 0 < Decimal(plan["dollars"]["low"]) <= Decimal(plan["dollars"]["high"])
    assert plan["item"] in str(plan["requests"][0])
    assert not Run.objects.exists() and scripted_server.counts()["total"] == 0


def test_a_run_is_created_started_and_read(world: World, content: dict[str, Any], scripted_server: Any) -> None:
    client = program(world.mara, "write", "export")
    created = [send(client, "POST", f"{RUNS}/", content, idempotency_key="r1") for _attempt in range(2)]
    assert [reply.status_code for reply in created] == [201, 201] and Run.objects.count() == 1
    run, url = Run.objects.get(), created[0]["Location"]
    assert (run.state, run.job, created[0].json()["state"]) == ("draft", None, "draft")
    problem(send(client, "POST", f"{url}start/"), 400, "idempotency-key-required")
    started = [send(client, "POST", f"{url}start/", idempotency_key="s1") for _attempt in range(2)]
    assert [reply.json()["state"] for reply in started] == ["running", "running"]
    drive_run(run)
    assert scripted_server.counts()["total"] == 3
    cost = client.get(f"{url}cost/").json()
    assert (cost["ended"], cost["by_state"]) == (3, {"answered": 3}) and Decimal(cost["dollars"]) > 0
    calls = client.get(f"{url}calls/?page_size=2").json()
    rest = client.get(calls["next"]).json()
    assert [call["id"] for call in calls["results"] + rest["results"]] == sorted(Call.objects.values_list("pk", flat=1))
    assert {call["answers"]["relevance"] for call in calls["results"]} == {"3"}
    assert client.get(url).json()["state"] == "done"
    assert send(client, "POST", f"{url}withdraw/").json()["withdrawn_at"]
    assert send(client, "POST", f"{url}restore/").json()["withdrawn_at"] is None


def test_a_stage_and_the_name_of_an_endpoint_say_the_same(world: World, content: dict[str, Any]) -> None:
    client, plan = program(world.mara, "write"), f"{RUNS}:plan/"
    numbers = send(client, "POST", plan, content).json()
    named = {name: value for name, value in content.items() if name not in ("campaign", "endpoint")}
    for words in ("Scripted", "scripted"):
        reply = send(client, "POST", plan, {**named, "stage": "relevance", "endpoint_name": words})
        assert reply.json() == numbers, reply.content
    for change, pointer in (({"stage": "colour"}, "/stage"), ({"endpoint_name": "Script"}, "/endpoint_name")):
        reply = send(client, "POST", plan, {**named, "stage": "relevance", "endpoint_name": "Scripted", **change})
        assert [error["pointer"] for error in problem(reply, 422, "refused")["errors"]] == [pointer]
    an_endpoint(world, "http://localhost:1/v1", name="Scripted painter")
    an_endpoint(world, "http://localhost:1/v1", name="Painter of scripts")
    an_endpoint(world, "http://localhost:1/v1", name="Painter of shapes")
    reply = send(client, "POST", plan, {**named, "stage": "relevance", "endpoint_name": "Scripted"})
    assert reply.json() == numbers, "a whole name wins over names that begin with it"
    reply = send(client, "POST", plan, {**named, "stage": "relevance", "endpoint_name": "painter"})
    several = "Several endpoints begin so: Painter of scripts, Painter of shapes. Write the whole name."
    assert problem(reply, 422, "refused")["detail"] == several
    foreign = an_endpoint(replace(world, team=world.other_team), "http://localhost:1/v1", name="Secret")
    reply = send(client, "POST", plan, {**named, "stage": "relevance", "endpoint_name": foreign.name})
    assert "Secret" not in problem(reply, 422, "refused")["detail"]
    lacking = problem(send(client, "POST", plan, named), 422, "refused")["errors"]
    assert [error["pointer"] for error in lacking] == ["/campaign", "/endpoint"]


def test_what_cannot_be_done_now_is_refused(world: World, content: dict[str, Any]) -> None:
    client = program(world.mara, "write")
    url = send(client, "POST", f"{RUNS}/", content, idempotency_key="r1")["Location"]
    problem(send(client, "POST", f"{url}pause/"), 422, "run-refused")
    send(client, "POST", f"{url}start/", idempotency_key="s1")
    assert send(client, "POST", f"{url}pause/").json()["state"] == "paused"
    assert send(client, "POST", f"{url}resume/").json()["state"] == "running"
    assert send(client, "POST", f"{url}stop/").json()["state"] == "cancelled"


@pytest.mark.parametrize(
    ("change", "pointer"),
    [({"temperature": 9}, "/temperature"), ({"endpoint": 10**9}, "/endpoint"), ({"ways": ["guess"]}, "/ways")],
)
def test_the_rules_of_the_form_hold(world: World, content: dict[str, Any], change: Any, pointer: str) -> None:
    reply = send(program(world.mara, "write"), "POST", f"{RUNS}:plan/", {**content, **change})
    assert [error["pointer"] for error in problem(reply, 422, "refused")["errors"]] == [pointer]


def test_runs_are_for_those_who_work_on_the_benchmark(world: World, content: dict[str, Any]) -> None:
    url = send(program(world.mara, "write"), "POST", f"{RUNS}/", content, idempotency_key="r1")["Location"]
    for user in (world.reviewer, world.rival, world.stranger, world.manager):
        for path in (f"{RUNS}/", url, f"{url}cost/", f"{url}calls/"):
            problem(program(user, "admin", "export").get(path), 404, "not-found")
        problem(send(program(user, "admin"), "POST", f"{url}start/", idempotency_key="s"), 404, "not-found")
    problem(program(world.mara, "write").get(f"{url}calls/"), 403, "insufficient-scope")
    foreign = url.replace("sea-and-river", "fjord-songs")
    problem(program(world.rival, "write").get(foreign), 404, "not-found")
