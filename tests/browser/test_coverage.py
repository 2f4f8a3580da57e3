"""The coverage matrix in a real browser: by keys, on a phone, in Arabic."""

from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page

from annotation.models import Campaign, Slot
from tests.browser.conftest import PHONE, axe_violations
from tests.personas import CONCEPTS, World


def answer_some_rows(world: World, campaign: Campaign) -> None:
    """Some rows complete, some begun, some empty; a unit set aside, one at the front."""
    for n, slot in enumerate(Slot.objects.order_by("unit__item_id", "cohort__cohort__label")):
        done = (0, slot.wanted, 1)[n % 3]
        Slot.objects.filter(pk=slot.pk).update(submitted=min(done, slot.wanted), urgent=n == 6, retired=n == 9)


def test_matrix_is_navigated_by_keys_and_a_gap_is_prioritised(
    world: World, campaign: Campaign, open_as: Callable[..., Page], shot: Callable[..., None]
) -> None:
    answer_some_rows(world, campaign)
    page = open_as(world.team_admin)
    page.goto(f"/b/{world.benchmark.slug}/coverage/")
    shot(page, "coverage-admin")
    page = open_as(world.mara)
    page.goto(f"/b/{world.benchmark.slug}/coverage/?by=item")
    shot(page, "coverage-items", full_page=True)
    cells = page.locator("[data-matrix] tbody a")
    assert page.locator("[data-matrix] a[tabindex='0']").count() == 1
    cells.first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    label = page.evaluate("document.activeElement.ariaLabel")
    assert label == cells.nth(3).get_attribute("aria-label") and "Egypt" in label
    page.keyboard.press("Home")
    page.keyboard.press("End")
    assert page.evaluate("document.activeElement.ariaLabel") == label
    page.keyboard.press("Enter")
    page.wait_for_url("**#hole")
    assert page.evaluate("document.activeElement.id") == "hole"
    assert page.locator("[data-matrix] [aria-current]").get_attribute("aria-label") == label
    shot(page, "coverage-hole", full_page=True)
    page.get_by_role("button", name="Prioritise").click()
    page.get_by_text("1 item is prioritised.").wait_for()
    assert "prioritised" in (page.locator("[data-matrix] [aria-current]").get_attribute("aria-label") or "")


def test_on_a_phone_rows_are_cards_and_nothing_runs_out_of_the_screen(
    world: World, campaign: Campaign, open_as: Callable[..., Page], shot: Callable[..., None]
) -> None:
    answer_some_rows(world, campaign)
    place: Any = campaign.cohorts.get(cohort=world.egypt)
    page = open_as(world.mara, **PHONE)
    page.goto(f"/b/{world.benchmark.slug}/coverage/?by=item&row={world.items[0].pk}&cohort={place.pk}")
    shot(page, "coverage-phone", full_page=True)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    box = page.locator("[data-matrix] tbody a").first.bounding_box()
    assert box and box["height"] >= 44
    world.mara.language = "ar"
    world.mara.save()
    for name, how in (("coverage-phone-ar", PHONE), ("coverage-ar", {})):
        page = open_as(world.mara, **how)
        page.goto(f"/b/{world.benchmark.slug}/coverage/?by=item&row={world.items[0].pk}&cohort={place.pk}")
        shot(page, name, full_page=True)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert not axe_violations(page), name


def test_wanted_cells_are_opened_by_keys_and_read_on_a_phone(
    world: World, campaign: Campaign, open_as: Callable[..., Page], shot: Callable[..., None]
) -> None:
    answer_some_rows(world, campaign)
    stage = campaign.stage
    stage.coverage = {"rows": "set:globalrg-table-1", "columns": "concepts", "names": list(CONCEPTS), "per_cell": 2}
    stage.save()
    page = open_as(world.mara)
    page.goto(f"/b/{world.benchmark.slug}/coverage/")
    page.wait_for_url("**/coverage/stages/**")
    cells = page.locator("[data-matrix] tbody a")
    cells.first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**#hole")
    assert page.evaluate("document.activeElement.id") == "hole"
    shot(page, "coverage-cells", full_page=True)
    world.mara.language = "ar"
    world.mara.save()
    for name, how in (("coverage-cells-phone-ar", PHONE), ("coverage-cells-ar", {})):
        page = open_as(world.mara, **how)
        page.goto(f"/b/{world.benchmark.slug}/coverage/stages/{stage.pk}/?gap=nobody_active")
        shot(page, name, full_page=True)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert not axe_violations(page), name
