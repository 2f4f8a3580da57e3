"""Samples of authors' answers by REST: drawn, decided answer by answer, and the others accepted together."""

from typing import Any

from annotation.models import Assignment, ReviewBatch
from people.services.raters import rater_of
from tests.annotation.chain.test_review_batches import Scene
from tests.api.clients import program
from tests.api.test_protocol import problem, send
from tests.module_world import built_once
from tests.personas import World

BATCHES = "/api/v1/benchmarks/sea-and-river/review-batches/"


@built_once
def scene(world: World) -> Scene:
    return Scene(world)


def draw(client: Any, **more: Any) -> Any:
    return send(client, "POST", BATCHES, {"stage": "ask", "size": 5, "limit": 20, "seed": 1, **more})


def test_a_sample_is_drawn_decided_and_the_others_accepted_and_undone(world: World, scene: Scene) -> None:
    client = program(world.reviewer, "write", "export")
    reply = draw(client)
    assert (reply.status_code, reply.json()) == (201, {"authors": 2, "answers": 10, "unchanged": 0, "seed": 1})
    problem(draw(client), 409, "batch-refused")
    batch, _other = client.get(f"{BATCHES}?stage=ask").json()["results"]
    assert (batch["state"], batch["drawn"], batch["population"], batch["undecided"]) == ("open", 5, 9, 5)
    url = f"{BATCHES}{batch['id']}/"
    problem(send(client, "POST", f"{url}accept/"), 409, "batch-refused")
    answers = client.get(f"{url}answers/").json()["results"]
    for number, answer in enumerate(answers):
        content = {"annotation": answer["annotation"], "decision": "accept"}
        if not number:
            content |= {"decision": "reject", "reason": "unclear"}
        assert send(client, "POST", "/api/v1/benchmarks/sea-and-river/reviews/", content).status_code == 201
    assert client.get(url).json()["state"] == "passed", "one of five is no more than 20 percent"
    assert {row["state"] for row in client.get(f"{url}answers/").json()["results"]} == {"accepted", "rejected"}
    accepted = send(client, "POST", f"{url}accept/").json()
    assert (accepted["state"], accepted["answers"], accepted["refused"]) == ("accepted", 4, 1)
    author = ReviewBatch.objects.get(pk=batch["id"]).author
    assert Assignment.objects.filter(rater=author, state="accepted").count() == 8
    assert send(client, "POST", f"{url}undo/").json()["answers"] == 4
    assert Assignment.objects.filter(rater=author, state="submitted").count() == 4


def test_one_author_is_drawn_by_pseudonym_and_a_wrong_form_is_named(world: World, scene: Scene) -> None:
    client = program(world.reviewer, "write", "export")
    author = world.benchmark.pseudonym(scene.authors[0].pk)
    assert draw(client, author=author, size=100, unit="percent").json()["answers"] == 9
    assert [row["author"] for row in client.get(BATCHES).json()["results"]] == [author]
    problem(draw(client, author="R-none"), 409, "batch-refused")
    for change, pointer in (({"size": 0}, "/size"), ({"limit": 101}, "/limit"), ({"stage": "reply"}, "/stage")):
        reply = problem(draw(client, **change), 422, "refused")
        assert [error["pointer"] for error in reply["errors"]] == [pointer]


def test_nobody_sees_or_accepts_a_sample_of_their_own_and_others_see_none(world: World, scene: Scene) -> None:
    [batch, _other] = scene.draw()
    url = f"{BATCHES}{batch.pk}/"
    for user in (world.rival, world.stranger, world.nour, world.team_admin, world.site_admin):
        client = program(user, "admin", "export")
        problem(draw(client), 404, "not-found")
        for path in (BATCHES, url, f"{url}answers/"):
            problem(client.get(path), 404, "not-found")
        problem(send(client, "POST", f"{url}accept/"), 404, "not-found")
    assert problem(program(world.reviewer, "write").get(url), 403, "insufficient-scope")["needs"] == "export"
    scene.decide(batch)
    ReviewBatch.objects.filter(pk=batch.pk).update(author=rater_of(world.reviewer))
    own = program(world.reviewer, "write", "export")
    assert batch.pk not in [row["id"] for row in own.get(BATCHES).json()["results"]]
    problem(send(own, "POST", f"{url}accept/"), 404, "not-found")
