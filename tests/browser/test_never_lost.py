"""What was typed is never lost: a session that ended, a line that is away, another window, another person."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.utils import timezone
from playwright.sync_api import Page, Route, expect

from annotation.models import Annotation, Campaign, Draft, SheetVersion
from people.models import User
from tests.browser.conftest import PHONE, UNSENT, current_assignment, wait_until
from tests.browser.test_changes import begin_a_change
from tests.browser.test_rating import answered, codes, find_violations
from tests.personas import PASSWORD

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
OpenAs = Callable[..., Page]
Shot = Callable[..., None]
WRITTEN: dict[str, Any] = {
    "fields": [
        {
            "key": "story", "kind": "text", "label": {"en": "What happens here?", "ar": "ماذا يحدث هنا؟"},
            "config": {"long": True, "max_length": 4000},
        }
    ]
}  # fmt: skip


@pytest.fixture
def written(campaign: Campaign) -> Campaign:
    version = SheetVersion.objects.create(stage=campaign.stage, major=2, minor=0, definition=WRITTEN)
    Campaign.objects.filter(pk=campaign.pk).update(sheet_version=version)
    return campaign


def story(page: Page) -> Any:
    return page.locator("[name=a-story]")


def sign_in(page: Page, password: str = PASSWORD) -> None:
    page.locator("#session-password").fill(password)
    page.keyboard.press("Enter")


def test_signing_in_in_the_middle_of_a_sheet_goes_on_with_its_text(
    open_as: OpenAs, written: Campaign, nour: User, shot: Shot
) -> None:
    page = open_as(nour)
    page.goto(f"/work/{written.pk}/")
    Session.objects.all().delete()
    story(page).press_sequentially("A wedding on the river", delay=20)
    expect(page.locator("#session")).to_be_visible()
    assert story(page).input_value() == "A wedding on the river"
    assert find_violations(page) == ""
    shot(page, "sign-in-again-desktop")
    sign_in(page, "not the password")
    expect(page.locator("#session [role=alert]")).to_contain_text("Wrong e-mail or password")
    before = csrf_of(page)
    sign_in(page)
    expect(page.locator("#session")).to_be_hidden()
    assert csrf_of(page) != before  # signing in makes a new one, and what is sent afterwards has it
    expect(page.locator("#saved")).to_contain_text("Draft saved")
    assert Draft.objects.get().answers == {"story": "A wedding on the river"}
    page.keyboard.press("Control+Enter")
    wait_until(page, "document.getElementById('undo') !== null")
    page.locator("#undo button:not(.close)").click()  # a form that was drawn before
    expect(story(page)).to_have_value("A wedding on the river")
    expect(page.locator("#line")).to_be_hidden()


def test_the_dialog_takes_no_letter_of_who_types_on_the_next_sheet(
    open_as: OpenAs, written: Campaign, nour: User
) -> None:
    page = open_as(nour)
    page.goto(f"/work/{written.pk}/")
    expect(page.locator("[data-loaded]")).to_have_text("Next picture is loaded")
    story(page).press_sequentially("The first")
    Session.objects.all().delete()
    page.keyboard.press("Control+Enter")
    story(page).press_sequentially("The second, typed without a pause", delay=60)
    expect(page.locator("#line")).to_contain_text("Please sign in again")
    expect(page.locator("#session")).to_be_hidden()
    assert story(page).input_value() == "The second, typed without a pause"
    expect(page.locator("#session")).to_be_visible()
    with page.expect_response("**/draft"):  # that it is saved, too, though nobody types any more
        sign_in(page)
    wait_until(page, f"{UNSENT} === 0")
    assert story(page).input_value() == Draft.objects.get().answers["story"]
    assert Annotation.objects.get().answers == {"story": "The first"}


def csrf_of(page: Page) -> str:
    return next(str(one["value"]) for one in page.context.cookies() if one["name"] == "csrftoken")


def test_what_was_submitted_without_a_session_goes_out_once_after_signing_in(
    open_as: OpenAs, campaign: Campaign, nour: User, shot: Shot
) -> None:
    page = open_as(nour, **PHONE)
    page.goto(f"/work/{campaign.pk}/")
    Session.objects.all().delete()
    page.locator(".opt").nth(3).tap()
    page.get_by_role("button", name="Submit").tap()
    expect(page.locator("#session")).to_be_visible()
    shot(page, "sign-in-again-phone")
    page.get_by_role("button", name="Later").tap()
    page.locator("#line").get_by_role("button", name="Sign in").tap()
    assert codes() == []
    sign_in(page)
    wait_until(page, f"{UNSENT} === 0")
    assert codes() == ["4"]
    assert Annotation.objects.count() == 1


def test_a_session_that_ended_says_on_this_device_of_nothing_that_is_sent(
    open_as: OpenAs, campaign: Campaign, nour: User
) -> None:
    page = open_as(nour)
    page.goto(f"/work/{campaign.pk}/")
    page.keyboard.press("4")
    answered(page, lambda: page.keyboard.press("Enter"))
    expect(page.locator("#saved")).to_contain_text("Saved")
    Session.objects.all().delete()
    page.locator("#undo button:not(.close)").click()
    expect(page.locator("#session")).to_be_visible()
    expect(page.locator("#saved")).to_be_hidden()  # the answer is stored, and nothing was written since
    sign_in(page)
    expect(page.locator("#session")).to_be_hidden()
    expect(page.locator("#saved")).to_be_hidden()


def test_signed_in_again_in_another_window_the_sheet_goes_on_by_itself(
    open_as: OpenAs, campaign: Campaign, nour: User
) -> None:
    page = open_as(nour)
    page.goto(f"/work/{campaign.pk}/")
    Session.objects.all().delete()
    page.keyboard.press("4")
    page.keyboard.press("Enter")
    expect(page.locator("#session")).to_be_visible()
    other = page.context.new_page()
    other.goto("/sign-in")
    other.locator("[name=username]").fill(nour.email)
    other.locator("[name=password]").fill(PASSWORD)
    other.keyboard.press("Enter")
    other.wait_for_url("**/work/")
    page.evaluate("dispatchEvent(new Event('focus'))")
    wait_until(page, f"{UNSENT} === 0")
    assert codes() == ["4"]


def test_nobody_else_is_signed_in_on_a_page_that_is_not_theirs(
    open_as: OpenAs, campaign: Campaign, nour: User, tarek: User
) -> None:
    page = open_as(nour)
    page.goto(f"/work/{campaign.pk}/")
    Session.objects.all().delete()
    page.keyboard.press("4")
    page.keyboard.press("Enter")
    page.locator("#session-name").fill(tarek.email)
    sign_in(page)
    expect(page.locator("#session [role=alert]")).to_contain_text("was opened by another account")
    assert not Session.objects.exists() and not Annotation.objects.exists()


def test_another_person_who_signed_in_elsewhere_gets_their_own_page(
    open_as: OpenAs, written: Campaign, nour: User, tarek: User
) -> None:
    page = open_as(nour)
    page.goto(f"/work/{written.pk}/")
    page.context.add_cookies(open_as(tarek).context.cookies())
    story(page).press_sequentially("Nobody else reads this")
    page.wait_for_url("**/work/")
    assert "Nobody else" not in page.content() and nour.name not in page.content()
    page.goto(f"/work/{written.pk}/")
    expect(story(page)).to_have_value("")
    assert "Nobody else" not in page.evaluate("JSON.stringify(localStorage)")
    assert not Draft.objects.exists()


def test_too_many_wrong_passwords_are_reported_on_the_sheet(open_as: OpenAs, campaign: Campaign, nour: User) -> None:
    page = open_as(nour)
    page.goto(f"/work/{campaign.pk}/")
    Session.objects.all().delete()
    page.keyboard.press("4")
    page.keyboard.press("Enter")
    expect(page.locator("#session")).to_be_visible()
    for _guess in range(10):
        with page.expect_response("**/sign-in/here"):
            sign_in(page, "a guess")
        expect(page.locator("#session .go[aria-disabled]")).to_have_count(0)  # until then a key does nothing
    expect(page.locator("#session [role=alert]")).to_contain_text("locked for 15 minutes")
    sign_in(page)  # the right one does not help now, and the answer is still here
    expect(page.locator("#session [role=alert]")).to_contain_text("locked for 15 minutes")
    assert "emic" in page.evaluate("JSON.stringify(Object.keys(localStorage))")


def test_typing_without_a_pause_is_saved_every_few_seconds(open_as: OpenAs, written: Campaign, nour: User) -> None:
    page = open_as(nour)
    page.goto(f"/work/{written.pk}/")
    story(page).press_sequentially("x" * 110, delay=60)  # 6.6 seconds, and never two without a key
    draft = Draft.objects.get()
    assert 20 < len(draft.answers["story"]) < 110
    assert (timezone.now() - draft.saved_at).total_seconds() < 5  # it was saved on the way, not only at the end


def test_a_draft_whose_reply_was_lost_looks_like_no_second_window(
    open_as: OpenAs, written: Campaign, nour: User
) -> None:
    page = open_as(nour)
    page.goto(f"/work/{written.pk}/")
    lost: list[str] = []

    def lose_first(route: Route) -> None:
        lost.append(route.request.post_data or "")
        if len(lost) == 1:
            route.fetch()
            route.abort()
        else:
            route.continue_()

    page.route("**/draft", lose_first)
    story(page).press_sequentially("first")
    expect(page.locator("#line")).to_be_visible()
    story(page).press_sequentially(" and second")
    expect(page.locator("#line")).to_be_hidden()
    page.wait_for_timeout(2500)
    expect(page.locator("#conflict")).to_be_hidden()
    assert Draft.objects.get().answers == {"story": "first and second"}
    assert lost[0] == lost[1]


@pytest.mark.parametrize("seconds", [4, pytest.param(60, marks=pytest.mark.slow)])
def test_typing_and_submitting_without_a_line_loses_nothing_and_sends_nothing_twice(
    open_as: OpenAs, written: Campaign, nour: User, seconds: int
) -> None:
    page = open_as(nour)
    page.goto(f"/work/{written.pk}/")
    expect(page.locator("[data-loaded]")).to_have_text("Next picture is loaded")
    page.context.set_offline(True)
    story(page).press_sequentially("The first", delay=20)
    answered(page, lambda: page.keyboard.press("Control+Enter"))
    story(page).press_sequentially("The second", delay=20)
    page.wait_for_timeout(seconds * 1000)
    page.keyboard.press("Control+Enter")
    expect(page.locator("#line")).to_contain_text("will be sent when you are online again")
    assert not Annotation.objects.exists()
    page.context.set_offline(False)
    wait_until(page, "document.getElementById('line').hidden && !document.querySelector('.sends')")
    stored = [row.answers["story"] for row in Annotation.objects.order_by("pk")]
    assert stored == ["The first", "The second"]
    assert (
        page.evaluate("JSON.parse(localStorage.getItem(Object.keys(localStorage).find(k => k.endsWith('outbox'))))")
        == []
    )
    assert page.locator("#bench").get_attribute("data-assignment") == str(current_assignment(nour).pk)


def test_signing_out_in_one_window_empties_the_others(open_as: OpenAs, written: Campaign, nour: User) -> None:
    page = open_as(nour)
    page.goto(f"/work/{written.pk}/")
    story(page).press_sequentially("Only mine")
    other = page.context.new_page()
    other.goto("/work/")
    other.get_by_role("button", name="Sign out").click()
    other.wait_for_url("**/sign-in**")
    page.wait_for_url("**/sign-in**")
    expect(page.locator("main")).to_contain_text("You signed out in another window.")
    expect(page.locator(".plate [name=next]")).to_have_value(f"/work/{written.pk}/")
    assert page.evaluate("Object.keys(localStorage)") == []
    assert other.evaluate("Object.keys(localStorage)") == []
    page.go_back()
    page.wait_for_timeout(500)
    assert "Only mine" not in page.content()


def test_the_newer_of_two_windows_may_be_taken(open_as: OpenAs, campaign: Campaign, nour: User, shot: Shot) -> None:
    """A change opened in two windows: the one that is behind takes what the other saved, and submits that."""
    first = open_as(nour)
    begin_a_change(first, campaign, nour)
    second = open_as(nour)
    second.goto(first.url)
    expect(second.locator("#main [value='2']")).to_be_checked()
    with first.expect_response("**/draft"):  # "Draft saved" stands there from the beginning of a change
        first.keyboard.press("5")
    second.keyboard.press("1")
    expect(second.locator("#conflict")).to_be_visible()
    shot(second, "conflict-change-desktop")
    second.get_by_role("button", name="Use the newer version").click()
    expect(second.locator("#main [value='5']")).to_be_checked()
    expect(second.locator("#conflict")).to_be_hidden()
    expect(second.locator("#main")).to_contain_text("You are changing your answer of")
    second.keyboard.press("Enter")
    second.wait_for_url("**/work/history/")
    assert Annotation.objects.get(live=True).answers == {"relevance": "5"}
    assert codes() == ["5"] and Annotation.objects.count() == 2


@pytest.mark.parametrize(
    ("language", "words"),
    [("en", r"Draft saved \d+ ?s"), ("ar", "قبل (ثاني|[0-9]+ ثوان)"), ("pt-br", r"\d+ s"), ("am", r"\d+ ሰ")],
)
def test_save_time_is_shown_in_words(open_as: OpenAs, written: Campaign, nour: User, language: str, words: str) -> None:
    User.objects.filter(pk=nour.pk).update(language=language)
    page = open_as(nour)
    page.goto(f"/work/{written.pk}/")
    story(page).press_sequentially("x")
    expect(page.locator("#saved")).to_have_text(re.compile(words))
