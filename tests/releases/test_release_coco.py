"""COCO files of a release: all people's boxes in pixels, the boxes that hold, and what pycocotools makes of them."""

import contextlib
import io
import json
from typing import Any

import pyarrow.parquet as parquet
import pytest
from django.utils import timezone

from annotation.models import Annotation, Assignment, Campaign, Resolution
from benchmarks.models import Item, ItemImage
from benchmarks.services.images import store_image
from people.models import Rater
from releases.models import Release
from tests import pictures as draw
from tests.annotation.files.test_answer_files import import_answers
from tests.evaluation.data import an_open_campaign
from tests.module_world import built_once
from tests.personas import World
from tests.releases.release_steps import built, files_of

LABELS = [{"code": code, "label": {"en": code.title()}} for code in ("lamp", "stall")]
FIELDS: list[dict[str, Any]] = [
    {"key": "seen", "kind": "choice", "label": {"en": "Is it there?"}, "config": {"options": [
        {"code": code, "label": {"en": code}} for code in ("yes", "no")
    ]}},
    {
        "key": "place", "kind": "box", "label": {"en": "Where?"}, "config": {"most": 3, "labels": LABELS},
        "show_if": {"field": "seen", "in": ["yes"]},
    },
]  # fmt: skip


def box(x0: float, y0: float, x1: float, y1: float, label: str = "") -> dict[str, Any]:
    return {"x0": x0, "y0": y0, "x1": x1, "y1": y1, **({"label": label} if label else {})}


ONE, TWO, BARE = box(0.1, 0.2, 0.6, 0.7, "stall"), box(0.5, 0.5, 0.75, 1, "lamp"), box(0, 0, 1 / 3, 1)


@built_once
def campaign(world: World) -> Campaign:
    """Two people. The first item has a box of each; the second two boxes of one; the third "no" of both; the fourth
    nobody answers; the fifth has one box."""
    stage = world.stage
    stage.sheet, stage.has_target, stage.own_items_only = {"fields": FIELDS}, True, True
    stage.save()
    world.add_items(5, images=True)
    Item.objects.filter(stage=stage).update(origin="Egypt", concept="lamp")
    opened = an_open_campaign(world)
    answers: dict[str, list[list[dict[str, Any]] | None]] = {
        "one": [[ONE], [ONE, BARE], [], None, [TWO]],
        "two": [[TWO], None, [], None, None],
    }
    for rater, drawn in answers.items():
        rows = [
            {
                "item": item.key,
                "rater": rater,
                "cohort": "Egypt",
                "answers": {"seen": "yes", "place": boxes} if boxes else {"seen": "no"},
            }
            for item, boxes in zip(world.items, drawn, strict=True)
            if boxes is not None
        ]
        job = import_answers(opened, "\n".join(map(json.dumps, rows)).encode(), f"{rater}.jsonl")
        assert job.result["counts"] == {"created": len(rows)}, job.result
    return opened


@built_once
def release(world: World, campaign: Campaign) -> Release:
    return built(world)


def coco(files: dict[str, bytes], name: str = "place") -> dict[str, Any]:
    [path] = [path for path in files if path.endswith(f"-{name}.json") and "/coco/" in f"/{path}"]
    return dict(json.loads(files[path]))


def size(world: World, at: int) -> tuple[int, int]:
    use = ItemImage.objects.get(item=world.items[at])
    return use.image.width, use.image.height


