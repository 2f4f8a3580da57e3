"""Rating in a real browser: by keys alone, by touch, right to left, without a line, without a script."""

from collections.abc import Callable
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from playwright.sync_api import Error, Page, Route, expect

from annotation.models import Annotation, Assignment, Campaign, Draft, ProblemReport
from people.models import User
from tests.browser.conftest import PHONE, axe_violations, current_assignment, until_sent, wait_until

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
OpenAs = Callable[..., Page]
Shot = Callable[..., None]
SETTLED = "() => Promise.all(document.getAnimations().map((one) => one.finished.catch(() => {})))"


def assignment_on(page: Page) -> str:
    return page.locator("#bench").get_attribute("data-assignment") or ""


def answered(page: Page, then: Callable[[], None]) -> None:
    """Do something that brings the next sheet, and wait for it and, with a line, for the answer to arrive."""
    before = assignment_on(page)
    then()
    wait_until(page, "before => document.getElementById('bench').dataset.assignment !== before", before)
    until_sent(page)


def codes() -> list[str]:
    rows = Annotation.objects.filter(live=True).order_by("submitted_at")
    return [row.answers["relevance"] for row in rows]


def wait_for_images(page: Page) -> None:
    wait_until(page, "[...document.querySelectorAll('.view img')].every(i => i.complete && i.naturalWidth)")


def test_five_pictures_by_keyboard_alone(open_as: OpenAs, campaign: Campaign, nour: User, shot: Shot) -> None:
    page = open_as(nour)
    page.goto("/work/")
    shot(page, "home-new-desktop", full_page=True)
    page.get_by_role("link", name="Start").focus()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="I have read this").focus()  # the instructions, once
    page.keyboard.press("Enter")
    page.wait_for_url(f"/work/{campaign.pk}/")
    wait_for_images(page)
    requests: list[str] = []
    page.on("request", lambda request: requests.append(f"{request.method} {request.url}"))
    for key in "41235":
        requests.clear()

        def rate(key: str = key) -> None:
            page.keyboard.press(key)
            page.keyboard.press("Enter")

        answered(page, rate)
        # The browser asks for the icon of the tab when it has time, perhaps only now.
        sent = [request for request in requests if "/image/" not in request and "mark.svg" not in request]
        assert len(sent) == 1 and sent[0].startswith("POST"), sent
    wait_for_images(page)
    page.keyboard.press("4")
    expect(page.locator("#undo")).to_be_visible()
    page.wait_for_timeout(300)
    shot(page, "sheet-desktop")
    assert codes() == list("41235")
    answered(page, lambda: page.keyboard.press("u"))
    expect(page.locator("[name=a-relevance][value='5']")).to_be_checked()
    page.keyboard.press("1")
    answered(page, lambda: page.keyboard.press("Enter"))
    assert sorted(codes()) == list("11234")
    page.goto("/work/")
    shot(page, "home-desktop", full_page=True)


def test_skip_by_keys_with_a_reason(open_as: OpenAs, campaign: Campaign, nour: User, shot: Shot) -> None:
    page = open_as(nour)
    page.goto(f"/work/{campaign.pk}/")
    first = current_assignment(nour)
    wait_for_images(page)
    page.keyboard.press("s")
    expect(page.locator("#why")).to_be_visible()
    shot(page, "skip-desktop")
    page.keyboard.press("Escape")
    expect(page.locator("#why")).to_be_hidden()
    page.keyboard.press("s")
    page.keyboard.press("3")
    answered(page, lambda: page.keyboard.press("Enter"))
    first.refresh_from_db()
    assert (first.state, first.skip_reason) == ("skipped", "broken")


def test_enter_without_an_answer_says_what_to_do(open_as: OpenAs, campaign: Campaign, nour: User, shot: Shot) -> None:
    page = open_as(nour)
    page.goto(f"/work/{campaign.pk}/")
    page.keyboard.press("Enter")
    expect(page.locator("[data-missing]").first).to_be_visible()
    shot(page, "missing-desktop")
    page.keyboard.press("2")
    expect(page.locator("[data-missing]").first).to_be_hidden()
    assert codes() == []


def test_instructions_report_and_zoom_by_keys(open_as: OpenAs, campaign: Campaign, nour: User, shot: Shot) -> None:
    page = open_as(nour)
    page.goto(f"/work/{campaign.pk}/")
    wait_for_images(page)
    page.keyboard.press("?")
    expect(page.locator("#help")).to_contain_text("Look at the whole picture first.")
    shot(page, "help-desktop")
    page.keyboard.press("Escape")
    page.keyboard.press("r")
    page.keyboard.type("The picture is mirrored, 1 2 3.")
    shot(page, "report-desktop")
    page.keyboard.press("Control+Enter")
    expect(page.locator("p.toast")).to_contain_text("Thank you")
    assert ProblemReport.objects.get().text == "The picture is mirrored, 1 2 3."
    page.keyboard.press("+")
    assert "scale(1.6)" in (page.locator(".view img").get_attribute("style") or "")
    shot(page, "zoom-desktop")
    page.keyboard.press("-")
    assert "scale" not in (page.locator(".view img").get_attribute("style") or "")


