"""Changing, taking back and two windows, in a real browser: the page says what happened."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Annotation, Assignment, Campaign, Draft
from people.models import User
from tests.browser.conftest import wait_until
from tests.browser.test_rating import answered, assignment_on

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
OpenAs = Callable[..., Page]
Shot = Callable[..., None]


def rate(page: Page, key: str) -> None:
    def press() -> None:
        page.keyboard.press(key)
        page.keyboard.press("Enter")

    answered(page, press)


def begin_a_change(page: Page, campaign: Campaign, nour: User) -> None:
    page.goto(f"/work/{campaign.pk}/")
    rate(page, "2")
    page.goto("/work/history/")
    page.get_by_role("button", name=re.compile("^Edit")).click()
    expect(page.locator("#main [value='2']")).to_be_checked()
    expect(page.locator("#main")).to_contain_text("You are changing your answer of")
    page.wait_for_load_state()  # from here on the script hears keys


def test_a_change_from_the_history_ends_there(open_as: OpenAs, campaign: Campaign, nour: User, shot: Shot) -> None:
    page = open_as(nour)
    begin_a_change(page, campaign, nour)
    shot(page, "change-desktop")
    page.keyboard.press("s")  # what was answered cannot be skipped
    expect(page.locator("#why")).to_be_hidden()
    page.keyboard.press("5")
    page.keyboard.press("Enter")
    page.wait_for_url("**/work/history/")
    expect(page.locator("main")).to_contain_text("Your new answer is saved.")
    shot(page, "history-desktop")
    page.set_viewport_size({"width": 390, "height": 700})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    shot(page, "history-phone")
    assert Annotation.objects.get(live=True).answers == {"relevance": "5"}
    page.goto(f"/work/{campaign.pk}/")
    expect(page.locator("#main :checked")).to_have_count(0)


def test_a_change_that_is_left_leaves_nothing(open_as: OpenAs, campaign: Campaign, nour: User) -> None:
    page = open_as(nour)
    begin_a_change(page, campaign, nour)
    page.keyboard.press("5")
    page.get_by_role("button", name="Keep the earlier answer").click()
    page.wait_for_url("**/work/history/")
    expect(page.locator("main")).to_contain_text("Your answer was not changed.")
    assert not Draft.objects.exists()
    assert Annotation.objects.get().answers == {"relevance": "2"}
    assert "relevance" not in page.evaluate("JSON.stringify(localStorage)")


def test_the_header_says_what_was_done_and_does_not_move(open_as: OpenAs, campaign: Campaign, nour: User) -> None:
    page = open_as(nour)
    page.goto(f"/work/{campaign.pk}/")
    before = page.locator("#gauge").bounding_box()
    expect(page.locator("#saved")).to_be_hidden()
    rate(page, "2")
    expect(page.locator("#saved")).to_contain_text("Saved")
    assert page.locator("#gauge").bounding_box() == before
    answered(page, lambda: page.keyboard.press("u"))
    expect(page.locator("#saved")).to_have_text("Undone")
    page.keyboard.press("s")
    page.keyboard.press("1")
    answered(page, lambda: page.keyboard.press("Enter"))
    expect(page.locator("#saved")).to_have_text("Skipped")
    assert Assignment.objects.filter(state="skipped").count() == 1
    assert page.locator("#gauge").bounding_box() == before


def test_after_a_report_the_keys_go_to_the_sheet(open_as: OpenAs, campaign: Campaign, nour: User) -> None:
    page = open_as(nour)
    page.goto(f"/work/{campaign.pk}/")
    assignment_id = assignment_on(page)
    page.keyboard.press("r")
    page.keyboard.type("It is dark.")
    page.keyboard.press("Control+Enter")
    expect(page.locator("p.toast")).to_contain_text("Thank you")
    wait_until(page, "document.getElementById('main').contains(document.activeElement)")
    assert assignment_on(page) == assignment_id
