"""The explorer of items in a browser: keys, filters that are removed, grid and list, a phone, and right to left."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from benchmarks.models import Item, ItemTally
from tests.browser.conftest import PHONE
from tests.browser.test_benchmarks import check_layout
from tests.personas import World

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def fill(world: World) -> list[Item]:
    items = world.add_items(10, images=True)
    world.stage.items.filter(pk=items[3].pk).update(text="A lantern over the market")
    for number, item in enumerate(items[:6]):
        ItemTally.objects.create(
            item=item, stage=item.stage, answers=3, people=3, disagreement=number % 3 / 2, field="relevance",
            at=timezone.now(),
        )  # fmt: skip
    return items


def test_items_are_explored_by_keys_and_filters(
    open_as: Callable[..., Page], world: World, shot: Callable[..., None]
) -> None:
    items = fill(world)
    page = open_as(world.mara)
    page.goto(f"/b/{world.benchmark.slug}/items/")
    page.keyboard.press("/")
    expect(page.get_by_label("Text")).to_be_focused()
    page.keyboard.type("lant")
    page.keyboard.press("Enter")
    expect(page.get_by_text("1 item with what you chose.")).to_be_visible()
    page.get_by_role("link", name="Remove this filter").click()
    expect(page.get_by_text("10 items in the stage")).to_be_visible()
    first = page.locator("[data-item]").nth(0)
    page.locator("h1").click()
    page.keyboard.press("ArrowRight")
    expect(first.get_by_role("link")).to_be_focused()
    page.keyboard.press("x")
    expect(first.get_by_role("checkbox")).to_be_checked()
    page.keyboard.press("j")
    expect(page.locator("[data-item]").nth(1).get_by_role("link")).to_be_focused()
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_have_attribute("open", "")
    check_layout(page)
    shot(page, "explorer-grid", full_page=True)
    page.get_by_role("button", name="Withdraw").click()
    expect(page.get_by_text("1 item was withdrawn.")).to_be_visible()
    expect(page.get_by_text("9 items in the stage")).to_be_visible()
    shot(page, "explorer-withdrawn", full_page=True)
    check_layout(page)
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("The change of 1 item was undone.")).to_be_visible()
    page.locator("h1").click()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text(items[0].concept)
    page.keyboard.press("j")
    expect(page).to_have_url(re.compile(f"/items/{items[1].pk}/"))
    check_layout(page)
    shot(page, "explorer-item", full_page=True)
    page.get_by_role("link", name="Back to the items").click()
    page.get_by_label("Order").select_option("disagreement")
    page.get_by_role("link", name="List").click()
    expect(page.get_by_role("table")).to_be_visible()
    check_layout(page)
    shot(page, "explorer-list", full_page=True)


@pytest.mark.parametrize("language", ["en", "ar"])
def test_the_explorer_fits_a_phone(
    open_as: Callable[..., Page], world: World, shot: Callable[..., None], live_server: Any, language: str
) -> None:
    fill(world)
    world.mara.language = language
    world.mara.save()
    phone = open_as(world.mara, **PHONE)
    for view in ("grid", "list"):
        phone.goto(f"/b/{world.benchmark.slug}/items/?view={view}&text=item&order=disagreement")
        expect(phone.locator("[data-item]").first).to_be_visible()
        check_layout(phone)
        shot(phone, f"explorer-{view}-phone-{language}", full_page=True)
