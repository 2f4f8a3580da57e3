"""Pages of local models in a browser: begun from the keyboard's order, a limit chosen, on every kind of screen."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from benchmarks.models import ItemFact, ItemImage
from benchmarks.services.intake import filter_versions
from jobs.models import Job
from jobs.services import runner
from people.models import Rater
from predictions.models import Collection, Endpoint, Entry, Query, Run
from predictions.retrieval.vectors import vector_store
from tests.browser.conftest import PHONE, add_definitions_and_pictures
from tests.personas import World
from tests.samples import assign, open_campaign

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
SCORES = (14.2, 18.9, 21.5, 23.3, 24.1, 27.8, 29.0, 33.6)
CODES = ("1", "2", "2", "4", "1", "5", "4", "5")


@pytest.fixture
def laid_out(world: World, media: None, settings: Any, tmp_path: Any) -> Run:
    """Eight items with scores and answers, and a finished embedding run over their pictures."""
    settings.VECTORS_ROOT = tmp_path / "vectors"
    add_definitions_and_pictures(world)
    opened = open_campaign(world, world.egypt)
    for slot, code in zip(opened.slots.order_by("position"), CODES, strict=True):
        assign(opened, world.nour, slot, code=code)
    collection = Collection.objects.create(benchmark=world.benchmark, key="everyday", name="Everyday")
    for item, score in zip(world.items, SCORES, strict=True):
        ItemFact.objects.create(item=item, key="clip_score", value=score, source="m", version="run 1")
        use = ItemImage.objects.get(item=item)
        Entry.objects.create(collection=collection, key=item.key, image=use.image, about={"concept": item.concept})
    Query.objects.create(
        collection=collection, query_set="universals", key="wedding", text="wedding", relevant=["item-00000"]
    )
    for kind in ("open_clip", "detector"):
        Endpoint.objects.create(team=world.team, kind=kind, name=f"Here: {kind}")
    model = Rater.objects.create(kind="model", team=world.team, name="ViT-B-32", setting="laion2b")
    facts = {"rows": 8, "missing": 0, "unread": 0, "numbers": 4, "vectors": "collections/1/shown"}
    run = Run.objects.create(benchmark=world.benchmark, rater=model, collection=collection, task="embedding",
                             state="done", complete=True, source="here", options=facts)  # fmt: skip
    store = vector_store(facts["vectors"])
    store.write_plan((entry.pk, 0) for entry in Entry.objects.filter(collection=collection).order_by("pk"))
    rows = [[1, 0.02 * number, 0, 0] if number % 4 == 0 else [0.4, number / 8, 1, 0] for number in range(8)]
    store.write(0, np.array(rows, np.float32))
    return run


def test_a_limit_is_chosen_by_what_people_say(
    world: World, laid_out: Run, open_as: Callable[..., Page], shot: Callable[..., None]
) -> None:
    rule = {"key": "score", "kind": "fact", "params": {"key": "clip_score", "least": 10}}
    filter_versions.set_filters(world.stage, [rule], world.mara)
    runner.run(Job.objects.latest("pk").pk)
    page = open_as(world.mara)
    page.goto(reverse("benchmarks:filters", args=[world.benchmark.slug, world.stage.pk]))
    page.get_by_role("link", name="Choose a limit").click()
    page.get_by_label("Relevant", exact=True).check()
    page.get_by_label("Highly relevant").check()
    page.get_by_role("button", name="View").click()
    page.get_by_role("heading", name="Precision and recall").wait_for()
    expect(page.get_by_text("8 items have a majority of those who answered (people: 1); relevant: 4")).to_be_visible()
    shot(page, "calibrate", full_page=True)
    address = page.url
    page.get_by_label("Keep items from").fill("23")
    page.get_by_role("button", name="Use as limit").click()
    expect(page.get_by_text("The limit of “clip_score” is 23.")).to_be_visible()
    expect(page.get_by_text("(0.38–0.96, 4/5)")).to_be_visible()
    shot(page, "limit-chosen", full_page=True)
    for language in ("en", "ar"):
        world.mara.language = language
        world.mara.save()
        phone = open_as(world.mara, **PHONE)
        for name, at in (("calibrate", address), ("limit-chosen", page.url)):
            phone.goto(at)
            shot(phone, f"{name}-phone-{language}", full_page=True)
            assert phone.evaluate("document.documentElement.scrollWidth <= innerWidth"), (name, language)


def test_encoders_collections_and_look_alikes_fit_every_screen(
    world: World, laid_out: Run, open_as: Callable[..., Page], shot: Callable[..., None]
) -> None:
    slug = world.benchmark.slug
    pages = {
        "encode": reverse("predictions:encode", args=[slug]),
        "make": reverse("predictions:collection_make", args=[slug]),
        "alike": reverse("predictions:near_duplicates", args=[slug, laid_out.pk]),
        "facts": reverse("predictions:facts", args=[slug]),
    }
    page = open_as(world.mara)
    page.goto(pages["alike"])
    expect(page.get_by_text("Just above the threshold")).to_be_visible()
    expect(page.locator(".pairs img").nth(1)).to_be_attached()
    for name, address in pages.items():
        page.goto(address)
        shot(page, name, full_page=True)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
    phone = open_as(world.mara, **PHONE)
    for name, address in pages.items():
        phone.goto(address)
        shot(phone, f"{name}-phone", full_page=True)
        assert phone.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
    world.mara.language = "ar"
    world.mara.save()
    arabic = open_as(world.mara)
    for name in ("encode", "alike"):
        arabic.goto(pages[name])
        shot(arabic, f"{name}-arabic", full_page=True)
        assert arabic.locator("html").get_attribute("dir") == "rtl"
