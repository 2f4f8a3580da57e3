"""The page reckons as the server does; fields come and go with the answers to others."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.templatetags.static import static
from playwright.sync_api import Page, expect

from annotation.models import Annotation, Campaign
from benchmarks.rules.expressions import Expression, ExpressionError
from people.models import User
from tests.browser.conftest import wait_until
from tests.browser.stage_setup import create_items, create_open_campaign
from tests.browser.test_rating import answered, find_violations, wait_for_images
from tests.personas import World

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
OpenAs = Callable[..., Page]
EXAMPLES = json.loads((Path(__file__).parent.parent / "data" / "expressions.json").read_text())
KNOWN = {
    "key": "known", "kind": "choice", "label": {"en": "Do you know it?"},
    "config": {"options": [{"code": code, "label": {"en": code.title()}} for code in ("yes", "no")]},
}  # fmt: skip
NAME = {
    "key": "name", "kind": "text", "label": {"en": "What is it called?"}, "rules": [{"en": "As {target} says."}],
    "show_if": {"field": "known", "in": ["yes"]},
}  # fmt: skip
SURE = {
    "key": "sure", "kind": "rating", "label": {"en": "How sure are you?"},
    "config": {"points": [{"code": code, "label": {"en": code}} for code in ("low", "high")]},
    "show_if": {"field": "known", "in": ["yes"]},
}  # fmt: skip
SCORE = {"label": {"en": "Points"}, "expression": "sure * 2.25", "decimals": 1}


@pytest.fixture
def chosen(world: World, live_server: object, media: None) -> Campaign:
    stage = world.stage
    stage.sheet = {"fields": [KNOWN, NAME, SURE], "score": SCORE}
    stage.save()
    create_items(world, ("image",))
    return create_open_campaign(world)


def test_every_example_is_the_same_in_the_browser(open_as: OpenAs, world: World, nour: User) -> None:
    trees = []
    for text, values, wanted in EXAMPLES:
        try:
            trees.append((text, Expression.parse(text).tree, values, wanted))
        except ExpressionError:
            assert str(wanted).startswith("error")
    page = open_as(nour)
    page.goto("/work/")
    reckon = (
        "async ([url, rows]) => { const { reckon } = await import(url); return rows.map((r) => reckon(r[1], r[2])) }"
    )
    found: list[Any] = page.evaluate(reckon, [static("js/rules.js"), trees])
    assert len(found) > 40
    for (text, _tree, values, wanted), value in zip(trees, found, strict=True):
        assert value == wanted and isinstance(value, bool) == isinstance(wanted, bool), (text, values, value)


def test_fields_come_and_go_and_are_told(open_as: OpenAs, chosen: Campaign, nour: User) -> None:
    page = open_as(nour)
    page.goto(f"/work/{chosen.pk}/")
    wait_for_images(page)
    name = page.get_by_label("What is it called?")
    expect(name).to_be_hidden()
    expect(page.locator(".go").first).to_have_attribute("aria-disabled", "true")
    page.keyboard.press("1")
    expect(name).to_be_visible()
    expect(page.locator("#r-name")).to_have_text("As Egypt says.")
    wait_until(page, "document.getElementById('said').textContent.includes('New question: What is it called?')")
    page.keyboard.press("2")  # the mark went on to the rating that came
    name.fill("Fanous")
    assert find_violations(page) == ""
    page.locator("[value=no]").check()
    expect(name).to_be_hidden()
    wait_until(page, "document.getElementById('said').textContent.includes('Question removed: How sure are you?')")
    page.locator("[value=yes]").check()
    expect(name).to_have_value("Fanous")  # what was written is still there
    page.locator("[value=no]").check()
    answered(page, lambda: page.keyboard.press("Enter"))
    assert Annotation.objects.get().answers == {"known": "no"}


def test_without_a_script_all_is_asked_and_what_does_not_apply_is_left_out(
    open_as: OpenAs, chosen: Campaign, nour: User
) -> None:
    page = open_as(nour, java_script_enabled=False)
    page.goto(f"/work/{chosen.pk}/")
    expect(page.get_by_label("What is it called?")).to_be_visible()
    page.locator("label:has([value=no])").click()
    page.get_by_role("button", name="Submit").click()
    assert Annotation.objects.get().answers == {"known": "no"}
