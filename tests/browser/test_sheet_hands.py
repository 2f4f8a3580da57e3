"""What hands do on a sheet, and what it says: keys that find nothing, texts of several lines, a hurry."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Annotation, Campaign, ProblemReport
from people.models import User
from tests.browser.conftest import PHONE, until
from tests.browser.staged import dressed, filled, opened
from tests.browser.test_never_lost import story, written  # noqa: F401 (a fixture)
from tests.browser.test_rating import answered, loaded
from tests.personas import World

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
OpenAs = Callable[..., Page]
Shot = Callable[..., None]


def test_one_tab_reaches_the_text_and_escape_leaves_it(
    open_as: OpenAs,
    written: Campaign,  # noqa: F811
    nour: User,
) -> None:
    page = open_as(nour)
    page.goto(f"/work/{written.pk}/")
    enter = page.locator(".acts .go kbd")
    expect(enter).to_have_text("Enter")
    page.keyboard.press("Tab")
    expect(story(page)).to_be_focused()
    expect(enter).to_have_text("Ctrl Enter")  # here Enter is a new line
    page.keyboard.type("A wedding")
    page.keyboard.press("Escape")
    expect(story(page)).not_to_be_focused()
    expect(enter).to_have_text("Enter")
    page.keyboard.press("?")
    expect(page.locator("#help")).to_be_visible()
    assert story(page).input_value() == "A wedding"


def test_the_help_lists_the_digits_there_are_and_its_switch_is_not_in_the_way(
    open_as: OpenAs, campaign: Campaign, nour: User
) -> None:
    page = open_as(nour)
    page.goto(f"/work/{campaign.pk}/")
    page.keyboard.press("?")
    expect(page.locator("[data-digits] kbd")).to_have_text(["1", "5"])
    page.keyboard.press("Space")
    expect(page.locator("#letters")).to_be_checked()


def test_a_skip_is_said_and_u_says_that_it_stays(open_as: OpenAs, campaign: Campaign, nour: User) -> None:
    page = open_as(nour)
    page.goto(f"/work/{campaign.pk}/")
    page.keyboard.press("2")
    answered(page, lambda: page.keyboard.press("Enter"))
    expect(page.locator("#said")).to_contain_text("Your last answer")
    page.keyboard.press("s")
    answered(page, lambda: page.keyboard.press("Enter"))
    expect(page.locator("#said")).to_have_text("Skipped")
    page.keyboard.press("u")
    expect(page.locator("p.toast")).to_contain_text("A skip stays")
    assert Annotation.objects.filter(live=True).count() == 1


def test_a_report_sent_twice_in_a_hurry_is_one(open_as: OpenAs, campaign: Campaign, nour: User) -> None:
    page = open_as(nour)
    page.goto(f"/work/{campaign.pk}/")
    page.keyboard.press("r")
    page.keyboard.type("It is dark.")
    page.locator("#report .go").evaluate("e => { for (let n = 0; n < 4; n++) e.click() }")
    expect(page.locator("p.toast")).to_contain_text("Thank you")
    assert ProblemReport.objects.count() == 1


def test_without_a_line_and_a_sheet_ahead_it_is_said_that_the_answer_waits(
    open_as: OpenAs, campaign: Campaign, nour: User, shot: Shot
) -> None:
    page = open_as(nour)
    page.goto(f"/work/{campaign.pk}/")
    expect(page.locator("[data-loaded]")).to_have_text("Next picture is loaded")
    page.context.set_offline(True)
    page.keyboard.press("2")
    answered(page, lambda: page.keyboard.press("Enter"))
    expect(page.locator("#notice")).to_have_count(0)
    page.keyboard.press("3")
    page.keyboard.press("Enter")
    expect(page.locator("#notice")).to_contain_text("Your answer is kept on this device and goes out by itself.")
    shot(page, "offline-last-desktop")
    page.context.set_offline(False)
    until(page, "document.getElementById('notice') === null")
    assert Annotation.objects.count() == 2


def test_what_was_asked_stands_by_the_answer(
    open_as: OpenAs, world: World, live_server: object, media: None, nour: User, shot: Shot
) -> None:
    dressed(world.stage, "culturalvqa", "model-answers")
    filled(world, ("image",), text="What is poured here?", context={"candidate": "Mint tea", "references": ["Shai"]})
    made = opened(world)
    page = open_as(nour)
    page.goto(f"/work/{made.pk}/")
    loaded(page)
    page.keyboard.press("3")
    answered(page, lambda: page.keyboard.press("Enter"))
    expect(page.locator("#undo")).to_contain_text("What is poured here?")
    shot(page, "undo-about-desktop")
    tools, undo = page.locator(".tools").bounding_box(), page.locator("#undo").bounding_box()
    assert tools and undo and undo["y"] + undo["height"] <= tools["y"]  # it covers no tool
    page.goto("/work/history/")
    expect(page.locator(".about")).to_have_text("What is poured here?")
    assert "Shai" not in page.content()
    shot(page, "history-about-desktop")


def test_a_finger_has_no_switch_for_keys(open_as: OpenAs, campaign: Campaign, nour: User) -> None:
    page = open_as(nour, **PHONE)
    page.goto(f"/work/{campaign.pk}/?open=help")
    expect(page.locator("#help .letters")).to_be_hidden()
