"""A paper's table in a browser: a wide one stays in its frame, rows open without a script, print loses nothing."""

import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Campaign
from evaluation.metrics.estimate import Estimate
from evaluation.rendering.report import Cell, PrintedValue, Rounding, Row
from evaluation.tables.spec import TableSpec
from evaluation.tables.table import Table, TableOption
from evaluation.tables.table_inputs import TableInputs
from people.models import User
from tests.browser.conftest import PHONE, axe_violations
from tests.browser.test_everywhere import TARGETS
from tests.evaluation.data import an_open_campaign, of_condition, table
from tests.evaluation.sample_tables import SMALL, tables_are
from tests.evaluation.test_table_pages import EMPTY
from tests.personas import World

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
Open = Callable[..., Page]
COUNTRIES = (
    "Brazil",
    "China",
    "Egypt",
    "Germany",
    "India",
    "Indonesia",
    "Mexico",
    "Nigeria",
    "Russia",
    "United States",
)
MODELS = {
    "Vision-language encoders": ("CLIP ViT-L/14", "SigLIP So400m", "OpenCLIP"),
    "Vision-language models": ("Qwen2.5-VL-7B-Instruct", "Llama-3.2-11B-Vision-Instruct", "InternVL2.5"),
}
WHY = "The text has another number than the table: the mean of the row is 0.143."


def build_wide(inputs: TableInputs) -> Table:
    """Twenty columns, each with a value but for some."""
    chance = random.Random(5)
    inputs.observed("relevance", "relevance", ("person",))

    def cell(row: int, column: int) -> Cell:
        if (row, column) == (1, 3):
            return Cell(
                Estimate.undefined(reason="no_variation", method="pearson", n_units=34, n_raters=2, n_ratings=68)
            )
        if (row, column) == (2, 5):
            return Cell(empty=True)
        value = chance.uniform(-0.3, 0.9)
        known = WHY if chance.random() < 0.1 else ""
        printed = PrintedValue(f"{value + chance.choice([0, 0, 0.01, 0.1]):.2f}", known) if row else None
        estimate = Estimate.of(
            value, interval=(value - 0.1, value + 0.08), method="pearson", n_units=200, n_raters=20, n_ratings=4000,
            resampled="units and raters",
        )  # fmt: skip
        return Cell(estimate, rounding=Rounding(2), printed=printed)

    columns = [f"{country}, {kind}" for country in COUNTRIES for kind in ("Natural", "Generated")]
    names = [(group, name) for group, models in MODELS.items() for name in models]
    rows = [Row(name, tuple(cell(n, c) for c in range(20)), group) for n, (group, name) in enumerate(names)]
    return inputs.table(corner="Model", columns=[*columns], rows=rows, words=["Pearson's correlation."])


WIDE = TableSpec(
    "wide", "Table 17", "Correlation of models with people, over images", "Ratings by people, and scores of models.",
    build_wide, (TableOption("reading", "Correlated", {"country": "within a country", "image": "over countries"}),),
)  # fmt: skip


@pytest.fixture
def tables(world: World) -> Iterator[Campaign]:
    world.add_items(40)
    campaign = an_open_campaign(world, target=6)
    natural = of_condition(world.items, "natural")
    people = [world.nour, world.tarek, *world.add_annotators(world.egypt, 2)]
    digits = ["12345123451234512345", "12344123552234512345", "22345123451134512344", "12335223451234512355"]
    table(campaign, world.egypt, natural, dict(zip(people, digits, strict=True)))
    table(campaign, world.brazil, natural[:3], {world.bia: "345"})
    with tables_are(world.benchmark, [SMALL, WIDE, EMPTY]):
        yield campaign


def address(world: World, rest: str = "wide/") -> str:
    return f"/b/{world.benchmark.slug}/tables/{rest}"


def in_language(user: User, language: str) -> User:
    user.language = language
    user.save()
    return user


def overflow(page: Page) -> int:
    """How much wider than the window the page is."""
    return int(page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))


