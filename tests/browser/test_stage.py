"""Looking closer: by wheel, by two fingers, by keys; the point under them stays where it is."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Campaign
from people.models import User
from tests.browser.conftest import PHONE, until_sheet_ready, wait_until
from tests.browser.test_rating import wait_for_images

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
OpenAs = Callable[..., Page]


def under(page: Page, x: float, y: float) -> tuple[float, float]:
    """Which point of the picture lies there, as shares of its width and height."""
    box = page.locator(".view img").bounding_box()
    assert box
    return (x - box["x"]) / box["width"], (y - box["y"]) / box["height"]


def width(page: Page) -> float:
    box = page.locator(".view img").bounding_box()
    assert box
    return box["width"]


def until_at_rest(page: Page) -> tuple[float, float]:
    """The point under (500, 300) once the picture has stood still for a quarter of a second."""
    before = under(page, 500, 300)
    for _time in range(40):
        page.wait_for_timeout(250)
        after = under(page, 500, 300)
        if after == before:
            return after
        before = after
    raise AssertionError("the picture does not come to rest")


def test_the_wheel_keeps_the_point_under_the_pointer(open_as: OpenAs, campaign: Campaign, nour: User) -> None:
    page = open_as(nour)
    page.goto(f"/work/{campaign.pk}/")
    wait_for_images(page)
    until_sheet_ready(page)
    wait_until(page, "document.fonts.status === 'loaded'")
    page.wait_for_load_state("networkidle")  # what loads later still moves the picture
    before = until_at_rest(page)
    whole = width(page)
    page.mouse.move(500, 300)
    page.mouse.wheel(0, -400)
    wait_until(page, "document.getElementById('view').classList.contains('close')")
    assert width(page) > 2 * whole
    assert until_at_rest(page) == pytest.approx(before, abs=0.002)
    page.set_viewport_size({"width": 1100, "height": 700})
    assert width(page) > page.locator("#view").bounding_box()["width"]  # still close, and still there
    page.keyboard.press("z")
    wait_until(page, "!document.getElementById('view').classList.contains('close')")


def test_two_fingers_bring_it_closer_and_one_moves_it(open_as: OpenAs, campaign: Campaign, nour: User) -> None:
    page = open_as(nour, **PHONE)
    page.goto(f"/work/{campaign.pk}/")
    wait_for_images(page)
    whole = width(page)
    cdp = page.context.new_cdp_session(page)

    def touch(kind: str, *points: tuple[int, int]) -> None:
        if kind == "touchEnd":
            page.wait_for_timeout(
                150
            )  # the fingers rest: lifted in motion they fling, and a fling swallows the next tap
        rows = [{"x": x, "y": y, "id": number} for number, (x, y) in enumerate(points)]
        cdp.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": rows})

    touch("touchStart", (150, 200))
    touch("touchStart", (150, 200), (230, 200))
    for spread in (10, 20, 40):
        touch("touchMove", (150 - spread, 200), (230 + spread, 200))
    touch("touchEnd")
    assert width(page) == pytest.approx(2 * whole, rel=0.05)
    left = page.locator(".view img").bounding_box()["x"]
    touch("touchStart", (200, 200))
    for step in (10, 20, 30):
        touch("touchMove", (200 + step, 200))
    touch("touchEnd")
    assert page.locator(".view img").bounding_box()["x"] == pytest.approx(left + 30, abs=2)
    assert page.evaluate("scrollY") == 0
    page.get_by_role("button", name="More").tap()
    page.get_by_role("button", name="Whole picture").tap()
    expect(page.locator("#view")).not_to_have_class("view close")
    assert width(page) == pytest.approx(whole)
