"""The next sheet appears at once, and the answer is sent behind it: nothing is lost, and the page says where it is."""

from collections.abc import Callable, Sequence

import pytest
from django.utils import timezone
from playwright.sync_api import APIResponse, Page, Route, expect

from annotation.models import Annotation, Assignment, Campaign, ProblemReport
from annotation.services.answers.submit import reopen
from people.models import User
from tests.browser.conftest import until_sent, until_sheet_ready, wait_until
from tests.browser.test_rating import assignment_on, codes
from tests.personas import World

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
OpenAs = Callable[..., Page]
AHEAD = "document.getElementById('ahead') !== null"
UNSEEN = 700  # ms after which a sheet that came back unasked takes keys


@pytest.fixture
def page(open_as: OpenAs, campaign: Campaign, nour: User) -> Page:
    opened = open_as(nour)
    opened.goto(f"/work/{campaign.pk}/")
    until_sheet_ready(opened)
    wait_until(opened, AHEAD)
    return opened


def hold_answers(page: Page) -> list[Route]:
    """Requests that submit an answer get no reply until the test lets them go on."""
    pending: list[Route] = []
    page.route("**/submit", lambda route: pending.append(route))
    return pending


def wait_for(page: Page, pending: Sequence[object]) -> None:
    """Wait for a request that is pending."""
    for _time in range(100):
        if pending:
            return
        page.wait_for_timeout(50)
    raise AssertionError("nothing was sent")


def give(page: Page, key: str) -> None:
    page.keyboard.press(key)
    page.keyboard.press("Enter")


def test_the_next_sheet_is_there_before_the_server_replies(page: Page, shot: Callable[..., None]) -> None:
    pending, first = hold_answers(page), assignment_on(page)
    give(page, "4")
    second = assignment_on(page)
    assert second != first and not Annotation.objects.exists()
    expect(page.locator("#saved")).to_have_text("Saving")
    expect(page.locator("#undo")).to_have_count(0)
    expect(page.locator("#saved")).to_have_text("On this device", timeout=8000)
    shot(page, "instant-next-waits")
    page.keyboard.press("2")  # the second is answered meanwhile

    pending.pop().continue_()
    until_sent(page)
    expect(page.locator("#saved")).to_contain_text("Saved")
    expect(page.locator("#undo")).to_be_visible()
    assert assignment_on(page) == second and codes() == ["4"]
    assert page.locator("[name^=a-]:checked").get_attribute("value") == "2", "what was chosen here stays"
    assert str(Annotation.objects.get().assignment_id) == first


def hold_replies(page: Page) -> list[tuple[Route, APIResponse]]:
    """The server gets the answers; its replies wait until the test lets them come."""
    replies: list[tuple[Route, APIResponse]] = []
    page.route("**/submit", lambda route: replies.append((route, route.fetch())))
    return replies


def test_the_sheet_that_the_page_went_on_to_is_not_sent_again(page: Page) -> None:
    replies, first = hold_replies(page), assignment_on(page)
    give(page, "4")
    second = assignment_on(page)
    wait_for(page, replies)
    route, reply = replies.pop()
    hand, _, ahead = reply.text().partition("<template")
    assert f'data-assignment="{second}"' in hand and "<form" in hand and "a-relevance" not in hand
    assert "a-relevance" in ahead and f'data-assignment="{first}"' not in ahead
    route.fulfill(response=reply)
    until_sent(page)
    expect(page.locator("#undo")).to_be_visible()
    assert assignment_on(page) == second
    give(page, "2")
    wait_for(page, replies)
    route, reply = replies.pop()
    route.fulfill(response=reply)
    until_sent(page)
    assert codes() == ["4", "2"]


def test_a_reply_for_a_sheet_that_was_answered_elsewhere_meanwhile_loads_the_next_one(
    page: Page, campaign: Campaign
) -> None:
    replies = hold_replies(page)
    give(page, "4")
    second = assignment_on(page)
    wait_for(page, replies)
    other = page.context.new_page()
    other.goto(f"/work/{campaign.pk}/")
    until_sheet_ready(other)
    assert assignment_on(other) == second
    give(other, "2")
    until_sent(other)
    wait_until(page, "before => document.getElementById('bench').dataset.assignment !== before", second)
    third = assignment_on(page)
    route, reply = replies.pop()
    assert f'data-bare data-assignment="{second}"' in reply.text()
    route.fulfill(response=reply)
    page.wait_for_timeout(500)
    assert assignment_on(page) == third == assignment_on(other)
    page.unroute("**/submit")
    give(page, "5")
    until_sent(page)
    assert codes() == ["4", "2", "5"]


