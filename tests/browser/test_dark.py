"""Annotators' pages after dark: by the device's setting or by choice, as legible as in light, pictures as they are."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Campaign
from people.models import User
from tests.browser.conftest import PHONE, until_sheet_ready
from tests.browser.test_rating import answered, find_violations
from tests.personas import World

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
OpenAs = Callable[..., Page]
GROUND = "getComputedStyle(document.documentElement).getPropertyValue('--ground').trim().toLowerCase()"
LIGHT, DARK = "#ecefeb", "#101614"


@pytest.mark.parametrize("how", [{}, PHONE], ids=["desktop", "phone"])
def test_every_page_of_an_annotator_is_legible_after_dark(
    open_as: OpenAs, campaign: Campaign, nour: User, shot: Callable[..., None], how: dict[str, object]
) -> None:
    page = open_as(nour, color_scheme="dark", **how)
    page.goto(f"/work/{campaign.pk}/")
    until_sheet_ready(page)
    size = "phone" if how else "desktop"
    assert page.evaluate(GROUND) == DARK and find_violations(page) == ""
    page.locator(".opt").nth(3).click()
    shot(page, f"dark-sheet-{size}")
    assert find_violations(page) == ""
    answered(page, lambda: page.locator(".acts .go").click())
    assert find_violations(page) == "", "with what can be undone"
    for name, path in (("home", "/work/"), ("answers", "/work/history/"), ("me", "/me")):
        page.goto(path)
        assert page.evaluate(GROUND) == DARK, path
        shot(page, f"dark-{name}-{size}", full_page=True)
        assert find_violations(page) == "", path


def test_the_choice_wins_over_the_device_and_stays_on_it(open_as: OpenAs, nour: User, world: World) -> None:
    page = open_as(nour, color_scheme="light")
    page.goto("/me")
    assert page.evaluate(GROUND) == LIGHT
    page.get_by_role("button", name="Dark", exact=True).click()
    page.wait_for_url("**/me")
    expect(page.get_by_role("button", name="Dark", exact=True)).to_have_attribute("aria-current", "true")
    assert page.evaluate(GROUND) == DARK
    page.goto("/work/")
    assert page.evaluate(GROUND) == DARK
    page.goto("/me")
    page.get_by_role("button", name="Light", exact=True).click()
    page.wait_for_url("**/me")
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(GROUND) == LIGHT

    researcher = open_as(world.mara, color_scheme="dark")
    researcher.goto(f"/b/{world.benchmark.slug}/")
    assert researcher.evaluate(GROUND) == LIGHT, "researchers' pages have one set of colours"
