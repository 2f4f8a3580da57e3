"""A researcher composes a benchmark of two stages in the browser, and people answer it."""

import re
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page, expect

from annotation.models import StageDraft
from benchmarks.models import Stage
from tests.browser.conftest import PHONE, dress, until
from tests.personas import World


def saved(page: Page) -> None:
    expect(page.locator("#saved")).to_have_text(re.compile("Draft saved"))


def frame(page: Page) -> Any:
    return page.frame_locator("#device iframe").last


def test_a_stage_is_composed_with_a_live_preview(
    open_as: Callable[..., Page], world: World, shot: Callable[..., None], live_server: Any
) -> None:
    dress(world, 2)
    page = open_as(world.mara)
    page.goto(f"/b/{world.benchmark.slug}/stages/")
    shot(page, "stages-desktop")
    page.get_by_label("Name").fill("Second look")
    page.get_by_role("button", name="Make the stage").click()
    expect(page.get_by_text("Nothing is changed.")).to_be_visible()
    shot(page, "composer-blank")
    page.get_by_role("button", name="Rating on a scale").click()
    page.locator("[name='w:sheet.fields[0].label.en']").fill("How much is this like {target}?")
    saved(page)
    expect(frame(page).get_by_text("How much is this like")).to_be_visible()
    page.get_by_role("button", name="Choice", exact=True).click()
    page.locator("[name='w:sheet.fields[1].label.en']").fill("Have you seen it yourself?")
    page.get_by_role("button", name="Text", exact=True).click()
    page.locator("[name='w:sheet.fields[2].label.en']").fill("What is it called at home?")
    saved(page)
    shot(page, "composer-desktop")
    page.locator("#at-sheet\\.fields\\[2\\] > .shift").get_by_role("button", name="Move 3 up").click()
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
    expect(page.get_by_text("Version 2 is in force. New campaigns ask it.")).to_be_visible()
    stage = Stage.objects.get(name="Second look")
    assert [one["key"] for one in stage.sheet["fields"]] == [
        "how_much_is_this_like_target", "what_is_it_called_at_home", "have_you_seen_it_yourself",
    ]  # fmt: skip
    assert not StageDraft.objects.filter(stage=stage).exists()
