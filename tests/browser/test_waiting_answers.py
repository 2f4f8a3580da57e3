"""Answers given without a line wait on the device: any page sends them, none puts one work's sheet into another's, and
nobody signs out over them unasked."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.utils import timezone
from playwright.sync_api import Page, Route, expect

from annotation.models import Annotation, Campaign
from annotation.services.campaigns import lifecycle
from people.models import User
from tests.browser.conftest import PHONE, UNSENT, wait_until
from tests.browser.test_changes import begin_a_change
from tests.browser.test_rating import answered, assignment_on, codes
from tests.personas import PASSWORD, World

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
OpenAs = Callable[..., Page]
Shot = Callable[..., None]


@pytest.fixture
def other(world: World, campaign: Campaign) -> Campaign:
    """Other work of the same person."""
    made = lifecycle.create(world.stage, "The same once more", world.owner, {world.egypt: 3}, seed=6)
    lifecycle.open_campaign(made, world.owner, timezone.now())
    return made


def leave_answer_waiting(page: Page, campaign: Campaign) -> Page:
    """An answer given without a line, and its sheet closed: what is left is a window of the same browser elsewhere."""
    page.goto(f"/work/{campaign.pk}/")
    elsewhere = page.context.new_page()
    page.context.set_offline(True)
    # A request that the browser still holds when the page closes would reach the server once the line is back.
    page.evaluate("() => { window.fetch = () => Promise.reject(new TypeError('no line')); }")
    page.bring_to_front()
    page.keyboard.press("4")
    page.keyboard.press("Enter")
    wait_until(page, f"{UNSENT} === 1")
    page.close()
    elsewhere.context.set_offline(False)
    assert not Annotation.objects.exists()
    return elsewhere


def test_the_work_page_sends_what_waits_and_says_so(
    open_as: OpenAs, campaign: Campaign, nour: User, shot: Shot
) -> None:
    page = leave_answer_waiting(open_as(nour, **PHONE), campaign)
    page.goto("/work/")
    expect(page.locator("#waits")).to_contain_text("are submitted now")
    shot(page, "waits-arrived-phone")
    assert codes() == ["4"] and page.evaluate(UNSENT) == 0
    page.get_by_role("link", name="Reload").click()
    expect(page.locator("#waits")).to_be_hidden()
    expect(page.locator("main")).to_contain_text("Today: one answer")


def test_the_work_page_says_so_when_another_window_sends_what_waits_or_has_more(
    open_as: OpenAs, campaign: Campaign, nour: User
) -> None:
    page = leave_answer_waiting(open_as(nour), campaign)
    page.route("**/submit", lambda route: route.abort())
    page.goto("/work/")
    waits = page.locator("#waits")
    expect(waits).to_contain_text("They are sent when you are online again")
    other = page.context.new_page()
    other.goto(f"/work/{campaign.pk}/")
    wait_until(other, f"{UNSENT} === 0")
    expect(waits).to_contain_text("are submitted now", timeout=1000)
    expect(page.get_by_role("link", name="Reload")).to_be_visible()
    other.route("**/submit", lambda route: route.abort())
    other.bring_to_front()
    before = assignment_on(other)
    other.locator("#main .opt:has(input[value='4'])").click()
    other.keyboard.press("Control+Enter")
    wait_until(other, "before => document.getElementById('bench').dataset.assignment !== before", before)
    expect(waits).to_be_hidden(timeout=1000)
    assert other.evaluate(UNSENT) == 1


def test_other_work_sends_what_waits_and_stays_the_work_that_was_opened(
    open_as: OpenAs, campaign: Campaign, other: Campaign, nour: User
) -> None:
    page = leave_answer_waiting(open_as(nour), campaign)
    page.goto(f"/work/{other.pk}/")
    wait_until(page, f"{UNSENT} === 0")
    wait_until(page, "!document.getElementById('saved').hidden")
    before = assignment_on(page)
    given = Annotation.objects.get()
    assert given.assignment.campaign_id == campaign.pk and given.answers["relevance"] == "4"
    expect(page.locator(".bar h1")).to_have_text("The same once more")
    answered(page, lambda: (page.keyboard.press("2"), page.keyboard.press("Enter")))  # type: ignore[arg-type, func-returns-value]
    last = Annotation.objects.latest("pk")
    assert str(last.assignment_id) == before and last.assignment.campaign_id == other.pk


def test_a_sheet_that_waits_goes_on_when_another_page_has_sent_its_answer(
    open_as: OpenAs, campaign: Campaign, nour: User
) -> None:
    page = open_as(nour)
    page.goto(f"/work/{campaign.pk}/")
    page.route("**/submit", lambda route: route.abort())
    page.evaluate("document.getElementById('ahead').remove()")  # nothing is loaded ahead: it stays and waits
    first = assignment_on(page)
    page.keyboard.press("4")
    page.keyboard.press("Enter")
    expect(page.locator("#line")).to_contain_text("Your last answers are saved on this device")
    page.context.new_page().goto("/work/")
    wait_until(page, "was => document.getElementById('bench').dataset.assignment !== was", first)
    expect(page.locator("#line")).to_be_hidden()
    expect(page.locator("#saved")).to_be_hidden()
    assert codes() == ["4"]


def test_what_the_server_refuses_is_named_and_its_sheet_is_linked(
    open_as: OpenAs, campaign: Campaign, nour: User
) -> None:
    page = leave_answer_waiting(open_as(nour), campaign)
    key = f"emic:{nour.pk}:outbox"
    page.goto("/static/img/mark.svg")
    page.evaluate("key => localStorage.setItem(key, localStorage[key].replace('\"4\"', '\"9\"'))", key)
    page.goto("/me")
    expect(page.locator("#waits")).to_contain_text("could not be submitted")
    page.get_by_role("link", name="Open draft").click()
    expect(page.locator("#main .msg.err").first).to_be_visible()
    assert page.evaluate(UNSENT) == 0 and not Annotation.objects.exists()


def test_signing_out_sends_first(open_as: OpenAs, campaign: Campaign, nour: User) -> None:
    page = leave_answer_waiting(open_as(nour), campaign)
    page.route("**/submit", lambda route: route.abort(), times=1)  # the page itself did not get it through
    page.goto("/me")
    expect(page.locator("#waits")).to_contain_text("They are sent when you are online again")
    page.get_by_role("button", name="Sign out").first.click()
    page.wait_for_url("**/sign-in**")
    assert codes() == ["4"]
    assert page.evaluate("Object.keys(localStorage)") == []


def sign_in_as(page: Page, user: User) -> None:
    page.goto("/sign-in")
    page.locator("[name=username]").fill(user.email)
    page.locator("[name=password]").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url("**/work/")


def test_what_cannot_be_sent_waits_for_the_same_person_and_nobody_else(
    open_as: OpenAs, campaign: Campaign, nour: User, tarek: User, shot: Shot
) -> None:
    page = leave_answer_waiting(open_as(nour, **PHONE), campaign)
    page.route("**/submit", lambda route: route.abort())
    page.goto("/me")
    leave: Any = page.locator("form.phone button")
    leave.click()
    dialog = page.locator("#unsent")
    expect(dialog).to_contain_text("sent when you sign in here again")
    shot(page, "waits-unsent-phone")
    dialog.get_by_role("button", name="Stay signed in").click()
    expect(dialog).to_be_hidden()
    assert page.evaluate(UNSENT) == 1 and page.url.endswith("/me")
    leave.click()
    dialog.get_by_role("button", name="Sign out").click()
    page.wait_for_url("**/sign-in**")
    page.unroute("**/submit")
    assert page.evaluate("Object.keys(localStorage)") == [f"emic:{nour.pk}:outbox"]
    sign_in_as(page, tarek)
    page.goto(f"/work/{campaign.pk}/")  # its sheet forgets what others left, but for this
    expect(page.locator("#saved")).to_be_hidden()
    assert page.evaluate(UNSENT) == 1 and not Annotation.objects.exists()
    page.goto("/me")
    page.locator("form.phone button").click()
    page.wait_for_url("**/sign-in**")
    sign_in_as(page, nour)
    wait_until(page, f"{UNSENT} === 0")
    assert Annotation.objects.get().rater.user == nour and codes() == ["4"]


def test_signing_out_without_a_line_is_done_when_there_is_one(open_as: OpenAs, campaign: Campaign, nour: User) -> None:
    page = leave_answer_waiting(open_as(nour, **PHONE), campaign)
    page.route("**/submit", lambda route: route.abort())
    page.goto("/me")
    expect(page.locator("#waits")).to_contain_text("They are sent when you are online again")
    page.context.set_offline(True)
    page.locator("form.phone button").click()
    page.locator("#unsent").get_by_role("button", name="Sign out").click()
    expect(page.locator("body")).to_contain_text("You are signed out as soon as there is a connection.")
    assert Session.objects.count() == 1
    page.context.set_offline(False)
    page.goto("/work/")
    page.wait_for_url("**/sign-in**")
    assert not Session.objects.exists()
    assert page.evaluate(UNSENT) == 1 and not Annotation.objects.exists()


def test_signing_out_without_a_line_ends_the_session_though_nothing_waits(
    open_as: OpenAs, campaign: Campaign, nour: User
) -> None:
    page = open_as(nour)
    page.goto("/me")
    page.context.set_offline(True)
    page.get_by_role("button", name="Sign out").first.click()
    page.wait_for_timeout(500)
    assert Session.objects.count() == 1
    page.context.set_offline(False)
    page.goto("/work/")
    page.wait_for_url("**/sign-in**")
    assert not Session.objects.exists()
    sign_in_as(page, nour)
    page.goto("/me")
    page.wait_for_timeout(500)
    assert page.url.endswith("/me") and Session.objects.count() == 1


@pytest.mark.parametrize(("status", "where"), [(200, "sheet"), (404, "sheet"), (400, "sheet"), (200, "/work/")])
def test_a_reply_that_does_not_come_from_the_site_is_no_receipt(
    open_as: OpenAs, campaign: Campaign, nour: User, status: int, where: str
) -> None:
    """The page of a hotel's network, or of a proxy whose server is just starting again."""
    page = leave_answer_waiting(open_as(nour), campaign)
    page.route(
        "**/submit", lambda route: route.fulfill(status=status, body="<h1>Welcome</h1>", content_type="text/html")
    )
    page.goto(f"/work/{campaign.pk}/" if where == "sheet" else where)
    page.wait_for_timeout(800)
    assert page.evaluate(UNSENT) == 1 and not Annotation.objects.exists()
    page.unroute("**/submit")
    page.evaluate("dispatchEvent(new Event('online'))")
    wait_until(page, f"{UNSENT} === 0")
    assert codes() == ["4"]


