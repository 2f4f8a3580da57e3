"""Pair review of ValueGround, whole: three people judge two pairs, and the rule decides, saying which clause failed."""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from annotation.models import Annotation, Assignment, Outcome
from annotation.services.derivation import derived_items
from benchmarks.models import Item
from tests.browser.conftest import PHONE, drawings
from tests.browser.test_rating import find_violations
from tests.browser.workflows import steps
from tests.personas import World

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
FIELDS = ("match_a", "match_b", "pair_match", "no_cue")
FAMILY, TRUST = "Q1-source1", "Q57-source1"
ROWS = [
    {"key": FAMILY, "role": "a", "file": "Q1/a.jpg", "text": "How important is family in your life?",
     "option_a": "Very important", "option_b": "Not at all important", "condition": "source1"},
    {"key": FAMILY, "role": "b", "file": "Q1/b.jpg", "condition": "source1"},
    {"key": TRUST, "role": "a", "file": "Q57/a.jpg", "condition": "source1",
     "text": "Generally speaking, would you say that most people can be trusted, or that you need to be very careful?",
     "option_a": "Most people can be trusted", "option_b": "Need to be very careful"},
    {"key": TRUST, "role": "b", "file": "Q57/b.jpg", "condition": "source1"},
]  # fmt: skip
# What each of the three says of match A, match B, pair match, no cue. Two sheets of three decide.
CODES = {FAMILY: ("2221", "1221", "2211"), TRUST: ("2211", "1111", "2221")}


def item_of(assignment: int) -> str:
    return Item.objects.get(units__assignments__pk=assignment).key


def by_keys(page: Page, codes: str) -> None:
    for code in codes:
        page.keyboard.press(code)


def by_touch(page: Page, codes: str) -> None:
    for field, code in zip(FIELDS, codes, strict=True):
        page.locator(f"label:has([name=a-{field}][value='{code}'])").tap()


def answered(page: Page) -> list[str]:
    return [page.locator(f"[name=a-{field}]:checked").get_attribute("value") or "" for field in FIELDS]


def test_pair_review(open_as: Callable[..., Page], world: World, tmp_path: Path, shot: Callable[..., None]) -> None:
    stage = steps.create_benchmark(world, "valueground").stages.get(key="pair-review")
    names = [str(row["file"]) for row in ROWS]
    steps.import_items(open_as(world.mara), stage, tmp_path, ROWS, dict(zip(names, drawings(4), strict=True)))
    assert [one.images.count() for one in stage.items.all()] == [2, 2]
    lina = world.add_annotators(world.brazil, 1)[0]
    lina.language = "ar"
    lina.save()
    campaign = steps.create_open_campaign(stage, world.mara, {world.brazil: 3})

    bia = open_as(world.bia)
    hand = steps.sheet(bia, campaign)
    compare_closely(bia, shot)
    codes = CODES[item_of(hand)][0]
    by_keys(bia, codes)
    steps.drafted(bia, hand)
    assert answered(bia) == list(codes)
    shot(bia, "pair-desktop")
    steps.submit(bia)
    by_keys(bia, CODES[item_of(steps.current_assignment_id(bia))][0])
    bia.keyboard.press("Control+Enter")
    expect(bia.locator("#main")).to_contain_text("You have answered everything here.")

    caio = open_as(world.caio, **PHONE)
    hand = steps.sheet(caio, campaign)
    shot(caio, "pair-phone")
    caio.locator("[data-swap]").tap()
    expect(caio.locator(".duo")).to_have_class("duo swapped")
    for number in range(2):
        codes = CODES[item_of(steps.current_assignment_id(caio))][1]
        by_touch(caio, codes)
        if number == 0:
            caio.locator("label:has([name=a-safety][value=person])").tap()
            steps.drafted(caio, hand)
            assert answered(caio) == list(codes)
            shot(caio, "pair-phone-full", full_page=True)
        steps.submit(caio)
    derived_items.process_due(timezone.now())
    assert not Outcome.objects.exists()  # two sheets of three decide nothing

    third = open_as(lina)
    steps.sheet(third, campaign)
    for number in range(2):
        codes = CODES[item_of(steps.current_assignment_id(third))][2]
        by_keys(third, codes)
        if number == 0:
            shot(third, "pair-ar-desktop")
            third.set_viewport_size({"width": 390, "height": 844})
            shot(third, "pair-ar-narrow", full_page=True)
            third.set_viewport_size({"width": 1280, "height": 800})
        steps.submit(third)
    assert not Assignment.objects.filter(campaign=campaign).exclude(state="submitted").exists()

    derived_items.process_due(timezone.now())
    family, trust = (Outcome.objects.get(unit__item__key=key) for key in (FAMILY, TRUST))
    assert (family.state, family.failed, family.answers) == ("accepted", [], 3)
    assert (trust.state, trust.failed, trust.answers) == ("rejected", ["match", "pair_match"], 3)
    assert trust.numbers["clauses"] == {"match": 1, "pair_match": 2, "no_cue": 0}
    check_clause(open_as(world.mara), stage.benchmark.slug, trust.unit.item, shot)

    assert Annotation.objects.filter(live=True, counted=True).count() == 6
    archive = steps.export_zip(world, stage)
    steps.import_back(open_as(world.mara), campaign, archive)
    rows = steps.rows_of(archive, "ratings.jsonl")
    given = {(row["item"], "".join(row["codes"][field] for field in FIELDS)) for row in rows}
    assert given == {(key, codes) for key, three in CODES.items() for codes in three}
    assert {row["rule_version"] for row in rows} == {"by_rule 1"}


def compare_closely(page: Page, shot: Callable[..., None]) -> None:
    """Sides swapped, one picture over the other, both closer in step; and all of it taken back."""
    a, b = (page.locator(f"[data-side={side}]") for side in "ab")
    expect(page.locator("[data-side=a] figcaption")).to_contain_text("A")
    page.keyboard.press("x")
    assert a.bounding_box()["x"] > b.bounding_box()["x"]  # type: ignore[index]
    page.keyboard.press("x")
    page.keyboard.down("b")
    expect(page.locator(".over")).to_be_visible()
    shot(page, "pair-blink-desktop")
    page.keyboard.up("b")
    expect(page.locator(".over")).to_be_hidden()
    page.keyboard.press("+")
    closer = [one.locator("[data-zooms]").evaluate("e => getComputedStyle(e).transform") for one in (a, b)]
    assert closer[0] == closer[1] != "none"
    page.keyboard.press("-")


def check_clause(page: Page, slug: str, item: Item, shot: Callable[..., None]) -> None:
    """A researcher reads why a pair was not accepted, in words."""
    page.goto(f"/b/{slug}/")
    expect(page.locator(".sum [data-stage=pair-review]")).to_contain_text("1 accepted")
    expect(page.locator(".sum [data-stage=pair-review]")).to_contain_text("1 rejected")
    shot(page, "pair-chain-desktop", full_page=True)
    page.goto(f"/b/{slug}/items/{item.pk}/")
    verdict = page.locator("[data-outcome]")
    expect(verdict).to_contain_text("Not accepted")
    expect(verdict).to_contain_text("The pictures are alike in all else")
    expect(verdict).to_contain_text("2 of 3")
    expect(verdict).not_to_contain_text("No cue gives the answer away")
    assert find_violations(page) == ""
    shot(page, "pair-item-desktop", full_page=True)
