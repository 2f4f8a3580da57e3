"""The version of a release: proposed from what changed, raised by whoever wants, and never lower than that."""

from typing import Any

import pytest

from annotation.models import Campaign, SheetVersion
from benchmarks.models import Benchmark, Item, ItemImage
from releases.models import Release
from releases.services import versioning
from releases.services.versioning import proposed_version
from tests.evaluation.data import an_open_campaign, of_condition, table
from tests.module_world import built_once
from tests.personas import World
from tests.releases.release_steps import act, address, build, built, create, files_of

NEW: dict[str, Any] = {"formats": ["csv"], "pictures": "names"}


@built_once
def campaign(world: World) -> Campaign:
    world.add_items(8)
    Benchmark.objects.filter(pk=world.benchmark.pk).update(licence="CC-BY-4.0")
    campaign = an_open_campaign(world)
    table(campaign, world.egypt, of_condition(world.items, "natural"), {world.nour: "1234", world.tarek: "12.5"})
    return campaign


@built_once
def first(world: World, campaign: Campaign) -> Release:
    release = built(world)
    act(world, release, "publish", sure="1")
    return release


def more_answers(world: World, campaign: Campaign) -> None:
    table(campaign, world.brazil, of_condition(world.items, "natural"), {world.bia: "1233"})


def refusal(world: World, version: str) -> str:
    """What the form says of a version that is too low."""
    form = {"version": version, "stages": [world.stage.pk], **NEW}
    reply = world.client(world.mara).post(f"/b/{world.benchmark.slug}/releases/new/", form)
    assert reply.status_code == 400
    return reply.content.decode()


@pytest.mark.parametrize("most", [versioning.MOST_ROWS, 0])
def test_licences_alone_make_a_patch_and_answers_a_minor_version(
    world: World, campaign: Campaign, first: Release, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of many rows only numbers are read, which say the same here."""
    monkeypatch.setattr(versioning, "MOST_ROWS", most)
    ItemImage.objects.update(licence="CC0-1.0", alt="A lamp.")
    assert proposed_version(world.benchmark) == "1.0.1"
    more_answers(world, campaign)
    new = world.client(world.mara).get(f"/b/{world.benchmark.slug}/releases/new/").content.decode()
    assert 'value="1.1.0"' in new
    page = refusal(world, "1.0.1")
    assert "Version 1.0.1 is too low after 1.0.0: Answers: " in page and "Choose 1.1.0 or a higher one." in page
    assert not Release.objects.filter(version="1.0.1").exists()
    assert create(world, version="2.0.0", **NEW).version == "2.0.0"


def test_what_an_item_shows_makes_a_major_version(world: World, first: Release) -> None:
    Item.objects.filter(pk=world.items[0].pk).update(text="Another caption")
    assert proposed_version(world.benchmark) == "2.0.0"
    assert "The content of 1 item changed. Choose 2.0.0" in refusal(world, "1.1.0")


def test_codes_and_columns_make_a_major_version_and_labels_do_not(world: World, first: Release) -> None:
    version = SheetVersion.objects.get(stage=world.stage)
    field: Any = version.definition["fields"][0]
    field["label"] = {"en": "How well does it fit {target}?"}
    version.save()
    assert proposed_version(world.benchmark) == "1.0.1"
    field["config"]["points"].append({"code": "9", "label": {"en": "Cannot say"}})
    version.save()
    assert "Codes changed of relevance/relevance. Choose 2.0.0" in refusal(world, "1.1.0")
    version.definition["fields"].append({**field, "key": "twice"})
    version.save()
    assert "Columns changed in relevance/ratings." in refusal(world, "1.1.0")


def test_a_change_that_only_checksums_show_stops_the_build_which_then_takes_the_version(
    world: World, campaign: Campaign, first: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(versioning, "MOST_ROWS", 0)
    more_answers(world, campaign)
    Item.objects.filter(pk=world.items[0].pk).update(text="Another caption")
    release = build(create(world, version="1.1.0", **NEW))
    assert (release.job.state, release.state, release.frozen_at) == ("failed", "draft", None)
    assert "Version 1.1.0 is too low after 1.0.0: The content of 1 item changed." in release.job.error
    assert 'name="version" value="2.0.0"' in world.client(world.mara).get(address(release)).content.decode()
    assert "Version 1.0.0 exists." in act(world, release, "build", version="0.1.0")
    assert "three numbers" in act(world, release, "build", version="next")
    act(world, release, "build", version="2.0.0")
    release = build(release)
    assert (release.state, release.version) == ("ready", "2.0.0")
    changes = files_of(world, release)["CHANGES.md"].decode()
    assert "- The content of 1 item changed." in changes and "a major version" in changes


def test_the_page_and_the_file_have_agreement_before_and_now(world: World, campaign: Campaign, first: Release) -> None:
    more_answers(world, campaign)
    table(
        campaign, world.brazil, of_condition(world.items, "natural"), {world.add_annotators(world.brazil, 1)[0]: "1235"}
    )
    second = built(world, version="1.1.0")
    line = next(line for line in files_of(world, second)["CHANGES.md"].decode().splitlines() if "| Brazil |" in line)
    assert line.startswith("| relevance | relevance | Brazil | alpha_ordinal | ") and "(4 items, 2 raters) |" in line
    page = world.client(world.mara).get(address(second)).content.decode()
    assert "| There are no ratings yet. (0 items, 0 raters) |" in line
    assert "Agreement before and now" in page and "The lowest version for what changed is 1.1.0." in page
