"""Splits: by a seed, whole groups together; and a split whose answers are withheld, with all that is made of them."""

import hashlib
import io
import json
import re
import zipfile
from typing import Any

import pyarrow.parquet as parquet
import pytest
from PIL import Image as Pillow

from annotation.models import Annotation, Campaign, ItemSource, Upload
from benchmarks.models import Benchmark, Image, Item, ItemImage
from benchmarks.services.images import store_image
from jobs.models import Event
from predictions.models import EntityLink
from releases.models import Release, ReleaseItem, WithheldFile
from tests.annotation.chain.factories import QUESTION, a_stage
from tests.evaluation.data import NOON, an_open_campaign, of_condition, table
from tests.module_world import built_once
from tests.personas import World
from tests.pictures import encode_picture, noise
from tests.predictions.knowledge.samples import a_linking
from tests.releases.release_steps import act, address, build, built, create, csv_rows, files_of, json_rows

SPLIT = {"train": 50, "test": 50, "seed": 3, "group_by": "item"}


@built_once
def campaign(world: World) -> Campaign:
    world.add_items(40)
    campaign = an_open_campaign(world)
    natural = of_condition(world.items, "natural")
    table(campaign, world.egypt, natural, {world.nour: "1234" * 5, world.tarek: "12.5" * 5})
    return campaign


def split_of(release: Release) -> dict[int, str]:
    return dict(ReleaseItem.objects.filter(release=release).values_list("item", "split"))


def test_a_seed_gives_every_item_the_same_split_in_every_version(world: World, campaign: Campaign) -> None:
    first, second = built(world, **SPLIT), built(world, version="1.1.0", **SPLIT | {"train": "50"})
    other = built(world, version="1.2.0", **SPLIT | {"seed": 4})
    assert split_of(first) == split_of(second) != split_of(other)
    assert set(split_of(first).values()) == {"train", "test"}
    assert 8 < list(split_of(first).values()).count("test") < 32
    files = files_of(world, first)
    rows = csv_rows(files["csv/relevance/items.csv"])
    assert {int(row["id"]): row["split"] for row in rows} == split_of(first)
    for split in ("train", "test"):
        for kind in ("items", "ratings"):
            data = parquet.read_table(io.BytesIO(files[f"data/relevance/{kind}/{split}-00000-of-00001.parquet"]))
            keys = {row["key"] for row in rows if row["split"] == split}
            assert set(data["key" if kind == "items" else "item"].to_pylist()) <= keys
    manifest = json.loads(files["MANIFEST.json"])
    assert manifest["splits"]["shares"] == {"train": 50, "test": 50}
    assert sum(row["items"] for row in manifest["splits"]["items"]) == 40


@pytest.mark.parametrize("group_by", ["concept", "origin"])
def test_groups_stay_together(world: World, campaign: Campaign, group_by: str) -> None:
    for number, item in enumerate(world.items):
        Item.objects.filter(pk=item.pk).update(**{group_by: f"group {number % 6}"})
    split = split_of(built(world, **SPLIT | {"group_by": group_by, "seed": 1}))
    by_group: dict[str, set[str]] = {}
    for pk, group in Item.objects.filter(pk__in=split).values_list("pk", group_by):
        by_group.setdefault(group, set()).add(split[pk])
    assert all(len(splits) == 1 for splits in by_group.values()) and len(by_group) == 6


def withheld_study(world: World, campaign: Campaign, **more: Any) -> Release:
    """Answers with texts of their own, and an item that was made of each of two of them: with the picture and the
    condition of its source, and a picture and a concept of the answer."""
    for annotation in Annotation.objects.all():
        annotation.answers["why"] = f"Secret-text-{annotation.pk}"
        Annotation.objects.filter(pk=annotation.pk).update(answers=annotation.answers)
    release = built(world, **SPLIT, withhold="on", **more)
    split = split_of(release)
    for seed, name in enumerate(("test", "train"), start=100):
        annotation = Annotation.objects.filter(assignment__unit__item__in=[pk for pk in split if split[pk] == name])[0]
        derived = Item.objects.create(stage=world.stage, key=f"made-{name}", text=annotation.answers["why"])
        derived.context = {"quoted": annotation.answers["why"]}
        source = annotation.assignment.unit.item
        derived.concept, derived.condition = f"Secret-concept-{name}", source.condition
        derived.save()
        ItemSource.objects.create(item=derived, source=source, annotation=annotation)
        image = ItemImage.objects.filter(item=source)[0].image
        ItemImage.objects.create(item=derived, image=image, alt=annotation.answers["why"])
        brought = store_image(world.team, encode_picture(noise(60, 40, seed), "PNG"), name="a.png")[0]
        Upload.objects.create(assignment=annotation.assignment, image=brought, at=NOON)
        ItemImage.objects.create(item=derived, image=brought, role="answer", file_name=f"{name}.png")
    act(world, release, "build")
    return build(release)


