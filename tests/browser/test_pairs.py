"""The pages Pairs and Pair in a browser: the matrix, the rounds of a pair, a blink of two; phone and Arabic."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import PHONE
from tests.browser.test_everywhere import complaints
from tests.papers.valueground.pair_samples import add_pairs
from tests.papers.valueground.survey_samples import EIGHT, new_benchmark, page_of, upload
from tests.personas import World

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_pairs_are_looked_at(
    world: World, open_as: Callable[..., Page], shot: Callable[..., None], media: None
) -> None:
    benchmark = new_benchmark(world)
    upload(world.client(world.owner), benchmark, EIGHT)
    build = add_pairs(benchmark, world.owner)["accepted"]
    address = page_of(benchmark, "pairs")
    page = open_as(world.owner)
    page.goto(address)
    shot(page, "pairs", full_page=True)
    assert not list(complaints(page, phone=False))
    page.get_by_role("link", name="Accepted").first.click()
    duo = page.locator("[data-duo]")
    expect(duo.locator("figure:visible")).to_have_count(2)
    shot(page, "pair", full_page=True)
    assert not list(complaints(page, phone=False))
    blink = page.get_by_role("button", name="Blink")
    page.wait_for_load_state()
    page.keyboard.press("b")
    expect(duo.locator("figcaption b").last).to_be_visible()
    expect(duo.locator("figcaption b").first).to_be_hidden()
    page.keyboard.press("b")
    expect(duo.locator("figcaption b").first).to_be_visible()
    blink.click()
    expect(duo.locator("figure:visible")).to_have_count(2)
    page.get_by_label("First picture").select_option(index=0)
    page.get_by_role("button", name="Compare").click()
    expect(page.locator("[data-duo] figcaption").first).to_contain_text("base picture")
    phone = open_as(world.owner, **PHONE)
    for name, query in (("pairs", ""), ("pair", f"?pair={build.pk}")):
        phone.goto(f"{address}{query}")
        shot(phone, f"{name}-phone", full_page=True)
        assert not list(complaints(phone, phone=True))
    world.owner.language = "ar"
    world.owner.save()
    for name, query in (("pairs", ""), ("pair", f"?pair={build.pk}")):
        page.goto(f"{address}{query}")
        shot(page, f"{name}-ar", full_page=True)
        assert not list(complaints(page, phone=False))
