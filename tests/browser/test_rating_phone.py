"""A rating on a phone: every level in view with the picture, whatever the screen, and nothing moves."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Annotation, Campaign
from people.models import User
from tests.browser.conftest import PHONE, until_sheet_ready, wait_until
from tests.browser.test_rating import answered, wait_for_images
from tests.personas import World
from tests.workflows import every_workflow

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
OpenAs = Callable[..., Page]
Shot = Callable[..., None]
SCREENS = [(390, 844), (360, 740), (360, 640)]
IN_VIEW = """() => {
  const foot = document.querySelector('.acts').getBoundingClientRect().top;
  return [...document.querySelectorAll('.panel .scale .opt')].map(label => {
    const box = label.getBoundingClientRect();
    return box.top >= 0 && box.bottom <= foot && box.height >= 44;
  });
}"""
PLACES = (
    "() => [...document.querySelectorAll('.panel .scale .opt, .acts, .view')].map(e => e.getBoundingClientRect().top)"
)


def phone(width: int, height: int) -> dict[str, Any]:
    return {**PHONE, "viewport": {"width": width, "height": height}, "screen": {"width": width, "height": height}}


def opened(open_as: OpenAs, campaign: Campaign, nour: User, **how: Any) -> Page:
    page = open_as(nour, **how)
    page.goto(f"/work/{campaign.pk}/")
    if page.get_by_role("button", name="I have read this").count():
        page.get_by_role("button", name="I have read this").tap()
        page.wait_for_url(f"/work/{campaign.pk}/")
    until_sheet_ready(page)
    wait_for_images(page)
    return page


@pytest.mark.parametrize("language", ["en", "ar"])
def test_all_levels_are_in_view_on_every_phone(
    open_as: OpenAs, campaign: Campaign, nour: User, shot: Shot, language: str
) -> None:
    nour.language = language
    nour.save()
    page = opened(open_as, campaign, nour, **phone(390, 844))
    for width, height in SCREENS:
        page.set_viewport_size({"width": width, "height": height})
        assert page.evaluate(IN_VIEW) == [True] * 5, (width, height)
        assert page.evaluate("document.documentElement.scrollHeight <= innerHeight")
        assert page.locator(".view img").bounding_box()["height"] >= 140  # type: ignore[index]
        shot(page, f"rating-{width}x{height}-{language}")


def test_nothing_moves_when_a_level_is_chosen_or_read(
    open_as: OpenAs, campaign: Campaign, nour: User, shot: Shot
) -> None:
    page = opened(open_as, campaign, nour, **phone(360, 640))
    before, means = page.evaluate(PLACES), page.locator(".means")
    expect(means).to_contain_text("Tap a level")
    for code, definition in (("5", "It could hardly be from anywhere else."), ("2", "There is a slight link.")):
        page.locator(f".opt:has([value='{code}'])").tap()
        expect(means).to_contain_text(definition)
        assert page.evaluate(PLACES) == before
    shot(page, "rating-chosen-360x640")


def test_a_held_level_is_read_and_not_chosen(open_as: OpenAs, campaign: Campaign, nour: User) -> None:
    page = opened(open_as, campaign, nour, **phone(390, 844))
    level = page.locator(".opt:has([value='4'])")
    level.dispatch_event("pointerdown", {"pointerType": "touch"})
    expect(page.locator(".means")).to_contain_text("Much of it belongs")
    level.dispatch_event("pointerup", {"pointerType": "touch"})
    level.locator("input").dispatch_event("click")
    expect(page.locator("[name=a-relevance]:checked")).to_have_count(0)
    level.tap()
    expect(page.locator("[name=a-relevance]:checked")).to_have_value("4")


def test_one_tap_for_a_level_and_one_to_submit(open_as: OpenAs, campaign: Campaign, nour: User, shot: Shot) -> None:
    page = opened(open_as, campaign, nour, **phone(390, 844))
    gauge = page.locator("#gauge").bounding_box()
    for code in "314":
        before = page.evaluate(PLACES)
        page.locator(f".opt:has([value='{code}'])").tap()
        answered(page, lambda: page.locator(".acts .go").tap())
        wait_for_images(page)
        assert page.evaluate(PLACES) == before  # Submit and all levels stay where they were
        expect(page.locator("#undo")).to_be_visible()
        expect(page.locator("#saved")).to_contain_text("Saved")
        assert page.locator("#gauge").bounding_box() == gauge
    shot(page, "rating-undo-390x844")
    boxes = [page.locator(part).bounding_box() for part in ("#undo", "#saved")]
    assert boxes[0] and boxes[1] and boxes[0]["y"] > boxes[1]["y"] + boxes[1]["height"]  # it does not cover "Saved"
    answered(page, lambda: page.locator("#undo button:not(.close)").tap())
    expect(page.locator("[name=a-relevance]:checked")).to_have_value("4")
    assert Annotation.objects.filter(live=True).count() == 2


def test_tools_are_folded_until_they_are_asked_for(open_as: OpenAs, campaign: Campaign, nour: User, shot: Shot) -> None:
    page = opened(open_as, campaign, nour, **phone(390, 844))
    expect(page.locator("#tools")).to_be_hidden()
    page.get_by_role("button", name="More").tap()
    expect(page.locator("#tools")).to_be_visible()
    shot(page, "rating-tools-390x844")
    page.locator("#tools [data-zoom=in]").tap()
    expect(page.locator("#tools")).to_be_hidden()
    assert "scale(1.6)" in (page.locator(".view img").get_attribute("style") or "")
    page.get_by_role("button", name="More").tap()
    page.get_by_role("link", name="Instructions and keys").tap()
    expect(page.locator("#help")).to_contain_text("Look at the whole picture first.")


def test_device_and_levels_in_view_are_stored_with_the_answer(open_as: OpenAs, campaign: Campaign, nour: User) -> None:
    page = opened(open_as, campaign, nour, **phone(390, 844))
    page.locator(".opt:has([value='4'])").tap()
    answered(page, lambda: page.locator(".acts .go").tap())
    view = {"device": "phone", "width": 390, "height": 844, "levels": {"relevance": [5, 5]}}
    assert Annotation.objects.get().trace == {"view": view}
    wide = opened(open_as, campaign, nour)
    wait_until(wide, "document.getElementById('main').elements.view.value !== ''")
    wide.keyboard.press("2")
    answered(wide, lambda: wide.keyboard.press("Enter"))
    assert Annotation.objects.latest("pk").trace["view"]["device"] == "computer"


SMALL = ((360, 640), (390, 844))
SUBMIT = """() => {
  const { top, bottom } = document.querySelector('.acts .go').getBoundingClientRect();
  return [top, bottom];
}"""
SIDEWAYS = """() => [...document.querySelectorAll("html, .tools, .view, .panel, .body, .acts")]
  .filter(part => part.offsetWidth && part.scrollWidth > part.clientWidth + 1)
  .map(part => part.className || part.tagName)"""
OUT_OF_VIEW = """() => {
  const foot = document.querySelector('.acts').getBoundingClientRect().top;
  const stage = document.querySelector('.stage');
  const head = getComputedStyle(stage).position === 'sticky' ? stage.offsetHeight : 0;
  const single = document.querySelector('.bench.single') !== null;
  const scales = [...document.querySelectorAll('.panel [data-field]:has([type=radio])')].filter(f => f.offsetHeight);
  return scales.filter(field => {
    const boxes = [...field.querySelectorAll('label:has([type=radio])')].map(label => label.getBoundingClientRect());
    const [top, bottom] = [Math.min(...boxes.map(box => box.top)), Math.max(...boxes.map(box => box.bottom))];
    const whole = single ? top >= 0 && bottom <= foot + 1 : bottom - top <= foot - head;
    return !whole || boxes.some(box => box.height < 44);
  }).map(field => field.dataset.field);
}"""


def test_the_next_sheet_is_measured_though_the_one_before_was_scrolled(
    open_as: OpenAs, campaign: Campaign, nour: User
) -> None:
    page = opened(open_as, campaign, nour, **phone(320, 400))  # not all of it has room
    page.evaluate("document.body.style.paddingBottom = '2000px'")
    page.mouse.wheel(0, 300)
    wait_until(page, "scrollY > 0")
    page.locator(".panel [value='4']").check(force=True)
    answered(page, lambda: page.keyboard.press("Enter"))
    wait_until(page, "scrollY === 0")
    wait_for_images(page)
    page.wait_for_timeout(300)
    assert page.evaluate("document.getElementById('main').elements.view.value") != ""


def test_every_scale_of_the_recipes_is_whole_on_a_phone(
    open_as: OpenAs, world: World, media: None, nour: User, shot: Shot
) -> None:
    """A question alone is in view as the sheet opens; of several, each when the page comes to it. Nothing scrolls
    sideways, and Submit stands where it stands on every other sheet."""
    campaigns = every_workflow(world)
    asked, places = set(), set()
    for width, height in SMALL:
        page = open_as(nour, **phone(width, height))
        for key, campaign in campaigns.items():
            page.goto(f"/work/{campaign.pk}/")
            until_sheet_ready(page)
            wait_for_images(page)
            shot(page, f"scale-{key}-{width}x{height}")
            places.add((width, tuple(page.evaluate(SUBMIT))))
            assert page.evaluate(SIDEWAYS) == [], (key, width)
            if not page.locator(".panel [data-field] [type=radio]").count():
                continue
            assert page.evaluate(OUT_OF_VIEW) == [], (key, width, height)
            asked.add(key)
    assert len(asked) >= 8, asked
    assert len(places) == len(SMALL), "Submit is at the same place on every kind of sheet"
    assert all(bottom <= height for (_, (_, bottom)), (_, height) in zip(sorted(places), sorted(SMALL), strict=True))
