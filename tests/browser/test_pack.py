"""Items taken along: answered in aeroplane mode, after the browser was closed, and sent once when the line is back."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.http import HttpResponse
from django.utils import timezone
from playwright.sync_api import Browser, BrowserContext, Error, Page, Route, expect

from annotation.models import Annotation, Assignment, Campaign, Slot
from annotation.services.campaigns import lifecycle
from annotation.services.queue import packs
from people.models import User
from tests.browser.conftest import (
    ARGS,
    CHROMIUM,
    PHONE,
    UNSENT,
    add_definitions_and_pictures,
    until_seen,
    wait_until,
)
from tests.browser.test_rating import find_violations
from tests.personas import World

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
OpenAs = Callable[..., Page]
OpenBrowser = Callable[..., BrowserContext]
Shot = Callable[..., None]
# The paths that packs keep on this device, whoever took them.
CACHED = """caches.keys().then((names) => Promise.all(names.map((name) => caches.open(name).then((one) => one.keys()))))
  .then((all) => all.flat().map((kept) => new URL(kept.url).pathname))"""


@pytest.fixture
def on_disk(
    chromium: Browser, live_server: Any, world: World, tmp_path: Path
) -> Iterator[Callable[..., BrowserContext]]:
    """A browser with a folder of its own, which outlives its end, with the person signed in. One that is open is
    killed."""
    opened: list[BrowserContext] = []
    folder = tmp_path / "browser"

    def open_browser(user: User | None = None) -> BrowserContext:
        for earlier in opened:
            kill_browser(folder)
            with suppress(Error):
                earlier.close()
        opened.clear()
        how: Any = {**PHONE, "reduced_motion": "reduce", "base_url": live_server.url, "locale": "en-GB"}
        context = chromium.browser_type.launch_persistent_context(folder, executable_path=CHROMIUM, args=ARGS, **how)
        context.set_default_timeout(15_000)
        opened.append(context)
        if user is not None:
            cookie = world.client(user).cookies[settings.SESSION_COOKIE_NAME]
            name, end = {"name": cookie.key, "value": cookie.value, "url": live_server.url}, time.time() + 86_400
            context.add_cookies([{**name, "expires": end}])  # type: ignore[typeddict-item]
        return context

    yield open_browser
    for context in opened:
        context.close()


def kill_browser(folder: Path) -> None:
    """As when a battery ends: nothing that is still to be written gets to the disk."""
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if f"--user-data-dir={folder}" in (process / "cmdline").read_text():
                os.kill(int(process.name), signal.SIGKILL)
    (folder / "SingletonLock").unlink(missing_ok=True)


def take(page: Page, count: int) -> None:
    page.goto("/work/")
    page.get_by_role("button", name="Take up to 20 with me").click()
    expect(page.locator("[data-here]")).to_contain_text(f"With you: {count}, until", timeout=30_000)


def answer_next(page: Page, code: str) -> None:
    before = page.locator("#bench").get_attribute("data-assignment")
    page.locator(f"#main .opt:has(input[value='{code}'])").tap()
    page.wait_for_timeout(400)  # a second press would be taken for one of the sheet before
    page.get_by_role("button", name="Submit").tap()
    wait_until(page, "(was) => document.getElementById('bench').dataset.assignment !== was", before)


def given_codes() -> list[str]:
    return list(Annotation.objects.order_by("pk").values_list("answers__relevance", flat=True))


def relevance(world: World, items: int = 12) -> Campaign:
    add_definitions_and_pictures(world, items)
    campaign = lifecycle.create(world.stage, "Relevance", world.owner, {world.egypt: 1}, seed=5, instructions={})
    lifecycle.open_campaign(campaign, world.owner, timezone.now())
    return campaign


# How many answers are on the disk: a reading transaction waits for the writing ones before it.
ON_DISK = """new Promise(done => { indexedDB.open('emic', 1).onsuccess = ({ target }) => {
  const rows = target.result.transaction('answers').objectStore('answers').count();
  rows.onsuccess = () => (target.result.close(), done(rows.result));
}; })"""


@pytest.mark.parametrize(("items", "taken", "answered"), [(12, 4, 3), pytest.param(63, 20, 20, marks=pytest.mark.slow)])
def test_a_pack_is_answered_in_aeroplane_mode_and_stored_once(
    world: World, live_server: Any, media: None, on_disk: OpenBrowser, shot: Shot,
    items: int, taken: int, answered: int,
) -> None:  # fmt: skip
    campaign = relevance(world, items)
    page = on_disk(world.nour).new_page()
    take(page, taken)
    shot(page, "pack-taken-phone", full_page=True)
    assert Assignment.objects.filter(packed=True, state="reserved").count() == taken
    page.context.set_offline(True)
    page.goto(f"/work/{campaign.pk}/pack/")
    expect(page.locator("#left")).to_have_text(f"Left: {taken}")
    wait_until(page, "document.querySelector('.view img').naturalWidth > 0")
    shot(page, "pack-offline-phone")
    for number in range(answered - 1):
        answer_next(page, str(1 + number % 5))
    assert not Annotation.objects.exists()
    wait_until(page, f"{ON_DISK}.then(rows => rows === {answered - 1})")  # that takes a moment after Submit
    offline = on_disk(world.nour)  # the browser is killed, and opened again without a line; cookies are older than that
    offline.set_offline(True)
    page = offline.new_page()
    page.goto("/work/")
    expect(page.locator("#waiting")).to_have_text(f"Answers that wait on this device: {answered - 1}")
    shot(page, "offline-page-phone")
    page.locator("#packs a").tap()
    expect(page.locator("#left")).to_have_text(f"Left: {taken - answered + 1}")
    wait_until(page, "document.querySelector('.view img').naturalWidth > 0")
    answer_next(page, "5")
    if answered == taken:
        expect(page.locator("#main")).to_contain_text("Nothing is left that you took with you")
    offline.set_offline(False)
    wait_until(page, f"{UNSENT} === 0")
    assert len(given_codes()) == answered == Annotation.objects.filter(counted=True).count()
    assert Annotation.objects.values("assignment").distinct().count() == answered
    page.goto("/work/")
    if answered < taken:
        page.get_by_role("button", name="Give back").tap()
        expect(page.locator("[data-told]")).to_have_text("All are given back.")
    assert not Assignment.objects.filter(state="reserved").exists()
    assert Slot.objects.filter(open=True).count() == items - answered
    wait_until(page, f"{CACHED}.then((paths) => !paths.some((path) => /work|image/.test(path)))")


def become(page: Page, other: Page) -> None:
    """Somebody else is signed in on this device now."""
    page.context.clear_cookies()
    page.context.add_cookies(other.context.cookies())  # type: ignore[arg-type]


def test_another_account_on_the_device_neither_sees_nor_sends(
    world: World, live_server: Any, media: None, open_as: OpenAs
) -> None:
    campaign = relevance(world)
    page, other, mine = open_as(world.nour, **PHONE), open_as(world.tarek), open_as(world.nour)
    take(page, 4)
    page.context.set_offline(True)
    page.goto(f"/work/{campaign.pk}/pack/")
    # A request that the browser still holds when the page goes would reach the server once the line is back.
    page.evaluate("() => { window.fetch = () => Promise.reject(new TypeError('no line')); }")
    answer_next(page, "4")
    assert page.evaluate(UNSENT) == 1
    page.evaluate("for (const key of Object.keys(localStorage)) if (key.endsWith(':app')) localStorage.removeItem(key)")
    page.goto("about:blank")
    become(page, other)
    page.context.set_offline(False)
    page.goto(f"/work/{campaign.pk}/pack/")  # without that mark no script of a page knows of it: the worker does
    expect(page.locator("#main")).to_contain_text("Nothing is left that you took with you")
    wait_until(page, f"{CACHED}.then((paths) => paths.length === 0)")
    page.goto("/work/")
    expect(page.locator("#waits")).to_be_hidden()
    page.context.set_offline(True)
    with pytest.raises(Error):
        page.goto(f"/work/{campaign.pk}/pack/")
    page.context.set_offline(False)
    assert not Annotation.objects.exists()
    become(page, mine)
    page.goto("/work/")
    wait_until(page, f"{UNSENT} === 0")
    assert Annotation.objects.get().rater.user == world.nour


@pytest.mark.parametrize("where", ["/work/", "sheet"])
def test_a_page_forgets_what_another_person_took_also_without_a_worker(
    world: World, live_server: Any, media: None, open_as: OpenAs, where: str
) -> None:
    campaign = relevance(world)
    page = open_as(world.nour)
    page.goto("/work/")
    page.evaluate("caches.open('emic-pack:999').then((cache) => cache.put('/work/1/pack/', new Response('theirs')))")
    page.evaluate("localStorage.setItem('emic:999:app', '1'), localStorage.setItem('emic:999:drafts', '[1]')")
    page.goto(f"/work/{campaign.pk}/" if where == "sheet" else where)
    wait_until(page, f"{CACHED}.then((paths) => paths.length === 0)")
    assert page.evaluate("Object.keys(localStorage).filter((key) => key.startsWith('emic:999:'))") == []


def test_with_a_line_pages_are_new_and_nothing_else_passes_the_worker(
    world: World, live_server: Any, media: None, open_as: OpenAs
) -> None:
    campaign = relevance(world)
    page = open_as(world.nour, **PHONE)
    take(page, 4)
    by_worker: list[str] = []
    page.on("response", lambda reply: by_worker.append(reply.url) if reply.from_service_worker else None)
    page.goto(f"/work/{campaign.pk}/")
    wait_until(page, "document.querySelector('.view img').naturalWidth > 0")
    assert [url for url in by_worker if not url.endswith(f"/work/{campaign.pk}/")] == []
    rater = Assignment.objects.filter(packed=True)[0].rater
    packs.give_back(rater, campaign.cohorts.get(), timezone.now())  # on another device
    page.goto(f"/work/{campaign.pk}/pack/")
    expect(page.locator("#main")).to_contain_text("Nothing is left that you took with you")
    lifecycle.close(campaign, world.owner, timezone.now())  # and nothing is offered any more
    page.goto("/work/")
    wait_until(page, f"{CACHED}.then((paths) => !paths.some((path) => /work|image/.test(path)))")


def test_signing_out_gives_the_pack_back_and_leaves_nothing(
    world: World, live_server: Any, media: None, open_as: OpenAs
) -> None:
    campaign = relevance(world)
    page = open_as(world.nour, **PHONE)
    take(page, 4)
    page.goto("/me")
    page.locator("form.phone button").click()
    page.wait_for_url("**/sign-in**")
    assert page.evaluate(CACHED) == [] and page.evaluate("Object.keys(localStorage)") == []
    assert not Assignment.objects.filter(state="reserved").exists()
    page.context.set_offline(True)
    with pytest.raises(Error):
        page.goto(f"/work/{campaign.pk}/pack/")


def test_what_was_taken_stays_on_the_device_while_the_campaign_is_paused(
    world: World, live_server: Any, media: None, open_as: OpenAs, shot: Shot
) -> None:
    campaign = relevance(world)
    page = open_as(world.nour, **PHONE)
    take(page, 4)
    lifecycle.pause(campaign, world.owner)
    page.goto("/work/")
    expect(page.locator("[data-here]")).to_contain_text("With you: 4")
    shot(page, "pack-paused-phone", full_page=True)
    page.set_viewport_size({"width": 1280, "height": 800})
    shot(page, "pack-paused-desktop", full_page=True)
    page.context.set_offline(True)
    page.goto(f"/work/{campaign.pk}/pack/")
    expect(page.locator("#left")).to_have_text("Left: 4")


FULL = """{
  const put = Cache.prototype.put;
  let pictures = 0;
  Cache.prototype.put = function (where, what) {
    if (String(where).startsWith("/image/") && pictures++ >= 2) throw new DOMException("full", "QuotaExceededError");
    return put.call(this, where, what);
  };
}"""


def test_a_device_without_room_takes_fewer_and_says_how_many(
    world: World, live_server: Any, media: None, open_as: OpenAs
) -> None:
    relevance(world)
    page = open_as(world.nour, **PHONE)
    page.add_init_script(FULL)
    take(page, 2)
    expect(page.locator("[data-told]")).to_have_text("This device has room for 2 only. The others are given back.")
    assert Assignment.objects.filter(packed=True, state="reserved").count() == 2
    assert find_violations(page) == ""


def test_a_pack_is_not_called_complete_while_the_server_was_too_busy_for_its_pictures(
    world: World, live_server: Any, media: None, open_as: OpenAs
) -> None:
    campaign = relevance(world)
    page = open_as(world.nour, **PHONE)
    page.route("**/image/**", lambda route: route.fulfill(status=503, headers={"Retry-After": "5"}))
    page.goto("/work/")
    page.locator("[data-takes]").click()
    expect(page.locator("[data-told]")).to_have_text("The connection broke. Press again to continue.")
    page.unroute("**/image/**")
    page.locator("[data-takes]").click()
    expect(page.locator("[data-here]")).to_contain_text("With you: 4", timeout=30_000)
    page.context.set_offline(True)
    page.goto(f"/work/{campaign.pk}/pack/")
    wait_until(page, "document.querySelector('.view img').naturalWidth > 0")


@pytest.mark.parametrize("way", ["give back", "sign out"])
def test_what_is_answered_and_not_sent_yet_is_not_given_back(
    world: World, live_server: Any, media: None, open_as: OpenAs, way: str
) -> None:
    campaign = relevance(world)
    page = open_as(world.nour, **PHONE)
    take(page, 4)
    page.goto(f"/work/{campaign.pk}/pack/")
    page.context.route("**/submit", lambda route: route.abort())
    answer_next(page, "4")
    assert page.evaluate(UNSENT) == 1
    if way == "give back":
        page.goto("/work/")
        page.get_by_role("button", name="Give back").tap()
        expect(page.locator("[data-told]")).to_have_text("All are given back.")
    else:
        page.goto("/me")
        page.locator("form.phone button").click()
        page.locator("#unsent").get_by_role("button", name="Sign out").click()
        page.wait_for_url("**/sign-in**")
    answered = Assignment.objects.get(state="reserved")
    page.context.unroute("**/submit")
    if way == "give back":
        page.goto("/work/")
        wait_until(page, f"{UNSENT} === 0")
        assert Annotation.objects.get(counted=True).assignment == answered


def test_without_a_secure_context_there_is_no_button(
    world: World, live_server: Any, media: None, open_as: OpenAs
) -> None:
    relevance(world)
    page = open_as(world.nour, **PHONE)
    page.add_init_script("Object.defineProperty(window, 'isSecureContext', { value: false })")
    page.goto("/work/")
    expect(page.get_by_role("link", name="Start")).to_be_visible()
    expect(page.locator("[data-pack]")).to_be_hidden()


def test_what_another_page_sent_is_not_asked_again_and_a_proxy_without_its_server_is_no_line(
    world: World, live_server: Any, media: None, open_as: OpenAs, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = relevance(world)
    page = open_as(world.nour, **PHONE)
    take(page, 4)
    page.context.set_offline(True)
    page.goto(f"/work/{campaign.pk}/pack/")
    page.evaluate("() => { window.fetch = () => Promise.reject(new TypeError('no line')); }")  # as above
    answer_next(page, "4")
    expect(page.locator("#saved")).to_have_text("On this device")
    page.goto("/work/")
    page.context.set_offline(False)
    page.wait_for_url("**/work/")
    wait_until(page, f"{UNSENT} === 0")
    assert given_codes() == ["4"]
    monkeypatch.setattr("annotation.views.packs.render", lambda *_page: HttpResponse("Bad gateway", status=502))
    page.goto(f"/work/{campaign.pk}/pack/")
    expect(page.locator("#left")).to_have_text("Left: 3")
    kept = "person => caches.open(`emic-pack:${person}`).then((one) => one.put('/static/old.js', new Response('kept')))"
    page.evaluate(kept, world.nour.pk)
    assert page.evaluate("fetch('/static/old.js').then((reply) => reply.text())") == "kept"  # the server has it no more


def test_in_arabic_it_reads_from_the_right(
    world: World, live_server: Any, media: None, open_as: OpenAs, shot: Shot
) -> None:
    campaign = relevance(world)
    User.objects.filter(pk=world.nour.pk).update(language="ar")
    page = open_as(world.nour, **PHONE)
    page.goto("/work/")
    page.locator("[data-takes]").click()
    expect(page.locator("[data-here]")).to_contain_text("معك: 4", timeout=30_000)
    shot(page, "pack-taken-phone-ar", full_page=True)
    page.goto(f"/work/{campaign.pk}/pack/")
    expect(page.locator("#left")).to_have_text("المتبقي: 4")
    assert find_violations(page) == ""
    shot(page, "pack-sheet-phone-ar")
    page.context.set_offline(True)
    page.goto("/work/history/")
    expect(page.locator("html")).to_have_attribute("dir", "rtl")
    expect(page.locator("h1")).to_have_text("لا اتصال")
    shot(page, "offline-page-phone-ar")
    assert find_violations(page) == ""


def test_a_refused_answer_comes_back_and_no_sheet_of_the_pack_is_lost(
    world: World, live_server: Any, media: None, open_as: OpenAs
) -> None:
    campaign = relevance(world)
    page = open_as(world.nour, **PHONE)
    take(page, 4)
    page.goto(f"/work/{campaign.pk}/pack/")
    first = str(page.locator("#bench").get_attribute("data-assignment"))

    def spoil(route: Route) -> None:
        route.continue_(post_data=(route.request.post_data or "").replace("a-relevance=4", "a-relevance=9"))

    page.route("**/submit", spoil, times=1)
    answer_next(page, "4")
    wait_until(page, "(was) => document.getElementById('bench').dataset.assignment === was", first)
    expect(page.locator("#main .msg.err").first).to_be_visible()
    expect(page.locator("#left")).to_have_text("Left: 4")
    until_seen(page)
    for code in "3215":
        answer_next(page, code)
    wait_until(page, f"{UNSENT} === 0")
    expect(page.locator("#main")).to_contain_text("Nothing is left that you took with you")
    assert sorted(given_codes()) == ["1", "2", "3", "5"]
    assert Annotation.objects.get(assignment=first).answers["relevance"] == "3"
