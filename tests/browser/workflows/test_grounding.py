"""GlobalRG grounding, whole: a picture is found, boxed by its finder, and boxed again by somebody else."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from annotation.models import Annotation, Assignment, Campaign, ItemContributor, Outcome
from annotation.services.derivation import derived_items
from benchmarks.models import Benchmark, Item
from people.models import User
from tests.browser import box_steps
from tests.browser.conftest import PHONE, drawings, wait_until
from tests.browser.test_finding import expect_picture
from tests.browser.workflows import steps
from tests.personas import World

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
Shot = Callable[..., None]
WORDS = {
    "pandeiro": "Pandeiro, a frame drum with jingles",
    "cuia": "Cuia, the gourd of chimarrão",
    "berimbau": "Berimbau, a bow that sounds",
    "jangada": "Jangada, a raft with a sail",
    "rede": "Rede, a hammock",
    "cocar": "Cocar, a headdress of feathers",
    "beiju": "Beiju, a flat bread of cassava",
    "bombacha": "Bombacha, wide trousers",
}
FIRST = ((200, 150), (600, 450))  # pixels of a picture of 1000 by 750: 16 % of it
SECOND = ((240, 180), (640, 480))


def find_picture(page: Page, data: bytes, common: str) -> None:
    """A picture is sent, and said to be one's own."""
    sent: Any = {"name": "mine.jpg", "mimeType": "image/jpeg", "buffer": data}
    page.locator("[type=file]").set_input_files(sent)
    expect_picture(page)
    page.locator("#c-picture").select_option("own")
    page.locator(f"[data-field=prevalent] label:has([value={common}])").click()


def run_finding(world: World, benchmark: Benchmark, people: list[Page], shot: Shot) -> Campaign:
    campaign = steps.create_open_campaign(benchmark.stages.get(key="finding"), world.mara, {world.brazil: 1})
    photos = [drawings(5)[number] for number in (0, 1, 3, 4)]
    for page, name in zip(people, ("desktop", "phone", "ar-desktop"), strict=True):
        hand = steps.sheet(page, campaign)
        if name == "phone":
            shot(page, "grounding-find-empty-phone", full_page=True)
        find_picture(page, photos.pop(), "yes")
        shot(page, f"grounding-find-{name}", full_page=True)
        steps.drafted(page, hand)
        expect_picture(page)
        expect(page.locator("#c-picture")).to_have_value("own")
        expect(page.locator("[data-field=prevalent] [value=yes]")).to_be_checked()
        steps.submit(page)
    find_picture(people[0], photos.pop(), "no")
    steps.submit(people[0])
    derived_items.process_due(timezone.now())
    steps.count_objects(benchmark.stages.get(key="boxes"), 5)
    judged = list(Outcome.objects.filter(campaign=campaign).order_by("state").values_list("state", "failed"))
    assert judged == [("accepted", [])] * 3 + [("rejected", ["prevalent"])]
    return campaign


def draw(page: Page, box: Any, touch: bool = False) -> None:
    wait_until(page, "document.querySelector('.view img').complete && document.querySelector('svg.boxes') !== null")
    (box_steps.finger if touch else box_steps.drag)(page, *box)
    expect(page.locator("[name=a-box]").first).not_to_have_value("")


def run_boxing(
    world: World, benchmark: Benchmark, key: str, people: list[tuple[User, Page]], box: Any, shot: Shot
) -> Campaign:
    """Everybody draws one box, each on what the stage's staffing leaves them."""
    stage = benchmark.stages.get(key=key)
    assert stage.items.filter(withdrawn_at=None).count() == 3
    campaign = steps.create_open_campaign(stage, world.mara, {world.brazil: 1 if key == "boxes" else 2})
    for (user, page), name in zip(people, ("desktop", "phone", "ar-desktop"), strict=True):
        hand = steps.sheet(page, campaign)
        draw(page, box, name == "phone")
        shot(page, f"grounding-{key}-{name}", full_page=name == "phone")
        steps.drafted(page, hand)
        expect(page.locator("[name=a-box]").first).not_to_have_value("")
        if name == "ar-desktop":
            page.set_viewport_size({"width": 390, "height": 844})
            shot(page, f"grounding-{key}-ar-narrow", full_page=True)
            page.set_viewport_size({"width": 1280, "height": 800})
        steps.submit(page)
        offered = Assignment.objects.filter(campaign=campaign, rater__user=user).values("unit__item")
        theirs = ItemContributor.objects.filter(item__in=offered, rater__user=user).count()
        assert theirs == (offered.count() if key == "boxes" else 0), f"{name} was offered the wrong pictures"
    drawn = Annotation.objects.filter(assignment__campaign=campaign)
    corners = [one.answers["box"][0][side] for one in drawn for side in ("x0", "y0", "x1", "y1")]
    shares = [at / size for at, size in zip((*box[0], *box[1]), box_steps.SIZE * 2, strict=True)]
    assert corners == pytest.approx(shares * 3, abs=0.003)
    derived_items.process_due(timezone.now())
    return campaign


def test_a_picture_is_found_boxed_and_boxed_again_by_another(
    open_as: Callable[..., Page], world: World, tmp_path: Path, shot: Shot
) -> None:
    benchmark = steps.create_benchmark(world, "globalrg-grounding")
    researcher = open_as(world.mara)
    rows = [{"key": f"brazil-{key}", "country": "Brazil", "concept": key, "text": text} for key, text in WORDS.items()]
    steps.import_items(researcher, benchmark.stages.get(key="finding"), tmp_path, rows)
    users = [world.bia, world.caio, steps.speaks_arabic(world)]
    pages = [open_as(users[0]), open_as(users[1], **PHONE), open_as(users[2])]
    people = list(zip(users, pages, strict=True))
    done = [run_finding(world, benchmark, pages, shot)]
    done.append(run_boxing(world, benchmark, "boxes", people, FIRST, shot))
    done.append(run_boxing(world, benchmark, "verification", people, SECOND, shot))
    researcher.goto(f"/b/{benchmark.slug}/")
    shot(researcher, "grounding-chain-desktop", full_page=True)
    files = [steps.export_zip(world, campaign.stage) for campaign in done]
    items_before = live_items(benchmark)
    for campaign, archive in zip(done, files, strict=True):
        steps.import_back(researcher, campaign, archive)
    derived_items.process_due(timezone.now())
    assert live_items(benchmark) == items_before  # the same people said the same: nothing new follows from it


def live_items(benchmark: Benchmark) -> list[tuple[str, str]]:
    rows = Item.objects.filter(stage__benchmark=benchmark, withdrawn_at=None)
    return sorted(rows.values_list("stage__key", "key"))
