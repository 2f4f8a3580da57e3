"""The team's page of models as an admin sees it: empty, an endpoint added, checked, priced."""

from collections.abc import Callable
from typing import Any

import pytest
from django.conf import settings
from playwright.sync_api import Page, expect

from people.models import User
from predictions.models import Endpoint
from tests.browser.conftest import PHONE
from tests.browser.test_rating import find_violations
from tests.personas import World
from tests.predictions.model_server import Server

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
LONG = "a-provider-with-a-long-name/a-family-of-models-2026-instruct-vision-preview-0425-quantised-awq"


@pytest.mark.parametrize("how", [{}, PHONE], ids=["desktop", "phone"])
def test_an_endpoint_is_connected(
    open_as: Callable[..., Page], world: World, scripted_server: Server, how: Any, shot: Any, request: Any
) -> None:
    page, name = open_as(world.team_admin, **how), request.node.callspec.id
    scripted_server.script.models, scripted_server.script.secret = ["scripted", LONG], "sk-right"

    def take_shot(what: str) -> None:
        shot(page, f"models-{what}-{name}", full_page=True)
        assert find_violations(page) == ""
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    page.goto(f"/teams/{world.team.slug}/")
    page.get_by_role("link", name="Endpoints").click()
    take_shot("empty")
    page.get_by_role("link", name="Add an endpoint").click()
    page.get_by_label("Name").fill("Server of the tests")
    page.get_by_label("Pictures").check()
    page.get_by_label("JSON schema").check()
    page.get_by_role("textbox", name="Key", exact=True).fill("sk-wrong")
    page.get_by_role("button", name="Save endpoint").click()
    expect(page.locator("main")).to_contain_text("Give the address that answers")
    expect(page.get_by_label("Name")).to_have_value("Server of the tests")
    expect(page.get_by_label("Pictures")).to_be_checked()
    take_shot("new-refused")
    page.get_by_label("Address").fill(scripted_server.base_url)
    page.get_by_role("textbox", name="Key", exact=True).fill("sk-wrong")
    page.get_by_role("button", name="Save endpoint").click()
    expect(page.locator("main")).to_contain_text("never checked")
    page.get_by_role("button", name="Check the connection").click()
    expect(page.locator("main")).to_contain_text("Unexpected response.")
    take_shot("refused")
    page.get_by_role("textbox", name="Key", exact=True).fill("sk-right")
    page.get_by_role("button", name="Replace API key").click()
    page.get_by_role("button", name="Check the connection").click()
    expect(page.locator("main")).to_contain_text("Connected.")
    expect(page.locator("main")).to_contain_text(LONG)
    page.get_by_label("Model 1").fill("scripted")
    page.get_by_label("$ per million tokens in 1").fill("2.5")
    page.get_by_label("$ per million tokens out 1").fill("10")
    page.get_by_role("button", name="Save prices as a new version").click()
    expect(page.locator("main")).to_contain_text("Version 1, since")
    take_shot("endpoint")
    assert "sk-right" not in page.content()
    page.get_by_role("link", name="Endpoints").first.click()
    take_shot("list")
    assert Endpoint.objects.get().prices.get().table == {"scripted": {"in": "2.5", "out": "10"}}
    if not how:
        User.objects.filter(pk=world.team_admin.pk).update(language="ar")
        page = open_as(world.team_admin)
        page.goto(f"/teams/{world.team.slug}/models/{Endpoint.objects.get().pk}/")
        shot(page, "models-endpoint-arabic", full_page=True)
    assert settings.SECRETS_KEYS
