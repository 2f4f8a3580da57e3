"""Files to begin with: they have the benchmark's own keys, and the very imports take them."""

import csv
import io
import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from jobs.models import Job
from jobs.services import runner
from predictions.models import Collection, Run
from tests.evaluation.data import an_open_campaign
from tests.personas import World
from tests.predictions.shapes import a_collection


def example(world: World, what: str, form: str) -> Any:
    return world.client(world.mara).get(f"/b/{world.benchmark.slug}/predictions/examples/{what}.{form}")


def send(world: World, route: str, data: bytes, called: str, /, **fields: Any) -> str:
    path = reverse(f"predictions:{route}", args=[world.benchmark.slug])
    sent = {**fields, "file": SimpleUploadedFile(called, data)}
    return str(world.client(world.mara).post(path, sent, follow=True).content.decode())


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_an_example_of_answers_comes_in_as_it_is(world: World, form: str) -> None:
    assert example(world, "answers", form).status_code == 404, "no campaign, so nothing to name"
    world.add_items(3)
    campaign = an_open_campaign(world)
    reply = example(world, "answers", form)
    assert reply.status_code == 200 and world.items[0].key in reply.content.decode()
    page = send(world, "answers_new", reply.content, f"mine.{form}", campaign=campaign.pk)
    assert page.count("<b><bdi>1</bdi></b>") == 2 and "rejected" not in page, "each row becomes an answer"
    links = world.client(world.mara).get(reverse("predictions:answers_new", args=[world.benchmark.slug]))
    assert f"examples/answers.{form}" in links.content.decode()


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_an_example_of_a_collection_comes_in_as_it_is(world: World, form: str) -> None:
    assert example(world, "collection", form).status_code == 404
    world.add_items(3)
    data = example(world, "collection", form).content
    send(world, "collection_new", data, f"mine.{form}", name="Mine", version="1")
    runner.run(Job.objects.latest("pk").pk)
    made = Collection.objects.get()
    assert set(made.entries.values_list("key", flat=True)) == {item.key for item in world.items}
    assert made.queries.get().relevant == [item.key for item in world.items if item.concept == world.items[0].concept]


@pytest.mark.parametrize("form", ["csv", "jsonl"])
@pytest.mark.parametrize(
    ("what", "task", "asked"), [("ranking", "retrieval", "captions"), ("choice", "forced_choice", "choice")]
)
def test_an_example_of_a_run_comes_in_as_it_is(world: World, what: str, task: str, asked: str, form: str) -> None:
    collection = a_collection(world, 1)
    data = example(world, what, form).content
    fields = {"collection": collection.pk, "task": task, "query_set": asked, "model": "mine", "some_missing": "on"}
    send(world, "run_new", data, f"mine.{form}", **fields)
    runner.run(Job.objects.latest("pk").pk)
    run = Run.objects.get()
    assert run.complete and run.options["rows"] == 3, Job.objects.latest("pk").error


def test_embeddings_have_no_table(world: World) -> None:
    a_collection(world, 1)
    rows = [json.loads(line) for line in example(world, "embeddings", "jsonl").content.splitlines()]
    assert [row["key"] for row in rows] == list(
        Collection.objects.get().entries.order_by("pk").values_list("key", flat=True)[:3]
    )
    assert example(world, "embeddings", "csv").status_code == 404 and example(world, "other", "csv").status_code == 404
    page = world.client(world.mara).get(reverse("predictions:run_new", args=[world.benchmark.slug])).content.decode()
    assert "examples/embeddings.jsonl" in page and "examples/embeddings.csv" not in page
    table = list(csv.DictReader(io.StringIO(example(world, "ranking", "csv").content.decode("utf-8-sig"))))
    assert table[0]["query"] and table[0]["score"] == "0.9"


def test_nobody_else_gets_one(world: World) -> None:
    world.add_items(1)
    path = f"/b/{world.benchmark.slug}/predictions/examples/collection.csv"
    assert world.client(world.mara).get(path).status_code == 200
    for user in (world.nour, world.reviewer, world.rival, world.stranger):
        assert world.client(user).get(path).status_code == 404
