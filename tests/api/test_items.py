"""Items by REST: brought in batches, completed, withdrawn and restored, with their facts."""

import itertools
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from annotation.models import Slot
from annotation.services.campaigns import lifecycle
from benchmarks.models import Image, Item, ItemFact, Stage
from benchmarks.services import item_batches
from jobs.models import Event
from tests.api.clients import program
from tests.api.test_protocol import problem, send
from tests.module_world import built_once
from tests.personas import World

B = "/api/v1/benchmarks/sea-and-river/"
SHA = "1" * 64
KEYS = itertools.count()


@built_once
def words(world: World) -> Stage:
    """A stage whose items are texts."""
    return Stage.objects.create(
        benchmark=world.benchmark, key="words", name="Words", display="words", sheet=world.stage.sheet,
        pictures="none", has_target=False, position=1,
    )  # fmt: skip


def batch(client: Client, rows: Any, query: str = "", **more: Any) -> Any:
    content = {"stage": "words", "rows": rows, **more}
    return send(client, "POST", f"{B}items:batch/{query}", content, idempotency_key=f"k{next(KEYS)}")


def test_a_batch_says_what_became_of_each_row(world: World, words: Stage) -> None:
    client = program(world.mara, "write")
    rows = [
        {"key": "a", "text": "A new broom", "country": "Brazil", "context": {"year": 1990, "tags": ["x"]}},
        {"key": "b", "text": "Hope", "facts": {"score": "0.5"}},
        {"key": "c", "country": "Atlantis"},
        {"key": "a", "text": "Another"},
        {"key": "d", "context": {"text": "Misplaced"}},
    ]
    reply = batch(client, rows)
    assert reply.status_code == 200, reply.content
    results = reply.json()["results"]
    assert [row["status"] for row in results] == [201, 201, 422, 422, 422]
    assert [row.get("problem", {}).get("code") for row in results[2:]] == ["bad_country", "key_differs", "bad_context"]
    item = Item.objects.get(key="a")
    assert (results[0]["id"], item.text, item.origin, item.context["tags"]) == (item.pk, "A new broom", "Brazil", ["x"])
    assert ItemFact.objects.get(item__key="b").value == 0.5
    again = batch(client, rows[:2]).json()["results"]
    assert [(row["status"], row["outcome"]) for row in again] == [(200, "unchanged")] * 2
    assert words.items.count() == 2
    assert Event.objects.filter(verb="items.imported", target="words").count() == 2


def test_all_rows_or_none(world: World, words: Stage) -> None:
    client = program(world.mara, "write")
    rows = [{"key": "a", "text": "A"}, {"key": "b", "country": "Atlantis"}]
    refused = problem(batch(client, rows, "?atomic=1"), 409, "conflict")
    assert [error["pointer"] for error in refused["errors"]] == ["/rows/1"]
    assert not words.items.exists()
    assert batch(client, rows[:1], "?atomic=1").json()["results"][0]["status"] == 201
    assert problem(batch(client, rows, "?atomic=yes"), 400, "invalid-request")["parameter"] == "atomic"


def test_pictures_are_named_by_their_hash(world: World) -> None:
    world.add_items(1)
    Image.objects.create(team=world.other_team, sha256="2" * 64, format="png", bytes=1, width=1, height=1)
    client = program(world.mara, "write")
    rows = [
        {"key": "x", "picture": SHA, "country": "Egypt", "alt": "A boat", "file": "boats/1.png"},
        {"key": "y", "picture": "2" * 64, "country": "Egypt"},
        {"key": "z", "country": "Egypt"},
    ]
    results = batch(client, rows, stage="relevance").json()["results"]
    assert [row.get("problem", {}).get("code") for row in results] == [None, "missing_picture", "no_picture"]
    use = Item.objects.get(key="x").images.get()
    assert (use.image.sha256, use.alt, use.file_name) == (SHA, "A boat", "boats/1.png")


def test_a_batch_is_bounded_and_sent_once(world: World, words: Stage) -> None:
    client = program(world.mara, "write")
    problem(batch(client, [{"key": f"k{n}"} for n in range(1001)]), 400, "invalid-content")
    problem(send(client, "POST", f"{B}items:batch/", {"rows": [{"key": "a"}]}), 400, "idempotency-key-required")
    problem(batch(client, [{"key": "a"}], stage="none"), 422, "refused")
    content = {"stage": "words", "rows": [{"key": "a", "text": "A"}]}
    first, second = (send(client, "POST", f"{B}items:batch/", content, idempotency_key="same") for _n in range(2))
    assert (first.json(), second["Idempotency-Replayed"]) == (second.json(), "true")
    for user, scopes, status in (
        (world.mara, "export", 403),
        (world.reviewer, "write", 404),
        (world.rival, "write", 404),
    ):
        assert batch(program(user, scopes), [{"key": "a"}]).status_code == status