def test_every_box_of_every_person_is_in_pixels_of_the_upright_picture(world: World, campaign: Campaign) -> None:
    content = coco(files_of(world, built(world, pictures="all")))
    keys = [image["emic_item"] for image in content["images"]]
    assert keys == [world.items[at].key for at in (0, 1, 2, 4)], "an item without an answer is not in the file"
    assert [image["id"] for image in content["images"]] == [1, 2, 3, 4]
    width, height = size(world, 0)
    first = content["images"][0]
    assert (first["width"], first["height"], first["country"], first["concept"]) == (width, height, "Egypt", "lamp")
    assert first["file_name"] == f"{world.stage.key}/{world.items[0].key}.{first['file_name'].rpartition('.')[2]}"
    assert content["info"]["emic_answered_without_box"] == [3]
    assert [(one["id"], one["name"]) for one in content["categories"]] == [(1, "lamp"), (2, "stall"), (3, "place")]
    drawn = sorted((one["image_id"], one["category_id"]) for one in content["annotations"])
    assert drawn == [(1, 1), (1, 2), (2, 2), (2, 3), (4, 1)]
    [stall] = [one for one in content["annotations"] if (one["image_id"], one["category_id"]) == (1, 2)]
    assert stall["bbox"] == [0.1 * width, 0.2 * height, (0.6 - 0.1) * width, (0.7 - 0.2) * height], "not rounded"
    assert (stall["area"], stall["iscrowd"], stall["segmentation"]) == (stall["bbox"][2] * stall["bbox"][3], 0, [])
    annotation = Annotation.objects.get(pk=stall["emic_annotation"])
    assert stall["emic_rater"] == world.benchmark.pseudonym(annotation.rater_id)
    assert stall["emic_cohort"] == "Egypt"
    assert len({one["id"] for one in content["annotations"]}) == 5


def test_parquet_has_boxes_in_pixels_with_their_labels(world: World, release: Release) -> None:
    files = files_of(world, release)
    read = parquet.read_table(io.BytesIO(files[f"data/{world.stage.key}/ratings/train-00000-of-00001.parquet"]))
    boxes = dict(zip(read["annotation"].to_pylist(), read["answer.place"].to_pylist(), strict=True))
    width, height = size(world, 1)
    two = Annotation.objects.get(assignment__unit__item=world.items[1])
    stall, bare = boxes[two.pk]
    assert stall == {"x": 0.1 * width, "y": 0.2 * height, "width": (0.6 - 0.1) * width,
                     "height": (0.7 - 0.2) * height, "label": "stall"}  # fmt: skip
    assert (bare["width"], bare["label"]) == (pytest.approx(width / 3, abs=0.01), None)
    none = Annotation.objects.filter(assignment__unit__item=world.items[2])[0]
    assert boxes[none.pk] is None, "the question was not asked"
    book = json.loads(files[f"codebook/{world.stage.key}.json"])
    [described] = [one for one in book["sheets"][0]["fields"] if one["key"] == "place"]
    assert described["columns"][0]["parquet"].startswith("list of x, y, width, height (pixels")


def test_boxes_are_in_pixels_of_the_picture_that_is_drawn_upon(world: World, campaign: Campaign) -> None:
    """Beside it the item has others, whose roles come before and after it by name."""
    width, height = 320, 240
    item = world.items[4]
    for role in ("detail", "zoom"):
        picture, _new = store_image(world.team, draw.png(100, 50, seed=len(role)), name=f"{role}.png")
        ItemImage.objects.create(item=item, role=role, image=picture)
    files = files_of(world, built(world, pictures="all"))
    read = parquet.read_table(io.BytesIO(files[f"data/{world.stage.key}/ratings/train-00000-of-00001.parquet"]))
    boxes = dict(zip(read["annotation"].to_pylist(), read["answer.place"].to_pylist(), strict=True))
    [drawn] = boxes[Annotation.objects.get(assignment__unit__item=item).pk]
    assert drawn == {
        "x": 0.5 * width,
        "y": 0.5 * height,
        "width": 0.25 * width,
        "height": 0.5 * height,
        "label": "lamp",
    }
    content = coco(files)
    [image] = [image for image in content["images"] if image["emic_item"] == item.key]
    assert (image["width"], image["height"]) == (width, height)
    [detection] = [one for one in content["annotations"] if one["image_id"] == image["id"]]
    assert detection["bbox"] == [0.5 * width, 0.5 * height, 0.25 * width, 0.5 * height]


def test_answers_that_do_not_count_have_no_box(world: World, campaign: Campaign) -> None:
    last = Annotation.objects.filter(assignment__unit__item=world.items[4])
    last.update(counted=False, uncounted_because="excluded")
    content = coco(files_of(world, built(world)))
    assert world.items[4].key not in [image["emic_item"] for image in content["images"]]
    assert len(content["annotations"]) == 4


