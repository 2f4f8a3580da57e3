"""Pictures are compared with a knowledge base when they arrive, and a filter drops those that it has."""

from typing import Any

import numpy as np
import pytest
from django.db import transaction
from django.urls import reverse

from annotation.services.review.outcomes import facts_of
from benchmarks.models import Item, ItemImage, Stage
from benchmarks.services.images import store_image
from benchmarks.services.intake.judging import judge_items, lock_stage
from jobs.models import Job
from predictions.models import FactRequest, KnowledgeIndex
from predictions.services.encoders import fact_requests
from predictions.services.knowledge import indexes, linking
from tests.personas import World
from tests.predictions.knowledge.colours import PICTURES, RGB, built, import_entries, run_job, square

pytestmark = pytest.mark.django_db
FILTER = {"key": "not_in_base", "kind": "not_in_base", "params": {"fact": "base_similarity", "similarity": 0.95}}


def add_picture(world: World, key: str, data: bytes) -> Item:
    item = Item.objects.create(stage=world.stage, key=key, intake="waiting")
    ItemImage.objects.create(item=item, image=store_image(world.team, data, name=key)[0])
    with transaction.atomic():
        judge_items(lock_stage(world.stage), [item.pk])
    return item


def form_of(world: World, index: KnowledgeIndex | None) -> dict[str, Any]:
    chosen = index.pk if index else ""
    return {"stage": world.stage.pk, "what": "base_similarity", "index": chosen, "threshold": 0.5}


def request_from_page(world: World, index: KnowledgeIndex) -> FactRequest:
    address = reverse("predictions:facts", args=[world.benchmark.slug])
    reply = world.client(world.mara).post(address, form_of(world, index))
    assert reply.status_code == 302, reply.content.decode()
    return FactRequest.objects.select_related("run__job").get()


@pytest.fixture
def index(world: World) -> KnowledgeIndex:
    import_entries(world)
    Stage.objects.filter(pk=world.stage.pk).update(filters=[FILTER])
    return built(world)


def test_a_picture_of_the_base_is_dropped_with_its_entry_and_another_one_stays(
    world: World, index: KnowledgeIndex
) -> None:
    add_picture(world, "same", PICTURES["green.png"])
    add_picture(world, "alike", square(*RGB["crimson"], shade=2))
    add_picture(world, "other", square(*RGB["white"]))
    request = request_from_page(world, index)
    assert request.run.job is not None and run_job(request.run.job).state == "done"
    add_picture(world, "late", PICTURES["cold.png"])  # and one that arrives later
    fact_requests.start_pending()
    run_job(Job.objects.latest("pk"))
    items = {item.key: item for item in world.stage.items.all()}
    assert {key: item.intake for key, item in items.items()} == {
        "same": "dropped", "alike": "dropped", "other": "kept", "late": "dropped",
    }  # fmt: skip
    facts = {key: facts_of([item.pk])[item.pk]["base_similarity"] for key, item in items.items()}
    assert facts["same"] == {"similarity": 1.0, "entry": "green", "same_file": True}
    assert facts["alike"]["entry"] == "crimson" and 0.95 < facts["alike"]["similarity"] < 1
    assert facts["other"]["similarity"] < 0.95 and facts["late"]["entry"] == "blue"
    run = linking.open_run(world.benchmark, world.mara, stage=world.stage, index=index, method="lemma_vt")
    run_job(Job.objects.get(pk=run.options["job"]))
    assert [link.item.key for link in run.links.select_related("item")] == ["other"], "nothing links what was dropped"


def test_an_unreadable_picture_is_listed_and_a_missing_index_pauses(
    world: World, index: KnowledgeIndex, monkeypatch: Any
) -> None:
    item = add_picture(world, "broken", square(*RGB["white"]))
    monkeypatch.setattr(indexes, "images_of", lambda _encoder, data: np.zeros((len(data), 4)))
    request = request_from_page(world, index)
    assert request.run.job is not None
    run_job(request.run.job)
    assert request.failures.get().item == item and item.facts.count() == 0
    KnowledgeIndex.objects.update(built_at=None)
    add_picture(world, "later", square(*RGB["blue"]))
    fact_requests.start_pending()
    assert "is not built" in run_job(Job.objects.latest("pk")).error
    request.refresh_from_db()
    assert (request.state, request.reason) == ("paused", "model")


def test_only_a_built_index_over_pictures_of_the_own_team_is_taken(world: World, index: KnowledgeIndex) -> None:
    add_picture(world, "other", square(*RGB["white"]))
    address = reverse("predictions:facts", args=[world.benchmark.slug])
    page = world.client(world.mara)
    names = built(world, "lemmas")
    assert page.post(address, form_of(world, names)).status_code == 400
    assert page.post(address, form_of(world, None)).status_code == 400
    KnowledgeIndex.objects.filter(pk=index.pk).update(built_at=None)
    assert page.post(address, form_of(world, index)).status_code == 400
    assert not FactRequest.objects.exists()
