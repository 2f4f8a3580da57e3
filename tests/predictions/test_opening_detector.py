"""A detector is chosen once, when the chain opens; it starts by itself as pictures arrive, up to a limit."""

from typing import Any

import pytest
from django.urls import reverse

from annotation.models import Campaign
from benchmarks.models import Benchmark, Item, ItemFact
from benchmarks.services.benchmarks import create_from_recipe
from jobs.models import Job
from predictions.models import FactRequest
from predictions.tasks import start_fact_jobs
from tests.chains.researcher import do_waiting_work
from tests.forms import inputs_of
from tests.module_world import built_once
from tests.personas import World, draw_image
from tests.predictions.encoders import ScriptedDetector, script_detector
from tests.predictions.shapes import an_endpoint

pytestmark = pytest.mark.django_db
OPENING = "/b/boxes/chain/open/"


@pytest.fixture
def detector(monkeypatch: pytest.MonkeyPatch) -> ScriptedDetector:
    return script_detector(monkeypatch, lambda _data: 3)


@built_once
def benchmark(world: World) -> Benchmark:
    return create_from_recipe(world.team, "globalrg-grounding", "Boxes", "boxes", world.mara)


def open_with(world: World, **changes: Any) -> Any:
    """Send the form as it is drawn, but for `changes` of the detector's part."""
    client = world.client(world.mara)
    page = client.get(OPENING).content.decode().split("<main")[1]
    data: dict[str, Any] = {"cohorts": []}
    for name, value in inputs_of(page):
        if name == "cohorts":
            data["cohorts"].append(value)
        else:
            data[name] = value
    sent = {**data, "do": "open", **{f"detector-{name}": value for name, value in changes.items()}}
    return client.post(OPENING, sent, follow=True)


def add_pictures(benchmark: Benchmark, *keys: str) -> None:
    for key in keys:
        draw_image(Item.objects.create(stage=benchmark.stages.get(key="boxes"), key=key, intake="waiting"))
    start_fact_jobs()
    do_waiting_work()


def test_a_detector_chosen_at_the_opening_starts_by_itself_and_pauses_at_its_limit(
    world: World, benchmark: Benchmark, detector: ScriptedDetector
) -> None:
    endpoint = an_endpoint(world, "detector")
    reply = open_with(world, endpoint=endpoint.pk, model="local-dir:detector", at_most="2")
    assert "as they arrive" in reply.content.decode() and detector.pictures == []
    request = FactRequest.objects.get()
    assert (request.stage.key, request.what, request.model) == ("boxes", "objects", "local-dir:detector")
    assert "detector-endpoint" not in world.client(world.mara).get(OPENING).content.decode(), "it is chosen once"

    add_pictures(benchmark, "a", "b", "c")
    assert len(detector.pictures) == 2 and ItemFact.objects.filter(key="objects").count() == 2
    facts = world.client(world.mara).get(reverse("predictions:facts", args=["boxes"])).content.decode()
    assert "its limit is reached" in facts
    job = Job.objects.get(kind="item_facts")
    assert (job.state, job.done, job.total) == ("done", 2, 2), "what the limit leaves out is no work of the job"
    act = reverse("predictions:fact_action", args=["boxes", request.pk])
    assert world.client(world.reviewer).post(act, {"do": "limit", "at_most": "9"}).status_code == 404
    world.client(world.mara).post(act, {"do": "limit", "at_most": "0"})
    do_waiting_work()
    assert len(detector.pictures) == 2, "0 is no limit"
    world.client(world.mara).post(act, {"do": "limit", "at_most": "3"})
    do_waiting_work()
    assert len(detector.pictures) == 3
    world.client(world.mara).post(act, {"do": "cancel"})
    add_pictures(benchmark, "d")
    assert len(detector.pictures) == 3, "it was stopped"


def test_without_a_choice_the_chain_opens_and_a_detector_without_a_model_is_refused(
    world: World, benchmark: Benchmark
) -> None:
    refused = open_with(world, endpoint=an_endpoint(world, "detector").pk)
    assert refused.status_code == 400 and "Name the detector" in refused.content.decode()
    assert not Campaign.objects.filter(stage__benchmark=benchmark).exists(), "nothing is half open"
    assert open_with(world).status_code == 200
    assert Campaign.objects.filter(stage__benchmark=benchmark).exists() and not FactRequest.objects.exists()
