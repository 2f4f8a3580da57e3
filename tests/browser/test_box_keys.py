"""A box by keys alone: made, moved, sized, said, taken back; several of them; the same numbers as by hand."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Annotation, Campaign
from people.models import User
from tests.browser.box_steps import TARGET, asks_boxes, assert_at, by_keys, drag, open_sheet, pixels, typed_boxes
from tests.browser.conftest import wait_until
from tests.browser.test_rating import answered, find_violations

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
OpenAs = Callable[..., Page]
Shot = Callable[..., None]


@pytest.mark.parametrize("closer", [0, 1, 2], ids=["whole", "1.6", "2.5"])
def test_keys_reach_every_pixel(open_as: OpenAs, campaign: Campaign, nour: User, closer: int, shot: Shot) -> None:
    asks_boxes(campaign)
    page = open_as(nour)
    open_sheet(page, campaign)
    for _time in range(closer):
        page.keyboard.press("+")
    page.keyboard.press("n")
    expect(page.locator("#said")).to_contain_text("Box 1 of 1, from 35.0 % to 65.0 % across")
    by_keys(page, TARGET)
    assert_at(page, TARGET)
    expect(page.locator("#said")).to_contain_text(
        "Box 1 of 1, from 43.1 % to 56.3 % across and from 42.9 % to 58.3 % down."
    )
    expect(page.locator("svg.boxes .box")).to_have_attribute(
        "aria-label", "Box 1 of 1, from 43.1 % to 56.3 % across and from 42.9 % to 58.3 % down."
    )
    page.set_viewport_size({"width": 1000, "height": 640})
    assert_at(page, TARGET)
    shot(page, f"box-keys-{closer}")
    answered(page, lambda: page.keyboard.press("Enter"))
    assert Annotation.objects.get().answers["place"][0]["x0"] == 0.431


def test_a_held_key_moves_on_and_the_edge_stops_it(open_as: OpenAs, campaign: Campaign, nour: User) -> None:
    asks_boxes(campaign)
    page = open_as(nour)
    open_sheet(page, campaign)
    page.keyboard.press("n")
    for _time in range(80):
        page.keyboard.down("ArrowRight")  # repeats
    page.keyboard.up("ArrowRight")
    assert_at(page, (700, 263, 1000, 488))
    for _time in range(80):
        page.keyboard.down("Shift")
        page.keyboard.down("ArrowUp")
    page.keyboard.up("Shift")
    assert pixels(page)[0][3] > pixels(page)[0][1]
    page.keyboard.press("Control+z")
    assert_at(page, (700, 263, 1000, 488))  # all of one held key
    page.keyboard.press("Control+z")
    assert_at(page, (350, 263, 650, 488))
    page.keyboard.press("Control+z")
    assert typed_boxes(page) == []
    expect(page.locator("#said")).to_have_text("Undone. No box yet.")


def test_several_boxes(open_as: OpenAs, campaign: Campaign, nour: User, shot: Shot) -> None:
    asks_boxes(campaign, least=2, most=3)
    page = open_as(nour)
    open_sheet(page, campaign)
    expect(page.locator("[data-row]:visible")).to_have_count(2)
    page.keyboard.press("n")
    expect(page.locator("[data-halt=count]")).to_be_visible()
    page.keyboard.press("n")
    expect(page.locator("[data-halt=count]")).to_be_hidden()
    expect(page.locator("#said")).to_contain_text("Box 2 of 2")
    drag(page, (50, 600), (150, 700))
    expect(page.locator("svg.boxes .box")).to_have_count(3)
    page.keyboard.press("n")
    expect(page.locator("#said")).to_contain_text("You cannot add another box.")
    page.keyboard.press("]")
    page.keyboard.press("ArrowLeft")
    assert pixels(page)[0][0] == 340
    page.keyboard.press("[")
    page.keyboard.press("ArrowLeft")
    assert pixels(page)[2][0] == 40
    page.keyboard.press("Tab")  # on from the last: to the page's next control
    page.keyboard.press("Shift+Tab")
    page.wait_for_timeout(300)
    shot(page, "box-several-desktop")
    assert find_violations(page) == ""
    page.keyboard.press("[")
    page.keyboard.press("Delete")
    expect(page.locator("svg.boxes .box")).to_have_count(2)
    expect(page.locator("#said")).to_have_text("Box removed.")
    page.keyboard.press("Control+z")
    expect(page.locator("svg.boxes .box")).to_have_count(3)
    answered(page, lambda: page.keyboard.press("Enter"))
    assert len(Annotation.objects.get().answers["place"]) == 3
    wait_until(page, "document.querySelectorAll('svg.boxes .box').length === 0")


def test_keys_typed_into_a_number_stay_there(open_as: OpenAs, campaign: Campaign, nour: User) -> None:
    asks_boxes(campaign)
    page = open_as(nour)
    open_sheet(page, campaign)
    for name, value in zip(("Left", "Top", "Right", "Bottom"), ("43.1", "42,933", "56.3", "٥٨٫٢٦٧"), strict=True):
        page.get_by_label(name, exact=True).press_sequentially(value)
    expect(page.locator("svg.boxes .box")).to_have_count(1)
    page.get_by_label("Left", exact=True).press("Delete")
    page.get_by_label("Left", exact=True).press("n")
    expect(page.locator("svg.boxes .box")).to_have_count(0)
    page.get_by_label("Left", exact=True).fill("43.1")
    answered(page, lambda: page.keyboard.press("Control+Enter"))
    found = Annotation.objects.get().answers["place"][0]
    assert [found["y0"], found["y1"]] == [0.42933, 0.58267]
