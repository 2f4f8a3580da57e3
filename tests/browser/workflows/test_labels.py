"""Labelling several concepts, whole: each picture brings its own options, proposed by a model and all chosen."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Annotation
from benchmarks.models import Item
from tests.browser.conftest import PHONE, drawings
from tests.browser.workflows import steps
from tests.personas import World

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
LABELS = {
    "brazil-41-1-nav": "market | fruit | street",
    "brazil-41-2-nav": "market | umbrella | crowd | night sky",
    "brazil-42-1-nav": "bread | table",
}


def proposed(page: Page) -> list[str]:
    """What the picture in hand is said to show."""
    item = Item.objects.get(units__assignments__pk=steps.current_assignment_id(page))
    labels = LABELS[item.key].split(" | ")
    options = page.locator("[data-field=labels] input")
    assert options.evaluate_all("all => all.map(one => one.value)") == labels
    return labels


def chosen_labels(page: Page) -> list[str]:
    values: list[str] = page.locator("[data-field=labels] :checked").evaluate_all("all => all.map(one => one.value)")
    return values


def test_labels(open_as: Callable[..., Page], world: World, tmp_path: Path, shot: Callable[..., None]) -> None:
    stage = steps.create_benchmark(world, "3xcm").stages.get(key="labels")
    pictures = {f"{key}.jpg": data for key, data in zip(LABELS, drawings(3), strict=True)}
    rows = [
        {"key": key, "file": f"{key}.jpg", "country": "Brazil", "concept": "market", "labels": labels}
        for key, labels in LABELS.items()
    ]
    steps.import_items(open_as(world.mara), stage, tmp_path, rows, pictures)
    lina = world.add_annotators(world.brazil, 1)[0]
    lina.language = "ar"
    lina.save()
    campaign = steps.create_open_campaign(stage, world.mara, {world.brazil: 3})

    bia = open_as(world.bia)
    hand = steps.sheet(bia, campaign)
    first = proposed(bia)
    assert chosen_labels(bia) == first  # all of them, until a person takes one away
    bia.keyboard.press("2")
    left = [one for one in first if one != first[1]]
    assert chosen_labels(bia) == left
    bia.get_by_label("What else does it show?").fill("scales, a dog")
    shot(bia, "labels-desktop")
    steps.drafted(bia, hand)
    assert chosen_labels(bia) == left
    expect(bia.get_by_label("What else does it show?")).to_have_value("scales, a dog")
    steps.submit(bia)
    assert Annotation.objects.get().answers == {"labels": left, "others": "scales, a dog"}
    for _time in range(2):
        proposed(bia)
        before = steps.current_assignment_id(bia)
        bia.wait_for_timeout(400)  # at once, it would be half of a double press on the sheet before
        bia.keyboard.press("Enter")
        expect(bia.locator(f'#bench[data-assignment="{before}"]')).to_have_count(0)
    expect(bia.locator("#main")).to_contain_text("You have answered everything here.")

    caio = open_as(world.caio, **PHONE)
    hand = steps.sheet(caio, campaign)
    labels = proposed(caio)
    for label in labels:
        caio.locator(f"label:has(input[value='{label}'])").tap()
    assert chosen_labels(caio) == []
    caio.locator(".acts .go").tap(force=True)  # it looks as if it rested, and says why
    expect(caio.locator("[data-field=labels] .msg.err:visible")).to_contain_text("not answered yet")
    shot(caio, "labels-refused-phone")
    others = caio.get_by_label("What else does it show?")
    others.fill("a boat")  # none of the proposed words is right, which is an answer
    expect(caio.locator(".acts .go")).not_to_have_attribute("aria-disabled", "true")
    expect(caio.locator("[data-field=labels] .msg.err")).to_be_hidden()
    others.fill("")
    expect(caio.locator(".acts .go")).to_have_attribute("aria-disabled", "true")
    caio.locator(f"label:has(input[value='{labels[0]}'])").tap()
    steps.drafted(caio, hand)
    assert chosen_labels(caio) == labels[:1]
    shot(caio, "labels-phone", full_page=True)
    steps.submit(caio)
    for label in proposed(caio):
        caio.locator(f"label:has(input[value='{label}'])").tap()
    caio.get_by_label("What else does it show?").fill("a boat")
    steps.submit(caio)
    assert Annotation.objects.latest("pk").answers == {"others": "a boat"}

    third = open_as(lina)
    steps.sheet(third, campaign)
    shot(third, "labels-ar-desktop")
    third.set_viewport_size({"width": 390, "height": 844})
    shot(third, "labels-ar-narrow", full_page=True)

    archive = steps.export_zip(world, stage)
    steps.import_back(open_as(world.mara), campaign, archive)
    given = steps.rows_of(archive, "ratings.jsonl")
    assert len(given) == 5
    csv = steps.rows_of(steps.export_zip(world, stage, "csv"), "ratings.csv")
    assert {row["answer.labels"] for row in csv} >= {"|".join(left), labels[0]}
    assert "scales, a dog" in {row["answer.others"] for row in csv}
