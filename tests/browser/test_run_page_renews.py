"""A run's page renews itself, and takes nothing out of the hands of who reads it."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, Route, expect

from annotation.models import Campaign
from predictions.prompts.registry import prompt
from predictions.services.runs import answer_runs
from tests.personas import World
from tests.predictions.request_helpers import a_plan, an_endpoint

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_what_is_open_stays_open_though_the_run_ends_meanwhile(
    open_as: Callable[..., Page], world: World, campaign: Campaign, shot: Any
) -> None:
    endpoint = an_endpoint(world, "http://127.0.0.1:9/v1", offers=["images"])
    run = answer_runs.open_run(a_plan(campaign, endpoint, prompt("sheet")), world.mara, timezone.now())
    page = open_as(world.mara)
    page.goto(f"/b/{world.benchmark.slug}/predictions/run/{run.pk}/")
    page.get_by_text("More…", exact=True).click()
    page.get_by_label("Budget in dollars").fill("2.50")
    page.mouse.click(5, 5)  # focus goes elsewhere: what is open is enough
    with page.expect_response(lambda reply: "hx-refresh" in reply.headers):
        answer_runs.pause(run, world.mara, timezone.now())
    with page.expect_response(lambda reply: "hx-refresh" in reply.headers):
        pass  # asked once more, so the first has been dealt with
    expect(page.get_by_label("Budget in dollars")).to_have_value("2.50")
    expect(page.locator("#progress .chip").first).to_have_text("Running")
    page.get_by_text("More…", exact=True).click()
    expect(page.locator("#progress .chip").first).to_have_text("Paused")
    shot(page, "run-paused")


def test_a_link_that_was_pressed_leads_on_though_the_run_ends_meanwhile(
    open_as: Callable[..., Page], world: World, campaign: Campaign
) -> None:
    endpoint = an_endpoint(world, "http://127.0.0.1:9/v1", offers=["images"])
    run = answer_runs.open_run(a_plan(campaign, endpoint, prompt("sheet")), world.mara, timezone.now())
    page, slow = open_as(world.mara), list[Route]()
    page.goto(f"/b/{world.benchmark.slug}/predictions/run/{run.pk}/")
    page.route(f"**/b/{world.benchmark.slug}/items/", lambda route: slow.append(route))
    page.get_by_role("link", name="Items", exact=True).click(no_wait_after=True)
    with page.expect_response(lambda reply: "hx-refresh" in reply.headers):
        answer_runs.pause(run, world.mara, timezone.now())
    with page.expect_response(lambda reply: "hx-refresh" in reply.headers):
        pass  # asked once more, so the first has been dealt with
    [request] = slow
    request.continue_()
    expect(page).to_have_url(re.compile(r"/items/$"))
