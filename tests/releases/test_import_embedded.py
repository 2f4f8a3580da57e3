"""A release whose pictures are inside Parquet comes back with them."""

import pytest
from django.core.files.base import ContentFile

from annotation.models import Campaign
from benchmarks.models import Benchmark, ItemImage
from releases.models import Release
from releases.services.imports import keep, preview
from tests.evaluation.data import an_open_campaign, of_condition, table
from tests.module_world import built_once
from tests.personas import World
from tests.releases.import_steps import archive_of, run, start
from tests.releases.release_steps import built
from tests.releases.test_import_safety import members, resealed
from tests.releases.test_release_splits import give_pictures


@built_once
def campaign(world: World) -> Campaign:
    world.add_items(12)
    give_pictures(world)
    campaign = an_open_campaign(world)
    table(campaign, world.egypt, of_condition(world.items, "natural"), {world.nour: "1" * 6, world.tarek: "2" * 6})
    return campaign


def pictures_of(benchmark: Benchmark) -> dict[tuple[str, str], str]:
    """By item and role the checksum; empty where there is no file."""
    uses = ItemImage.objects.filter(item__stage__benchmark=benchmark).select_related("item", "image")
    return {(use.item.key, use.role): use.image.sha256 if use.image.bytes else "" for use in uses}


def imported(world: World, data: bytes, slug: str) -> Benchmark:
    job = run(start(data, world.other_team, world.rival, slug=slug, name="Copy"))
    assert job.state == "done" and not job.rows.filter(outcome="error").exists(), job.error
    return Benchmark.objects.get(slug=slug)


@pytest.mark.parametrize("several", [False, True])
def test_pictures_inside_parquet_are_those_of_the_archive(world: World, campaign: Campaign, several: bool) -> None:
    if several:  # the column is a list then
        image = ItemImage.objects.filter(item=world.items[5])[0].image
        ItemImage.objects.create(item=world.items[0], image=image, role="second")
    releases: list[Release] = [
        built(world, version=version, pictures="all", formats=["parquet"], **how)
        for version, how in (("1.0.0", {}), ("1.1.0", {"embed": "on"}))
    ]
    plain, embedded = (archive_of(release, world.owner) for release in releases)
    names, _folder = members(embedded)
    assert not [name for name in names if name.endswith(".zip")]
    assert preview(keep(ContentFile(embedded, "release.zip"))).pictures
    first, second = pictures_of(imported(world, plain, "plain")), pictures_of(imported(world, embedded, "embedded"))
    assert first == second and "" not in first.values() and len(first) == 12 + several


def test_a_parquet_file_that_is_cut_is_refused(world: World, campaign: Campaign) -> None:
    data = archive_of(built(world, pictures="all", formats=["parquet"], embed="on"), world.owner)
    names, folder = members(data)
    [path] = [name for name in names if "/data/" in name and "/items/" in name]
    names[path] = names[path][: len(names[path]) // 2]
    job = run(start(resealed(names, folder), world.other_team, world.rival, slug="cut", name="Cut"))
    assert job.state == "failed" and "A Parquet file of the release is damaged" in job.error
    assert not Benchmark.objects.filter(slug="cut").exists()
