"""The de-duplication workstation in a real browser: one key for each picture, and none waits for the server."""

from collections.abc import Callable
from pathlib import Path
from statistics import mean, median
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from annotation.models import Annotation, Campaign, Draft, Slot
from benchmarks.models import Item
from people.models import User
from tests.browser.conftest import PHONE, until_sheet_ready, wait_until
from tests.browser.dedup_steps import dedupe, make_campaign, read_answer, truth_of
from tests.browser.test_rating import answered, assignment_on, find_violations
from tests.personas import World

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
OpenAs = Callable[..., Page]
Shot = Callable[..., None]
IN_VIEW = """() => [...document.querySelectorAll('.over figure')]
  .filter(figure => figure.checkVisibility({ visibilityProperty: true }))
  .map(figure => figure.querySelector('figcaption').textContent)"""


@pytest.fixture(autouse=True)
def stored(settings: Any, tmp_path: Path, live_server: Any) -> None:
    settings.STORAGES = {
        **settings.STORAGES,
        "default": {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": tmp_path}},
    }


@pytest.fixture
def twenty(world: World) -> Campaign:
    """Two concepts of twenty pictures each: two scenes, by day and by night."""
    return make_campaign(world, 2, 2)


def open_sheet(page: Page, campaign: Campaign) -> Item:
    page.goto(f"/work/{campaign.pk}/", wait_until="commit")  # not the pictures: they are made when first asked for
    until_sheet_ready(page)
    return hand(page)


def hand(page: Page) -> Item:
    return Item.objects.get(units__assignments__pk=assignment_on(page))


def test_twenty_pictures_by_keys_alone(open_as: OpenAs, twenty: Campaign, nour: User, shot: Shot) -> None:
    page = open_as(nour)
    item = open_sheet(page, twenty)
    page.wait_for_timeout(600)
    shot(page, "dedup-begin-desktop")
    taken = dedupe(page, truth_of(item))
    shot(page, "dedup-done-desktop")
    assert median(taken) <= 1.1
    assert mean(taken) <= 1.2 and max(taken) <= 2, taken
    expect(page.locator("#said")).to_contain_text("All pictures are decided.")


def test_the_answer_goes_out_and_the_next_concept_comes(open_as: OpenAs, twenty: Campaign, nour: User) -> None:
    page = open_as(nour)
    item = open_sheet(page, twenty)
    truth = truth_of(item)
    dedupe(page, truth)
    answered(page, lambda: page.keyboard.press("Enter"))
    answer = Annotation.objects.get().answers["duplicates"]
    groups = [{truth[name] for name in group["images"]} for group in answer["groups"]]
    assert all(len(shows) == 1 for shows in groups) and len(groups) == len(set(truth.values()))
    assert all(len(group["kept"]) == 1 for group in answer["groups"])
    expect(page.locator("#undo")).to_contain_text(f"pictures: {len(truth)}, groups: {len(groups)}, kept: {len(groups)}")
    answered(page, lambda: page.keyboard.press("u"))  # nothing to take back here: it is the answer just given
    assert hand(page) == item
    expect(page.locator("[data-count]")).to_contain_text(f"{len(truth)} of {len(truth)}")


def test_a_larger_concept_after_a_smaller_one(open_as: OpenAs, world: World, nour: User) -> None:
    """What is left of the sheet before is not asked about pictures it never had."""
    page = open_as(nour)
    campaign = make_campaign(world, 1, 2)
    Slot.objects.filter(unit__item__key="market stall 0").update(urgent=True)  # the smaller one first
    first = open_sheet(page, campaign)
    assert len(truth_of(first)) == 10
    dedupe(page, truth_of(first))
    page.keyboard.press("Enter")
    expect(page.locator("[data-picture]")).to_have_count(20)
    dedupe(page, truth_of(hand(page)))
    expect(page.locator("#said")).to_contain_text("All pictures are decided.")


def test_ten_steps_are_taken_back(open_as: OpenAs, twenty: Campaign, nour: User) -> None:
    page = open_as(nour)
    open_sheet(page, twenty)
    states = [page.evaluate(DECIDED)]
    for key in ["k", "s", "s", "d", "n", "k", "c", "s", "ArrowLeft", "k", "o"]:
        page.keyboard.press(key)
        if not key.startswith("Arrow"):
            states.append(page.evaluate(DECIDED))
    assert len(states) == 11 and all(states[at] not in states[:at] for at in range(11))
    for state in reversed(states[:-1]):
        page.keyboard.press("u")
        assert page.evaluate(DECIDED) == state
    assert page.locator(".contact [aria-current]").get_attribute("data-n") == "1"
    wait_until(page, "document.querySelector('[data-partition]').value === ''")


DECIDED = """() => [...document.querySelectorAll('[data-picture]')].map(
  (one) => one.className && one.className + one.querySelector('[data-state]').textContent)"""


def test_being_the_same_is_transitive_whatever_is_pressed(open_as: OpenAs, twenty: Campaign, nour: User) -> None:
    """A thousand keys at random: the page's answer is always the one the server makes of it. The page draws itself
    after each key of the keyboard, so that most are sent by a script."""
    import random

    from annotation.displays.shown_item import build_shown
    from annotation.models import Unit
    from annotation.services.sheets.sheet_versions import sheet_of

    page = open_as(nour)
    item = open_sheet(page, twenty)
    dice = random.Random(7)
    sheet = sheet_of(twenty.sheet_version)
    shown = build_shown(Unit.objects.get(item=item), None)
    for number in range(25):
        keys = [*dice.choices(ANY, k=40), "a"]
        if number < 5:
            for key in keys:
                page.keyboard.press(key)
        else:
            page.evaluate(PRESS, keys)
        answer = page.evaluate(DONE)
        parsed = sheet.parse({"duplicates": answer}, shown)
        left = [one for one in truth_of(item) if one not in str(answer)]
        if left:
            assert parsed.errors["duplicates"][0].params["count"] == len(left)
        else:
            assert parsed.answers["duplicates"] == answer


ANY = ["k", "s", "s", "s", "d", "n", "u", "c", "o", "1", "2", "7", "ArrowRight", "ArrowUp"]
PRESS = """(keys) => keys.forEach((key) => document.activeElement.dispatchEvent(
  new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true })))"""
DONE = """() => new Promise((done) => setTimeout(() =>
  done(JSON.parse(document.querySelector('[data-partition]').value || 'null')), 120))"""


def test_no_key_waits_for_the_server(open_as: OpenAs, twenty: Campaign, nour: User, shot: Shot) -> None:
    page = open_as(nour)
    item = open_sheet(page, twenty)
    wait_until(page, "[...document.querySelectorAll('.contact .group img')].every(i => i.complete && i.naturalWidth)")
    page.context.set_offline(True)
    assert median(dedupe(page, truth_of(item))) == 1
    page.wait_for_timeout(2500)  # the draft is tried
    expect(page.locator("#line")).to_contain_text("No connection since")
    shot(page, "dedup-offline-desktop")
    answered(page, lambda: page.keyboard.press("Enter"))  # the one ahead was here
    assert not Annotation.objects.exists()
    page.context.set_offline(False)
    wait_until(page, "document.getElementById('line').hidden && !document.querySelector('.sends')")
    assert Annotation.objects.count() == 1


def test_a_draft_comes_back_after_a_reload(open_as: OpenAs, twenty: Campaign, nour: User) -> None:
    page = open_as(nour)
    open_sheet(page, twenty)
    for key in "ksskd":
        page.keyboard.press(key)
    answer = read_answer(page)
    expect(page.locator("#saved")).to_contain_text("Draft saved")
    assert Draft.objects.get().answers["duplicates"] == answer
    page.evaluate("localStorage.clear()")
    page.reload()
    until_sheet_ready(page)
    expect(page.locator("[data-count]")).to_have_text("5 of 20 pictures")
    assert page.locator(".contact [aria-current]").get_attribute("data-n") == "6"


def test_enter_too_early_names_what_is_open(open_as: OpenAs, twenty: Campaign, nour: User, shot: Shot) -> None:
    page = open_as(nour)
    open_sheet(page, twenty)
    for key in ["k", "s", "ArrowDown"]:
        page.keyboard.press(key)
    page.keyboard.press("Enter")
    expect(page.locator("#said")).to_have_text("Pictures not decided yet: 18. The first is 3.")
    expect(page.locator("[data-halt]")).to_be_visible()
    assert page.locator(".contact [aria-current]").get_attribute("data-n") == "3"
    assert not Annotation.objects.exists()
    shot(page, "dedup-early-desktop")


def test_pictures_are_looked_at_closely(open_as: OpenAs, twenty: Campaign, nour: User, shot: Shot) -> None:
    page = open_as(nour)
    open_sheet(page, twenty)
    page.keyboard.press("k")
    expect(page.locator("[data-looking]")).to_have_text("Looking at 1 and 2")
    page.keyboard.press("7")
    expect(page.locator("[data-looking]")).to_have_text("Looking at 7 and 2")
    page.keyboard.press("1")
    page.wait_for_timeout(1600)
    page.keyboard.press("1")
    page.keyboard.press("2")
    expect(page.locator("[data-looking]")).to_have_text("Looking at 12 and 2")
    page.keyboard.press("l")
    expect(page.locator(".pair.large")).to_be_visible()
    wait_until(page, "[...document.querySelectorAll('.pair.large img')].every(i => i.naturalWidth > 240)")
    shot(page, "dedup-large-desktop")
    page.keyboard.down("b")
    expect(page.locator(".pair.large")).to_have_class("pair large blinks")
    shot(page, "dedup-blink-desktop")
    page.keyboard.up("b")
    expect(page.locator(".pair.large")).to_have_class("pair large")
    page.keyboard.press("s")  # deciding goes on meanwhile
    expect(page.locator("[data-looking]")).to_contain_text("and 3")
    page.keyboard.press("l")
    expect(page.locator(".pair.large")).to_be_hidden()
    expect(page.locator("[data-n='2'] [data-state]")).to_have_text("Same as 12")
    expect(page.locator("[data-n='12'] [data-state]")).to_have_text("Keep")


def test_each_decision_is_announced(open_as: OpenAs, twenty: Campaign, nour: User) -> None:
    page = open_as(nour)
    open_sheet(page, twenty)
    announcement = page.locator("#said")
    page.keyboard.press("k")
    expect(announcement).to_have_text("1: Keep. Picture 2, group 1")
    page.keyboard.press("c")
    expect(announcement).to_have_text("2: Crop of 1. Picture 3, group 1")
    page.keyboard.press("o")
    expect(announcement).to_have_text("3: Keep: Other time of day. Picture 4, group 1")
    page.keyboard.press("u")
    expect(announcement).to_have_text("Undone: 3.")
    page.keyboard.press("3")
    page.keyboard.press("5")
    expect(announcement).to_contain_text("Nearest: 5")


@pytest.mark.parametrize("language", ["fr", "de", "id", "fa"])
def test_decisions_on_a_phone_are_shown_whole(
    open_as: OpenAs, twenty: Campaign, nour: User, shot: Shot, language: str
) -> None:
    nour.language = language
    nour.save()
    page = open_as(nour, **PHONE)
    open_sheet(page, twenty)
    page.locator(".tools [data-act=keep]").tap()
    page.wait_for_timeout(300)
    shot(page, f"dedup-words-phone-{language}")
    clipped = page.evaluate(
        """[...document.querySelectorAll('.group b')].filter(words => words.scrollWidth > words.clientWidth + 1)
           .map(words => words.innerText)"""
    )
    assert clipped == []


@pytest.mark.parametrize("language", ["en", "ar"])
def test_by_touch(open_as: OpenAs, twenty: Campaign, nour: User, shot: Shot, language: str) -> None:
    nour.language = language
    nour.save()
    page = open_as(nour, **PHONE)
    item = open_sheet(page, twenty)
    shot(page, f"dedup-begin-phone-{language}")
    acts = {"k": "keep", "s": "same", "d": "drop"}
    for key in "kssdkss":
        page.locator(f".tools [data-act={acts[key]}]").tap()
    page.locator(".tools [data-act=undo]").tap()
    page.wait_for_timeout(300)
    shot(page, f"dedup-phone-{language}")
    expect(page.locator("[data-count]")).to_contain_text("6")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for button in page.locator(".tools [data-act]").all():
        box = button.bounding_box()
        assert box and box["height"] >= 43.5 and box["x"] >= 0 and box["x"] + box["width"] <= 390.5, button.inner_text()
    box = page.locator("#main .go").bounding_box()  # in view with the grid, as on every sheet
    assert box and box["y"] + box["height"] <= 844
    shot(page, f"dedup-end-phone-{language}")
    assert item.images.count() == 20


@pytest.mark.parametrize(("language", "height"), [("en", 844), ("ar", 640)])
def test_two_pictures_are_compared_over_the_grid(
    open_as: OpenAs, twenty: Campaign, nour: User, shot: Shot, language: str, height: int
) -> None:
    """A tap opens both at one place; a held picture gives way to the other; decisions and reasons are taps."""
    nour.language = language
    nour.save()
    page = open_as(nour, **{**PHONE, "viewport": {"width": 390 if height > 700 else 360, "height": height}})
    open_sheet(page, twenty)
    page.locator(".tools [data-act=keep]").tap()
    page.locator("[data-picture]").nth(2).tap()
    over = page.locator("[data-over]")
    expect(over).to_be_visible()
    expect(page.locator(".pair.large")).to_be_hidden()
    assert page.evaluate(IN_VIEW) == ["3"]
    wait_until(page, "[...document.querySelectorAll('.over img')].every(i => i.naturalWidth > 240)")
    shot(page, f"dedup-over-{language}")
    page.locator(".over .pair").dispatch_event("pointerdown", {"pointerType": "touch"})
    assert page.evaluate(IN_VIEW) == ["1"]
    page.locator(".over .pair").dispatch_event("pointerup", {"pointerType": "touch"})
    assert page.evaluate(IN_VIEW) == ["3"]
    page.locator("[data-turn=against]").tap()
    assert page.evaluate(IN_VIEW) == ["1"]
    assert find_violations(page) == ""
    box = over.bounding_box()
    assert box and box["y"] >= 0 and page.evaluate("innerWidth >= document.querySelector('.over').scrollWidth")
    for button in over.locator("button:visible").all():
        box = button.bounding_box()
        assert box and box["height"] >= 43.5 and box["y"] + box["height"] <= height, button.inner_text()
    page.locator("[data-over-same]").tap()
    shot(page, f"dedup-over-reason-{language}")
    over.locator("[data-role=crop]").tap()
    expect(page.locator("[data-n='3']")).to_have_class("dropped twin")
    expect(over.locator("[data-over-title]")).to_contain_text("4")  # on to the next that is open
    over.locator("[data-act=keep]").tap()
    over.locator("[data-act=undo]").tap()
    expect(over.locator("[data-over-title]")).to_contain_text("4")
    page.locator("[data-over-close]").tap()
    expect(over).to_be_hidden()
    expect(page.locator("[data-count]")).to_contain_text("2")


def test_arabic_on_a_desktop(open_as: OpenAs, twenty: Campaign, nour: User, shot: Shot) -> None:
    nour.language = "ar"
    nour.save()
    page = open_as(nour)
    open_sheet(page, twenty)
    for key in ["k", "s", "c", "o", "n", "ArrowLeft"]:  # to the left is onwards
        page.keyboard.press(key)
    assert page.locator(".contact [aria-current]").get_attribute("data-n") == "7"
    page.wait_for_timeout(600)
    shot(page, "dedup-ar-desktop")


def test_everybody_can_reach_it(open_as: OpenAs, twenty: Campaign, nour: User) -> None:
    page = open_as(nour)
    open_sheet(page, twenty)
    for key in "ksdn":
        page.keyboard.press(key)
    page.wait_for_timeout(300)
    assert find_violations(page) == ""


def test_without_a_script_selects_make_the_same_answer(
    open_as: OpenAs, twenty: Campaign, nour: User, shot: Shot
) -> None:
    page = open_as(nour, java_script_enabled=False)
    page.goto(f"/work/{twenty.pk}/")
    rows = page.locator("[data-plain] p")
    count = rows.count()
    rows.nth(0).locator("select").first.select_option(label="Keep")
    for row in range(1, count - 1):
        rows.nth(row).locator("select").first.select_option(label=f"Same as {row}")
    page.get_by_role("button", name="Submit").click()
    expect(page.locator(".msg.err").first).to_contain_text(f"Pictures not decided yet: 1. The first is {count}.")
    shot(page, "dedup-plain-desktop")
    rows.nth(count - 1).locator("select").first.select_option(label="Not sure")
    page.get_by_role("button", name="Submit").click()
    answer = Annotation.objects.get().answers["duplicates"]
    assert [len(group["images"]) for group in answer["groups"]] == [count - 1, 1]
    assert len(answer["unsure"]) == 1 and answer["groups"][1]["kept"] == []


def test_decisions_made_while_two_windows_are_compared_stay(open_as: OpenAs, twenty: Campaign, nour: User) -> None:
    page = open_as(nour)
    item = open_sheet(page, twenty)
    page.keyboard.press("k")
    pending: list[Route] = []
    page.route("**/submit", lambda route: pending.append(route))
    other = page.context.new_page()
    open_sheet(other, twenty)
    dedupe(other, truth_of(item))
    with other.expect_response("**/submit"):
        other.keyboard.press("Enter")
    page.bring_to_front()  # it sends what it has, to see both
    wait_until(page, "document.querySelector('#bench.sends') !== null")
    page.keyboard.press("d")
    page.wait_for_timeout(200)
    pending.pop().continue_()
    expect(page.locator("#bench[data-both]")).to_be_visible()
    expect(page.locator("[data-count]")).to_contain_text("2 of 20")
    page.keyboard.press("d")
    page.wait_for_timeout(200)
    assert len(read_answer(page)["dropped"]) == 2
