"""Predictions as a researcher brings them: a collection, a run with a fault, the mended run, its withdrawal."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from jobs.models import Job
from jobs.services import runner
from people.models import User
from predictions.queries.results import runs_of
from tests.browser.conftest import PHONE
from tests.browser.test_rating import find_violations
from tests.personas import World
from tests.predictions.file_helpers import ENTRIES, QUERIES, jsonl
from tests.predictions.test_runs import FOUND

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def send(page: Page, label: str, data: bytes) -> None:
    page.get_by_label(label).set_input_files({"name": "file.jsonl", "mimeType": "x/x", "buffer": data})
    page.get_by_role("button", name="Import").click()
    page.wait_for_url("**/jobs/*/")
    runner.run(Job.objects.latest("pk").pk)
    page.goto(page.url)


@pytest.mark.parametrize("how", [{}, PHONE], ids=["desktop", "phone"])
def test_a_collection_and_a_run_are_brought_and_withdrawn(
    open_as: Callable[..., Page], world: World, mara: User, how: Any, shot: Any, request: Any
) -> None:
    page, name = open_as(mara, **how), request.node.callspec.id
    home = f"/b/{world.benchmark.slug}/predictions/"

    def take_shot(what: str) -> None:
        shot(page, f"predictions-{what}-{name}", full_page=True)
        assert find_violations(page) == ""
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    page.goto(home)
    take_shot("empty")
    page.get_by_role("link", name="Import a collection").click()
    page.get_by_label("Name").fill("Dishes")
    take_shot("collection")
    send(page, "File of entries and queries", jsonl([*ENTRIES, *QUERIES]))
    page.get_by_role("link", name="View predictions").click()
    page.get_by_role("link", name="Import a run").click()
    page.get_by_label("Model", exact=True).fill("CLIP ViT-L/14")
    page.get_by_label("Task").select_option("retrieval")
    take_shot("run")
    send(page, "File of the run", jsonl([FOUND[0], {**FOUND[1], "keys": ["e9"]}]))
    expect(page.locator("main")).to_contain_text("There is no entry “e9”")
    shot(page, f"predictions-job-{name}", full_page=True)
    page.goto(home)
    expect(page.locator("main")).to_contain_text("not counted")
    for setting in ("", "text_only"):
        page.get_by_role("link", name="Import a run").click()
        page.get_by_label("Model", exact=True).fill("CLIP ViT-L/14")
        page.get_by_label("Task").select_option("retrieval")
        page.get_by_label("Setting").fill(setting)
        send(page, "File of the run", jsonl(FOUND))
        page.get_by_role("link", name="View predictions").click()
    take_shot("index")
    assert len(runs_of(world.benchmark, "retrieval")) == 2
    page.get_by_role("button", name="Withdraw the run CLIP ViT-L/14 text_only").click()
    expect(page.locator("main")).to_contain_text("It is kept but not counted")
    assert len(runs_of(world.benchmark, "retrieval")) == 1
    take_shot("withdrawn")
    if not how:
        User.objects.filter(pk=mara.pk).update(language="ar")
        page = open_as(mara)
        page.goto(home)
        shot(page, "predictions-index-arabic", full_page=True)
        page.goto(f"{home}run/")
        shot(page, "predictions-run-arabic", full_page=True)
