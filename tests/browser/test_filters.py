"""The filters of a stage in a browser: add one, see what it drops, keep an item by hand, on a phone too."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from benchmarks.models import ItemFact
from benchmarks.services.intake import filter_versions
from jobs.models import Job
from jobs.services import runner
from tests.browser.conftest import PHONE, add_definitions_and_pictures
from tests.personas import World

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.mark.parametrize("how", [{}, PHONE], ids=["desktop", "phone"])
def test_a_researcher_adds_a_filter_and_keeps_an_item_by_hand(
    world: World, open_as: Callable[..., Page], shot: Callable[..., None], media: None, how: dict[str, Any]
) -> None:
    add_definitions_and_pictures(world)
    for number, item in enumerate(world.stage.items.order_by("pk")):
        if number < 6:
            ItemFact.objects.create(item=item, key="clip_score", value=20.5 + number, source="import")
    words = {"words": ["logo", "map", "screenshot"], "in": ["alt", "title"]}
    definition = [
        {"key": "aspect", "kind": "aspect", "params": {}},
        {"key": "words", "kind": "blocked_words", "params": words},
        {"key": "near", "kind": "near_duplicate", "params": {}},
    ]
    filter_versions.set_filters(world.stage, definition, world.mara)
    page = open_as(world.mara, **how)
    page.goto(f"/b/{world.benchmark.slug}/stages/{world.stage.pk}/filters/")
    name = "phone" if how else "desktop"
    page.get_by_label("Kind").select_option("fact")
    page.get_by_role("button", name="Add").click()
    page.get_by_label("Fact").fill("clip_score")
    page.get_by_label("At least").fill("23")
    shot(page, f"filter-form-{name}", full_page=True)
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("The last change is being carried out.")).to_be_visible()
    for job in Job.objects.filter(state="queued").order_by("pk"):
        runner.run(job.pk)
    page.reload()
    expect(page.get_by_role("link", name="Waiting 2")).to_be_visible()
    shot(page, f"filters-{name}", full_page=True)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_text("Keep by hand").first.click()
    page.get_by_label("Reason").first.fill("The score is wrong")
    page.get_by_role("button", name="Keep", exact=True).click()
    page.get_by_role("link", name="Decided by hand 1").click()
    expect(page.get_by_text("Kept by Mara: The score is wrong")).to_be_visible()
    shot(page, f"filters-hand-{name}", full_page=True)
