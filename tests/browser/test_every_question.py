"""The table of every question in a browser: on a desktop, on a phone, in Arabic; a measure is chosen in its row."""

from collections.abc import Callable

from playwright.sync_api import Page, expect

from people.models import User
from tests.browser.conftest import PHONE
from tests.evaluation.mixed import mixed_sheet
from tests.personas import World

expect.set_options(timeout=40_000)


def test_every_question_is_read_and_asked_otherwise(
    open_as: Callable[..., Page], world: World, media: None, shot: Callable[..., None]
) -> None:
    mixed_sheet(world)
    address = f"/b/{world.benchmark.slug}/agreement/"
    page = open_as(world.mara)
    page.set_default_timeout(60_000)
    page.goto(address)
    table = page.locator(".questions")
    expect(table.locator("tr.group")).to_have_count(5)
    shot(page, "questions-desktop", full_page=True)
    table.get_by_label("Measure: What is it called?").select_option(label="Exact match")
    page.wait_for_url("**as=name%3Aexact_match**")
    expect(table.locator("tbody").nth(3)).to_contain_text("0.47")
    table.get_by_label("Measure: What is in it?").select_option(label="Alpha of each option")
    page.wait_for_url("**as=seen%3Aalpha_options**")
    expect(table.locator("tbody").nth(3)).to_contain_text("0.47")
    expect(table.locator("tbody").nth(1).locator(".est, .undef")).to_have_count(3)
    shot(page, "questions-asked", full_page=True)
    table.get_by_role("link", name="Draw a box round it").click()
    expect(page.get_by_role("heading", name="By condition: Draw a box round it")).to_be_visible()

    phone = open_as(world.mara, **PHONE)
    phone.set_default_timeout(60_000)
    phone.goto(address + "?as=seen:alpha_options")
    expect(phone.locator(".questions tr.group")).to_have_count(5)
    assert phone.evaluate("document.documentElement.scrollWidth <= innerWidth"), "no page scrolls sideways"
    shot(phone, "questions-phone", full_page=True)

    User.objects.filter(pk=world.mara.pk).update(language="ar")
    for how, name in (({}, "desktop"), (PHONE, "phone")):
        arabic = open_as(world.mara, **how)
        arabic.set_default_timeout(60_000)
        arabic.goto(address)
        expect(arabic.locator("html")).to_have_attribute("dir", "rtl")
        assert arabic.evaluate("document.documentElement.scrollWidth <= innerWidth")
        shot(arabic, f"questions-ar-{name}", full_page=True)
