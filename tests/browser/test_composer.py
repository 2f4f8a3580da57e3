"""A researcher composes a benchmark of two stages in the browser, and people answer it."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from annotation.models import StageDraft
from annotation.services.campaigns.instructions import InstructionDraft, newest_version, publish, texts_of
from benchmarks.models import Stage
from tests.browser.conftest import PHONE, add_definitions_and_pictures
from tests.personas import World

expect.set_options(timeout=40_000)


def expect_saved(page: Page) -> None:
    expect(page.locator("#saved")).to_have_text(re.compile("Draft saved"))


def frame(page: Page) -> Any:
    return page.frame_locator("#device iframe").last


def test_a_stage_is_composed_with_a_live_preview(
    open_as: Callable[..., Page], world: World, shot: Callable[..., None], live_server: Any
) -> None:
    add_definitions_and_pictures(world, 2)
    page = open_as(world.mara)
    page.set_default_timeout(60_000)
    page.goto(f"/b/{world.benchmark.slug}/stages/")
    shot(page, "stages-desktop")
    page.get_by_label("Name").fill("Second look")
    page.get_by_role("button", name="Create stage").click()
    expect(page.get_by_text("Nothing is changed.")).to_be_visible()
    shot(page, "composer-blank")
    page.get_by_role("button", name="Rating on a scale").click()
    page.locator("[name='w:sheet.fields[0].label.en']").fill("How much is this like {target}?")
    expect_saved(page)
    expect(frame(page).get_by_text("How much is this like")).to_be_visible()
    page.get_by_role("button", name="Choice", exact=True).click()
    page.locator("[name='w:sheet.fields[1].label.en']").fill("Have you seen it yourself?")
    page.get_by_role("button", name="Text", exact=True).click()
    page.locator("[name='w:sheet.fields[2].label.en']").fill("What is it called at home?")
    expect_saved(page)
    shot(page, "composer-desktop")
    page.locator("#at-sheet\\.fields\\[2\\] > .shift").get_by_role("button", name="Question 3: move up").click()
    expect(page.locator(".q summary b").nth(1)).to_have_text("What is it called at home?")
    page.locator("#at-sheet\\.fields\\[1\\] > .shift").get_by_role("button", name="Delete").click()
    expect(page.locator(".q")).to_have_count(2)
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".q")).to_have_count(3)
    page.get_by_label("Language of the preview").select_option("ar")
    expect(frame(page).locator("html")).to_have_attribute("dir", "rtl")
    page.wait_for_timeout(400)
    shot(page, "composer-arabic-preview")
    page.get_by_role("button", name="Publish").click()
    expect(page.get_by_text("Version 1 is published. New campaigns use it.")).to_be_visible()
    stage = Stage.objects.get(name="Second look")
    assert [one["key"] for one in stage.sheet["fields"]] == [
        "how_much_is", "what_is_it", "have_you_seen",
    ]  # fmt: skip
    assert not StageDraft.objects.filter(stage=stage).exists()


def wait_until(page: Page, comes: Callable[[], bool]) -> None:
    for _time in range(600):
        if comes():
            return
        page.wait_for_timeout(50)
    raise AssertionError("it never came")


def test_a_button_waits_for_the_running_save_and_a_second_press_moves_nothing_else(
    open_as: Callable[..., Page], world: World, live_server: Any
) -> None:
    fields = [world.stage.sheet["fields"][0] | {"key": key, "label": {"en": key}} for key in ("one", "two", "three")]
    Stage.objects.filter(pk=world.stage.pk).update(sheet={"fields": fields})
    page = open_as(world.mara)
    page.set_default_timeout(60_000)
    page.goto(f"/b/{world.benchmark.slug}/stages/{world.stage.pk}/")
    page.locator(".q summary").first.click()
    routes: list[Route] = []
    page.route(f"**/stages/{world.stage.pk}/", lambda one: routes.append(one))
    acts: list[str] = []

    def released() -> None:
        """The oldest request that was sent goes on, as soon as there is one."""
        wait_until(page, lambda: bool(routes))
        acts.append(re.findall(r'name="act"\s+([^\r\n]+)', routes[0].request.post_data or "")[0])
        routes.pop(0).continue_()

    page.locator("[name='w:sheet.fields[0].label.en']").fill("First of all")
    wait_until(page, lambda: bool(routes))  # it is being saved
    up = page.locator("#at-sheet\\.fields\\[2\\] > .shift").get_by_role("button", name="Question 3: move up")
    up.click()
    up.evaluate("button => button.click()")
    page.keyboard.type("lost")
    page.wait_for_timeout(300)
    assert len(routes) == 1
    released()
    released()
    expect(page.locator(".q summary b")).to_have_text(["First of all", "three", "two"])
    page.wait_for_timeout(300)
    assert routes == [] and acts == ["draft", "up:sheet.fields[2]"]
    page.locator("[name='w:sheet.fields[1].label.en']").fill("Again to be written in")
    released()
    wait_until(page, lambda: StageDraft.objects.get().content["sheet"]["fields"][1]["label"]["en"].startswith("Again"))
    assert [one["key"] for one in StageDraft.objects.get().content["sheet"]["fields"]] == ["one", "three", "two"]


def test_a_button_that_does_not_get_through_leaves_the_form_as_it_was(
    open_as: Callable[..., Page], world: World, live_server: Any
) -> None:
    page = open_as(world.mara)
    page.set_default_timeout(60_000)
    page.goto(f"/b/{world.benchmark.slug}/stages/{world.stage.pk}/")
    page.locator(".q summary").first.click()
    label = page.locator("[name='w:sheet.fields[0].label.en']")
    label.fill("Written before the line broke")
    page.route(f"**/stages/{world.stage.pk}/", lambda one: one.abort())
    page.get_by_role("button", name="Text", exact=True).click()
    expect(page.locator("#saved")).to_have_text(re.compile("Not saved"))
    expect(label).to_have_value("Written before the line broke")
    page.unroute(f"**/stages/{world.stage.pk}/")
    expect_saved(page)  # by itself
    page.get_by_role("button", name="Text", exact=True).click()
    expect(page.locator(".q")).to_have_count(2)
    expect(label).to_have_value("Written before the line broke")


def test_problems_lead_to_their_setting_and_keys_move_questions(
    open_as: Callable[..., Page], world: World, shot: Callable[..., None], live_server: Any
) -> None:
    page = open_as(world.mara)
    page.set_default_timeout(60_000)
    page.goto(f"/b/{world.benchmark.slug}/stages/{world.stage.pk}/")
    page.get_by_label("Second language").select_option("ar")
    expect(page.locator("#composer .beside label")).not_to_have_count(0)
    page.get_by_role("button", name="Choice", exact=True).click()
    page.get_by_role("button", name="Publish").click()
    link = page.locator('[data-to="sheet.fields[1].label"]')
    expect(link).to_be_focused()
    shot(page, "composer-problems")
    page.keyboard.press("Enter")
    expect(page.locator("[name='w:sheet.fields[1].label.en']")).to_be_focused()
    page.keyboard.type("Did you know it?")
    page.keyboard.press("Alt+ArrowUp")
    expect(page.locator(".q summary b").first).to_have_text("Did you know it?")
    shot(page, "composer-two-languages")


@pytest.mark.parametrize("broken", ["connection", "server"])
def test_a_press_is_not_lost_with_one_broken_request(
    open_as: Callable[..., Page], world: World, live_server: Any, broken: str
) -> None:
    page = open_as(world.mara)
    address = f"/b/{world.benchmark.slug}/stages/{world.stage.pk}/"
    page.goto(address)
    page.get_by_role("button", name="Choice", exact=True).click()
    expect(page.locator(".q")).to_have_count(2)
    went: list[str] = []

    def once(route: Any) -> None:
        went.append(route.request.method)
        if len(went) > 1:
            route.fallback()
        elif broken == "connection":
            route.abort("connectionreset")
        else:
            route.fulfill(status=503, body="")

    page.route(lambda url: url.endswith(address), once)
    page.get_by_role("button", name="Publish").click()
    expect(page.locator('[data-to="sheet.fields[1].label"]')).to_be_focused()
    assert went == ["POST", "POST"]


def test_the_composer_on_a_phone(
    open_as: Callable[..., Page], world: World, shot: Callable[..., None], live_server: Any
) -> None:
    add_definitions_and_pictures(world, 1)
    page = open_as(world.mara, **PHONE)
    page.goto(f"/b/{world.benchmark.slug}/stages/{world.stage.pk}/")
    page.locator(".q summary").first.tap()
    page.wait_for_timeout(300)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    shot(page, "composer-phone", full_page=True)
    page.get_by_role("link", name="Preview").tap()
    expect(frame(page).get_by_text("How relevant is this picture")).to_be_visible()


PARTS: dict[str, Any] = {
    "pairs": [{"do": "Look at the whole picture.", "dont": "Judge by one corner.", "why": "Corners mislead."}],
    "materials": [{"key": "rules", "title": "The rules", "kind": "reading", "body": "Take your time.", "seconds": 2}],
    "quiz": [{"key": "one", "question": "May you skip a picture?", "options": [
        {"code": "yes", "label": "Yes", "right": True, "why": "It tells us about the picture, not about you."},
        {"code": "no", "label": "No, never", "right": False}]}],
}  # fmt: skip


def test_the_instructions_come_first_on_a_phone_by_touch_and_right_to_left(
    open_as: Callable[..., Page], world: World, campaign: Any, shot: Callable[..., None]
) -> None:
    publish(campaign, [InstructionDraft("en", "Look at it with your own eyes.", None, PARTS)], None, required=True)
    page = open_as(world.nour, **PHONE)
    page.set_default_timeout(60_000)
    page.goto(f"/work/{campaign.pk}/")
    expect(page.get_by_role("heading", name="Before you begin")).to_be_visible()
    button = page.get_by_role("button", name="I have read it")
    expect(button).to_have_attribute("aria-disabled", "true")
    shot(page, "ready-phone", full_page=True)
    expect(button).not_to_have_attribute("aria-disabled", "true")
    button.tap()
    page.locator("[name=option][value=yes]").check()
    page.get_by_role("button", name="Answer").tap()
    expect(page.get_by_text("That is right.")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    shot(page, "ready-phone-quiz", full_page=True)
    page.get_by_role("link", name="Start").tap()
    expect(page.get_by_role("button", name="Submit")).to_be_visible()
    page.get_by_role("button", name="More").tap()
    page.get_by_role("link", name="Instructions and keys").tap()
    expect(page.get_by_text("Judge by one corner.")).to_be_visible()
    shot(page, "help-phone")
    world.tarek.language = "ar"
    world.tarek.save()
    desktop = open_as(world.tarek)
    desktop.goto(f"/work/{campaign.pk}/")
    shot(desktop, "ready-arabic", full_page=True)
    assert desktop.locator("html").get_attribute("dir") == "rtl"


def test_a_researcher_writes_a_protocol_in_the_browser(
    open_as: Callable[..., Page], world: World, campaign: Any, shot: Callable[..., None]
) -> None:
    page = open_as(world.mara)
    page.set_default_timeout(60_000)
    page.goto(f"/b/{world.benchmark.slug}/campaigns/{campaign.pk}/instructions/")
    page.get_by_role("button", name="Add a pair").click()
    page.locator("[name='w:texts[0].parts.pairs[0].do']").fill("Look at all of it.")
    page.get_by_role("button", name="Add a question").click()
    page.locator("[name='s:texts[0].parts.quiz[0].question']").fill("May you skip?")
    for at, words in enumerate(("Yes", "No")):
        page.get_by_role("button", name="Add an answer").click()
        page.locator(f"[name='s:texts[0].parts.quiz[0].options[{at}].label']").fill(words)
    page.get_by_role("button", name="Publish instructions").click()
    expect(page.get_by_text("Mark the answer that is right.").first).to_be_visible()
    page.get_by_label("It is right").first.check()
    page.get_by_label("Required before starting").check()
    shot(page, "protocol-desktop", full_page=True)
    page.get_by_role("button", name="Publish instructions").click()
    expect(page.get_by_text("Instructions 2 are published.")).to_be_visible()
    version = newest_version(campaign)
    assert version is not None and version.required
    assert texts_of(version)[0].parts["quiz"][0]["options"][0] == {"code": "yes", "label": "Yes", "right": True}


def test_text_typed_during_a_redraw_stays_in_its_field(
    open_as: Callable[..., Page], world: World, live_server: Any
) -> None:
    page = open_as(world.mara)
    page.set_default_timeout(60_000)
    page.goto(f"/b/{world.benchmark.slug}/stages/{world.stage.pk}/")
    page.locator(".q summary").first.click()
    page.locator("#s-acceptance > summary").click()
    routes: list[Route] = []
    page.route(f"**/stages/{world.stage.pk}/", lambda one: routes.append(one))
    asked = page.locator("[name='w:sheet.fields[0].label.en']")
    page.locator("[name='s:acceptance']").select_option("by_review")
    wait_until(page, lambda: bool(routes))
    asked.fill("How close is it")
    asked.press_sequentially(" to home")
    routes.pop().continue_()
    page.unroute(f"**/stages/{world.stage.pk}/")
    expect(page.get_by_text("Reasons to return or reject")).to_be_visible()
    expect(asked).to_have_value("How close is it to home")
    expect(asked).to_be_focused()
    page.keyboard.type(", you think?")
    wait_until(
        page,
        lambda: StageDraft.objects.get(stage=world.stage).content["sheet"]["fields"][0]["label"]["en"].endswith("k?"),
    )
    expect_saved(page)
    draft = StageDraft.objects.get(stage=world.stage).content
    assert draft["acceptance"] == "by_review"
    assert draft["sheet"]["fields"][0]["label"]["en"] == "How close is it to home, you think?"


def test_what_was_deleted_comes_back_from_the_bar_and_what_is_mended_is_no_longer_called_wrong(
    open_as: Callable[..., Page], world: World, shot: Callable[..., None], live_server: Any
) -> None:
    page = open_as(world.mara)
    page.set_default_timeout(60_000)
    page.goto(f"/b/{world.benchmark.slug}/stages/{world.stage.pk}/")
    page.get_by_role("button", name="Text", exact=True).click()
    page.get_by_role("button", name="Publish").click()
    wrong = page.locator("#at-sheet\\.fields\\[1\\] [data-wrong]")
    expect(wrong.first).to_be_visible()
    expect(page.locator("#mend a")).to_have_text(re.compile(r"^\d errors?$"))
    shot(page, "composer-to-mend")
    page.locator("[name='w:sheet.fields[1].label.en']").fill("What is it called?")
    expect(wrong).to_have_count(0)
    expect(page.locator("#mend a")).to_have_count(0)
    delete = page.locator("#at-sheet\\.fields\\[1\\] > .shift").get_by_role("button", name="Delete")
    delete.click()
    expect(page.get_by_text("It is deleted.")).to_be_in_viewport()
    shot(page, "composer-deleted")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".q")).to_have_count(2)
    delete.click()
    expect(page.locator(".q")).to_have_count(1)
    page.keyboard.press("Control+z")
    expect(page.locator(".q")).to_have_count(2)
    delete.click()
    page.get_by_role("button", name="Choice", exact=True).click()
    expect(page.locator(".q")).to_have_count(2)
    expect(page.get_by_text("It is deleted.")).to_have_count(0)


def test_the_list_of_questions_to_ask_after_is_never_stale(
    open_as: Callable[..., Page], world: World, live_server: Any
) -> None:
    fields = [world.stage.sheet["fields"][0] | {"key": key, "label": {"en": key}} for key in ("one", "two")]
    Stage.objects.filter(pk=world.stage.pk).update(sheet={"fields": fields})
    page = open_as(world.mara)
    page.set_default_timeout(60_000)
    page.goto(f"/b/{world.benchmark.slug}/stages/{world.stage.pk}/")
    page.get_by_role("button", name="Text", exact=True).click()
    expect(page.locator(".q")).to_have_count(3)
    page.locator("[name='w:sheet.fields[2].label.en']").fill("Why?")
    page.get_by_role("button", name="Text", exact=True).click()
    expect(page.locator(".q")).to_have_count(4)
    asked = page.locator("[name='s:sheet.fields[3].show_if.field'] option")
    expect(asked).to_have_text(["Always", "one", "two", "Why?"])
    page.locator(".q summary").first.click()
    page.locator(".q").first.locator(".fold > summary").click()
    page.locator("[name='w:sheet.fields[0].label.en']").fill("How much?")
    expect(asked).to_have_text(["Always", "How much?", "two", "Why?"])
    page.locator("[name='s:sheet.fields[3].show_if.field']").select_option(label="How much?", force=True)
    page.locator("[name='s:sheet.fields[0].key']").fill("amount")
    page.locator("[name='w:sheet.fields[0].label.en']").fill("")
    expect(asked).to_have_text(["Always", "amount", "two", "Why?"])

    def follows() -> bool:
        rows = StageDraft.objects.get().content["sheet"]["fields"]
        return bool(rows[0]["key"] == "amount" and rows[3].get("show_if", {}).get("field") == "amount")

    wait_until(page, follows)
