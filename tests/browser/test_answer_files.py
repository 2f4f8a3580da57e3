"""Importing answers as a researcher does: an export sent back, its report, its withdrawal."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Campaign, Rating
from annotation.services.campaigns import lifecycle
from jobs.models import Job
from jobs.services import runner
from people.models import User
from tests.annotation.files.test_answer_files import counted_ratings, export_zip, rows_of
from tests.browser.test_rating import find_violations
from tests.evaluation.data import NOON, table
from tests.personas import World

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.mark.parametrize("how", [{}, {"viewport": {"width": 390, "height": 844}}], ids=["desktop", "phone"])
def test_an_export_is_sent_back_and_withdrawn(
    open_as: Callable[..., Page], campaign: Campaign, world: World, mara: User, how: Any, shot: Any, request: Any
) -> None:
    table(campaign, world.egypt, world.items[:4], {world.nour: "1234", world.tarek: "12.5"})
    data = export_zip(world, campaign, "csv")
    again = lifecycle.create(world.stage, "Again", world.owner, {world.egypt: 3})
    lifecycle.open_campaign(again, world.owner, NOON)
    page = open_as(mara, **how)
    name = request.node.callspec.id
    page.goto(f"/b/{world.benchmark.slug}/campaigns/{again.pk}/")
    page.get_by_role("link", name="Import answers from a file").click()
    shot(page, f"answers-import-empty-{name}", full_page=True)
    assert find_violations(page) == ""
    for file, sent in (("export.zip", data), ("mine.jsonl", rows_of(world, {"item": "nowhere"}, {"rater": "r2"}))):
        page.get_by_label("File of answers").set_input_files({"name": file, "mimeType": "x/x", "buffer": sent})
        page.get_by_role("button", name="Import").click()
        page.wait_for_url("**/jobs/*/")
        runner.run(Job.objects.latest("pk").pk)
        page.goto(page.url)
        shot(page, f"answers-job-{name}", full_page=True)
        expect(page.locator("#progress")).to_contain_text(
            "Current answers from this file" if file == "export.zip" else "from this file"
        )
        page.goto(f"/b/{world.benchmark.slug}/campaigns/{again.pk}/answers/import/")
    expect(page.locator(".list")).to_contain_text("7 current answers")
    expect(page.locator(".list")).to_contain_text("1 row rejected")
    shot(page, f"answers-import-{name}", full_page=True)
    assert find_violations(page) == ""
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    before = len(counted_ratings(again))
    page.get_by_text("Withdraw its 7 answers").click()
    assert len(counted_ratings(again)) == before, "it asks first"
    page.get_by_role("button", name="Withdraw answers").click()
    expect(page.locator("main")).to_contain_text("7 answers were withdrawn")
    assert (
        len(counted_ratings(again)) == before - 7 and Rating.objects.filter(campaign=campaign, live=True).count() == 7
    )