def test_a_refusal_in_front_of_the_site_is_not_asked_again_without_end(
    open_as: OpenAs, campaign: Campaign, nour: User
) -> None:
    """Such as a filter of a network that takes a text for an attack. The session is not over."""
    page = open_as(nour)
    page.goto(f"/work/{campaign.pk}/")
    sent: list[str] = []

    def refuse(route: Route) -> None:
        sent.append(route.request.url)
        route.fulfill(status=403, body="Forbidden")

    page.route("**/submit", refuse)
    page.keyboard.press("4")
    page.keyboard.press("Enter")
    page.wait_for_timeout(3000)
    assert 1 <= len(sent) <= 6 and page.evaluate(UNSENT) == 1
    page.unroute("**/submit")
    page.evaluate("dispatchEvent(new Event('online'))")
    wait_until(page, f"{UNSENT} === 0")
    assert codes() == ["4"]


FULL = """() => {
  const put = Storage.prototype.setItem;
  Storage.prototype.setItem = function (key, value) {
    if (value.length > (this.getItem(key) ?? "").length) throw new DOMException("full", "QuotaExceededError");
    put.call(this, key, value);
  };
}"""


def test_on_a_device_without_room_an_answer_is_sent_all_the_same(
    open_as: OpenAs, campaign: Campaign, nour: User
) -> None:
    page = open_as(nour)
    page.goto(f"/work/{campaign.pk}/")
    answered(page, lambda: (page.keyboard.press("4"), page.keyboard.press("Enter")))  # type: ignore[arg-type, func-returns-value]
    page.evaluate(FULL)
    page.keyboard.press("2")
    with page.expect_response("**/submit"):
        page.keyboard.press("Enter")
    assert codes() == ["4", "2"]