@pytest.mark.parametrize("asked", [False, True])
def test_a_reply_for_a_sheet_that_was_answered_on_another_device_still_offers_undo(
    page: Page, open_as: OpenAs, campaign: Campaign, nour: User, asked: bool
) -> None:
    replies, first = hold_replies(page), assignment_on(page)
    give(page, "4")
    second = assignment_on(page)
    wait_for(page, replies)
    other = open_as(nour)
    other.goto(f"/work/{campaign.pk}/")
    until_sheet_ready(other)
    give(other, "2")
    until_sent(other)
    page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))")
    wait_until(page, "before => document.getElementById('bench').dataset.assignment !== before", second)
    third = assignment_on(page)
    if asked:
        page.keyboard.press("u")
    route, reply = replies.pop()
    assert f'data-bare data-assignment="{second}"' in reply.text()
    route.fulfill(response=reply)
    expected = first if asked else third
    wait_until(page, "which => document.getElementById('bench').dataset.assignment === which", expected)
    expect(page.locator("#undo")).to_have_count(0 if asked else 1)
    assert codes() == (["2"] if asked else ["4", "2"])


def test_two_answers_wait_in_their_order_and_the_third_sheet_for_the_server(page: Page) -> None:
    pending = hold_answers(page)
    give(page, "4")
    second = assignment_on(page)
    page.wait_for_timeout(400)
    give(page, "2")
    page.wait_for_timeout(200)
    assert assignment_on(page) == second, "no more than one sheet is loaded ahead"
    wait_until(page, "document.querySelectorAll('#bench.sends').length === 1")
    pending.pop().continue_()
    wait_for(page, pending)
    pending.pop().continue_()
    until_sent(page)
    wait_until(page, "before => document.getElementById('bench').dataset.assignment !== before", second)
    assert codes() == ["4", "2"]


def test_a_sheet_that_waits_for_the_server_cannot_be_changed(page: Page, shot: Callable[..., None]) -> None:
    """Else it would show another answer than the one that was submitted and is stored."""
    pending = hold_answers(page)
    give(page, "4")
    page.wait_for_timeout(400)
    give(page, "2")
    wait_until(page, "document.querySelectorAll('#bench.sends').length === 1")
    give(page, "5")
    place = page.locator("label:has([name=a-relevance][value='1'])").bounding_box()
    assert place
    page.mouse.click(place["x"] + 20, place["y"] + 10)
    page.keyboard.press("s")
    expect(page.locator("#why")).to_be_hidden()
    assert page.locator("[name^=a-]:checked").get_attribute("value") == "2"
    page.wait_for_timeout(700)
    shot(page, "instant-next-locked")
    for _answer in range(2):
        wait_for(page, pending)
        pending.pop().continue_()
    until_sent(page)
    assert codes() == ["4", "2"]
    page.unroute("**/submit")
    wait_until(page, "!document.getElementById('bench').inert")
    give(page, "1")
    until_sent(page)
    assert codes() == ["4", "2", "1"], "the next sheet takes keys again"


def test_a_refused_answer_comes_back_and_the_next_sheet_keeps_what_was_chosen(page: Page) -> None:
    pending, first = hold_answers(page), assignment_on(page)
    page.evaluate("delete document.querySelector('[data-field]').dataset.required")  # a page that checks less
    page.keyboard.press("Enter")
    second = assignment_on(page)
    assert second != first
    page.keyboard.press("5")
    wait_for(page, pending)
    pending.pop().continue_()
    wait_until(page, "before => document.getElementById('bench').dataset.assignment === before", first)
    expect(page.locator(".msg.err").first).to_be_visible()
    assert not Annotation.objects.exists()

    page.unroute("**/submit")
    page.wait_for_timeout(UNSEEN)
    give(page, "3")
    until_sent(page)
    wait_until(page, "before => document.getElementById('bench').dataset.assignment === before", second)
    assert page.locator("[name^=a-]:checked").get_attribute("value") == "5"
    assert codes() == ["3"]