def all_bytes(files: dict[str, bytes]) -> bytes:
    """Parquet is compressed, so its values are written out."""
    texts = [data for path, data in files.items() if not path.endswith(".parquet")]
    tables = [parquet.read_table(io.BytesIO(data)) for path, data in files.items() if path.endswith(".parquet")]
    return b"".join(texts) + json.dumps([read.to_pylist() for read in tables], default=str).encode()


def test_no_answer_of_a_withheld_item_is_in_any_file(world: World, campaign: Campaign) -> None:
    release = withheld_study(world, campaign)
    split, files = split_of(release), files_of(world, release)
    shipped = all_bytes(files)
    derived = {item.key: item for item in Item.objects.filter(key__startswith="made-")}
    assert (split[derived["made-test"].pk], split[derived["made-train"].pk]) == ("test", "train")
    withheld = Annotation.objects.filter(assignment__unit__item__in=[pk for pk in split if split[pk] == "test"])
    others = Annotation.objects.exclude(pk__in=withheld)
    assert withheld and others
    assert not [a.pk for a in withheld if f'{a.answers["why"]}"'.encode() in shipped]
    assert all(f'{a.answers["why"]}"'.encode() in shipped for a in others)
    items = {row["key"]: row for row in json_rows(files["jsonl/relevance/items.jsonl"])}
    assert (items["made-test"]["text"], items["made-test"]["context"]) == ("", {})
    assert items["made-train"]["text"]
    assert len(items) == 42, "the items themselves are shipped"
    ratings = len(json_rows(files["jsonl/relevance/ratings.jsonl"]))
    assert f"Answers: {ratings} of people, 0 of models." in files["DATASHEET.md"].decode()
    n = sum(name == "test" for name in split.values())
    sentence = f"{world.stage.name}: {n} of 42 items): {withheld.count()} answers are in no file"
    for name in ("README.md", "DATA_STATEMENT.md", "DATASHEET.md", "CHANGES.md", "croissant.json"):
        assert sentence in files[name].decode(), name


def brought_with(key: str) -> Image:
    return ItemImage.objects.get(item__key=key, role="answer").image


def test_no_picture_or_concept_that_was_a_withheld_answer_is_in_any_file(world: World, campaign: Campaign) -> None:
    give_pictures(world)
    linking = a_linking(world)
    for item in world.items[1:]:
        EntityLink.objects.create(run=linking, item=item, keys=["e1"], scores=[0.5])
    release = withheld_study(world, campaign, pictures="all")
    embedded = built(world, version="1.1.0", **SPLIT, withhold="on", pictures="all", embed="on")
    for each in (release, embedded):
        files = files_of(world, each)
        shipped, split = all_bytes(files), split_of(each)
        secret, known = brought_with("made-test").sha256.encode(), brought_with("made-train").sha256.encode()
        assert (secret in shipped, known in shipped) == (False, True)
        assert (b"Secret-concept-test" in shipped, b"Secret-concept-train" in shipped) == (False, True)
        items = {row["key"]: row for row in json_rows(files["jsonl/relevance/items.jsonl"])}
        roles = {key: [picture["role"] for picture in row["pictures"]] for key, row in items.items()}
        assert (roles["made-test"], roles["made-train"]) == (["image"], ["answer", "image"])
        assert items["made-test"]["condition"] == "natural", "its source has this as well"
        linked = {row["item"][1] for row in json_rows(files["site/links.jsonl"])}
        assert {split[item.pk] for item in world.items if item.key in linked} == {"train"}
    with zipfile.ZipFile(io.BytesIO(files_of(world, release)["images.zip"])) as archive:
        assert len([name for name in archive.namelist() if "SUMS" not in name]) == 11
    parts = [data for path, data in files.items() if path.startswith("data/relevance/items/")]
    rows = [row for data in parts for row in parquet.read_table(io.BytesIO(data)).to_pylist()]
    assert {row["key"]: len(row["images"]) for row in rows if "made" in row["key"]} == {"made-test": 1, "made-train": 2}


