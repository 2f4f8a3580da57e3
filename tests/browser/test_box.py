"""A box by mouse and by touch, at three zooms and after a resize; its limits, its drafts, its languages."""

import io
from collections.abc import Callable
from typing import Any

import pytest
from PIL import Image as Pillow
from playwright.sync_api import Page, expect

from annotation.models import Annotation, Campaign, Draft
from benchmarks.images.pictures import inspect
from benchmarks.models import Image
from people.models import User
from tests.browser.box_steps import (
    SIZE,
    TARGET,
    asks_boxes,
    assert_at,
    assert_drawn_at,
    drag,
    finger,
    open_sheet,
    pixels,
    screen,
    touches,
    typed_boxes,
)
from tests.browser.conftest import PHONE, attach, until_sent, wait_until
from tests.browser.test_rating import assignment_on, find_violations
from tests.pictures import turned_jpeg

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
OpenAs = Callable[..., Page]
Shot = Callable[..., None]
TOP_LEFT, BOTTOM_RIGHT = TARGET[:2], TARGET[2:]


@pytest.fixture
def boxed(campaign: Campaign) -> Campaign:
    return asks_boxes(campaign)


def submit_sheet(page: Page) -> None:
    before = assignment_on(page)
    page.get_by_role("button", name="Submit").click()
    wait_until(page, "before => document.getElementById('bench').dataset.assignment !== before", before)
    until_sent(page)


@pytest.mark.parametrize("closer", [0, 1, 2], ids=["whole", "1.6", "2.5"])
def test_by_mouse(open_as: OpenAs, boxed: Campaign, nour: User, closer: int, shot: Shot) -> None:
    page = open_as(nour)
    open_sheet(page, boxed)
    for _time in range(closer):
        page.keyboard.press("+")
    drag(page, BOTTOM_RIGHT, TOP_LEFT)  # from any corner
    assert_at(page, TARGET)
    page.set_viewport_size({"width": 1100, "height": 700})
    assert_at(page, TARGET)
    assert_drawn_at(page, TOP_LEFT)
    drag(page, (497, 380), (477, 360))  # as a whole
    assert_at(page, tuple(one - 20 for one in TARGET))
    drag(page, (BOTTOM_RIGHT[0] - 20, BOTTOM_RIGHT[1] - 20), BOTTOM_RIGHT)  # by a corner
    drag(page, (TOP_LEFT[0] - 20, 360), (TOP_LEFT[0], 366))  # by a side: what is across does not count
    drag(page, (500, TOP_LEFT[1] - 20), (500, TOP_LEFT[1]))
    assert_at(page, TARGET)
    shot(page, f"box-mouse-{closer}")
    submit_sheet(page)
    answer = Annotation.objects.get().answers["place"]
    assert answer == [
        {"x0": 0.431, "y0": pytest.approx(322 / 750, abs=5e-5), "x1": 0.563, "y1": pytest.approx(437 / 750, abs=5e-5)}
    ]
    expect(page.locator("#undo")).to_contain_text("across")


@pytest.mark.parametrize("closer", [0, 1, 2], ids=["whole", "1.6", "2.5"])
def test_by_touch(open_as: OpenAs, boxed: Campaign, nour: User, closer: int, shot: Shot) -> None:
    page = open_as(nour, **PHONE)
    open_sheet(page, boxed)
    for _time in range(closer):
        page.get_by_role("button", name="More").tap()
        page.locator("[data-zoom=in]").tap()
    hand = finger(page, TOP_LEFT, (540, 410), lift=False)
    expect(page.locator(".loupe")).to_be_visible()
    page.wait_for_timeout(200)
    shot(page, f"box-touch-{closer}-drawing")
    touches(hand, "touchEnd")
    expect(page.locator(".loupe")).to_have_count(0)
    finger(page, (540, 410), BOTTOM_RIGHT)
    assert_at(page, TARGET)
    page.set_viewport_size({"width": 360, "height": 780})
    assert_at(page, TARGET)
    shot(page, f"box-touch-{closer}")
    hit = page.locator("svg.boxes .hand:not(.off) .hit").first.bounding_box()
    assert hit and min(hit["width"], hit["height"]) >= 43.5


TOO_LARGE = ((40, 40), (960, 710))  # 82 % of the picture; the sheet takes less than 30 %


def test_drag_inside_too_large_box_redraws_it(open_as: OpenAs, boxed: Campaign, nour: User) -> None:
    page = open_as(nour)
    open_sheet(page, boxed)
    drag(page, *TOO_LARGE)
    body = page.locator("svg.boxes .box .body")
    expect(body).to_have_css("cursor", "crosshair")
    drag(page, TOP_LEFT, BOTTOM_RIGHT)
    assert_at(page, TARGET)
    expect(body).to_have_css("cursor", "move")
    drag(page, (497, 380), (477, 360))
    assert_at(page, tuple(one - 20 for one in TARGET))  # one that fits is moved, as before