def test_a_second_press_of_submit_says_nothing_of_the_next_sheet(page: Page) -> None:
    page.keyboard.press("4")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    until_sent(page)
    expect(page.locator("[data-missing]:visible")).to_have_count(0)
    assert codes() == ["4"]


def test_an_answer_on_its_way_when_the_tab_closes_is_sent_by_the_next_page(
    page: Page, open_as: OpenAs, campaign: Campaign, world: World
) -> None:
    hold_answers(page)
    give(page, "4")
    again = page.context.new_page()
    page.close()
    again.goto(f"/work/{campaign.pk}/")
    until_sheet_ready(again)
    until_sent(again)
    assert codes() == ["4"]


def test_undo_asked_for_while_the_answer_is_on_its_way_follows_it(page: Page) -> None:
    pending, first = hold_answers(page), assignment_on(page)
    give(page, "4")
    page.keyboard.press("u")
    wait_for(page, pending)
    pending.pop().continue_()
    wait_until(page, "before => document.getElementById('bench').dataset.assignment === before", first)
    assert codes() == [] and page.locator("[name^=a-]:checked").get_attribute("value") == "4"


def test_the_page_does_not_say_saved_while_another_answer_is_on_its_way(page: Page) -> None:
    pending = hold_answers(page)
    give(page, "4")
    page.wait_for_timeout(400)
    give(page, "2")
    expect(page.locator("#saved")).to_have_text("Saving")
    pending.pop().continue_()
    wait_for(page, pending)
    page.wait_for_timeout(300)
    expect(page.locator("#saved")).to_have_text("Saving")
    pending.pop().continue_()
    expect(page.locator("#saved")).to_contain_text("Saved")
    assert codes() == ["4", "2"]


def refuse_first(page: Page) -> tuple[str, Route]:
    """Submit a sheet with nothing chosen, which a page that checks less sends: the server will refuse it."""
    pending, first = hold_answers(page), assignment_on(page)
    page.evaluate("delete document.querySelector('[data-field]').dataset.required")
    page.keyboard.press("Enter")
    wait_for(page, pending)
    return first, pending.pop()


PRESS_WHEN_IT_COMES = """([first, keys]) => new Promise(done => new MutationObserver((_changes, watch) => {
    if (document.getElementById("bench")?.dataset.assignment !== first) return;
    watch.disconnect();
    setTimeout(() => {
        const how = { bubbles: true, cancelable: true };
        for (const key of keys) document.body.dispatchEvent(new KeyboardEvent("keydown", { key, ...how }));
        document.querySelector("[name=a-relevance][value='5']").click();
        done();
    }, 100);
}).observe(document.body, { childList: true, subtree: true }))"""


def test_keys_meant_for_a_sheet_do_not_answer_the_refused_sheet_that_comes_back(page: Page) -> None:
    first, request = refuse_first(page)
    page.evaluate(f"args => {{ window.pressed = ({PRESS_WHEN_IT_COMES})(args); }}", [first, ["5", "Enter"]])
    request.continue_()
    page.evaluate("window.pressed")
    assert assignment_on(page) == first and page.locator("[name^=a-]:checked").count() == 0
    expect(page.locator("#saved")).to_have_text("On this device")
    page.wait_for_timeout(UNSEEN)
    page.unroute("**/submit")
    give(page, "3")
    until_sent(page)
    assert codes() == ["3"]


def test_a_skip_dialog_skips_the_sheet_on_which_it_was_opened_or_none(page: Page) -> None:
    first, request = refuse_first(page)
    page.keyboard.press("s")
    expect(page.locator("#why")).to_be_visible()
    request.continue_()
    wait_until(page, "before => document.getElementById('bench').dataset.assignment === before", first)
    expect(page.locator("#why")).to_be_hidden()
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    page.wait_for_timeout(UNSEEN)
    assert not Assignment.objects.filter(state="skipped").exists()


def test_a_report_is_about_the_item_on_which_it_was_begun(page: Page) -> None:
    first, request = refuse_first(page)
    second = assignment_on(page)
    page.keyboard.press("r")
    page.locator("#report-text").fill("It is upside down")
    request.continue_()
    wait_until(page, "before => document.getElementById('bench').dataset.assignment === before", first)
    page.keyboard.press("Control+Enter")
    expect(page.locator("#report")).to_be_hidden()
    assert str(ProblemReport.objects.get().assignment_id) == second


