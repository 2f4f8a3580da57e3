"""Plans by REST: several models under several conditions, looked at, started, paused and stopped together."""

from decimal import Decimal
from typing import Any

import pytest

from annotation.models import Campaign
from predictions.models import Endpoint, PlanSet, Run
from tests.api.clients import program
from tests.api.test_protocol import problem, send
from tests.module_world import built_once
from tests.personas import World
from tests.predictions.model_server import Server
from tests.predictions.plan_set_helpers import FIRST, SECOND, use_conditions
from tests.predictions.request_helpers import a_campaign, an_endpoint, drive_run
from tests.predictions.scripted_replies import BAD_REQUEST

B = "/api/v1/benchmarks/sea-and-river/"


@pytest.fixture
def endpoint(world: World, scripted_server: Server) -> Endpoint:
    return an_endpoint(world, scripted_server.base_url, {"*": {"request": "0.1"}})


@built_once
def opened(world: World) -> Campaign:
    return a_campaign(world, 4)


@pytest.fixture
def campaign(opened: Campaign, monkeypatch: Any) -> Campaign:
    use_conditions(monkeypatch)
    return opened


def plan(*rows: tuple[str, list[str]], **more: Any) -> dict[str, Any]:
    return {"models": [{"endpoint_name": "Scripted", "model": model, "conditions": keys} for model, keys in rows],
            "seed": 3, **more}  # fmt: skip


def test_models_and_conditions_are_looked_at_and_started_once(
    world: World, campaign: Campaign, endpoint: Endpoint, scripted_server: Server
) -> None:
    client = program(world.mara, "write")
    conditions = client.get(f"{B}model-conditions/").json()["conditions"]
    assert [(row["key"], row["ready"], row["campaign"]) for row in conditions] == [
        (FIRST, True, campaign.pk), (SECOND, True, campaign.pk)
    ]  # fmt: skip
    content = plan(("A", [FIRST, SECOND]), ("B", [FIRST]), budget="2")
    look = send(client, "POST", f"{B}plans:preview/", content).json()
    assert (look["new"], look["requests"]) == (3, 12), look
    assert [Decimal(look["dollars"][name]) for name in ("low", "high")] == [Decimal("1.2")] * 2
    assert not Run.objects.exists(), "a preview starts nothing"
    problem(send(client, "POST", f"{B}plans/", content), 400, "idempotency-key-required")
    replies = [send(client, "POST", f"{B}plans/", content, idempotency_key="p") for _attempt in range(2)]
    assert [reply.status_code for reply in replies] == [201, 201] and PlanSet.objects.count() == 1
    shown = client.get(replies[0]["Location"]).json()
    assert (shown["state"], Decimal(shown["budget"]), shown["seed"], len(shown["runs"])) == ("running", 2, 3, 3)
    assert client.get(f"{B}plans/").json()["results"] == [shown]
    problem(send(client, "POST", f"{B}plans/", content, idempotency_key="again"), 409, "conflict")
    for run in Run.objects.all():
        drive_run(run)
    cost = client.get(f"{replies[0]['Location']}cost/").json()
    assert (cost["state"], cost["answered"], cost["total"], Decimal(cost["dollars"])) == (
        "done",
        12,
        12,
        Decimal("1.2"),
    )
    later = send(client, "POST", f"{B}plans:preview/", plan(("A", [FIRST]), ("C", [FIRST]))).json()
    assert [bool(row["run"]) for row in later["runs"]] == [True, False] and later["existing"] == 1


