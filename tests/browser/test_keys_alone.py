"""Reviewing, composing, instructing and filling holes by keyboard alone: Tab to it, and press it."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Campaign, Review, Slot
from annotation.services.campaigns.instructions import newest_version
from benchmarks.models import Stage
from tests import opened_workflows
from tests.browser.conftest import until_sheet_ready
from tests.personas import World
from tests.workflows import find, open_workflows

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
OpenAs = Callable[..., Page]
AT = """([selector, words]) => {
  const one = document.activeElement;
  return one.matches(selector) && (one.innerText + (one.ariaLabel ?? '')).includes(words);
}"""


def tab_to(page: Page, selector: str, words: str = "") -> None:
    """Tab until the focus is there."""
    for _time in range(120):
        if page.evaluate(AT, [selector, words]):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not lead to {selector} {words!r}")


def press(page: Page, selector: str, words: str = "", key: str = "Enter") -> None:
    tab_to(page, selector, words)
    page.keyboard.press(key)


def test_answers_are_reviewed(open_as: OpenAs, world: World, media: None) -> None:
    campaigns = open_workflows(world, opened_workflows.questions)
    page = open_as(world.reviewer)
    page.goto(f"/b/{campaigns['questions'].stage.benchmark.slug}/review/")
    press(page, "a.go")
    page.wait_for_url("**/review/*/")
    before = Review.objects.count()
    press(page, "[name=reason]", key="Space")
    tab_to(page, "textarea")
    page.keyboard.type("Ask for one thing.")
    press(page, "[name=decision][value=return]")
    page.wait_for_url("**/review/**done=*")
    assert Review.objects.latest("pk").decision == "return"
    if "/review/?" in page.url:
        press(page, "a.go")
    page.wait_for_load_state()
    waiting = page.url
    page.keyboard.press("a")
    page.wait_for_url(lambda url: url != waiting)
    assert Review.objects.count() == before + 2
    assert Review.objects.latest("pk").decision == "accept"


def test_a_stage_is_composed(open_as: OpenAs, world: World, live_server: object) -> None:
    page = open_as(world.mara)
    page.set_default_timeout(60_000)
    page.goto(f"/b/{world.benchmark.slug}/stages/")
    tab_to(page, "main input")
    page.keyboard.type("By keys")
    press(page, "button", "Create stage")
    expect(page.get_by_text("Nothing is changed.")).to_be_visible()
    press(page, "button", "Text")
    label = "[name='w:sheet.fields[0].label.en']"
    expect(page.locator(label)).to_be_visible()
    tab_to(page, label)
    page.keyboard.type("What is it called?")
    press(page, "button", "Publish")
    expect(page.get_by_text("is published. New campaigns use it.")).to_be_visible()
    stage = Stage.objects.get(name="By keys")
    assert [one["label"]["en"] for one in stage.sheet["fields"]] == ["What is it called?"]


def test_instructions_are_written_and_gone_through(open_as: OpenAs, world: World, campaign: Campaign) -> None:
    page = open_as(world.mara)
    page.set_default_timeout(60_000)
    page.goto(f"/b/{world.benchmark.slug}/campaigns/{campaign.pk}/instructions/")
    tab_to(page, "textarea[name='t:texts[0].body']")
    page.keyboard.press("Control+a")
    page.keyboard.type("Look at the whole picture.")
    press(page, "button", "Add a pair")
    expect(page.locator("[name='w:texts[0].parts.pairs[0].do']")).to_be_visible()
    tab_to(page, "[name='w:texts[0].parts.pairs[0].do']")
    page.keyboard.type("Take your time.")
    press(page, "[name$=required]", key="Space")
    press(page, "button", "Publish instructions")
    expect(page.get_by_text("are published.")).to_be_visible()
    version = newest_version(campaign)
    assert version is not None and version.required
    reader = open_as(world.nour)
    reader.goto(f"/work/{campaign.pk}/")
    expect(reader).to_have_url(f"{reader.url.split('/work')[0]}/work/{campaign.pk}/ready/")
    press(reader, "main button, main a.btn")
    reader.wait_for_url(f"**/work/{campaign.pk}/")


def test_gap_is_prioritised_by_keys(open_as: OpenAs, world: World, campaign: Campaign) -> None:
    page = open_as(world.mara)
    page.goto(f"/b/{world.benchmark.slug}/coverage/?by=item")
    tab_to(page, "[data-matrix] tbody a")
    for key in ("ArrowDown", "Enter"):
        page.keyboard.press(key)
    page.wait_for_url("**#hole")
    press(page, "button", "Prioritise")
    expect(page.get_by_text("1 item is prioritised.")).to_be_visible()
    assert Slot.objects.filter(urgent=True).count() == 1


def test_nothing_holds_the_focus(open_as: OpenAs, world: World, media: None) -> None:
    """From any sheet Tab leads on: to the end of the page, and round."""
    campaigns = open_workflows(world, opened_workflows.grounding, opened_workflows.pairs, opened_workflows.concepts)
    find(campaigns["finding"], world.nour)
    page = open_as(world.nour)
    for key in ("boxes", "look-alikes", "pair-review"):
        page.goto(f"/work/{campaigns[key].pk}/")
        until_sheet_ready(page)
        tab_to(page, ".acts .go")
        page.keyboard.press("Tab")
        tab_to(page, "a.mark")
