"""A model's answers made elsewhere, as a researcher brings them: the file, its first rows, the run."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from jobs.models import Job
from jobs.services import runner
from people.models import User
from tests.browser.conftest import PHONE
from tests.browser.test_rating import find_violations
from tests.evaluation.data import an_open_campaign
from tests.personas import World
from tests.predictions.model_file_samples import jsonl, lm_eval

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
REPLIES = ("4", "I would rather say that this cannot be told from the picture alone.", "9", "2")


@pytest.mark.parametrize("how", [{}, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("language", ["en", "ar"])
def test_a_file_is_looked_at_before_it_comes_in(
    open_as: Callable[..., Page], world: World, mara: User, how: Any, language: str, shot: Any, request: Any
) -> None:
    if language == "ar" and not how:
        pytest.skip("Arabic is looked at on the phone")
    mara.language = language
    mara.save()
    world.add_items(4)
    an_open_campaign(world)
    page, name = open_as(mara, **how), request.node.callspec.id
    rows = [
        lm_eval({"id": item.key, "country": "Egypt"}, reply, filter_=kind)
        for kind in ("digits", "strict")
        for item, reply in zip(world.items, REPLIES, strict=True)
    ]

    def take_shot(what: str) -> None:
        shot(page, f"answers-made-{what}-{name}", full_page=True)
        assert find_violations(page) == ""
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    page.goto(f"/b/{world.benchmark.slug}/predictions/answers/import/")
    take_shot("file")
    data = {"name": "samples_relevance.jsonl", "mimeType": "x/x", "buffer": jsonl(rows)}
    page.locator("input[name=file]").set_input_files(data)
    page.locator("form .btn.go").click()
    expect(page.locator("tbody tr")).to_have_count(4)
    page.locator("select[name=only]").select_option("strict")
    page.locator("button[value=look]").click()
    expect(page.locator("select[name=only]")).to_have_value("strict")
    take_shot("rows")
    page.locator("input[name=model]").fill("Qwen2-VL-7B")
    page.locator("button[value=begin]").click()
    page.wait_for_url("**/jobs/*/")
    runner.run(Job.objects.latest("pk").pk)
    page.goto(page.url)
    expect(page.locator("main")).to_contain_text(REPLIES[1][:40])
    take_shot("job")
