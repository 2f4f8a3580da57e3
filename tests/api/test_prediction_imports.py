"""Answers of a model that were made elsewhere, by REST: looked at, described and imported as a run."""

import json
from typing import Any

import pytest

from annotation.models import Campaign, Rating
from jobs.services import runner
from predictions.models import Run
from tests.api.clients import program
from tests.api.test_imports import B, media, upload
from tests.api.test_protocol import problem, send
from tests.evaluation.data import an_open_campaign
from tests.personas import World
from tests.predictions.model_file_samples import jsonl, lm_eval

__all__ = ["media"]
pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign(world: World, media: None) -> Campaign:
    world.add_items(3)
    return an_open_campaign(world)


def content(client: Any, world: World, campaign: Campaign, **described: Any) -> dict[str, Any]:
    rows = [lm_eval({"id": item.key, "country": "Egypt"}, str(n + 3), number=n) for n, item in enumerate(world.items)]
    description = {"model": "tiny-vlm", "target": "doc.country", "about": {"family": "Tiny"}, **described}
    return {
        "kind": "predictions", "campaign": campaign.pk, "table": upload(client, jsonl(rows)),
        "table_name": "log.jsonl", "described": description,
    }  # fmt: skip


def test_a_log_is_looked_at_and_becomes_a_run(world: World, campaign: Campaign) -> None:
    client = program(world.mara, "write")
    sent = content(client, world, campaign)
    looked = send(client, "POST", f"{B}imports:preview/", sent)
    assert looked.status_code == 200, looked.content
    look = looked.json()
    assert (look["format"], look["predictions"]["keys"]) == ("lm_eval", {"doc.id": 3})
    assert "doc.country" in look["predictions"]["targets"] and [*look["predictions"]["questions"]] == ["relevance"]
    assert [row["answers"] for row in look["rows"]] == [json.dumps({"relevance": str(code)}) for code in (3, 4, 5)]
    assert not Run.objects.exists(), "nothing is imported by looking"
    reply = send(client, "POST", f"{B}imports/", sent, idempotency_key="a")
    assert reply.status_code == 201, reply.content
    runner.run(reply.json()["id"])
    run = Run.objects.get()
    assert (run.rater.name, run.source, run.campaign_id, run.complete) == ("tiny-vlm", "lm_eval", campaign.pk, True)
    assert sorted(Rating.objects.filter(rater=run.rater).values_list("code", flat=True)) == ["3", "4", "5"]
    assert [row["id"] for row in client.get(f"{B}imports/").json()["results"]] == [reply.json()["id"]]
    problem(
        send(client, "POST", f"{B}imports/", content(client, world, campaign), idempotency_key="b"), 409, "conflict"
    )
    problem(send(client, "POST", f"{B}imports/{reply.json()['id']}/withdraw/"), 409, "conflict")


def test_what_the_file_does_not_say_is_asked_for(world: World, campaign: Campaign) -> None:
    client = program(world.mara, "write")

    def refused(**change: Any) -> list[str]:
        reply = send(
            client, "POST", f"{B}imports/", {**content(client, world, campaign), **change}, idempotency_key="c"
        )
        return [error["pointer"] for error in problem(reply, 422, "refused").get("errors", [])]

    assert refused(described={"target": "doc.country"}) == ["/model"]
    sent = content(client, world, campaign)
    del sent["campaign"]
    reply = send(client, "POST", f"{B}imports/", sent, idempotency_key="d")
    assert [error["pointer"] for error in problem(reply, 422, "refused")["errors"]] == ["/campaign"]
    assert refused(table="none-such-upload") == ["/table"]
    unknown = send(client, "POST", f"{B}imports/", {**sent, "described": {"colour": "red"}}, idempotency_key="e")
    assert problem(unknown, 400, "invalid-content")["errors"][0]["pointer"] == "/described/colour"
    assert not Run.objects.exists()


def test_who_does_not_work_on_the_benchmark_imports_nothing(world: World, campaign: Campaign) -> None:
    client = program(world.mara, "write")
    sent = content(client, world, campaign)
    problem(
        send(program(world.mara, "export"), "POST", f"{B}imports/", sent, idempotency_key="f"),
        403,
        "insufficient-scope",
    )
    for user in (world.reviewer, world.nour, world.rival, world.stranger):
        problem(send(program(user, "write"), "POST", f"{B}imports/", sent, idempotency_key="g"), 404, "not-found")
    owner = program(world.owner, "write")  # to whom the upload of another person does not exist
    problem(send(owner, "POST", f"{B}imports/", sent, idempotency_key="h"), 422, "refused")
    assert not Run.objects.exists()
