"""Detections as COCO's results: the best scored box of each image, in fractions of it, or a coded failure."""

import io
import json
from typing import Any

import pytest

from annotation.models import Annotation, Campaign
from benchmarks.imports.problems import SourceProblem
from benchmarks.models import Item, ItemImage
from predictions.imports import coco, streaming
from predictions.models import Call, Reply
from tests.evaluation.data import an_open_campaign
from tests.importing import outcomes
from tests.module_world import built_once
from tests.personas import World
from tests.predictions.model_file_samples import import_file, run_of, store_file

BOX = {"key": "box", "kind": "box", "label": {"en": "Draw a box"}, "config": {"least": 1, "most": 1}}
SIDES = ("x0", "y0", "x1", "y1")
TOLD = {"key": "image_id", "field": "box"}


@built_once
def campaign(world: World) -> Campaign:
    stage = world.stage
    stage.sheet, stage.has_target, stage.own_items_only = {"fields": [BOX]}, True, True
    stage.save()
    world.add_items(4, images=True)  # 320 x 240
    Item.objects.filter(stage=stage).update(origin="Egypt")
    return an_open_campaign(world)


def coco_box(image: Any, *box: float, score: float = 0.9, category: int = 1) -> dict[str, Any]:
    return {"image_id": image, "category_id": category, "bbox": list(box), "score": score}


def boxes() -> dict[str, list[float]]:
    rows = Annotation.objects.filter(live=True, rater__kind="model").select_related("assignment__unit__item")
    return {row.assignment.unit.item.key: [row.answers["box"][0][side] for side in SIDES] for row in rows}


def test_the_best_scored_box_of_an_image_by_its_items_key(world: World, campaign: Campaign) -> None:
    first, second, three, _four = (item.key for item in world.items)
    rows = [
        coco_box(first, 0, 0, 32, 24, score=0.3), coco_box(second, 160, 120, 160, 120),
        coco_box(first, 32, 24, 64, 48, score=0.8), coco_box(three, 300, 200, 60, 60), coco_box("nowhere", 0, 0, 5, 5),
    ]  # fmt: skip
    job = import_file(world, campaign, store_file(json.dumps(rows).encode()), **TOLD)
    assert job.state == "done", job.error
    assert boxes() == {first: [0.1, 0.1, 0.3, 0.3], second: [0.5, 0.5, 1.0, 1.0]}
    run = run_of(job)
    assert run.source == "coco" and run.complete
    states = Call.objects.filter(run=run).order_by("item__key").values_list("state", "reason")
    assert list(states) == [("answered", ""), ("answered", ""), ("out_of_range", "outside_image")]
    assert outcomes(job)[5] == ("error", "no_item")
    page = world.client(world.mara).get(f"/b/{world.benchmark.slug}/predictions/run/{run.pk}/").content.decode()
    assert "a box from 10 to 30 % of the width and 10 to 30 % of the height" in page
    assert page.count("bbox") == 1, "all detections are shown only where none was chosen"
    note = Reply.objects.get(pk=Call.objects.get(run=run, item__key=first).replies[0]).body["notes"]
    assert note == {"rule": "best_scored", "score": 0.8, "among": 2}, "the rule by which it was chosen is kept"
    assert Call.objects.get(run=run, item__key=first).notes == note, "and shown and handed on as every note is"


def test_ids_and_categories_go_through_the_releases_file(world: World, campaign: Campaign) -> None:
    """Numbers name images and categories; its pictures are half as large as ours; a box of another thing is not one."""
    first, second = world.items[:2]
    sha = ItemImage.objects.get(item=second, role="image").image.sha256
    release = {
        "info": {"year": 2024, "deep": {"er": [1, 2]}},
        "images": [
            {"id": 7, "file_name": f"egypt/{first.key}.jpg", "width": 160, "height": 120},
            {"id": 8, "file_name": f"images/{sha}.png", "width": 160, "height": 120},
        ],
        "annotations": [{"id": 1, "image_id": 7, "bbox": [0, 0, 1, 1]}],
        "categories": [{"id": 1, "name": first.concept.title()}, {"id": 2, "name": "dog"}],
    }
    rows = [
        coco_box(7, 16, 12, 32, 24, score=0.4, category=1), coco_box(7, 0, 0, 9, 9, score=0.9, category=2),
        coco_box(8, 0, 0, 80, 60, category=2),
    ]  # fmt: skip
    job = import_file(world, campaign, store_file(json.dumps(rows).encode(), json.dumps(release).encode()), **TOLD)
    assert boxes() == {first.key: [0.1, 0.1, 0.3, 0.3]}, job.rows.values_list("message", flat=True)
    assert Call.objects.get(item=second).reason == "no_box", "a dog is not what was asked for"


