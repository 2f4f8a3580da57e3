"""A researcher goes from the overview to an open chain by the buttons of a real browser."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Campaign
from benchmarks.models import Benchmark
from people.models import Cohort
from tests.browser.conftest import PHONE
from tests.browser.test_everywhere import complaints
from tests.personas import World, draw_image, make_items

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def benchmark(world: World, live_server: Any, media: None) -> Benchmark:
    """CulturalVQA of the team's admin, with four pictures; none of its cohorts is in the team."""
    form = {"recipe": "culturalvqa", "name": "Questions", "slug": "questions", "team": world.team.pk, "question": ""}
    assert world.client(world.team_admin).post("/benchmarks/new/", form).status_code == 302
    Cohort.objects.filter(pk=world.brazil.pk).update(label="Elsewhere")
    benchmark = Benchmark.objects.get(slug="questions")
    for item in make_items(benchmark.stages.get(key="questions"), 4):
        draw_image(item)
    return benchmark


def test_cohorts_and_chain_by_buttons(
    open_as: Callable[..., Page], world: World, benchmark: Benchmark, shot: Callable[..., None]
) -> None:
    page = open_as(world.team_admin)
    page.goto("/b/questions/")
    shot(page, "opening-overview", full_page=True)
    page.get_by_role("region", name="Next").get_by_role("link").click()
    shot(page, "opening-cohorts", full_page=True)
    page.get_by_role("checkbox", name="Turkey").uncheck()
    page.get_by_role("button", name="Create cohorts").click()
    expect(page.get_by_role("heading", name="10 cohorts created")).to_be_visible()
    shot(page, "opening-links", full_page=True)
    assert "/invitation/" in page.get_by_label("India").input_value()
    page.get_by_role("link", name="Open the whole chain").click()
    page.get_by_role("textbox", name="Question writing").or_(
        page.get_by_role("spinbutton", name="Question writing")
    ).fill("2")
    page.get_by_role("button", name="Update the figures").click()
    shot(page, "opening-chain", full_page=True)
    page.get_by_text("Numbers and dates of its own").first.click()
    assert list(complaints(page, phone=False)) == []
    shot(page, "opening-chain-unfolded", full_page=True)
    expect(page.get_by_role("button", name="Open 7 stages for 10 cohorts")).to_be_visible()
    page.get_by_role("checkbox", name="Brazil").uncheck()
    expect(page.get_by_role("button", name="Open 7 stages for 9 cohorts")).to_be_visible()
    page.get_by_role("checkbox", name="Brazil").check()
    page.get_by_role("button", name="Open 7 stages for 10 cohorts").click()
    expect(page.get_by_text("stages are open.")).to_be_visible()
    shot(page, "opening-opened", full_page=True)
    assert Campaign.objects.filter(state="open").count() == benchmark.stages.filter(target_answers__gt=0).count()
    first = Campaign.objects.get(stage__key="questions")
    assert set(first.cohorts.values_list("target_answers", flat=True)) == {2}
    for name, language in (("phone", "en"), ("arabic", "ar")):
        world.team_admin.language = language
        world.team_admin.save()
        small = open_as(world.team_admin, **PHONE)
        for path in ("", "cohorts/", "chain/open/"):
            small.goto(f"/b/questions/{path}")
            assert list(complaints(small, phone=True)) == [], path
            shot(small, f"opening-{name}-{path.replace('/', '-')}", full_page=True)
