"""One sheet in two windows: each is told of the other, and what was written in either is kept and shown."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Annotation, Assignment, Campaign, Draft
from people.models import User
from tests.browser.conftest import PHONE, hand_of, until
from tests.browser.test_never_lost import story, written  # noqa: F401 (a fixture)
from tests.browser.test_rating import answered, assignment_on, look

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
OpenAs = Callable[..., Page]
Shot = Callable[..., None]
TWIN = "open in another window, too"


def stories() -> list[str]:
    return [row.answers["story"] for row in Annotation.objects.order_by("pk")]


def two_tabs(open_as: OpenAs, user: User, url: str, **how: object) -> tuple[Page, Page]:
    """Two tabs of one browser, in both of which the sheet is drawn."""
    one = open_as(user, **how)
    one.goto(url)
    two = one.context.new_page()
    two.goto(url)
    for page in (one, two):
        expect(page.locator("#twin")).to_contain_text(TWIN)
    return one, two


@pytest.mark.parametrize("how", [{}, PHONE], ids=["desktop", "phone"])
def test_second_tabs_answer_is_shown_with_the_first_and_may_correct_it(
    open_as: OpenAs,
    written: Campaign,  # noqa: F811
    nour: User,
    shot: Shot,
    how: dict[str, object],
) -> None:
    one, two = two_tabs(open_as, nour, f"/work/{written.pk}/", **how)
    sheet = assignment_on(one)
    shot(two, f"twin-{'phone' if how else 'desktop'}")
    story(one).fill("Written in the first tab")
    story(two).fill("Sent from the second tab")
    answered(two, lambda: two.keyboard.press("Control+Enter"))
    expect(one.locator("#bench[data-both]")).to_be_visible()  # without a hand on it
    assert assignment_on(one) == sheet and stories() == ["Sent from the second tab"]
    expect(story(one)).to_have_value("Written in the first tab")
    expect(one.locator(".msg.err").first).to_contain_text("Sent from the second tab")
    assert look(one) == ""
    shot(one, f"both-{'phone' if how else 'desktop'}")
    one.reload()
    expect(story(one)).to_have_value("Written in the first tab")
    one.get_by_role("button", name="Submit").click()
    one.wait_for_url("**/work/history/", wait_until="commit")
    assert stories() == ["Sent from the second tab", "Written in the first tab"]
    assert Annotation.objects.get(live=True).answers == {"story": "Written in the first tab"}


def test_on_another_device_the_same_holds_and_the_first_answer_may_stay(
    open_as: OpenAs,
    written: Campaign,  # noqa: F811
    nour: User,
) -> None:
    one, two = open_as(nour), open_as(nour)
    for page in (one, two):
        page.goto(f"/work/{written.pk}/")
    story(one).fill("Sent")
    answered(one, lambda: one.keyboard.press("Control+Enter"))
    story(two).fill("Written beside it")
    two.keyboard.press("Control+Enter")
    expect(two.locator("#bench[data-both] .msg.err").first).to_contain_text("Sent")
    expect(story(two)).to_have_value("Written beside it")
    two.get_by_role("button", name="Keep the earlier answer").click()
    two.wait_for_url("**/work/history/", wait_until="commit")
    assert stories() == ["Sent"] and not Draft.objects.exists()


def sent_elsewhere(open_as: OpenAs, nour: User, campaign: Campaign) -> tuple[Page, Assignment]:
    """A window with a sheet that this person has answered on another device meanwhile."""
    page = open_as(nour)
    page.goto(f"/work/{campaign.pk}/")
    hand = hand_of(nour)
    other = open_as(nour)
    other.goto(f"/work/{campaign.pk}/")
    story(other).fill("Sent")
    answered(other, lambda: other.keyboard.press("Control+Enter"))
    return page, hand


def test_a_draft_for_an_answered_sheet_shows_both_and_loses_no_key(
    open_as: OpenAs,
    written: Campaign,  # noqa: F811
    nour: User,
) -> None:
    page, hand = sent_elsewhere(open_as, nour, written)
    story(page).press_sequentially("Typed on " * 12, delay=40)  # over four seconds: the draft goes out on the way
    expect(page.locator("#bench[data-both]")).to_be_visible()
    expect(story(page)).to_have_value("Typed on " * 12)
    expect(page.locator("#saved")).to_contain_text("Draft saved")
    until(page, "!document.querySelector('.sends')")
    page.reload()
    expect(story(page)).to_have_value("Typed on " * 12)
    assert Draft.objects.filter(assignment=hand).exists()
    assert stories() == ["Sent"]


def test_an_untouched_tab_goes_on_with_the_other(open_as: OpenAs, campaign: Campaign, nour: User) -> None:
    one, two = two_tabs(open_as, nour, f"/work/{campaign.pk}/")
    two.keyboard.press("4")
    answered(one, lambda: two.keyboard.press("Enter"))
    assert assignment_on(one) == str(hand_of(nour).pk)
    two.close()
    expect(one.locator("#twin")).to_have_count(0)


def test_which_of_two_drafts_it_is_to_be_is_asked_before_it_is_submitted(
    open_as: OpenAs,
    written: Campaign,  # noqa: F811
    nour: User,
) -> None:
    one, two = two_tabs(open_as, nour, f"/work/{written.pk}/")
    story(one).fill("The first")
    expect(one.locator("#saved")).to_contain_text("Draft saved")
    story(two).fill("The second")
    expect(two.locator("#conflict")).to_be_in_viewport()
    two.keyboard.press("Control+Enter")
    expect(two.locator("#conflict")).to_be_visible()
    assert stories() == []
    story(one).fill("The first, longer")  # both keep it on the same device
    two.get_by_role("button", name="Keep my version").click()
    expect(story(two)).to_have_value("The second")


def test_once_it_is_decided_the_words_can_still_be_read(
    open_as: OpenAs,
    written: Campaign,  # noqa: F811
    nour: User,
) -> None:
    page, hand = sent_elsewhere(open_as, nour, written)
    type(hand).objects.filter(pk=hand.pk).update(state="accepted")
    story(page).fill("Not to be lost")
    answered(page, lambda: page.keyboard.press("Control+Enter"))
    expect(page.locator("#main")).to_contain_text("What you wrote here: Not to be lost")
    assert stories() == ["Sent"]
