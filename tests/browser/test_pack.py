"""Items taken along: answered in aeroplane mode, after the browser was closed, and sent once when the line is back."""

import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.utils import timezone
from playwright.sync_api import Browser, BrowserContext, Page, expect

from annotation.models import Annotation, Assignment, Campaign, Slot
from annotation.services.campaigns import lifecycle
from people.models import User
from tests.browser.conftest import ARGS, CHROMIUM, PHONE, UNSENT, add_definitions_and_pictures, wait_until
from tests.browser.test_rating import find_violations
from tests.personas import PASSWORD, World

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
OpenAs = Callable[..., Page]
Shot = Callable[..., None]
CACHES = "caches.keys().then((names) => names.filter((name) => name.startsWith('emic-pack:')))"


@pytest.fixture
def on_disk(chromium: Browser, live_server: Any, world: World, tmp_path: Path) -> Iterator[Callable[..., BrowserContext]]:
    """A browser with a folder of its own, which outlives its closing, with the person signed in."""
    opened: list[BrowserContext] = []

    def open_browser(user: User | None = None) -> BrowserContext:
        for one in opened:
            one.close()
        opened.clear()
        how: Any = {**PHONE, "reduced_motion": "reduce", "base_url": live_server.url, "locale": "en-GB"}
        context = chromium.browser_type.launch_persistent_context(
            tmp_path / "browser", executable_path=CHROMIUM, args=ARGS, **how
        )
        context.set_default_timeout(15_000)
        opened.append(context)
        if user is not None:
            cookie = world.client(user).cookies[settings.SESSION_COOKIE_NAME]
            name, end = {"name": cookie.key, "value": cookie.value, "url": live_server.url}, time.time() + 86_400
            context.add_cookies([{**name, "expires": end}])  # type: ignore[typeddict-item]
        return context

    yield open_browser
    for one in opened:
        one.close()


def take(page: Page, count: int) -> None:
    page.goto("/work/")
    page.get_by_role("button", name="Take 20 with me").click()
    expect(page.locator("[data-here]")).to_contain_text(f": {count}", timeout=30_000)


def answer_next(page: Page, code: str) -> None:
    before = page.locator("#bench").get_attribute("data-assignment")
    page.locator(f"#main .opt:has(input[value='{code}'])").tap()
    page.wait_for_timeout(400)  # a second press would be taken for one of the sheet before
    page.get_by_role("button", name="Submit").tap()
    wait_until(page, "(was) => document.getElementById('bench').dataset.assignment !== was", before)


def given_codes() -> list[str]:
    return list(Annotation.objects.order_by("pk").values_list("answers__relevance", flat=True))


@pytest.mark.parametrize(("items", "taken", "answered"), [(12, 4, 3), pytest.param(63, 20, 20, marks=pytest.mark.slow)])
def test_a_pack_is_answered_in_aeroplane_mode_and_stored_once(
    world: World, live_server: Any, media: None, on_disk: Callable[..., BrowserContext], shot: Shot,
    items: int, taken: int, answered: int,
) -> None:  # fmt: skip
    add_definitions_and_pictures(world, items)
    campaign = lifecycle.create(world.stage, "Relevance", world.owner, {world.egypt: 1}, seed=5, instructions={})
    lifecycle.open_campaign(campaign, world.owner, timezone.now())
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
    offline = on_disk()  # the browser is closed, and opened again without a line
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
    wait_until(page, f"{CACHES}.then((names) => names.length === 0)")


