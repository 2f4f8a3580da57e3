"""A sheet of several kinds, signing out underway, and a device that two people share."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from playwright.sync_api import Page, expect

from annotation.models import Annotation, Campaign, SheetVersion
from people.models import User
from tests.browser.conftest import PHONE, until_seen, until_sent, until_sheet_ready, wait_until
from tests.browser.test_rating import assignment_on, find_violations

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
OpenAs = Callable[..., Page]
Shot = Callable[..., None]

KNOWN = [("yes", "Familiar"), ("some", "Somewhat"), ("no", "Not familiar")]
SEEN = [("food", "Food"), ("dress", "Dress"), ("music", "Music"), ("place", "A place")]
MIXED: dict[str, Any] = {
    "fields": [
        {
            "key": "known", "kind": "choice", "label": {"en": "Do you know what this picture shows?"},
            "config": {"options": [{"code": code, "label": {"en": words}} for code, words in KNOWN]},
        },
        {
            "key": "seen", "kind": "choice", "label": {"en": "What do you see?"}, "required": False,
            "config": {"many": True, "options": [{"code": code, "label": {"en": words}} for code, words in SEEN]},
        },
        {
            "key": "name", "kind": "text", "label": {"en": "What is it called in {target}?"},
            "help": {"en": "The local name, in Arabic."}, "config": {"max_length": 40, "language": "ar"},
        },
    ]
}  # fmt: skip


@pytest.fixture
def mixed(campaign: Campaign) -> Campaign:
    version = SheetVersion.objects.create(stage=campaign.stage, major=2, minor=0, definition=MIXED)
    Campaign.objects.filter(pk=campaign.pk).update(sheet_version=version)
    return campaign


def test_a_sheet_of_several_kinds_is_filled_by_keys(open_as: OpenAs, mixed: Campaign, nour: User, shot: Shot) -> None:
    page = open_as(nour)
    page.goto(f"/work/{mixed.pk}/")
    page.keyboard.press("1")  # the first question that is open
    expect(page.locator("[value=yes]")).to_be_checked()
    page.locator(".opt", has_text="Food").click()
    page.keyboard.press("3")  # in the question that holds the focus
    expect(page.locator("[value=music]")).to_be_checked()
    page.get_by_label("What is it called in Egypt?").fill("")
    page.get_by_label("What is it called in Egypt?").press_sequentially("s u 1 mint tea")
    assert page.locator("dialog[open]").count() == 0
    page.keyboard.press("Control+Enter")
    expect(page.locator("#w-name")).to_contain_text("not in the expected script")
    shot(page, "mixed-warned-desktop")
    assert not Annotation.objects.exists()
    assert find_violations(page) == ""
    before = assignment_on(page)
    until_seen(page)
    page.get_by_label("Submit anyway").check()
    page.get_by_role("button", name="Submit").click()
    wait_until(page, "before => document.getElementById('bench').dataset.assignment !== before", before)
    until_sent(page)
    kept = Annotation.objects.get()
    assert kept.answers == {"known": "yes", "seen": ["food", "music"], "name": "s u 1 mint tea"}
    assert kept.confirmed == ["name:other_script"]
    expect(page.locator("#undo")).to_contain_text("Food · Music")


def test_several_kinds_fit_a_telephone(open_as: OpenAs, mixed: Campaign, nour: User, shot: Shot) -> None:
    page = open_as(nour, **PHONE)
    page.goto(f"/work/{mixed.pk}/")
    page.locator(".seg label", has_text="Somewhat").tap()
    page.get_by_label("What is it called in Egypt?").fill("شاي")
    shot(page, "mixed-phone", full_page=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert find_violations(page) == ""


def test_signed_out_underway_keeps_the_answer_until_the_person_is_back(
    open_as: OpenAs, campaign: Campaign, nour: User, shot: Shot
) -> None:
    page = open_as(nour)
    page.goto(f"/work/{campaign.pk}/")
    cookies = page.context.cookies()
    Session.objects.all().delete()
    page.keyboard.press("4")
    page.keyboard.press("Enter")
    expect(page.locator("#line")).to_contain_text("Please sign in again")
    shot(page, "signed-out-desktop")
    assert not Annotation.objects.exists()
    assert cookies
    page.goto("/sign-in")
    page.context.add_cookies(open_as(nour).context.cookies())
    page.goto(f"/work/{campaign.pk}/")
    wait_until(page, "document.getElementById('undo') !== null")
    assert Annotation.objects.get().answers == {"relevance": "4"}


def test_a_second_person_on_the_device_finds_nothing_of_the_first(
    open_as: OpenAs, campaign: Campaign, nour: User, tarek: User
) -> None:
    page = open_as(nour)
    page.goto(f"/work/{campaign.pk}/")
    page.keyboard.press("3")
    wait_until(page, "Object.keys(localStorage).length > 0")
    page.context.clear_cookies()
    page.context.add_cookies(open_as(tarek).context.cookies())
    page.goto(f"/work/{campaign.pk}/")
    until_sheet_ready(page)
    assert page.evaluate("Object.keys(localStorage)") == []
    expect(page.locator("#main :checked")).to_have_count(0)