def test_undo_on_a_sheet_that_waits_for_the_server_takes_back_that_sheet(page: Page) -> None:
    pending = hold_answers(page)
    give(page, "4")
    second = assignment_on(page)
    page.wait_for_timeout(400)
    give(page, "2")
    page.keyboard.press("u")
    for _answer in range(2):
        wait_for(page, pending)
        pending.pop().continue_()
    wait_until(page, "document.querySelector('[name^=a-]:checked')?.value === '2' && !document.querySelector('.sends')")
    expect(page.locator("#saved")).to_have_text("Undone")
    assert assignment_on(page) == second and codes() == ["4"]


def test_a_page_that_opens_with_an_answer_on_its_way_says_so(page: Page) -> None:
    hold_answers(page)
    give(page, "4")
    page.reload()
    expect(page.locator("#saved")).to_have_text("Saving")


def test_an_answer_that_arrives_leaves_an_earlier_one_open_for_its_change(page: Page, campaign: Campaign) -> None:
    pending, first = hold_answers(page), assignment_on(page)
    give(page, "4")
    wait_for(page, pending)
    pending.pop().continue_()
    until_sent(page)
    wait_until(page, AHEAD)
    give(page, "2")
    wait_for(page, pending)
    pending.pop()
    answer = Annotation.objects.get()
    reopen(answer.assignment_id, answer.rater, timezone.now())
    page.goto(f"/work/{campaign.pk}/?change={first}")
    wait_for(page, pending)
    pending.pop().continue_()
    until_sent(page)
    page.wait_for_timeout(300)
    assert assignment_on(page) == first and codes() == ["4", "2"]
    page.unroute("**/submit")
    give(page, "1")
    page.wait_for_url("**/work/history/", wait_until="commit")
    assert codes() == ["2", "1"]


def test_a_late_reply_to_a_draft_does_not_submit_an_answer_that_was_undone(page: Page) -> None:
    drafts: list[Route] = []
    page.route("**/draft", lambda route: drafts.append(route))
    first = assignment_on(page)
    page.keyboard.press("4")
    wait_for(page, drafts)
    page.keyboard.press("Enter")
    until_sent(page)
    reply = drafts[0].fetch()
    assert reply.status == 410
    expect(page.locator("#undo")).to_be_visible()
    page.keyboard.press("u")
    wait_until(page, "before => document.getElementById('bench').dataset.assignment === before", first)
    drafts[0].fulfill(response=reply)
    page.wait_for_timeout(500)
    assert assignment_on(page) == first and codes() == []


def test_an_earlier_reply_to_a_reload_leaves_the_sheet_to_which_the_person_went_on(
    page: Page, campaign: Campaign
) -> None:
    replies: list[tuple[Route, APIResponse]] = []
    page.route(f"**/work/{campaign.pk}/", lambda route: replies.append((route, route.fetch())))
    page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))")
    wait_for(page, replies)
    wait_until(page, "!document.body.hidden")  # until it is known that nobody else has signed in
    pending = hold_answers(page)
    give(page, "4")
    second = assignment_on(page)
    page.keyboard.press("2")

    route, from_before = replies.pop()
    route.fulfill(response=from_before)
    page.wait_for_timeout(300)
    assert assignment_on(page) == second
    assert page.locator("[name^=a-]:checked").get_attribute("value") == "2"

    wait_for(page, pending)
    pending.pop().continue_()
    until_sent(page)
    assert assignment_on(page) == second and codes() == ["4"]


def test_what_is_chosen_while_an_undo_is_on_its_way_is_kept(page: Page) -> None:
    first = assignment_on(page)
    give(page, "4")
    until_sent(page)
    second, pending = assignment_on(page), list[Route]()
    page.route("**/undo", lambda route: pending.append(route))
    page.locator("#undo button").first.click()
    wait_for(page, pending)
    page.keyboard.press("2")

    pending.pop().continue_()
    wait_until(page, "before => document.getElementById('bench').dataset.assignment === before", first)
    give(page, "5")
    until_sent(page)
    wait_until(page, "before => document.getElementById('bench').dataset.assignment === before", second)
    assert page.locator("[name^=a-]:checked").get_attribute("value") == "2"
    assert codes() == ["5"]
