"""Knowledge bases and links before a real browser: on a desktop, a phone, and in Arabic."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from benchmarks.models import Item
from jobs.models import Job
from predictions.models import KnowledgeBase, KnowledgeEntry
from predictions.services.knowledge import indexes, linking
from tests.browser.conftest import PHONE
from tests.personas import World
from tests.predictions.knowledge.colours import RGB, Colours, an_endpoint, built, import_entries, items_of, run_job

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def addresses(world: World, monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path) -> dict[str, str]:
    pytest.importorskip("faiss")
    settings.VECTORS_ROOT = tmp_path
    monkeypatch.setattr(indexes, "encoder_of", lambda index: Colours())
    import_entries(world)
    items_of(world, {"red": RGB["red"], "blue": RGB["blue"], "green": RGB["green"]})
    Item.objects.create(stage=world.stage, key="bare")
    an_endpoint(world)
    index = built(world)
    built(world, "lemmas")
    run = linking.open_run(world.benchmark, world.mara, stage=world.stage, index=index, method="lemma_vt")
    run_job(Job.objects.get(pk=run.options["job"]))
    base, entry = KnowledgeBase.objects.get(), KnowledgeEntry.objects.get(key="blue")
    red = Item.objects.get(key="red")
    team, benchmark = world.team.slug, world.benchmark.slug
    return {
        "list": reverse("predictions:knowledge", args=[team]),
        "base": reverse("predictions:knowledge_base", args=[team, base.pk]),
        "entry": reverse("predictions:knowledge_entry", args=[team, base.pk, entry.pk]),
        "import": reverse("predictions:knowledge_import", args=[team, base.pk]),
        "index": reverse("predictions:knowledge_index", args=[team, base.pk]),
        "linkings": reverse("predictions:linking", args=[benchmark]),
        "links": reverse("predictions:links", args=[benchmark, run.pk]),
        "link": reverse("predictions:link", args=[benchmark, run.pk, red.pk]),
    }


@pytest.mark.parametrize("screen", ["desktop", "phone", "arabic"])
def test_every_page_fits_its_screen(
    open_as: Callable[..., Page], shot: Callable[..., None], world: World, addresses: dict[str, str], screen: str
) -> None:
    if screen == "arabic":
        world.mara.language = "ar"
        world.mara.save()
    page = open_as(world.mara, **(PHONE if screen == "phone" else {}))
    for name, address in addresses.items():
        answer = page.goto(address)
        assert answer is not None and answer.status == 200, name
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0, f"{name} is {wide} px too wide on {screen}"
        page.wait_for_load_state("networkidle")
        shot(page, f"knowledge-{name}-{screen}", full_page=True)


def test_an_entry_is_found_and_a_link_opened(
    open_as: Callable[..., Page], world: World, addresses: dict[str, str]
) -> None:
    page = open_as(world.mara)
    page.goto(addresses["base"])
    page.get_by_label("Id or name").fill("azul")
    page.keyboard.press("Enter")
    page.wait_for_url("**q=azul**")
    expect(page.locator(".entries li")).to_have_count(1)
    page.get_by_role("link", name="azul").click()
    expect(page.get_by_text("All about blue.").first).to_be_visible()
    page.goto(addresses["links"])
    page.locator(".entries a").first.click()
    expect(page.locator("tr.gold")).to_have_text(re.compile(r"^\s*1"))
    expect(page.locator(".near li")).to_have_count(7)