def test_a_click_in_a_large_box_leaves_it_and_its_border_sizes_it(open_as: OpenAs, boxed: Campaign, nour: User) -> None:
    page = open_as(nour)
    open_sheet(page, boxed)
    drag(page, *TOO_LARGE)
    page.mouse.click(*screen(page, 500, 300))
    drag(page, (500, 300), (502, 301))  # too short to be a box
    assert_at(page, (40, 40, 960, 710))
    drag(page, (960, 375), (800, 375))  # by its right side
    assert_at(page, (40, 40, 800, 710))
    page.keyboard.press("Control+z")
    assert_at(page, (40, 40, 960, 710))


def test_where_a_large_box_may_stay_a_drag_inside_draws_another(
    open_as: OpenAs, campaign: Campaign, nour: User
) -> None:
    asks_boxes(campaign, max_area=None, most=2)
    page = open_as(nour)
    open_sheet(page, campaign)
    drag(page, *TOO_LARGE)
    drag(page, TOP_LEFT, BOTTOM_RIGHT)
    assert_at(page, (40, 40, 960, 710), TARGET)


def test_touch_inside_too_large_box_redraws_it(open_as: OpenAs, boxed: Campaign, nour: User) -> None:
    page = open_as(nour, **PHONE)
    open_sheet(page, boxed)
    finger(page, *TOO_LARGE)
    finger(page, TOP_LEFT, BOTTOM_RIGHT)
    assert_at(page, TARGET)


def test_two_fingers_bring_the_picture_closer_and_draw_nothing(open_as: OpenAs, boxed: Campaign, nour: User) -> None:
    page = open_as(nour, **PHONE)
    open_sheet(page, boxed)
    hand = finger(page, (300, 300), (400, 400), lift=False)
    assert pixels(page)
    one, two = screen(page, 400, 400), screen(page, 600, 400)
    touches(hand, "touchStart", one, two)
    touches(hand, "touchMove", (one[0] - 40, one[1]), (two[0] + 40, two[1]))
    touches(hand, "touchEnd")
    assert typed_boxes(page) == []
    assert "scale" in (page.locator(".view [data-zooms], .view > img").first.get_attribute("style") or "")
    finger(page, TOP_LEFT, BOTTOM_RIGHT)
    assert_at(page, TARGET)


def test_limits_speak_at_once_and_hold_the_sheet(open_as: OpenAs, boxed: Campaign, nour: User, shot: Shot) -> None:
    page = open_as(nour)
    open_sheet(page, boxed)
    expect(page.locator("[data-gate=max]")).to_contain_text("not drawn yet, less than 30 %")
    expect(page.locator(".fact")).to_contain_text("Other things in the picture: 14, at least 3")
    drag(page, (158, 154), (792, 539))
    expect(page.locator("[data-gate=max]")).to_contain_text("32.5 %, less than 30 %")
    expect(page.locator("[data-halt=max]")).to_be_visible()
    expect(page.locator("[data-gate=max] .ruler")).to_have_attribute("aria-valuenow", "33")
    go = page.get_by_role("button", name="Submit")
    expect(go).to_have_attribute("aria-disabled", "true")
    page.wait_for_timeout(300)
    shot(page, "box-too-large-desktop")
    assert find_violations(page) == ""
    page.keyboard.press("Enter")
    expect(page.locator("#said")).to_contain_text("The box is too large.")
    assert not Annotation.objects.exists()
    drag(page, (792, 539), (600, 539))
    expect(page.locator("[data-halt=max]")).to_be_hidden()
    expect(go).not_to_have_attribute("aria-disabled", "true")
    page.locator("[value=yes]").focus()
    submit_sheet(page)


def test_a_reload_brings_the_box_back_and_undo_too(open_as: OpenAs, boxed: Campaign, nour: User) -> None:
    page = open_as(nour)
    open_sheet(page, boxed)
    drag(page, TOP_LEFT, BOTTOM_RIGHT)
    page.reload()  # at once: from this device
    open_sheet(page, boxed)
    assert_at(page, TARGET)
    expect(page.locator("svg.boxes .box")).to_have_count(1)
    for _time in range(200):
        if Draft.objects.exists():
            break
        page.wait_for_timeout(50)
    page.evaluate("localStorage.clear()")
    page.goto("/work/")
    open_sheet(page, boxed)  # from the server
    assert_at(page, TARGET)
    submit_sheet(page)
    assert typed_boxes(page) == []
    before = assignment_on(page)
    page.keyboard.press("u")
    wait_until(page, "before => document.getElementById('bench').dataset.assignment !== before", before)
    assert_at(page, TARGET)
    expect(page.locator("svg.boxes .box")).to_have_count(1)


