"""The sheet that settles: the answers without names, a choice among them or another answer, and a reason."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Resolution
from people.models import Rater, User
from tests.annotation.chain.disputed_scene import Disputes, lower
from tests.browser.conftest import PHONE, attach, drawings, until_sheet_ready
from tests.personas import World

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
Shot = Callable[..., None]


def test_two_boxes_are_shown_by_number_and_one_is_chosen_with_a_reason(
    world: World, live_server: Any, media: None, open_as: Callable[..., Page], shot: Shot
) -> None:
    scene = Disputes(world.benchmark, cohort=world.egypt)
    for item, picture in zip(scene.boxes.items.all(), drawings(1), strict=True):
        attach(item, picture)
    scene.draw_both(lower(0.3))
    address = f"/work/{scene.campaigns['settling'].pk}/"
    for name, code, how in (("phone", "en", PHONE), ("ar", "ar", {})):
        User.objects.filter(pk=world.nour.pk).update(language=code)
        page = open_as(world.nour, **how)
        page.goto(address)
        until_sheet_ready(page)
        shot(page, f"dispute-{name}", full_page=True)
    User.objects.filter(pk=world.nour.pk).update(language="en")
    page = open_as(world.nour)
    page.goto(address)
    until_sheet_ready(page)
    expect(page.locator(".dispute")).to_contain_text("Answer 1")
    expect(page.locator(".dispute")).to_contain_text("Answer 2")
    expect(page.locator(".dispute svg rect")).to_have_count(4)
    expect(page.locator("[data-field=box]")).to_be_hidden()
    page.keyboard.press("2")
    page.mouse.move(200, 300)
    page.mouse.down()
    page.mouse.move(400, 500, steps=4)
    page.mouse.up()
    page.keyboard.press("3")  # another box, of which nothing is drawn yet
    expect(page.locator("[data-field=box] input[name=a-box]").first).to_have_value("")
    page.keyboard.press("2")
    expect(page.locator("[name$=decision][value='2']")).to_be_checked()
    expect(page.locator("#main .go")).to_have_attribute("aria-disabled", "true")  # a reason is still missing
    page.locator("[data-field=reason] textarea").fill("It takes in all of it")
    shot(page, "dispute", full_page=True)
    page.locator("#main .go").click()
    expect(page.locator(".dispute")).to_have_count(0)
    resolution = Resolution.objects.get(live=True)
    assert resolution.reason == "It takes in all of it" and resolution.by == Rater.objects.get(user=world.nour)