@pytest.mark.parametrize("how", [{}, PHONE])
def test_a_wide_table_scrolls_in_its_frame_with_its_names_in_sight(
    world: World, tables: Campaign, open_as: Open, shot: Any, how: Any
) -> None:
    page = open_as(world.mara, **how)
    page.goto(address(world))
    assert overflow(page) <= 0
    frame, name = page.locator(".paper"), page.locator("tbody th.first").nth(1)
    assert frame.evaluate("(e) => e.scrollWidth > e.clientWidth")
    before = name.bounding_box()
    shot(page, f"table-{'phone' if how else 'desktop'}", full_page=True)
    frame.focus()
    page.keyboard.press("End")
    frame.evaluate("(e) => e.scrollTo(e.scrollWidth, 0)")
    after = name.bounding_box()
    assert before
    assert after
    assert abs(before["x"] - after["x"]) < 1
    expect(page.get_by_role("columnheader", name="United States, Generated")).to_be_in_viewport()
    shot(page, f"table-end-{'phone' if how else 'desktop'}")


def test_a_row_opens_its_intervals_by_keyboard_and_without_a_script(
    world: World, tables: Campaign, open_as: Open, shot: Any
) -> None:
    page = open_as(world.mara, java_script_enabled=False)
    page.goto(address(world))
    row = page.get_by_role("row").filter(has=page.get_by_text("CLIP ViT-L/14"))
    expect(row.get_by_text("n = 200 × 20").first).to_be_hidden()
    row.locator("summary").focus()
    page.keyboard.press("Enter")
    expect(row.get_by_text("n = 200 × 20").first).to_be_visible()
    others = page.get_by_role("row").filter(has=page.get_by_text("OpenCLIP", exact=True))
    expect(others.get_by_text("n = 200 × 20").first).to_be_hidden()
    page.goto(address(world, "wide/?detail=1"))
    expect(others.get_by_text("n = 200 × 20").first).to_be_visible()
    shot(page, "table-detail", full_page=True)


PAGES = ("", "small/", "small/?paper=1", "wide/?paper=1", "wide/?paper=1&detail=1", "empty/", "/me/tokens", "agreement")


@pytest.mark.parametrize("rest", PAGES)
@pytest.mark.parametrize("how", [{}, PHONE])
def test_axe_finds_nothing_and_nothing_is_cut_off(
    world: World, tables: Campaign, open_as: Open, shot: Any, rest: str, how: Any
) -> None:
    page = open_as(world.mara, **how)
    second = f"/b/{world.benchmark.slug}/agreement/?second=1"
    page.goto(second if rest == "agreement" else rest if rest.startswith("/") else address(world, rest))
    assert axe_violations(page) == []
    assert overflow(page) <= 0
    assert not how or page.evaluate(TARGETS) == []
    name = rest.replace("/", "").replace("?", "-").replace("=1", "").replace("&", "-") or "list"
    shot(page, f"tables-{name}-{'phone' if how else 'desktop'}", full_page=True)


def test_in_arabic_names_stand_at_the_right_and_numbers_keep_their_signs(
    world: World, tables: Campaign, open_as: Open, shot: Any
) -> None:
    page = open_as(in_language(world.mara, "ar"))
    page.goto(address(world, "wide/?detail=1"))
    assert page.locator("html").get_attribute("dir") == "rtl"
    frame, name = page.locator(".paper").bounding_box(), page.locator("tbody th.first").nth(0).bounding_box()
    assert frame
    assert name
    assert name["x"] + name["width"] > frame["x"] + frame["width"] - 4
    assert overflow(page) <= 0
    shot(page, "table-ar", full_page=True)


def test_on_paper_the_whole_table_is_there(world: World, tables: Campaign, open_as: Open, shot: Any) -> None:
    page = open_as(world.mara, viewport={"width": 1060, "height": 750})
    page.goto(address(world, "wide/"))
    page.emulate_media(media="print")
    expect(page.locator(".filters")).to_be_hidden()
    assert page.locator(".paper").evaluate("(e) => getComputedStyle(e).overflowX") == "visible"
    assert overflow(page) <= 0  # all twenty columns are on the sheet
    shot(page, "table-print", full_page=True)


def test_choices_go_into_the_address_and_stay(world: World, tables: Campaign, open_as: Open) -> None:
    page = open_as(world.mara)
    page.goto(address(world))
    page.get_by_label("Correlated").select_option("image")
    page.wait_for_url("**reading=image**")
    page.get_by_label("Compared with the paper").check()
    page.wait_for_url("**paper=1**")
    assert "reading=image" in page.url
    expect(page.get_by_text("same after rounding").first).to_be_visible()
    assert "are active" not in page.content()
    link = page.get_by_role("link", name="CSV").get_attribute("href")
    assert link
    assert link.startswith(address(world, "wide.csv?reading=image"))
