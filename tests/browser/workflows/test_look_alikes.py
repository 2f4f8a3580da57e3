"""De-duplication of 3XCM, whole: drawn look-alikes are imported, and two people group them, by keys and by touch."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Annotation
from benchmarks.models import Item, Stage
from tests.browser.conftest import PHONE, until_sheet_ready
from tests.browser.dedup_steps import AT, decide, dedupe, draw_pictures, read_answer
from tests.browser.workflows import steps
from tests.personas import World

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
Truth = dict[str, str]  # picture to what it shows: "0 day", "0 night", "1 day"


def import_lookalikes(page: Page, stage: Stage, folder: Path) -> dict[str, Truth]:
    """Two concepts: twenty pictures of two scenes, then ten of a third. Pictures come in the order of the manifest."""
    made, rows, pictures, truth = draw_pictures(3), [], {}, {}
    for key, part in (("brazil-market", made[:20]), ("brazil-street", made[20:])):
        truth[key] = {f"p{number:03}": shows for number, (shows, _data) in enumerate(part, start=1)}
        for number, (_shows, data) in enumerate(part, start=1):
            name = f"{key}-{number}.jpg"
            pictures[name] = data
            rows.append(
                {"key": key, "file": name, "country": "Brazil", "concept": key[7:], "title": name, "rank": number}
            )
    steps.import_items(page, stage, folder, rows, pictures)
    return truth


def begin_sheet(page: Page) -> Item:
    until_sheet_ready(page)
    return Item.objects.get(units__assignments__pk=steps.current_assignment_id(page))


def merge_day_and_night(truth: Truth) -> Truth:
    """What somebody says who overlooks that another time of day is kept."""
    return {name: shows.split()[0] for name, shows in truth.items()}


def tap_action(page: Page, act: str) -> None:
    page.locator(f"#bench .tools [data-act={act}]").tap()


def grouped_by_touch(page: Page, truth: Truth, most: int, names_of_shown: dict[str, str]) -> None:
    """As `dedup_steps.decide`, with buttons: on to another one to compare with until it is the right one."""
    for _time in range(most):
        name, _other, order = page.evaluate(AT)
        shows = truth[name]
        if shows not in names_of_shown:
            names_of_shown[shows] = name
            tap_action(page, "keep")
            continue
        for _other_one in order:
            if truth.get(page.evaluate(AT)[1]) == shows:
                break
            tap_action(page, "another")
        tap_action(page, "same")


def groups_of(answer: dict[str, Any]) -> set[frozenset[str]]:
    assert answer["dropped"] == [] and answer["unsure"] == []
    assert all(len(group["kept"]) == 1 for group in answer["groups"])
    return {frozenset(group["images"]) for group in answer["groups"]}


def blocks(truth: Truth) -> set[frozenset[str]]:
    return {frozenset(name for name, shows in truth.items() if shows == one) for one in set(truth.values())}


def pairs(truth: Truth) -> set[frozenset[str]]:
    return {frozenset({a, b}) for a in truth for b in truth if a != b and truth[a] == truth[b]}


def test_look_alikes(open_as: Callable[..., Page], world: World, tmp_path: Path, shot: Callable[..., None]) -> None:
    stage = steps.create_benchmark(world, "3xcm").stages.get(key="look-alikes")
    truth = import_lookalikes(open_as(world.mara), stage, tmp_path)
    market = stage.items.get(key="brazil-market")
    assert market.images.count() == 20 and market.context["groups"] and market.context["near"]
    lina = world.add_annotators(world.brazil, 1)[0]
    lina.language = "ar"
    lina.save()
    campaign = steps.create_open_campaign(stage, world.mara, {world.brazil: 3})

    bia = open_as(world.bia)
    hand = steps.sheet(bia, campaign)
    item = begin_sheet(bia)
    expect(bia.locator(".told")).to_contain_text(item.concept)
    names_of_shown: dict[str, str] = {}
    for _time in range(5):
        decide(bia, truth[item.key], names_of_shown)
    half = read_answer(bia)
    steps.drafted(bia, hand)
    begin_sheet(bia)
    assert read_answer(bia) == half
    expect(bia.locator("[data-count]")).to_have_text(f"5 of {len(truth[item.key])} pictures")
    for _time in range(len(truth[item.key]) - 5):
        decide(bia, truth[item.key], names_of_shown)
    bia.wait_for_timeout(600)
    shot(bia, "lookalikes-desktop")
    before = steps.current_assignment_id(bia)
    bia.keyboard.press("Enter")
    expect(bia.locator(f'#bench[data-assignment="{before}"]')).to_have_count(0)
    second = begin_sheet(bia)
    assert second != item
    dedupe(bia, truth[second.key])
    bia.keyboard.press("Enter")
    expect(bia.locator("#main")).to_contain_text("You have answered everything here.")

    caio = open_as(world.caio, **PHONE)
    hand = steps.sheet(caio, campaign)
    for number in range(2):
        item = begin_sheet(caio)
        sees = merge_day_and_night(truth[item.key])
        names_of_shown = {}
        grouped_by_touch(caio, sees, 6, names_of_shown)
        if number == 0:
            shot(caio, "lookalikes-phone")
            read_answer(caio)
            steps.drafted(caio, hand)
            begin_sheet(caio)
            expect(caio.locator("[data-count]")).to_contain_text(f"6 of {len(sees)}")
        grouped_by_touch(caio, sees, len(sees) - 6, names_of_shown)
        if number == 0:
            shot(caio, "lookalikes-done-phone", full_page=True)
        steps.submit(caio)

    third = open_as(lina)
    steps.sheet(third, campaign)
    begin_sheet(third)
    for key in "kss":
        third.keyboard.press(key)
    third.wait_for_timeout(600)
    shot(third, "lookalikes-ar-desktop")
    third.set_viewport_size({"width": 390, "height": 844})
    third.wait_for_timeout(300)
    shot(third, "lookalikes-ar-narrow")

    for key, shows in truth.items():
        theirs = Annotation.objects.filter(live=True, counted=True, assignment__unit__item__key=key)
        assert groups_of(theirs.get(rater__user=world.bia).answers["groups"]) == blocks(shows)
        assert groups_of(theirs.get(rater__user=world.caio).answers["groups"]) == blocks(merge_day_and_night(shows))
    check_agreement(open_as(world.mara), stage, list(truth.values()), shot)
    archive = steps.export_zip(world, stage)
    steps.import_back(open_as(world.mara), campaign, archive)
    rows = steps.rows_of(archive, "ratings.jsonl")
    assert [len(row["answers"]["groups"]["groups"]) for row in rows if row["item"] == "brazil-market"] == [4, 2]


def check_agreement(page: Page, stage: Stage, truths: list[Truth], shot: Callable[..., None]) -> None:
    """The agreement page has the two groupings, and the F1 of their pairs as reckoned here by listing the pairs."""
    both = theirs = 0
    for truth in truths:
        bia, caio = pairs(truth), pairs(merge_day_and_night(truth))
        both += len(bia & caio)
        theirs += len(bia) + len(caio)
    page.goto(f"/b/{stage.benchmark.slug}/agreement/?measure=pairwise_f1")
    row = page.locator("#report tr", has_text="Brazil").filter(has_text="n = ")
    expect(row).to_contain_text(f"{2 * both / theirs:.2f}")
    expect(row).to_contain_text("n = 2 × 2")
    shot(page, "lookalikes-agreement-desktop", full_page=True)
