"""Reviewing a pair of pictures: keys, touch, score and verdict, blink and swap, right to left."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Annotation, Campaign
from people.models import User
from tests.browser.conftest import PHONE, covered_keys
from tests.browser.stage_setup import apply_recipe_stage, create_items, create_open_campaign
from tests.browser.test_rating import answered, find_violations, wait_for_images
from tests.personas import World

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
OpenAs = Callable[..., Page]
Shot = Callable[..., None]
QUESTION = (
    "Generally speaking, would you say that most people can be trusted, or that you need to be very careful in dealing "
    "with people?"
)
PAIR = {"option_a": "Most people can be trusted", "option_b": "Need to be very careful"}


@pytest.fixture
def pairs(world: World, live_server: Any, media: None) -> Campaign:
    apply_recipe_stage(world.stage, "valueground", "pair-review")
    create_items(world, ("a", "b"), text=QUESTION, context=PAIR)
    return create_open_campaign(world)


def transform(page: Page, side: str) -> str:
    return page.locator(f"[data-side={side}] [data-zooms]").evaluate("e => getComputedStyle(e).transform")


def share(page: Page, side: str) -> list[float]:
    """How much closer, and how far aside in widths and heights of the picture's own."""
    own: list[float] = page.locator(f"[data-side={side}] [data-zooms]").evaluate(
        "e => { const m = new DOMMatrix(getComputedStyle(e).transform);"
        " return [m.a, m.e / e.offsetWidth, m.f / e.offsetHeight] }"
    )
    return own


def too_narrow(page: Page) -> list[str]:
    """Buttons of the strip whose words do not fit into them."""
    buttons: list[str] = page.locator(".tools .btn").evaluate_all(
        "all => all.filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.textContent)"
    )
    return buttons


def test_a_pair_is_judged_by_keys_alone(open_as: OpenAs, pairs: Campaign, nour: User, shot: Shot) -> None:
    page = open_as(nour)
    page.goto(f"/work/{pairs.pk}/")
    wait_for_images(page)
    expect(page.locator(".duo")).to_contain_text(QUESTION)
    expect(page.locator("[data-side=b] figcaption")).to_have_text("B Need to be very careful")
    for key in "221":
        page.keyboard.press(key)
    expect(page.locator("[data-field=no_cue]")).to_have_attribute("aria-current", "true")  # digits go there now
    page.keyboard.press("1")
    for trace in ("0.88", "rule 1", "The pictures are alike in all else"):
        assert trace not in page.content(), "what a rule makes of an answer is not seen before it is given"
    shot(page, "pair-desktop")
    assert find_violations(page) == ""
    answered(page, lambda: page.keyboard.press("Control+Enter"))
    kept = Annotation.objects.get()
    assert kept.answers == {"match_a": "2", "match_b": "2", "pair_match": "1", "no_cue": "1"}


def test_blink_swap_and_zoom_in_step(open_as: OpenAs, pairs: Campaign, nour: User, shot: Shot) -> None:
    page = open_as(nour)
    page.goto(f"/work/{pairs.pk}/")
    wait_for_images(page)
    a, b = (page.locator(f"[data-side={side}] img").first for side in "ab")
    over = page.locator(".over")
    assert a.bounding_box()["width"] == b.bounding_box()["width"]
    expect(over).to_be_hidden()
    page.keyboard.down("b")
    expect(over).to_be_visible()
    assert over.evaluate("e => e.currentSrc") == b.evaluate("e => e.currentSrc")
    assert over.bounding_box() == a.bounding_box()
    shot(page, "pair-blink-desktop")
    page.keyboard.up("b")
    expect(over).to_be_hidden()
    page.keyboard.press("x")
    assert a.bounding_box()["x"] > b.bounding_box()["x"]
    expect(page.locator("[data-swap]")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("x")
    page.keyboard.press("+")
    page.keyboard.press("+")
    assert transform(page, "a") == transform(page, "b") != "none"
    page.mouse.move(200, 400)
    page.mouse.down()
    page.mouse.move(260, 430, steps=3)
    page.mouse.up()
    assert share(page, "a") == pytest.approx(share(page, "b"), abs=1e-4)  # in step, whichever of them is the taller
    moved = transform(page, "a").removesuffix(")").split(", ")[4:]
    assert [round(float(one)) for one in moved] == [60, 30]
    shot(page, "pair-zoom-desktop")
    page.get_by_role("button", name="Hold to show").focus()
    page.keyboard.press("Space")
    expect(over).to_be_visible()


def test_a_pair_on_a_telephone(open_as: OpenAs, pairs: Campaign, nour: User, shot: Shot) -> None:
    page = open_as(nour, **PHONE)
    page.goto(f"/work/{pairs.pk}/")
    wait_for_images(page)
    shot(page, "pair-phone")
    assert too_narrow(page) == [], "words lie on each other"
    for field, code in (("match_a", 2), ("match_b", 2), ("pair_match", 2), ("no_cue", 1)):
        page.locator(f"label:has([name=a-{field}][value='{code}'])").tap()
    shot(page, "pair-phone-full", full_page=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert find_violations(page) == ""
    answered(page, lambda: page.get_by_role("button", name="Submit").tap())
    assert Annotation.objects.get().answers["pair_match"] == "2"


@pytest.mark.parametrize("how", [{}, PHONE], ids=["desktop", "phone"])
def test_a_pair_in_arabic_does_not_mirror(
    open_as: OpenAs, pairs: Campaign, nour: User, shot: Shot, how: dict[str, Any]
) -> None:
    nour.language = "ar"
    nour.save()
    page = open_as(nour, **how)
    page.goto(f"/work/{pairs.pk}/")
    wait_for_images(page)
    page.keyboard.press("2")
    a, b = (page.locator(f"[data-side={side}] img").first.bounding_box() for side in "ab")
    assert a["x"] < b["x"]
    assert too_narrow(page) == [] and covered_keys(page) == []
    shot(page, f"pair-ar-{'phone' if how else 'desktop'}")


def test_letter_keys_can_be_switched_off_and_stay_off(open_as: OpenAs, pairs: Campaign, nour: User, shot: Shot) -> None:
    page = open_as(nour)
    page.goto(f"/work/{pairs.pk}/")
    page.keyboard.press("?")
    shot(page, "keys-desktop")
    page.get_by_label("Single-key shortcuts").uncheck()
    page.keyboard.press("Escape")
    page.reload()
    wait_for_images(page)
    for key in "2xs?":
        page.keyboard.press(key)
    expect(page.locator("#main :checked")).to_have_count(0)
    expect(page.locator("dialog[open]")).to_have_count(0)
    assert "swapped" not in (page.locator(".duo").get_attribute("class") or "")
    page.get_by_role("link", name="Instructions").click()
    page.get_by_label("Single-key shortcuts").check()
    page.keyboard.press("Escape")
    page.keyboard.press("x")
    expect(page.locator(".duo")).to_have_class("duo swapped")