def test_another_account_that_signs_out_leaves_what_only_the_database_of_the_browser_has(
    open_as: OpenAs, campaign: Campaign, nour: User, tarek: User
) -> None:
    """The browser was killed before it brought the answer to the disk by itself."""
    page = leave_answer_waiting(open_as(nour), campaign)
    page.goto("/static/img/mark.svg")
    page.evaluate("localStorage.clear()")
    page.context.clear_cookies()
    sign_in_as(page, tarek)
    page.goto("/me")
    page.get_by_role("button", name="Sign out").first.click()
    page.wait_for_url("**/sign-in**")
    sign_in_as(page, nour)
    wait_until(page, f"{UNSENT} === 0")
    page.wait_for_timeout(1000)
    assert Annotation.objects.get().rater.user == nour and codes() == ["4"]


def test_a_sheet_ends_the_session_of_who_signed_out_without_a_line(
    open_as: OpenAs, campaign: Campaign, nour: User
) -> None:
    page = open_as(nour)
    page.goto("/work/")
    page.evaluate(f"localStorage.setItem('emic-leaving', '{nour.pk}')")
    page.goto(f"/work/{campaign.pk}/")
    page.wait_for_url("**/sign-in**")
    assert not Session.objects.exists()


def test_a_change_that_comes_too_late_is_not_called_submitted(open_as: OpenAs, campaign: Campaign, nour: User) -> None:
    page = open_as(nour)
    begin_a_change(page, campaign, nour)
    hand = Annotation.objects.get().assignment
    page.route("**/submit", lambda route: route.abort())
    page.keyboard.press("5")
    page.keyboard.press("Enter")
    wait_until(page, f"{UNSENT} === 1")
    page.unroute("**/submit")
    page.goto("/static/img/mark.svg")
    type(hand).objects.filter(pk=hand.pk).update(state="accepted")
    page.goto("/work/")
    expect(page.locator("#waits")).to_contain_text("could not be submitted")
    page.get_by_role("link", name="Open draft").click()
    expect(page.locator("#main")).to_contain_text("This answer has been reviewed")
    expect(page.locator("#saved")).to_be_hidden()
    assert page.evaluate(UNSENT) == 0 and codes() == ["2"]