def test_what_an_item_lacks_is_filled_in_and_nothing_replaced(world: World) -> None:
    item = world.add_items(1)[0]
    client, url = program(world.mara, "write", "export"), f"{B}items/{item.pk}/"
    problem(send(client, "PATCH", url, {"text": "A"}), 428, "precondition-required")
    before = client.get(url)
    changed = send(client, "PATCH", url, {"text": "At the sea", "alt": "A boat"}, if_match=before["ETag"])
    assert changed.status_code == 200, changed.content
    assert changed.json()["text"] == "At the sea" and item.images.get().alt == "A boat"
    problem(send(client, "PATCH", url, {"text": "B"}, if_match=before["ETag"]), 412, "stale")
    refused = send(client, "PATCH", url, {"text": "B"}, if_match=changed["ETag"])
    assert "text" in problem(refused, 422, "refused")["detail"]
    problem(send(client, "PATCH", f"{B}items/{item.pk + 999}/", {"text": "B"}, if_match="*"), 404, "not-found")


def test_facts_are_set_and_earlier_values_stay(world: World, words: Stage) -> None:
    client = program(world.mara, "write")
    batch(client, [{"key": "a", "text": "A"}, {"key": "b", "text": "B"}])
    url = f"{B}items/{Item.objects.get(key='a').pk}/facts/"
    first = send(client, "PUT", url, {"facts": {"score": 1}}, if_match=client.get(url)["ETag"])
    second = send(client, "PUT", url, {"facts": {"score": 2}}, if_match=first["ETag"])
    assert [fact["value"] for fact in second.json()["facts"]] == [1, 2]
    rows = [
        {"key": "a", "facts": {"score": 3}},
        {"key": "none", "facts": {"score": 1}},
        {"key": "b", "facts": {"x": "y"}},
    ]
    reply = send(client, "PUT", f"{B}items:facts/", {"stage": "words", "rows": rows})
    assert [row["status"] for row in reply.json()["results"]] == [200, 404, 200]
    assert Item.objects.get(key="a").facts.count() == 3


def test_a_withdrawn_item_is_given_to_nobody_until_it_is_restored(
    world: World, django_capture_on_commit_callbacks: Any
) -> None:
    item = world.add_items(2)[0]
    campaign = lifecycle.create(world.stage, "Rate", world.mara, {world.egypt: 2})
    lifecycle.open_campaign(campaign, world.mara, timezone.now())
    client, url = program(world.mara, "write"), f"{B}items/{item.pk}/"
    places = Slot.objects.filter(unit__item=item, open=True)
    assert places.exists()
    with django_capture_on_commit_callbacks(execute=True):
        assert send(client, "POST", f"{url}withdraw/").json()["withdrawn"] is True
    assert not places.exists()
    problem(send(client, "POST", f"{url}withdraw/"), 409, "withdrawal-refused")
    with django_capture_on_commit_callbacks(execute=True):
        assert send(client, "POST", f"{url}restore/").json()["withdrawn"] is False
    assert places.exists()
    problem(send(client, "POST", f"{url}restore/"), 409, "withdrawal-refused")
    for user in (world.reviewer, world.stranger):
        problem(send(program(user, "write"), "POST", f"{url}withdraw/"), 404, "not-found")


def test_an_item_that_left_otherwise_does_not_return_by_hand(world: World) -> None:
    item = world.add_items(1)[0]
    Item.objects.filter(pk=item.pk).update(withdrawn_at=item.created_at, withdrawn_because="source")
    reply = send(program(world.mara, "write"), "POST", f"{B}items/{item.pk}/restore/")
    assert "with its source" in problem(reply, 409, "withdrawal-refused")["detail"]


def test_the_page_withdraws_and_restores_by_the_same_rules(world: World) -> None:
    item, client = world.add_items(1)[0], world.client(world.mara)
    page = f"/b/sea-and-river/items/{item.pk}/"
    assert "Withdraw the item" in client.get(page).content.decode()
    assert "Withdraw the item" not in world.client(world.reviewer).get(page).content.decode()
    assert client.post(f"{page}withdraw/").status_code == 302
    item.refresh_from_db()
    assert item.withdrawn_because == "by_hand" and "Restore the item" in client.get(page).content.decode()
    assert world.client(world.reviewer).post(f"{page}restore/").status_code == 404
    client.post(f"{page}restore/")
    item.refresh_from_db()
    assert item.withdrawn_at is None


def test_facts_of_sets_read_no_picture(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    (item,) = world.add_items(1)
    Stage.objects.filter(pk=world.stage.pk).update(pictures=Stage.Pictures.SET)
    item.images.update(role="p001")
    arranged: list[int] = []
    monkeypatch.setattr(item_batches, "arrange", lambda item: arranged.append(item.pk))
    client = program(world.mara, "write")
    content = {"stage": "relevance", "rows": [{"key": item.key, "facts": {"score": 3}}]}
    reply = send(client, "PUT", f"{B}items:facts/", content)
    assert reply.json()["results"][0]["status"] == 200 and item.facts.count() == 1
    assert arranged == []
    added = batch(client, [{"key": "set", "picture": SHA, "role": "p001", "country": "Egypt"}], stage="relevance")
    assert arranged == [added.json()["results"][0]["id"]], "pictures are arranged where they come"


def test_an_empty_role_is_the_one_that_the_picture_has(world: World) -> None:
    (item,) = world.add_items(1)
    Stage.objects.filter(pk=world.stage.pk).update(pictures=Stage.Pictures.NAMED)
    item.images.update(role="a")
    client, url = program(world.mara, "write"), f"{B}items/{item.pk}/"
    reply = send(client, "PATCH", url, {"role": "", "alt": "A boat"}, if_match="*")
    assert reply.status_code == 200, reply.content
    assert list(item.images.values_list("role", "alt")) == [("a", "A boat")]
