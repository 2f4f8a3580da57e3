"""One sheet in two windows: each is told of the other, and what was written in either is kept and shown."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, expect

from annotation.models import Annotation, Assignment, Campaign, Draft
from people.models import User
from tests.browser.conftest import PHONE, UNSENT, current_assignment, wait_until
from tests.browser.test_never_lost import story, written  # noqa: F401 (a fixture)
from tests.browser.test_rating import answered, assignment_on, find_violations
from tests.load.fault_person import WATCH

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
OpenAs = Callable[..., Page]
Shot = Callable[..., None]
TWIN = "also open in another window"


def stories() -> list[str]:
    return [row.answers["story"] for row in Annotation.objects.order_by("pk")]


def two_tabs(open_as: OpenAs, user: User, url: str, **how: object) -> tuple[Page, Page]:
    """Two tabs of one browser, in both of which the sheet is drawn."""
    first = open_as(user, **how)
    first.goto(url)
    second = first.context.new_page()
    second.goto(url)
    for page in (first, second):
        expect(page.locator("#twin")).to_contain_text(TWIN)
    return first, second


@pytest.mark.parametrize("how", [{}, PHONE], ids=["desktop", "phone"])
def test_second_tabs_answer_is_shown_with_the_first_and_may_correct_it(
    open_as: OpenAs,
    written: Campaign,  # noqa: F811
    nour: User,
    shot: Shot,
    how: dict[str, object],
) -> None:
    first, second = two_tabs(open_as, nour, f"/work/{written.pk}/", **how)
    sheet = assignment_on(first)
    shot(second, f"twin-{'phone' if how else 'desktop'}")
    story(first).fill("Written in the first tab")
    story(second).fill("Sent from the second tab")
    answered(second, lambda: second.keyboard.press("Control+Enter"))
    expect(first.locator("#bench[data-both]")).to_be_visible()  # without a hand on it
    assert assignment_on(first) == sheet and stories() == ["Sent from the second tab"]
    expect(story(first)).to_have_value("Written in the first tab")
    expect(first.locator(".msg.err").first).to_contain_text("Sent from the second tab")
    assert find_violations(first) == ""
    shot(first, f"both-{'phone' if how else 'desktop'}")
    first.reload()
    expect(story(first)).to_have_value("Written in the first tab")
    first.get_by_role("button", name="Submit").click()
    first.wait_for_url("**/work/history/", wait_until="commit")
    assert stories() == ["Sent from the second tab", "Written in the first tab"]
    assert Annotation.objects.get(live=True).answers == {"story": "Written in the first tab"}


def test_on_another_device_the_same_holds_and_the_first_answer_may_stay(
    open_as: OpenAs,
    written: Campaign,  # noqa: F811
    nour: User,
) -> None:
    first, second = open_as(nour), open_as(nour)
    for page in (first, second):
        page.goto(f"/work/{written.pk}/")
    story(first).fill("Sent")
    answered(first, lambda: first.keyboard.press("Control+Enter"))
    story(second).fill("Written beside it")
    second.keyboard.press("Control+Enter")
    expect(second.locator("#bench[data-both] .msg.err").first).to_contain_text("Sent")
    expect(story(second)).to_have_value("Written beside it")
    second.wait_for_timeout(700)  # a click before was meant for the sheet that this one replaced
    second.get_by_role("button", name="Keep the earlier answer").click()
    second.wait_for_url("**/work/history/", wait_until="commit")
    assert stories() == ["Sent"] and not Draft.objects.exists()


def open_answered_sheet(open_as: OpenAs, nour: User, campaign: Campaign) -> tuple[Page, Assignment]:
    """A window with a sheet that this person has answered on another device meanwhile."""
    page = open_as(nour)
    page.goto(f"/work/{campaign.pk}/")
    hand = current_assignment(nour)
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
    page, hand = open_answered_sheet(open_as, nour, written)
    story(page).press_sequentially("Typed on " * 12, delay=40)  # over four seconds: the draft goes out on the way
    expect(page.locator("#bench[data-both]")).to_be_visible()
    expect(story(page)).to_have_value("Typed on " * 12)
    expect(page.locator("#saved")).to_contain_text("Draft saved")
    wait_until(page, "!document.querySelector('.sends')")
    page.reload()
    expect(story(page)).to_have_value("Typed on " * 12)
    assert Draft.objects.filter(assignment=hand).exists()
    assert stories() == ["Sent"]


def test_an_untouched_tab_goes_on_with_the_other(open_as: OpenAs, campaign: Campaign, nour: User) -> None:
    first, second = two_tabs(open_as, nour, f"/work/{campaign.pk}/")
    second.keyboard.press("4")
    answered(first, lambda: second.keyboard.press("Enter"))
    assert assignment_on(first) == str(current_assignment(nour).pk)
    second.close()
    expect(first.locator("#twin")).to_have_count(0)


def test_a_tab_that_could_send_what_another_gave_shows_both(
    open_as: OpenAs,
    written: Campaign,  # noqa: F811
    nour: User,
) -> None:
    first, second = two_tabs(open_as, nour, f"/work/{written.pk}/")
    sheet, tries = assignment_on(first), iter([Route.abort])
    second.route("**/submit", lambda route: route.abort())
    first.route("**/draft", lambda route: next(tries, Route.continue_)(route))
    story(first).fill("Written in the first tab")
    story(second).fill("Sent from the second tab")
    second.keyboard.press("Control+Enter")
    expect(first.locator("#line")).to_be_visible()  # its draft did not get through
    assert assignment_on(first) == sheet and stories() == []
    expect(first.locator("#bench[data-both]")).to_be_visible()  # once a draft did, the answer went out from here
    expect(story(first)).to_have_value("Written in the first tab")
    assert assignment_on(first) == sheet and stories() == ["Sent from the second tab"]
    assert assignment_on(second) != sheet


def test_a_tab_that_sent_anothers_answer_does_not_call_its_own_saved(
    open_as: OpenAs,
    written: Campaign,  # noqa: F811
    nour: User,
) -> None:
    first, second = two_tabs(open_as, nour, f"/work/{written.pk}/")
    first.add_init_script(WATCH)
    first.reload()
    second.route("**/submit", lambda route: route.abort())
    story(first).fill("Written in the first tab")
    story(second).fill("Sent from the second tab")
    second.keyboard.press("Control+Enter")
    expect(first.locator("#bench[data-both]")).to_be_visible()  # its draft goes out, and then what waits
    assert stories() == ["Sent from the second tab"]
    assert first.evaluate("window.claims") == []


def test_a_tab_does_not_say_saved_while_another_tabs_version_of_the_sheet_waits(
    open_as: OpenAs,
    written: Campaign,  # noqa: F811
    nour: User,
) -> None:
    first, second = two_tabs(open_as, nour, f"/work/{written.pk}/")
    hanging: list[Route] = []
    first.route("**/submit", lambda route: hanging.append(route))
    story(first).fill("Written in the first tab")
    story(second).fill("Sent from the second tab")
    second.keyboard.press("Control+Enter")
    wait_until(first, f"{UNSENT} === 1 && document.querySelector('.sends')")  # its version follows the answer
    expect(second.locator("#saved")).to_have_text("Saving", timeout=1000)
    assert stories() == ["Sent from the second tab"]
    expect(second.locator("#saved")).to_have_text("On this device")
    hanging[0].continue_()
    wait_until(second, f"{UNSENT} === 0")
    expect(second.locator("#saved")).to_be_hidden(timeout=1000)
    expect(first.locator("#bench[data-both]")).to_be_visible()
    assert stories() == ["Sent from the second tab"]


def test_a_saved_draft_does_not_hide_that_an_answer_of_another_tab_waits(
    open_as: OpenAs,
    written: Campaign,  # noqa: F811
    nour: User,
) -> None:
    first, second = two_tabs(open_as, nour, f"/work/{written.pk}/")
    first.route("**/submit", lambda route: None)
    second.route("**/submit", lambda route: None)
    story(first).fill("Sent from the first tab")
    story(second).fill("Typed in the second tab")
    with second.expect_response("**/draft"):
        first.keyboard.press("Control+Enter")
    expect(second.locator("#saved")).to_have_text(re.compile("^(Saving|On this device)$"), timeout=1000)
    second.wait_for_timeout(1000)
    assert second.locator("#saved").inner_text() in ("Saving", "On this device")


def test_a_restored_draft_is_asked_about_unless_the_other_tab_began_with_it(
    open_as: OpenAs,
    written: Campaign,  # noqa: F811
    nour: User,
) -> None:
    first, second = two_tabs(open_as, nour, f"/work/{written.pk}/")
    for number in (1, 2):
        sheet = assignment_on(first)
        story(first).fill(f"Draft {number}")
        expect(first.locator("#saved")).to_contain_text("Draft saved")
        for page in (first, second) if number == 1 else (first,):
            page.reload()
        expect(story(second)).to_have_value("Draft 1" if number == 1 else "")
        story(second).fill(f"Sent {number}")
        answered(second, lambda: second.keyboard.press("Control+Enter"))
        if number == 1:
            wait_until(first, f"document.getElementById('bench').dataset.assignment !== '{sheet}'")
    expect(first.locator("#bench[data-both]")).to_be_visible()
    expect(story(first)).to_have_value("Draft 2")
    assert stories() == ["Sent 1", "Sent 2"]


def test_an_untouched_tab_goes_on_though_its_line_breaks_once(open_as: OpenAs, campaign: Campaign, nour: User) -> None:
    first, second = two_tabs(open_as, nour, f"/work/{campaign.pk}/")
    sheet = assignment_on(first)
    first.route(f"**/work/{campaign.pk}/", lambda route: route.abort(), times=1)
    second.keyboard.press("4")
    answered(second, lambda: second.keyboard.press("Enter"))
    wait_until(first, f"document.getElementById('bench').dataset.assignment !== '{sheet}'")
    expect(first.locator("#line")).to_be_hidden()


def test_a_tab_that_shows_what_is_being_typed_in_another_goes_on_with_it(
    open_as: OpenAs,
    written: Campaign,  # noqa: F811
    nour: User,
) -> None:
    first = open_as(nour)
    first.goto(f"/work/{written.pk}/")
    story(first).fill("Half of")
    second = first.context.new_page()
    second.goto(f"/work/{written.pk}/")
    expect(story(second)).to_have_value("Half of")
    story(first).fill("Half of it, and the rest")
    answered(second, lambda: first.keyboard.press("Control+Enter"))
    expect(story(second)).to_have_value("")
    assert stories() == ["Half of it, and the rest"]


def test_what_was_skipped_in_another_tab_is_not_submitted(
    open_as: OpenAs,
    written: Campaign,  # noqa: F811
    nour: User,
) -> None:
    first, second = two_tabs(open_as, nour, f"/work/{written.pk}/")
    sheet = assignment_on(first)
    story(first).fill("Not ready")
    for key in ("Escape", "Alt+s", "1", "Enter"):
        second.keyboard.press(key)
    wait_until(first, f"document.getElementById('bench').dataset.assignment !== '{sheet}'")
    assert stories() == []
    second.locator("#undo button:not(.close)").click()
    expect(story(second)).to_have_value("Not ready")


def test_which_of_two_drafts_it_is_to_be_is_asked_before_it_is_submitted(
    open_as: OpenAs,
    written: Campaign,  # noqa: F811
    nour: User,
) -> None:
    first, second = two_tabs(open_as, nour, f"/work/{written.pk}/")
    story(first).fill("The first")
    expect(first.locator("#saved")).to_contain_text("Draft saved")
    story(second).fill("The second")
    expect(second.locator("#conflict")).to_be_in_viewport()
    second.keyboard.press("Control+Enter")
    expect(second.locator("#conflict")).to_be_visible()
    assert stories() == []
    story(first).fill("The first, longer")  # both keep it on the same device
    second.get_by_role("button", name="Keep my version").click()
    expect(story(second)).to_have_value("The second")


def test_once_it_is_decided_the_words_can_still_be_read(
    open_as: OpenAs,
    written: Campaign,  # noqa: F811
    nour: User,
) -> None:
    page, hand = open_answered_sheet(open_as, nour, written)
    type(hand).objects.filter(pk=hand.pk).update(state="accepted")
    story(page).fill("Not to be lost")
    answered(page, lambda: page.keyboard.press("Control+Enter"))
    expect(page.locator("#main")).to_contain_text("What you wrote here: Not to be lost")
    assert stories() == ["Sent"]


def test_words_that_only_this_device_has_are_shown_when_it_is_behind(
    open_as: OpenAs,
    written: Campaign,  # noqa: F811
    nour: User,
) -> None:
    """What is typed then is added to them: it is not the other device's draft that takes their place."""
    page, other = open_as(nour), open_as(nour)
    for one in (page, other):
        one.goto(f"/work/{written.pk}/")
    page.route("**/draft", lambda route: route.abort())
    story(page).fill("Only on this device")
    story(other).fill("On the other one")
    expect(other.locator("#saved")).to_contain_text("Draft saved")
    page.reload()
    page.unroute("**/draft")
    expect(page.locator("#conflict")).to_be_visible()
    story(page).press("End")
    story(page).press_sequentially(", and more")
    with page.expect_response("**/draft"):
        page.get_by_role("button", name="Keep my version").click()
    expect(story(page)).to_have_value("Only on this device, and more")
    assert Draft.objects.get().answers["story"] == "Only on this device, and more"
