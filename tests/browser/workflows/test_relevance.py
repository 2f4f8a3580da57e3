"""Relevance rating, whole: import, claim, draft, reload, submit, next, export; two people, two web processes."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page

from annotation.models import Annotation
from tests.browser.conftest import PHONE, drawings
from tests.browser.workflows import steps
from tests.personas import World

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_relevance(open_as: Callable[..., Page], world: World, tmp_path: Path, shot: Callable[..., None]) -> None:
    stage = steps.create_benchmark(world, "caire-universal").stages.get(key="relevance")
    pictures = {f"{n}.jpg": data for n, data in enumerate(drawings(3))}
    rows = [
        {"file": name, "key": f"dance-{n}", "concept": "dance", "country": "Brazil", "condition": "natural"}
        for n, name in enumerate(pictures)
    ]
    researcher = open_as(world.mara)
    steps.import_items(researcher, stage, tmp_path, rows, pictures)
    campaign = steps.create_open_campaign(stage, world.mara, {world.brazil: 3})
    bia, caio = open_as(world.bia), open_as(world.caio, **PHONE)
    hand = steps.sheet(bia, campaign)
    bia.keyboard.press("4")
    steps.drafted(bia, hand)
    assert bia.locator("#main input:checked").get_attribute("value") == "4"
    shot(bia, "relevance-desktop")
    steps.submit(bia)
    steps.sheet(caio, campaign)
    for code in "25":
        caio.locator(f'label:has(input[value="{code}"])').tap()
        shot(caio, f"relevance-{code}-phone")
        steps.submit(caio)
    third = open_as(steps.speaks_arabic(world))
    steps.sheet(third, campaign)
    shot(third, "relevance-ar-desktop")
    assert Annotation.objects.filter(live=True, counted=True).count() == 3
    assert {code for _key, _field, code, _value in steps.ratings(campaign)} == {"4", "2", "5"}
    archive = steps.export_zip(world, stage)
    assert len(steps.rows_of(archive, "ratings.jsonl")) == 3
    steps.import_back(researcher, campaign, archive)