def test_five_pictures_by_touch(open_as: OpenAs, campaign: Campaign, nour: User, shot: Shot) -> None:
    page = open_as(nour, **PHONE)
    page.goto("/work/")
    page.get_by_role("link", name="Start").tap()
    shot(page, "instructions-phone", full_page=True)
    page.get_by_role("button", name="I have read this").tap()
    page.wait_for_url(f"/work/{campaign.pk}/")
    for number in (4, 2, 5, 1, 3):
        wait_for_images(page)
        page.locator(f".opt:has([name=a-relevance][value='{number}'])").tap()
        if number == 5:
            shot(page, "sheet-phone-end")
        answered(page, lambda: page.get_by_role("button", name="Submit").tap())
    wait_for_images(page)
    page.wait_for_timeout(300)
    shot(page, "sheet-phone")
    assert codes() == list("42513")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.locator(".acts [data-dialog=why]").tap()
    expect(page.locator("#why")).to_be_visible()
    shot(page, "skip-phone")
    page.get_by_role("button", name="Cancel").tap()
    page.goto("/work/")
    shot(page, "home-phone", full_page=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize("how", [{}, PHONE], ids=["desktop", "phone"])
def test_arabic_goes_from_right_to_left(
    open_as: OpenAs, campaign: Campaign, nour: User, shot: Shot, how: dict[str, object]
) -> None:
    name = "phone" if how else "desktop"
    nour.language = "ar"
    nour.save()
    page = open_as(nour, **how)
    page.goto(f"/work/{campaign.pk}/")
    expect(page.locator("html")).to_have_attribute("dir", "rtl")
    expect(page.locator("#main legend").first).to_contain_text("مصر")
    wait_for_images(page)
    for _time in range(2):
        page.keyboard.press("3")
        answered(page, lambda: page.keyboard.press("Enter"))
    page.keyboard.press("4")
    wait_for_images(page)
    if not how:
        stage, panel = page.locator(".stage").bounding_box(), page.locator(".panel").bounding_box()
        assert stage and panel and panel["x"] < stage["x"]
    page.wait_for_timeout(300)
    shot(page, f"sheet-ar-{name}")
    page.goto("/work/")
    shot(page, f"home-ar-{name}", full_page=True)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_without_a_line_answers_wait_and_go_out_once(
    open_as: OpenAs, campaign: Campaign, nour: User, shot: Shot
) -> None:
    page = open_as(nour)
    page.goto(f"/work/{campaign.pk}/")
    wait_for_images(page)
    expect(page.locator("[data-loaded]")).to_have_text("Next picture is loaded")
    page.context.set_offline(True)
    page.keyboard.press("4")
    answered(page, lambda: page.keyboard.press("Enter"))
    expect(page.locator("#line")).to_contain_text("No connection since")
    now = datetime.now(ZoneInfo("Africa/Cairo"))
    told = page.locator("#line").text_content() or ""
    assert any(f"{now - timedelta(minutes=ago):%H:%M}" in told for ago in (0, 1)), f"by the cohort's clock: {told}"
    wait_for_images(page)  # the one ahead was here already
    page.keyboard.press("2")
    shot(page, "offline-desktop")
    page.keyboard.press("Enter")
    expect(page.locator("#line")).to_contain_text("will be sent when you are online again")
    assert codes() == []
    page.context.set_offline(False)
    wait_until(page, "document.getElementById('line').hidden && !document.querySelector('.sends')")
    assert codes() == ["4", "2"]
    assert Annotation.objects.count() == 2
    assert assignment_on(page) == str(current_assignment(nour).pk)


def test_a_reply_that_is_lost_is_asked_for_again_with_the_same_key(
    open_as: OpenAs, campaign: Campaign, nour: User
) -> None:
    page = open_as(nour)
    page.goto(f"/work/{campaign.pk}/")
    lost: list[str] = []

    def lose_first(route: Route) -> None:
        lost.append(route.request.post_data or "")
        if len(lost) == 1:
            route.fetch()  # the server takes it; the browser never hears
            route.abort()
        else:
            route.continue_()

    page.route("**/submit", lose_first)
    page.keyboard.press("4")
    answered(page, lambda: page.keyboard.press("Enter"))
    wait_until(page, "document.getElementById('line').hidden")
    assert len(lost) == 2 and lost[0] == lost[1]
    assert Annotation.objects.count() == 1


def test_answers_that_wait_survive_a_closed_tab(open_as: OpenAs, campaign: Campaign, nour: User) -> None:
    page = open_as(nour)
    page.goto(f"/work/{campaign.pk}/")
    page.route("**/submit", lambda route: route.abort())
    page.keyboard.press("5")
    answered(page, lambda: page.keyboard.press("Enter"))
    page.unroute("**/submit")
    context = page.context
    page.close()
    again = context.new_page()
    again.goto(f"/work/{campaign.pk}/")
    wait_until(again, "!document.querySelector('.sends') && document.getElementById('undo')")
    assert codes() == ["5"]


def test_a_reload_keeps_the_draft(open_as: OpenAs, campaign: Campaign, nour: User) -> None:
    page = open_as(nour)
    page.goto(f"/work/{campaign.pk}/")
    page.keyboard.press("3")
    page.reload()  # before the draft went out: from this device
    expect(page.locator("#main [value='3']")).to_be_checked()
    expect(page.locator("#saved")).to_contain_text("Draft saved")
    assert Draft.objects.get().answers == {"relevance": "3"}
    page.evaluate("localStorage.clear()")
    page.reload()  # from the server
    expect(page.locator("#main [value='3']")).to_be_checked()


def test_two_windows_are_told_and_none_is_overwritten(
    open_as: OpenAs, campaign: Campaign, nour: User, shot: Shot
) -> None:
    first, second = open_as(nour), open_as(nour)
    for page in (first, second):
        page.goto(f"/work/{campaign.pk}/")
    first.keyboard.press("2")
    expect(first.locator("#saved")).to_contain_text("Draft saved")
    second.keyboard.press("5")
    expect(second.locator("#conflict")).to_be_visible()
    shot(second, "conflict-desktop")
    assert Draft.objects.get().answers == {"relevance": "2"}
    second.get_by_role("button", name="Keep my version").click()
    expect(second.locator("#saved")).to_contain_text("Draft saved")
    assert Draft.objects.get().answers == {"relevance": "5"}


def test_signing_out_leaves_nothing_on_the_device(open_as: OpenAs, campaign: Campaign, nour: User) -> None:
    page = open_as(nour)
    page.goto(f"/work/{campaign.pk}/")
    page.keyboard.press("3")
    wait_until(page, "Object.keys(localStorage).some(key => key.startsWith('emic:'))")
    page.goto("/work/")
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url("**/sign-in**")
    assert page.evaluate("Object.keys(localStorage)") == []


def test_without_a_script_all_of_it_works(open_as: OpenAs, campaign: Campaign, nour: User, shot: Shot) -> None:
    page = open_as(nour, java_script_enabled=False)
    page.goto(f"/work/{campaign.pk}/")
    first = current_assignment(nour)
    page.locator(".opt", has_text="Highly relevant").click()
    page.get_by_role("button", name="Submit").click()
    assert codes() == ["5"]
    page.get_by_role("button", name="Undo").click()
    assert assignment_on(page) == str(first.pk)
    expect(page.locator("#main [value='5']")).to_be_checked()
    page.get_by_role("button", name="Submit").click()
    page.locator(".acts [data-dialog=why]").click()
    shot(page, "noscript-skip-desktop")
    page.locator("#why .opt", has_text="It cannot be judged").click()
    page.locator("#why").get_by_role("button", name="Skip").click()
    assert Assignment.objects.get(state="skipped").skip_reason == "unclear"


def test_a_picture_that_does_not_load_says_so(open_as: OpenAs, campaign: Campaign, nour: User, shot: Shot) -> None:
    page = open_as(nour)
    page.route("**/image/**", lambda route: route.abort())
    page.goto(f"/work/{campaign.pk}/")
    expect(page.locator(".broken")).to_be_visible()
    shot(page, "broken-desktop")
    page.unroute("**/image/**")
    page.keyboard.press("t")
    expect(page.locator(".broken")).to_be_hidden()
    wait_for_images(page)


@pytest.mark.parametrize("how", [{}, PHONE], ids=["desktop", "phone"])
def test_axe_finds_nothing(open_as: OpenAs, campaign: Campaign, nour: User, how: dict[str, object], shot: Shot) -> None:
    page = open_as(nour, **how)
    page.goto(f"/work/{campaign.pk}/")
    wait_for_images(page)

    def rate() -> None:
        page.keyboard.press("4")
        page.keyboard.press("Enter")

    answered(page, rate)
    page.keyboard.press("2")
    findings = [find_violations(page)]
    page.keyboard.press("s")
    findings.append(find_violations(page))
    for url in ("/work/", "/work/history/"):
        page.goto(url)
        findings.append(find_violations(page))
    shot(page, f"history-{'phone' if how else 'desktop'}", full_page=True)
    assert findings == ["", "", "", ""]


def find_violations(page: Page) -> str:
    try:
        page.evaluate(SETTLED)  # colours that change between two states are measured at the end
        violations = axe_violations(page)
    except Error:  # a click had been answered, and its page took the place of this one in between
        page.wait_for_load_state()
        violations = axe_violations(page)
    return "\n".join(f"{one['id']}: {node['html'][:200]}" for one in violations for node in one["nodes"])


def test_all_done_says_so(open_as: OpenAs, campaign: Campaign, bia: User, shot: Shot) -> None:
    page = open_as(bia)
    page.goto(f"/work/{campaign.pk}/")
    for number in range(8):
        page.keyboard.press("1")
        if number < 7:
            answered(page, lambda: page.keyboard.press("Enter"))
    page.keyboard.press("Enter")
    expect(page.locator(".empty")).to_contain_text("Your cohort has given all the answers")
    shot(page, "done-desktop")
    assert len(codes()) == 8
