"""A found picture that shows too little comes back to its finder with the reason, and another one takes its place."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from annotation.tasks import derive
from benchmarks.models import Item
from tests.browser.conftest import PHONE, drawings
from tests.browser.test_finding import expect_picture
from tests.browser.workflows import steps
from tests.browser.workflows.test_grounding import find_picture
from tests.personas import World

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
Shot = Callable[..., None]


def test_the_finder_reads_the_reason_and_submits_another_picture(
    open_as: Callable[..., Page], world: World, shot: Shot, media: None
) -> None:
    benchmark = steps.create_benchmark(world, "globalrg-grounding")
    finding, boxes = (benchmark.stages.get(key=key) for key in ("finding", "boxes"))
    Item.objects.create(stage=finding, key="cuia", concept="cuia", text="Cuia, a gourd", origin="Brazil")
    campaign = steps.create_open_campaign(finding, world.mara, {world.brazil: 1})
    page = open_as(world.bia)
    steps.sheet(page, campaign)
    find_picture(page, drawings(2)[0], "yes")
    steps.submit(page)
    derive()
    steps.count_objects(boxes, 2)
    derive()
    first = boxes.items.get()
    assert first.withdrawn_because == "revision"

    page.goto("/work/")
    shot(page, "returned-picture-work", full_page=True)
    page.get_by_role("button", name="Correct").first.click()
    reason = page.locator(".why")
    expect(reason).to_contain_text("A program found 2 things in your picture. At least 3 are needed")
    expect(page.locator("#main")).to_contain_text("The new picture is then checked.")
    shot(page, "returned-picture-desktop", full_page=True)
    page.set_viewport_size(PHONE["viewport"])
    shot(page, "returned-picture-phone", full_page=True)
    page.locator("[data-do=replace]").click()
    before = page.locator("[data-sha]").input_value()
    page.locator("[type=file]").set_input_files(
        {"name": "other.jpg", "mimeType": "image/jpeg", "buffer": drawings(2)[1]}
    )
    expect(page.locator("[data-sha]")).not_to_have_value(before)
    expect_picture(page)
    steps.submit(page)
    derive()
    steps.count_objects(boxes, 5)
    derive()
    second = boxes.items.get(replaces=first)
    assert (second.revision, second.intake, second.withdrawn_at) == (2, "kept", None)
    researcher = open_as(world.mara)
    researcher.goto(f"/b/{benchmark.slug}/items/{second.pk}/")
    shot(researcher, "returned-picture-revisions", full_page=True)
    expect(researcher.locator("#revision-loop")).to_contain_text("Filter")
