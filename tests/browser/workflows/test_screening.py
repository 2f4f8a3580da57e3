"""Image screening of GlobalRG, whole: kept by the declared rule, else with the clause that failed."""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from annotation.models import Annotation, Outcome
from annotation.services.derivation import derived_items
from tests.browser.conftest import PHONE, drawings
from tests.browser.test_rating import wait_for_images
from tests.browser.workflows import steps
from tests.personas import World

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
UNIVERSALS = ("breakfast", "dance", "music", "funeral", "sports", "transport", "lunch", "greetings")


def test_screening(open_as: Callable[..., Page], world: World, tmp_path: Path, shot: Callable[..., None]) -> None:
    benchmark = steps.create_benchmark(world, "globalrg-retrieval")
    candidates, stage = (benchmark.stages.get(key=key) for key in ("candidates", "screening"))
    pictures = {f"{key}.jpg": data for key, data in zip(UNIVERSALS, drawings(8), strict=True)}
    rows = [
        {
            "key": key,
            "file": f"{key}.jpg",
            "country": "Brazil",
            "concept": key,
            "sentence": f"{key} in Brazil",
            "rank": "1",
        }
        for key in UNIVERSALS
    ]
    researcher = open_as(world.mara)
    steps.import_items(researcher, candidates, tmp_path, rows, pictures)
    derived_items.process_due(timezone.now())
    campaign = steps.create_open_campaign(stage, world.mara, {world.brazil: 1})

    bia = open_as(world.bia)
    hand = steps.sheet(bia, campaign)
    reason = bia.locator("[data-field=reason]")
    expect(reason).to_be_hidden()
    bia.locator("[data-field=keep] label:has([value=no])").click()
    expect(reason).to_be_visible()
    bia.locator("label:has([value=several_scenes])").click()
    wait_for_images(bia)
    shot(bia, "screening-desktop")
    steps.drafted(bia, hand)
    expect(reason).to_be_visible()
    expect(bia.locator("[value=several_scenes]")).to_be_checked()
    steps.submit(bia)
    bia.locator("[data-field=keep] label:has([value=yes])").click()
    steps.submit(bia)

    caio = open_as(world.caio, **PHONE)
    hand = steps.sheet(caio, campaign)
    caio.locator("[data-field=keep] label:has([value=no])").tap()
    caio.locator(".acts .go").tap(force=True)
    expect(caio.locator("[data-field=reason] .msg.err, [data-field=reason] [data-missing]").first).to_be_visible()
    wait_for_images(caio)
    shot(caio, "screening-missing-phone", full_page=True)
    caio.locator("[data-field=keep] label:has([value=yes])").tap()  # then no reason is asked
    steps.drafted(caio, hand)
    shot(caio, "screening-phone", full_page=True)
    assert caio.evaluate("document.documentElement.scrollWidth") <= 390
    steps.submit(caio)

    third = open_as(steps.speaks_arabic(world))
    steps.sheet(third, campaign)
    third.locator("[data-field=keep] label:has([value=no])").click()
    wait_for_images(third)
    shot(third, "screening-ar-desktop")
    third.set_viewport_size({"width": 390, "height": 844})
    shot(third, "screening-ar-narrow", full_page=True)

    given = list(Annotation.objects.order_by("pk").values_list("answers", flat=True))
    assert given == [{"keep": "no", "reason": "several_scenes"}, {"keep": "yes"}, {"keep": "yes"}]
    derived_items.process_due(timezone.now())
    judged = Outcome.objects.order_by("state").values_list("state", "failed")
    assert list(judged) == [("accepted", []), ("accepted", []), ("rejected", ["depicts"])]
    researcher.goto(f"/b/{stage.benchmark.slug}/")
    expect(researcher.locator(".sum [data-stage=screening]")).to_contain_text("2 accepted")
    shot(researcher, "screening-chain-desktop", full_page=True)

    archive = steps.export_zip(world, stage)
    rows = steps.rows_of(archive, "ratings.jsonl")
    assert [row["codes"] for row in rows] == [{"keep": "no", "reason": "several_scenes"}, *[{"keep": "yes"}] * 2]
    steps.import_back(researcher, campaign, archive)
