"""The list of people in a browser: sorted by a heading, and a row that opens in place, by keys alone too."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from people.models import User
from people.services.raters import rater_of
from tests.browser.conftest import PHONE, axe_violations
from tests.evaluation.data import NOON, an_open_campaign, give_ratings, of_condition
from tests.personas import World

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
Open = Callable[..., Page]
PART = "tr.pan [data-part]"


@pytest.fixture
def differing(world: World) -> User:
    """Nour and Tarek of Egypt agree with each other; the third person, who differs."""
    world.add_items(20)
    campaign = an_open_campaign(world, target=6)
    [third] = world.add_annotators(world.egypt, 1)
    people = dict(zip([world.nour, world.tarek, third], ["1234512345", "1234412355", "5432154321"], strict=True))
    for user, digits in people.items():
        for minute, (item, code) in enumerate(zip(of_condition(world.items, "natural"), digits, strict=True)):
            give_ratings(campaign, world.egypt, user, {item: code}, at=NOON + timedelta(minutes=minute))
    return third


def people(world: World) -> str:
    return f"/b/{world.benchmark.slug}/people/?cohort={world.egypt.pk}"


def name(world: World, user: User) -> str:
    return world.benchmark.pseudonym(rater_of(user).pk)


@pytest.mark.parametrize("how", [{}, PHONE])
def test_a_heading_sorts_and_a_name_opens_the_row(
    world: World, differing: User, open_as: Open, shot: Any, how: dict[str, Any]
) -> None:
    page = open_as(world.mara, **how)
    page.goto(people(world))
    first = page.locator("tbody th a").first
    heading = page.get_by_role("link", name="Agreement with others")
    heading.click()
    expect(first).not_to_have_text(name(world, differing))
    heading.click()
    expect(first).to_have_text(name(world, differing))
    expect(page.locator("th[aria-sort]")).to_have_attribute("aria-sort", "ascending")
    first.click()
    expect(page.locator(PART)).to_contain_text("Look together")
    expect(page.locator(PART)).to_contain_text("first half")
    expect(first).to_have_attribute("aria-expanded", "true")
    assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]  # type: ignore[index]
    assert axe_violations(page) == []
    targets = [
        box for link in page.locator(".sort:visible, tr.pan a.btn, tbody th a").all() if (box := link.bounding_box())
    ]
    assert not how or all(box["height"] >= 24 and box["width"] >= 44 for box in targets)
    shot(page, f"people-row-{'phone' if how else 'desktop'}", full_page=True)
    first.click()
    expect(page.locator(PART)).to_have_count(0)


def test_keys_alone_sort_and_open(world: World, differing: User, open_as: Open) -> None:
    page = open_as(world.mara)
    page.goto(people(world))
    page.get_by_role("link", name="Done").press("Enter")
    expect(page.locator("th[aria-sort=descending]")).to_contain_text("Done")
    first = page.locator("tbody th a").first
    first.press("Enter")
    expect(page.locator(PART)).to_be_visible()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('tr').className") == "pan", "the part comes next"
    page.keyboard.press("Escape")
    expect(page.locator(PART)).to_have_count(0)
    expect(first).to_be_focused()


def test_without_a_script_a_name_leads_to_the_page_of_the_person(world: World, differing: User, open_as: Open) -> None:
    page = open_as(world.mara, java_script_enabled=False)
    page.goto(people(world))
    page.locator("tbody th a", has_text=name(world, differing)).click()
    assert page.url.endswith(f"/people/{rater_of(differing).pk}/")
    expect(page.locator("h1")).to_have_text(name(world, differing))


def test_who_is_signed_out_is_asked_to_sign_in(world: World, differing: User, open_as: Open) -> None:
    page = open_as(world.mara)
    page.goto(people(world))
    page.context.clear_cookies()
    page.locator("tbody th a").first.click()
    page.wait_for_url("**/sign-in**")


def test_reviewers_sort_and_open_nothing(world: World, differing: User, open_as: Open) -> None:
    page = open_as(world.reviewer)
    page.goto(people(world))
    page.get_by_role("link", name="Agreement with others").click()
    expect(page.locator("th[aria-sort=descending]")).to_contain_text("Agreement with others")
    expect(page.locator("tbody th a")).to_have_count(0)