def test_what_is_refused_while_other_work_is_open_stays_a_draft(
    open_as: OpenAs, campaign: Campaign, other: Campaign, nour: User
) -> None:
    """Also the first answer of a pack, of which the device has the drafts of later ones."""
    page = leave_answer_waiting(open_as(nour), campaign)
    page.goto("/static/img/mark.svg")
    later = [{"assignment": str(10**6 + number), "answers": [], "version": 0} for number in range(20)]
    page.evaluate("([key, rows]) => localStorage.setItem(key, JSON.stringify(rows))", [f"emic:{nour.pk}:drafts", later])

    def spoil(route: Route) -> None:
        route.continue_(post_data=(route.request.post_data or "").replace("a-relevance=4", "a-relevance=9"))

    page.route("**/submit", spoil, times=1)
    page.goto(f"/work/{other.pk}/")
    page.get_by_role("link", name="Open draft").click()
    expect(page.locator("#main [value='4']")).to_be_checked()
    assert page.evaluate("key => JSON.parse(localStorage[key]).length", f"emic:{nour.pk}:drafts") == 21


SLOW_DATABASE = """
const { set } = Object.getOwnPropertyDescriptor(IDBRequest.prototype, "onsuccess");
Object.defineProperty(IDBRequest.prototype, "onsuccess", {
  set(act) { set.call(this, (event) => Array.isArray(this.result) ? setTimeout(act, 700, event) : act(event)); },
});
"""


def test_a_slow_database_does_not_bring_back_what_was_sent_meanwhile(
    open_as: OpenAs, campaign: Campaign, nour: User
) -> None:
    page = leave_answer_waiting(open_as(nour), campaign)
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url) if request.url.endswith("/submit") else None)
    page.add_init_script(SLOW_DATABASE)
    page.goto(f"/work/{campaign.pk}/")
    page.wait_for_timeout(1500)
    assert len(sent) == 1 and page.evaluate(UNSENT) == 0 and codes() == ["4"]