def test_a_plan_is_paused_resumed_stopped_and_its_budget_raised(
    world: World, campaign: Campaign, endpoint: Endpoint
) -> None:
    client = program(world.mara, "write")
    url = send(client, "POST", f"{B}plans/", plan(("A", [FIRST]), budget="0.1"), idempotency_key="p")["Location"]
    assert send(client, "POST", f"{url}pause/").json()["state"] == "paused"
    problem(send(client, "POST", f"{url}pause/"), 422, "run-refused")
    tag = client.get(url)["ETag"]
    problem(send(client, "PATCH", url, {"budget": "1"}), 428, "precondition-required")
    problem(send(client, "PATCH", url, {"budget": "0.05"}, if_match=tag), 422, "run-refused")
    assert Decimal(send(client, "PATCH", url, {"budget": "1"}, if_match=tag).json()["budget"]) == 1
    problem(send(client, "PATCH", url, {"budget": "2"}, if_match=tag), 412, "stale")
    assert send(client, "POST", f"{url}resume/").json()["state"] == "running"
    assert send(client, "POST", f"{url}stop/").json()["state"] == "cancelled"
    assert Run.objects.get().state == "cancelled"


def test_what_failed_in_a_plan_is_asked_again(
    world: World, campaign: Campaign, endpoint: Endpoint, scripted_server: Server
) -> None:
    client = program(world.mara, "write")
    scripted_server.answer_by(lambda _received: BAD_REQUEST)
    url = send(client, "POST", f"{B}plans/", plan(("A", [FIRST])), idempotency_key="p")["Location"]
    assert drive_run(Run.objects.get()).state == "failed"
    problem(send(program(world.mara, "read"), "POST", f"{url}retry/"), 403, "insufficient-scope")
    for user in (world.reviewer, world.rival):
        problem(send(program(user, "admin"), "POST", f"{url}retry/"), 404, "not-found")
    scripted_server.answer_by(None)
    assert send(client, "POST", f"{url}retry/").json()["state"] == "running"
    assert drive_run(Run.objects.get()).state == "done"
    problem(send(client, "POST", f"{url}retry/"), 422, "run-refused")


def test_what_is_wrong_in_a_plan_is_named_by_row(world: World, campaign: Campaign, endpoint: Endpoint) -> None:
    client = program(world.mara, "write")
    wrong = [
        (plan(), "/models"),
        (plan(("A", ["third"])), "/models/0/conditions"),
        (plan(("A", [FIRST]), ("B", [])), "/models/1/conditions"),
        (plan(("A", [FIRST]), ("A", [FIRST])), "/models"),
        (plan(("A", [FIRST]), budget="-1"), "/budget"),
        (plan(("A", [FIRST]), seed=-1), "/seed"),
        (plan(("A", [FIRST]), asked_about="cohorts"), "/asked_about"),
        ({"models": [{"endpoint_name": "Other", "model": "A", "conditions": [FIRST]}]}, "/models/0/endpoint_name"),
        ({"models": [{"model": "A", "conditions": [FIRST]}]}, "/models/0/endpoint"),
    ]
    for content, pointer in wrong:
        reply = send(client, "POST", f"{B}plans:preview/", content)
        assert [error["pointer"] for error in problem(reply, 422, "refused")["errors"]] == [pointer], content
    unpriced = an_endpoint(world, "http://localhost:1/v1", {}, name="Without price")
    content = {"models": [{"endpoint": unpriced.pk, "model": "A", "conditions": [FIRST]}], "budget": "1"}
    [row] = send(client, "POST", f"{B}plans:preview/", content).json()["runs"]
    assert row["refused"] and row["to_ask"] is None
    problem(send(client, "POST", f"{B}plans/", content, idempotency_key="k"), 422, "refused")
    assert not PlanSet.objects.exists()


def test_only_those_who_work_on_the_benchmark_plan(world: World, campaign: Campaign, endpoint: Endpoint) -> None:
    content = plan(("A", [FIRST]))
    for user in (world.reviewer, world.team_admin, world.rival, world.stranger, world.nour):
        client = program(user, "admin", "export")
        for path in ("plans/", "model-conditions/"):
            problem(client.get(f"{B}{path}"), 404, "not-found")
        problem(send(client, "POST", f"{B}plans/", content, idempotency_key="k"), 404, "not-found")
        problem(send(client, "POST", f"{B}plans:preview/", content), 404, "not-found")
    assert problem(send(program(world.mara, "read"), "POST", f"{B}plans/", content), 403, "insufficient-scope")
    assert not PlanSet.objects.exists()