def test_an_item_follows_its_sources_over_a_stage_that_is_not_released(world: World, campaign: Campaign) -> None:
    first = world.stage
    between, last = (a_stage(world.benchmark, key, QUESTION) for key in ("between", "last"))
    for number, item in enumerate(world.items[:12]):
        middle = Item.objects.create(stage=between, key=f"b-{number}", text=f"Between-{number}")
        if number % 2:
            middle = Item.objects.create(stage=between, key=f"b-{number}-again", replaces=middle, revision=2)
        ItemSource.objects.create(item=middle.replaces or middle, source=item)
        end = Item.objects.create(stage=last, key=f"l-{number}", text=f"Secret-end-{number}.")
        ItemSource.objects.create(item=end, source=middle)
    release = built(world, **SPLIT, withhold="on", stages=[first.pk, last.pk])
    split, shipped = split_of(release), all_bytes(files_of(world, release))
    ends = list(Item.objects.filter(stage=last).order_by("pk"))
    assert [split[end.pk] for end in ends] == [split[item.pk] for item in world.items[:12]]
    texts = {end.text.encode() in shipped: split[end.pk] for end in ends}
    assert texts == {True: "train", False: "test"}
    for version, group_by in (("1.1.0", "source"), ("1.2.0", "concept")):
        again = built(world, version=version, **SPLIT | {"group_by": group_by}, stages=[first.pk, last.pk])
        split = split_of(again)
        assert [split[end.pk] for end in ends] == [split[item.pk] for item in world.items[:12]]


def test_withheld_answers_stay_on_the_server_with_a_checksum(world: World, campaign: Campaign) -> None:
    release = withheld_study(world, campaign)
    [file] = WithheldFile.objects.filter(release=release)
    files = files_of(world, release)
    assert file.path not in files and file.path.encode() not in files["SHA256SUMS"]
    [proof] = json.loads(files["MANIFEST.json"])["splits"]["withheld_files"]
    assert (proof["path"], proof["sha256"], proof["rows"]) == ("withheld/answers.jsonl", file.sha256, file.rows)
    path = address(release, f"withheld/{file.pk}/")
    for user in (world.mara, world.reviewer, world.nour, world.stranger, world.rival):
        assert world.client(user).get(path).status_code == 404, user
    reply: Any = world.client(world.owner).get(path)
    rows = json_rows(b"".join(reply.streaming_content))
    split = {item.key: split_of(release)[item.pk] for item in Item.objects.filter(pk__in=split_of(release))}
    assert rows and {split[row["item"]] for row in rows} == {"test"}
    assert Event.objects.filter(verb="release.withheld_read", actor=world.owner).exists()
    Benchmark.objects.filter(pk=world.benchmark.pk).update(licence="CC-BY-4.0")
    act(world, release, "publish", sure="1", why="Looked through.")
    act(world, release, "withdraw", reason="Names")
    assert world.client(world.owner).get(path).status_code == 410


def test_a_warning_of_withheld_answers_names_those_that_are_shipped(world: World, campaign: Campaign) -> None:
    """Items of a stage that is not in the release have no answers in it."""
    Benchmark.objects.filter(pk=world.benchmark.pk).update(licence="CC-BY-4.0")
    other = a_stage(world.benchmark, "other", QUESTION)
    Item.objects.create(stage=other, key="one", text="Bread")
    first = built(world, **SPLIT, withhold="on", stages=[campaign.stage_id])
    act(world, first, "publish", sure="1")
    hidden = list(split_of(first).values()).count("test")
    words = "were withheld in an earlier release and are in this one"
    without = built(world, version="2.0.0", stages=[other.pk])
    assert words not in world.client(world.owner).get(address(without)).content.decode()
    whole = built(world, version="3.0.0")
    page = world.client(world.owner).get(address(whole)).content.decode()
    assert f"The answers of {hidden} items {words}" in page


