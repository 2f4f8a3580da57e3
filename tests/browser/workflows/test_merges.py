"""Confirming that two words mean the same, whole: three people, and what more than half of them say."""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from annotation.models import Annotation, Outcome
from annotation.services.derivation import derived_items
from benchmarks.models import Item
from tests.browser.conftest import PHONE
from tests.browser.workflows import steps
from tests.personas import World

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
ROWS = [
    {"key": "train-railway", "first": "train", "second": "railway", "similarity": "0.94"},
    {"key": "bread-cake", "first": "bread", "second": "cake", "similarity": "0.91"},
]
# What Bia, Caio and Lina say.
CODES = {"train-railway": ("same", "same", "not_sure"), "bread-cake": ("different", "same", "different")}


def planned_code(page: Page, person: int) -> str:
    item = Item.objects.get(units__assignments__pk=steps.current_assignment_id(page))
    expect(page.locator("#view")).to_contain_text(item.context["second"])
    return CODES[item.key][person]


def by_keys(page: Page, code: str) -> None:
    page.keyboard.press({"same": "1", "different": "2", "not_sure": "3"}[code])
    if code == "same":
        page.keyboard.press("1")  # the first word stays


def test_merges(open_as: Callable[..., Page], world: World, tmp_path: Path, shot: Callable[..., None]) -> None:
    stage = steps.create_benchmark(world, "3xcm").stages.get(key="merges")
    steps.import_items(open_as(world.mara), stage, tmp_path, ROWS)
    lina = world.add_annotators(world.brazil, 1)[0]
    lina.language = "ar"
    lina.save()
    campaign = steps.create_open_campaign(stage, world.mara, {world.brazil: 3})

    bia = open_as(world.bia)
    hand = steps.sheet(bia, campaign)
    which = bia.locator("[data-field=name]")
    expect(which).to_be_hidden()
    bia.keyboard.press("1")
    expect(which).to_be_visible()  # asked only of words that mean the same
    shot(bia, "merges-desktop")
    bia.keyboard.press("2")
    bia.locator("[name=a-same][value=different]").check()
    expect(which).to_be_hidden()
    code = planned_code(bia, 0)
    bia.locator(f"[name=a-same][value={code}]").check()
    if code == "same":
        bia.locator("[name=a-name][value=first]").check()
    steps.drafted(bia, hand)
    expect(bia.locator(f"[name=a-same][value={code}]")).to_be_checked()
    steps.submit(bia)
    by_keys(bia, planned_code(bia, 0))
    bia.keyboard.press("Control+Enter")
    expect(bia.locator("#main")).to_contain_text("You have answered everything here.")

    caio = open_as(world.caio, **PHONE)
    steps.sheet(caio, campaign)
    shot(caio, "merges-begin-phone")
    for _time in range(2):
        code = planned_code(caio, 1)
        caio.locator(f"label:has([name=a-same][value={code}])").tap()
        if code == "same":
            caio.locator("label:has([name=a-name][value=first])").tap()
        shot(caio, "merges-phone", full_page=True)
        steps.submit(caio)
    derived_items.process_due(timezone.now())
    assert not Outcome.objects.exists()

    third = open_as(lina)
    steps.sheet(third, campaign)
    for _time in range(2):
        by_keys(third, planned_code(third, 2))
        shot(third, "merges-ar-desktop")
        steps.submit(third)
    derived_items.process_due(timezone.now())
    found = {one.unit.item.key: (one.state, one.failed) for one in Outcome.objects.select_related("unit__item")}
    assert found == {"train-railway": ("accepted", []), "bread-cake": ("rejected", ["same"])}

    mara = open_as(world.mara)
    mara.goto(f"/b/{stage.benchmark.slug}/items/{Item.objects.get(key='bread-cake').pk}/")
    expect(mara.locator("[data-outcome]")).to_contain_text("Both words mean the same")
    shot(mara, "merges-item-desktop", full_page=True)

    kept = {one.assignment.unit.item.key: one for one in Annotation.objects.filter(rater__user=world.caio)}
    assert kept["train-railway"].answers == {"same": "same", "name": "first"}
    archive = steps.export_zip(world, stage)
    steps.import_back(open_as(world.mara), campaign, archive)
    rows = steps.rows_of(archive, "ratings.jsonl")
    assert sorted(row["codes"]["same"] for row in rows) == sorted(one for three in CODES.values() for one in three)
    assert all("name" not in row["codes"] for row in rows if row["codes"]["same"] != "same")