def test_a_second_file_has_the_boxes_that_hold(world: World, release: Release) -> None:
    """The first item was settled; of the second one answer was accepted; the fifth was not reviewed."""
    plain = files_of(world, release)
    assert not [path for path in plain if "consensus" in path]
    first = Annotation.objects.filter(assignment__unit__item=world.items[0]).order_by("pk")
    settler = Rater.objects.filter(pk=first[1].rater_id).get()
    Resolution.objects.create(
        unit=first[0].assignment.unit, field="place", answer=[TWO], annotation=first[1], chosen_annotation=first[1],
        reason="It is tighter.", by=settler, at=timezone.now(), version=1,
    )  # fmt: skip
    Assignment.objects.filter(annotations__assignment__unit__item=world.items[1]).update(state="accepted")
    files = files_of(world, built(world, version="1.1.0"))
    assert len(coco(files)["annotations"]) == 5, "the other file keeps what people drew"
    content = coco(files, "place-consensus")
    assert [image["emic_item"] for image in content["images"]] == [world.items[0].key, world.items[1].key]
    found = [(one["image_id"], one["category_id"], one["emic_basis"]) for one in content["annotations"]]
    assert found == [(1, 1, "adjudicated"), (2, 2, "accepted"), (2, 3, "accepted")]
    assert content["annotations"][0]["emic_rater"] == world.benchmark.pseudonym(settler.pk)


def test_of_several_accepted_answers_the_one_that_overlaps_the_others_most_holds(
    world: World, campaign: Campaign
) -> None:
    """Of the first item three are accepted: two are far apart, and the third overlaps both."""
    between = box(0.1, 0.2, 0.6, 0.8, "stall")
    row = {"item": world.items[0].key, "rater": "three", "cohort": "Egypt",
           "answers": {"seen": "yes", "place": [between, TWO]}}  # fmt: skip
    import_answers(campaign, json.dumps(row).encode(), "three.jsonl")
    Assignment.objects.filter(unit__item=world.items[0]).update(state="accepted")
    content = coco(files_of(world, built(world)), "place-consensus")
    third = Annotation.objects.filter(assignment__unit__item=world.items[0]).latest("pk")
    drawn = {(one["emic_annotation"], one["emic_basis"], one["emic_accepted"]) for one in content["annotations"]}
    assert drawn == {(third.pk, "accepted", 3)} and len(content["annotations"]) == 2


def test_pycocotools_reads_the_file_and_finds_its_own_boxes(world: World, release: Release, tmp_path: Any) -> None:
    tools, evaluation = pytest.importorskip("pycocotools.coco"), pytest.importorskip("pycocotools.cocoeval")
    path = tmp_path / "place.json"
    path.write_text(json.dumps(coco(files_of(world, release))))
    with contextlib.redirect_stdout(io.StringIO()):
        truth = tools.COCO(str(path))
        scored = [
            {**{name: one[name] for name in ("image_id", "category_id", "bbox")}, "score": 1.0}
            for one in truth.dataset["annotations"]
        ]
        check = evaluation.COCOeval(truth, truth.loadRes(scored), "bbox")
        check.evaluate()
        check.accumulate()
        check.summarize()
    assert check.stats[0] == pytest.approx(1.0)
    assert sorted(truth.getImgIds()) == [1, 2, 3, 4] and truth.getAnnIds(imgIds=[3]) == []


def test_two_builds_have_the_same_bytes(world: World, campaign: Campaign) -> None:
    one, two = (coco(files_of(world, built(world, version=version))) for version in ("1.0.0", "1.0.1"))
    one["info"].pop("version"), two["info"].pop("version")
    assert one == two


def test_a_withheld_split_has_no_box_and_each_other_split_a_file(world: World, campaign: Campaign) -> None:
    files = files_of(world, built(world, train=50, test=50, seed=3, withhold="on"))
    assert not [path for path in files if path.startswith("coco/") and "train" not in path]
    released = built(world, version="1.1.0", train=50, test=50, seed=3)
    files = files_of(world, released)
    parts = {name: coco(files, f"place-{name}") for name in ("train", "test")}
    assert sum(len(content["annotations"]) for content in parts.values()) == 5
    keys = [image["emic_item"] for content in parts.values() for image in content["images"]]
    assert sorted(keys) == sorted(world.items[at].key for at in (0, 1, 2, 4))


def test_without_pictures_there_is_no_such_file(world: World, campaign: Campaign) -> None:
    assert not [path for path in files_of(world, built(world, pictures="none")) if "coco" in path]