def test_a_table_may_have_several_files_of_each_split(
    world: World, campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("releases.contents.parts.ROWS", 7)
    release = built(world, **SPLIT)
    files = files_of(world, release)
    names = sorted(path for path in files if path.startswith("data/relevance/ratings/"))
    assert len(names) > 3 and names[0].endswith(f"test-00000-of-{len([n for n in names if '/test-' in n]):05}.parquet")
    numbers = [n for name in names for n in parquet.read_table(io.BytesIO(files[name]))["annotation"].to_pylist()]
    assert sorted(numbers) == [row["annotation"] for row in json_rows(files["jsonl/relevance/ratings.jsonl"])]
    sets = {record["name"] for record in json.loads(files["croissant.json"])["recordSet"]}
    assert "relevance/ratings/train-00000-of-00003" in sets or any("/train-00000-of-" in name for name in sets)


def give_pictures(world: World) -> None:
    """Ten pictures, each used by four items."""
    images = [
        store_image(world.team, encode_picture(noise(60, 40, seed), "PNG"), name="a.png")[0] for seed in range(10)
    ]
    for number, item in enumerate(world.items):
        ItemImage.objects.filter(item=item).update(image=images[number % 10])


def test_pictures_are_inside_parquet_or_in_archives_and_never_both(
    world: World, campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    give_pictures(world)
    ItemImage.objects.filter(item__in=world.items[:30]).update(licence="CC0")
    ItemImage.objects.filter(item__in=world.items[30:35]).update(licence="All rights reserved", source="a shop")
    ItemImage.objects.filter(item=world.items[35]).update(licence="Unknown")
    release = built(world, **SPLIT, pictures="licensed", embed="on")
    files = files_of(world, release)
    assert "images.zip" not in files
    parts = [data for path, data in files.items() if path.startswith("data/relevance/items/")]
    rows = [row for data in parts for row in parquet.read_table(io.BytesIO(data)).to_pylist()]
    assert len(rows) == 40 and sum(row["image"] is not None for row in rows) == 30
    for row in rows:
        if row["image"]:
            [picture] = json.loads(row["pictures"])
            with Pillow.open(io.BytesIO(row["image"]["bytes"])) as image:
                assert image.size == (picture["width"], picture["height"])
    metadata = json.loads(parquet.read_schema(io.BytesIO(parts[0])).metadata[b"huggingface"])
    assert metadata["info"]["features"]["image"] == {"_type": "Image"}
    left_out = csv_rows(files["images_left_out.csv"])
    assert len(left_out) == 10 and {row["reason"] for row in left_out} == {"no licence known", "licence forbids it"}
    assert {row["source"] for row in left_out if row["reason"] == "licence forbids it"} == {"a shop"}
    assert [row["source"] for row in left_out].count("a shop") == 5
    page = world.client(world.owner).get(address(release)).content.decode()
    assert "5 of 40 pictures have no licence. Their files are left out." in page
    assert "5 of 40 pictures have a licence that forbids to share them. Their files are left out." in page
    monkeypatch.setattr("releases.contents.pictures.ARCHIVE_BYTES", 20_000)
    files = files_of(world, built(world, version="1.1.0", pictures="all"))
    archives = [path for path in files if path.startswith("images") and path.endswith(".zip")]
    names = [n for path in archives for n in zipfile.ZipFile(io.BytesIO(files[path])).namelist() if "SUMS" not in n]
    uses = csv_rows(files["csv/pictures.csv"])
    assert len(archives) > 1 and sorted(names) == sorted({row["file"] for row in uses})
    assert {row["archive"] for row in uses} <= set(archives)


def test_originals_keep_their_bytes_and_none_names_nothing(world: World, campaign: Campaign) -> None:
    give_pictures(world)
    files = files_of(world, built(world, pictures="originals", formats=["csv"]))
    with zipfile.ZipFile(io.BytesIO(files["images.zip"])) as archive:
        for row in csv_rows(files["csv/pictures.csv"]):
            assert hashlib.sha256(archive.read(row["file"])).hexdigest() == row["source_sha256"]
    files = files_of(world, built(world, version="1.1.0", pictures="none", formats=["csv"]))
    assert not [path for path in files if "pictures" in path or path.startswith("images")]
    assert {row["pictures"] for row in csv_rows(files["csv/relevance/items.csv"])} == {"[]"}


def test_the_form_refuses_shares_that_do_not_add_up(world: World, campaign: Campaign) -> None:
    new, client = f"/b/{world.benchmark.slug}/releases/new/", world.client(world.mara)
    form = {"version": "1.0.0", "stages": [world.stage.pk], "formats": ["csv"], "pictures": "names"}
    for values, message in (
        ({"train": 50, "test": 40}, "add up to 90 percent"),
        ({"train": 100, "withhold": "on"}, "Give the test split a share"),
        ({"test": 100, "withhold": "on"}, "Give the test split a share"),
    ):
        reply = client.post(new, form | values)
        assert (reply.status_code, message in reply.content.decode()) == (400, True), values
    assert not Release.objects.exists()
    assert create(world, train=100).selection["splits"] == []
    kept = {"formats": ["parquet"], "pictures": "all", "embed": "on"}
    chosen = [kept, kept | {"formats": ["csv"]}, kept | {"pictures": "names"}]
    embeds = [create(world, version=f"1.{n}.0", **values).chosen.embed for n, values in enumerate(chosen, start=1)]
    assert embeds == [True, False, False], "where there is Parquet with files"
    assert re.search(r'name="embed"[^>]* checked', client.get(new).content.decode()), "at first"