def test_what_is_no_detection_is_told_by_its_number(world: World, campaign: Campaign) -> None:
    one, two, three, _four = (item.key for item in world.items)
    rows: list[Any] = [
        "text", {"bbox": [0, 0, 1, 1], "score": 1}, coco_box(one, 1, 2, 3),
        {**coco_box(two, 0, 0, 9, 9), "score": None},
        coco_box(three, 0, 0, 0, 9),
    ]  # fmt: skip
    job = import_file(
        world,
        campaign,
        store_file(b"[" + b",\n".join(json.dumps(row).encode() for row in reversed(rows)) + b"]"),
        **TOLD,
    )
    assert {n: why for n, (_o, why) in outcomes(job).items()} == {
        1: "sheet", 2: "unreadable", 3: "unreadable", 4: "unreadable", 5: "unreadable",
    }  # fmt: skip
    assert boxes() == {} and not run_of(job).complete


def test_a_file_that_was_cut_off_says_so(world: World, campaign: Campaign) -> None:
    whole = json.dumps([coco_box(item.key, 0, 0, 32, 24) for item in world.items]).encode()
    job = import_file(world, campaign, store_file(whole[:-20]), **TOLD)
    assert job.state == "failed" and "cut off" in job.error and boxes() == {}


@pytest.mark.parametrize("chunk", [1, 7, 4096])
def test_large_json_is_read_a_value_at_a_time(monkeypatch: pytest.MonkeyPatch, chunk: int) -> None:
    monkeypatch.setattr(streaming, "CHUNK", chunk)
    data = {"a": 12, "many": [1, -2.5e3, "é“]}", {"deep": [[]]}, None], "none": [], "b": {"x": [1]}, "last": True}
    read = list(streaming.elements(io.BytesIO(b"\xef\xbb\xbf" + json.dumps(data, indent=1).encode()), ("many", "none")))
    assert read == [("a", 12), *(("many", one) for one in data["many"]), ("b", {"x": [1]}), ("last", True)]  # type: ignore[union-attr]
    for broken in (b"", b"[1 2]", b'{"a" 1}', b'{"a": [1,', b"nothing"):
        with pytest.raises(SourceProblem):
            list(streaming.elements(io.BytesIO(broken), ("a",)))


def test_a_release_without_images_is_none() -> None:
    with pytest.raises(SourceProblem, match="lists no images"):
        coco.read_names(io.BytesIO(b'{"images": [], "categories": []}'))
    with pytest.raises(SourceProblem, match="has no id"):
        coco.read_names(io.BytesIO(b'{"images": [{"file_name": "a"}]}'))


def test_the_categories_of_a_release_are_the_labels_of_its_boxes(world: World, campaign: Campaign) -> None:
    """The best scored boxes whose category is a label, as many as an answer may have; by code or by English text."""
    labels = [{"code": "lamp", "label": {"en": "A lamp"}}, {"code": "stall", "label": {"en": "Stall"}}]
    asked = {**BOX, "config": {"most": 2, "labels": labels, "label_required": True}}
    version = campaign.sheet_version
    type(version).objects.filter(pk=version.pk).update(definition={"fields": [asked]})
    first, second, *_rest = (item.key for item in world.items)
    release = {
        "images": [{"id": 1, "file_name": first}, {"id": 2, "file_name": second}],
        "categories": [{"id": 1, "name": "lamp"}, {"id": 2, "name": "stall"}, {"id": 3, "name": "tree"}],
    }
    rows = [
        coco_box(1, 0, 0, 32, 24, score=0.3, category=2), coco_box(1, 32, 24, 64, 48, score=0.8, category=1),
        coco_box(1, 0, 0, 64, 48, score=0.5, category=2), coco_box(1, 0, 0, 320, 240, score=0.9, category=3),
        coco_box(2, 0, 0, 32, 24, category=3),
    ]  # fmt: skip
    job = import_file(world, campaign, store_file(json.dumps(rows).encode(), json.dumps(release).encode()), **TOLD)
    assert job.state == "done", job.error
    [annotation] = Annotation.objects.filter(live=True, rater__kind="model")
    assert [box["label"] for box in annotation.answers["box"]] == ["lamp", "stall"]
    assert [box["x1"] for box in annotation.answers["box"]] == [0.3, 0.2]
    states = Call.objects.filter(run=run_of(job)).order_by("item__key").values_list("state", flat=True)
    assert list(states) == ["answered", "unparseable"], "a box without a label is no answer where a label is required"
    page = world.client(world.mara).get(f"/b/{world.benchmark.slug}/predictions/run/{run_of(job).pk}/")
    assert page.status_code == 200
