"""A model is run as a researcher does: planned, looked at, costed, started, watched, its failures read and retried."""

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from annotation.models import Campaign
from jobs.models import Job
from jobs.services import runner
from people.models import User
from predictions.models import Call, Endpoint, Run
from predictions.services.endpoints import endpoints
from tests.browser.conftest import PHONE
from tests.browser.test_rating import find_violations
from tests.personas import World
from tests.predictions.model_server import Act, ReceivedRequest, Server

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
LONG = "a-provider-with-a-long-name/a-family-of-models-2026-instruct-vision-preview-0425-quantised-awq"


@pytest.fixture
def endpoint(world: World, scripted_server: Server) -> Endpoint:
    scripted_server.script.models = ["scripted", LONG]
    admin, at = world.team_admin, timezone.now()
    new_endpoint = endpoints.create(
        world.team, admin, at, kind="openai", name="Server of the tests", base_url=scripted_server.base_url,
        offers=["images", "schema"],
    )  # fmt: skip
    endpoints.set_prices(new_endpoint, {"*": {"in": "2.5", "out": "10"}}, admin, at)
    endpoints.check(new_endpoint, admin, at)
    return new_endpoint


def fail_some(asked: ReceivedRequest) -> Act | None:
    """Of the requests: prose without a number, a refusal to speak, a server that does not take it; else a 4."""
    if asked.number in (2, 3):
        return Act(text="It is hard to say: markets look alike in many places.")
    if asked.number == 4:
        return Act(status=400)
    return Act(text='{"relevance": "4"}')


def work() -> None:
    for job in Job.objects.filter(state__in=Job.LIVE).order_by("pk"):
        runner.run(job.pk)


@pytest.mark.parametrize("how", [{}, PHONE], ids=["desktop", "phone"])
def test_a_model_is_run(
    open_as: Callable[..., Page], world: World, campaign: Campaign, endpoint: Endpoint, scripted_server: Server,
    how: Any, shot: Any, request: Any,
) -> None:  # fmt: skip
    page, name = open_as(world.mara, **how), request.node.callspec.id
    home = f"/b/{world.benchmark.slug}/predictions/"

    def take_shot(what: str) -> None:
        shot(page, f"run-{what}-{name}", full_page=True)
        assert find_violations(page) == ""
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    page.goto(home)
    take_shot("index-empty")
    page.get_by_role("link", name="New run").first.click()
    take_shot("first")
    page.get_by_label("Campaign", exact=True).select_option(label=campaign.name)
    page.get_by_label("Endpoint").select_option(label=endpoint.name)
    page.get_by_label("Model", exact=True).wait_for()
    page.get_by_label("The sheet as people have it").check()
    expect(page.locator("[name=shown_prompt]")).to_have_value(re.compile("^sheet@"))
    page.get_by_label("The cohorts of the campaign").check()
    page.get_by_label("Requests per item").fill("0")
    page.get_by_label("Budget in dollars").fill("20")
    page.get_by_role("button", name="Preview requests").click()
    expect(page.locator("main")).to_contain_text("what you typed is all there")
    expect(page.get_by_label("Budget in dollars")).to_have_value("20")
    take_shot("refused")
    page.get_by_label("Model", exact=True).fill(LONG)
    page.get_by_label("Requests per item").fill("1")
    page.get_by_label("Only a sample of").fill("6")
    page.get_by_role("button", name="Preview requests").click()
    expect(page.locator("main")).to_contain_text("Item 1 of 6")
    expect(page.locator(".message img").first).to_be_visible()
    take_shot("preview")
    first = page.locator("#sent").inner_text()
    page.get_by_role("button", name="Next item").click()
    expect(page.locator("main")).to_contain_text("Item 2 of 6")
    assert page.locator("#sent").inner_text() != first
    page.get_by_role("button", name="Estimate cost").click()
    expect(page.locator("#cost")).to_be_visible()
    take_shot("cost")
    assert scripted_server.counts()["total"] == 0, "nothing is sent before the start"
    assert not Run.objects.exists()
    page.get_by_role("button", name="Edit plan").click()
    expect(page.get_by_label("Model", exact=True)).to_have_value(LONG)
    page.get_by_role("button", name="Preview requests").click()
    page.get_by_role("button", name="Estimate cost").click()
    page.get_by_role("button", name="Run").click()
    expect(page.locator("#progress")).to_contain_text("0 of 6 calls have ended")
    take_shot("started")
    run = Run.objects.get()
    assert run.budget == Decimal(20)
    scripted_server.answer_by(fail_some)
    work()
    expect(page.locator("#progress")).to_contain_text("6 of 6 calls have ended")
    take_shot("done")
    page.get_by_role("link", name="Unreadable reply").first.click()
    expect(page.locator(".calls")).to_contain_text("markets look alike")
    page.locator(".calls a").first.click()
    expect(page.locator("main")).to_contain_text("What the model said")
    page.get_by_text("What was sent").click()
    take_shot("call")
    page.goto(f"{home}run/{run.pk}/")
    page.get_by_label("Unreadable reply").check()
    scripted_server.answer_by(lambda asked: Act(text='{"relevance": "5"}'))
    page.get_by_role("button", name="Retry calls").click()
    expect(page.locator("main")).to_contain_text("3 calls are asked again")
    work()
    expect(page.locator("#progress")).to_contain_text("Answered: 6")
    assert Call.objects.filter(run=run, state="answered").count() == 6
    page.get_by_role("link", name="Compare with people").click()
    expect(page.locator("main")).to_contain_text(LONG)
    page.goto(home)
    expect(page.locator("main")).to_contain_text("6 of 6")
    take_shot("index")
    if not how:
        User.objects.filter(pk=world.mara.pk).update(language="ar")
        page = open_as(world.mara)
        for what, path in (("index", home), ("run", f"{home}run/{run.pk}/"), ("first", f"{home}run/new/")):
            page.goto(path)
            shot(page, f"run-{what}-arabic", full_page=True)
            assert find_violations(page) == ""