def test_without_a_script_numbers_do(open_as: OpenAs, boxed: Campaign, nour: User, shot: Shot) -> None:
    page = open_as(nour, java_script_enabled=False)
    page.goto(f"/work/{boxed.pk}/")
    for name, value in zip(("Left", "Top", "Right", "Bottom"), ("15,8", "٢٠٫٥", "79.2 %", "71.8"), strict=True):
        page.get_by_label(name, exact=True).fill(value)
    page.get_by_role("button", name="Submit").click()
    expect(page.locator("#e-place")).to_contain_text("The box is too large.")
    assert typed_boxes(page) == [["15.8", "20.5", "79.2", "71.8"]]
    page.get_by_label("Right", exact=True).fill("wide")
    page.get_by_role("button", name="Submit").click()
    expect(page.locator("#e-place")).to_contain_text("not a number")
    assert typed_boxes(page) == [["15.8", "20.5", "wide", "71.8"]]
    shot(page, "box-refused-desktop")
    page.get_by_label("Right", exact=True).fill("٤٠")
    page.get_by_role("button", name="Submit").click()
    expect(page.locator("#undo")).to_contain_text("12.4 % of the picture")
    assert Annotation.objects.get().answers["place"] == [{"x0": 0.158, "y0": 0.205, "x1": 0.4, "y1": 0.718}]


@pytest.mark.parametrize("how", [{}, PHONE], ids=["desktop", "phone"])
def test_in_arabic_the_picture_does_not_mirror(
    open_as: OpenAs, boxed: Campaign, nour: User, how: dict[str, Any], shot: Shot
) -> None:
    nour.language = "ar"
    nour.save()
    page = open_as(nour, **how)
    open_sheet(page, boxed)
    (finger if how else drag)(page, TOP_LEFT, BOTTOM_RIGHT)
    assert_at(page, TARGET)
    inputs = page.locator("[name=a-place]")
    left, right = inputs.nth(0).bounding_box(), inputs.nth(2).bounding_box()
    assert left and right and left["x"] < right["x"]
    inputs.nth(0).fill("٤٠٫٥")
    drawn = page.locator("svg.boxes .box .body").bounding_box()
    assert drawn and drawn["x"] == pytest.approx(screen(page, 405, 0)[0], abs=0.5)
    page.wait_for_timeout(300)
    shot(page, f"box-ar-{'phone' if how else 'desktop'}", full_page=bool(how))
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert find_violations(page) == ""


def test_a_fact_that_is_not_reached_halts_and_one_not_known_does_not(
    open_as: OpenAs, campaign: Campaign, nour: User, bia: User
) -> None:
    asks_boxes(campaign, objects=2)
    page = open_as(nour)
    open_sheet(page, campaign)
    drag(page, TOP_LEFT, BOTTOM_RIGHT)
    expect(page.locator("[data-halt=fact]")).to_contain_text("2 found, at least 3 needed")
    expect(page.get_by_role("button", name="Submit")).to_have_attribute("aria-disabled", "true")
    campaign.stage.items.first().facts.model.objects.all().delete()
    page.reload()
    open_sheet(page, campaign)
    expect(page.locator(".fact")).to_contain_text("not known yet, at least 3")
    submit_sheet(page)


def test_the_phone_sheet_fits_and_axe_finds_nothing(open_as: OpenAs, boxed: Campaign, nour: User, shot: Shot) -> None:
    page = open_as(nour, **PHONE)
    open_sheet(page, boxed)
    finger(page, (158, 154), (792, 539))
    page.wait_for_timeout(300)
    shot(page, "box-phone")
    page.mouse.wheel(0, 2000)
    shot(page, "box-phone-end")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert find_violations(page) == ""


def test_a_picture_taken_on_its_side_is_measured_upright(open_as: OpenAs, boxed: Campaign, nour: User) -> None:
    data = turned_jpeg(6, *SIZE)
    read = inspect(data, 10**7)
    assert (read.width, read.height) == SIZE
    for item in boxed.stage.items.all():
        item.images.all().delete()
        attach(item, data)
    Image.objects.filter(uses__item__stage=boxed.stage).update(width=read.width, height=read.height)
    page = open_as(nour)
    open_sheet(page, boxed)
    drag(page, (510, 5), (990, 370))  # the quarter that is green when the picture is upright
    page.keyboard.press("Escape")
    seen = Pillow.open(io.BytesIO(page.screenshot()))
    red, green, blue = seen.convert("RGB").getpixel(tuple(map(round, screen(page, 750, 187))))
    assert green > 200 > 100 > max(red, blue)
    assert_at(page, (510, 5, 990, 370))
