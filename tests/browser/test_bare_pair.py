"""Choosing the picture that fits a country: the pictures stand alone, and the country is in the question."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Annotation, Campaign
from people.models import User
from tests.browser.conftest import PHONE
from tests.browser.stage_setup import apply_recipe_stage, create_items, create_open_campaign
from tests.browser.test_rating import answered, wait_for_images
from tests.personas import World

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
QUESTION = "How important is family in your life?"


@pytest.fixture
def choices(world: World, live_server: Any, media: None) -> Campaign:
    apply_recipe_stage(world.stage, "valueground", "choice")
    options = {"option_a": "Very important", "option_b": "Not at all important"}
    create_items(world, ("a", "b"), text=QUESTION, context=options | {"survey": {"Egypt": {"1": 9}}})
    return create_open_campaign(world)


@pytest.mark.parametrize("how", ["desktop", "phone", "arabic"])
def test_a_picture_is_chosen_without_being_told_what_it_stands_for(
    open_as: Callable[..., Page], choices: Campaign, nour: User, shot: Callable[..., None], how: str
) -> None:
    if how == "arabic":
        nour.language = "ar"
        nour.save()
    page = open_as(nour, **(PHONE if how == "phone" else {}))
    page.goto(f"/work/{choices.pk}/")
    wait_for_images(page)
    expect(page.locator(".duo")).to_contain_text(QUESTION)
    expect(page.locator("main")).not_to_contain_text("Not at all important")
    expect(page.locator("figure figcaption")).to_have_text(["A", "B"])
    country = "مصر" if how == "arabic" else "Egypt"
    expect(page.locator("[data-field=choice]")).to_contain_text(country)
    order = "(all) => all.map((e) => [e.getBoundingClientRect().x, e.value ?? e.dataset.side])"
    sides, codes = (page.locator(place).evaluate_all(order) for place in ("[data-side]", "[name=a-choice]"))
    assert [side for _x, side in sorted(sides)] == [code for _x, code in sorted(codes)], "the option for A is under A"
    shot(page, f"bare-pair-{how}")
    page.locator("label:has([name='a-choice'][value='b'])").click()
    answered(page, lambda: page.keyboard.press("Control+Enter"))
    assert Annotation.objects.get(live=True).answers == {"choice": "b"}
