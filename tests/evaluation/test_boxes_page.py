"""Boxes of people and models on the agreement and model pages: a box has no code, and stands there by its overlap."""

import json
from datetime import UTC, datetime
from typing import Any

from annotation.models import Annotation, Campaign
from annotation.services.campaigns import lifecycle
from benchmarks.models import Item, Stage
from evaluation.reports.boxes_page import model_overlap, people_overlap
from predictions.models import Run
from tests.annotation.chain.factories import create_open_campaign
from tests.annotation.files.test_answer_files import import_answers as answers_come
from tests.evaluation.data import an_open_campaign
from tests.module_world import built_once
from tests.personas import World, make_items
from tests.predictions.model_file_samples import import_file, store_file

BOX = {"key": "box", "kind": "box", "label": {"en": "Draw a box"}, "config": {"least": 1, "most": 1}}
VERDICTS = [{"code": code, "label": {"en": code}} for code in ("right", "wrong")]
LEFT, RIGHT, ALL = (0.0, 0.0, 0.5, 1.0), (0.5, 0.0, 1.0, 1.0), (0.0, 0.0, 1.0, 1.0)


@built_once
def campaign(world: World) -> Campaign:
    """One person draws the left half of each picture; another the same, all of it, and the right half."""
    stage = world.stage
    stage.sheet, stage.has_target, stage.own_items_only = {"fields": [BOX]}, True, True
    stage.save()
    world.add_items(3, images=True)
    Item.objects.filter(stage=stage).update(origin="Egypt")
    new_campaign = an_open_campaign(world)
    for rater_name, drawn in (("one", (LEFT, LEFT, LEFT)), ("two", (LEFT, ALL, RIGHT))):
        rows = [
            {
                "item": item.key, "rater": rater_name, "cohort": "Egypt",
                "answers": {"box": [dict(zip(("x0", "y0", "x1", "y1"), box, strict=True))]},
            }
            for item, box in zip(world.items, drawn, strict=True)
        ]  # fmt: skip
        job = answers_come(new_campaign, "\n".join(map(json.dumps, rows)).encode(), f"{rater_name}.jsonl")
        assert job.result["counts"] == {"created": 3}, job.result
    return new_campaign


def coco(world: World, campaign: Campaign, *more: tuple[int, int, int, int]) -> None:
    """The model draws the left half of the first picture, all of the second, and outside of the third (320 x 240)."""
    boxes = ((0, 0, 160, 240), (0, 0, 320, 240), (400, 300, 50, 50), *more)
    rows = [
        {"image_id": item.key, "category_id": 1, "bbox": box, "score": 0.9}
        for item, box in zip(world.items, boxes[: len(world.items)], strict=True)
    ]
    job = import_file(world, campaign, store_file(json.dumps(rows).encode()), key="image_id", field="box", model="GLIP")
    assert job.state == "done", job.error


def page(world: World, name: str) -> Any:
    path, _mark, query = name.partition("?")
    return world.client(world.mara).get(f"/b/{world.benchmark.slug}/{path}/?{query}")


def of_people(world: World) -> dict[str, Any]:
    """The cohort's number on the agreement page's JSON, the same as on both pages."""
    found = world.client(world.mara).get(f"/b/{world.benchmark.slug}/agreement.json").json()["questions"]
    [estimate] = [row["estimates"]["overlap"] for row in found if row["cohort"]["label"] == "Egypt"]
    for name in ("agreement", "models"):
        shown = page(world, name)
        assert shown.status_code == 200
        assert f'<b><bdi dir="ltr">{estimate["shown"]}</bdi></b>' in shown.content.decode(), name
        n = "n = {n_units} × {n_raters}" if name == "models" else '<bdi dir="ltr">{n_units}</bdi>'
        assert n.format(**estimate) in shown.content.decode(), name
    return dict(estimate)


def test_people_of_a_cohort_are_compared_pair_by_pair(world: World, campaign: Campaign) -> None:
    """(1 + 1/2 + 0) / 3."""
    estimate = of_people(world)
    assert (estimate["value"], estimate["n_units"], estimate["n_raters"]) == (0.5, 3, 2)
    assert "No model has drawn a box here yet" in page(world, "models").content.decode()


def test_the_interval_is_for_other_people_too(world: World, campaign: Campaign) -> None:
    """Two people say nothing about other people: a reason. Three do: an interval over units and people."""
    assert of_people(world)["interval_reason"] == "too_few_raters_for_interval"
    assert "Intervals are over items and people." in page(world, "models").content.decode()
    unit = {1: [list(LEFT)], 2: [list(ALL)], 3: [list(LEFT)]}
    found = people_overlap([unit, {**unit, 3: [list(ALL)]}, {**unit, 2: [list(LEFT)]}, unit])
    assert found.low is not None and found.resampled == "units and raters"


def test_coco_file_is_compared_with_people(world: World, campaign: Campaign) -> None:
    """((1 + 1) / 2 + (1/2 + 1) / 2) / 2; the third picture has no readable box, and is counted as left out."""
    coco(world, campaign)
    shown = page(world, "models")
    assert shown.status_code == 200
    [row] = shown.context["models"]["groups"][0]["rows"]
    overlap, left_out = row["cells"]
    assert (row["name"], overlap["number"]["value"], overlap["number"]["n"]) == ("GLIP", "0.88", "n = 2 × 2")
    assert left_out["text"] == "1"
    assert "GLIP" in shown.content.decode()


def test_the_page_of_models_compares_the_answers_that_are_asked_for(world: World, campaign: Campaign) -> None:
    coco(world, campaign)
    first, second, third = world.items
    Item.objects.filter(pk=first.pk).update(concept="dance", condition="natural")
    Item.objects.filter(pk=second.pk).update(concept="music", condition="natural")
    Item.objects.filter(pk=third.pk).update(concept="music", condition="generated")
    theirs = Annotation.objects.filter(rater__name="two")
    assert theirs.update(submitted_at=datetime(2026, 3, 9, 12, tzinfo=UTC)) == 3
    Annotation.objects.filter(rater__name="one").update(submitted_at=datetime(2026, 3, 1, 12, tzinfo=UTC))
    theirs.filter(assignment__unit__item=third).update(counted=False, uncounted_because="excluded")

    def people_of(query: str) -> tuple[str, str]:
        rows = page(world, f"models?{query}").context["people"]["groups"][0]["rows"]
        [number] = [row["cells"][0]["number"] for row in rows if row["name"] == "Egypt"]
        return number.get("value", "none"), number.get("n", "none")

    assert people_of("") == ("0.75", "n = 2 × 2")  # (1 + 1/2) / 2
    assert people_of("counted=all") == ("0.50", "n = 3 × 2")
    assert people_of("concept=dance") == ("1.00", "n = 1 × 2")
    assert people_of("condition=generated&counted=all") == ("0.00", "n = 1 × 2")
    assert people_of("since=2026-03-01&until=2026-03-09") == ("0.75", "n = 2 × 2")
    assert people_of("until=2026-03-08")[0] == people_of("since=2026-03-02")[0] == "none"


def test_a_model_whose_boxes_could_not_be_read_has_a_row(world: World, campaign: Campaign) -> None:
    outside = [
        {"image_id": item.key, "category_id": 1, "bbox": (400, 300, 50, 50), "score": 0.9} for item in world.items
    ]
    file = store_file(json.dumps(outside).encode())
    assert import_file(world, campaign, file, key="image_id", field="box", model="GLIP").state == "done"
    Run.objects.update(withdrawn_at=None)  # a run of files without an answer makes room; a live one stands
    [row] = page(world, "models").context["models"]["groups"][0]["rows"]
    overlap, left_out = row["cells"]
    assert (row["name"], overlap["number"].get("value"), left_out["text"]) == ("GLIP", None, "3")


def test_a_picture_that_nobody_drew_for_is_not_left_out(world: World, campaign: Campaign) -> None:
    """The model drew outside of the third picture and of a fourth, for which there is no box of a person."""
    world.add_items(1, images=True)
    Item.objects.filter(stage=world.stage).update(origin="Egypt")
    lifecycle.add_slots(campaign)
    coco(world, campaign, (400, 300, 50, 50))
    [row] = page(world, "models").context["models"]["groups"][0]["rows"]
    overlap, left_out = row["cells"]
    assert (overlap["number"]["n"], left_out["text"]) == ("n = 2 × 2", "1")


def test_model_is_compared_with_people_of_all_cohorts(world: World) -> None:
    """It draws the left half, as one person does; people of the other cohort draw all of it and the right half."""
    stage = world.stage
    stage.sheet, stage.has_target, stage.own_items_only = {"fields": [BOX]}, False, False
    stage.save()
    world.add_items(1, images=True)
    campaign = an_open_campaign(world)
    for cohort, name, box in (("Egypt", "one", LEFT), ("Brazil", "two", ALL), ("Brazil", "three", RIGHT)):
        drawn = {"box": [dict(zip(("x0", "y0", "x1", "y1"), box, strict=True))]}
        row = {"item": world.items[0].key, "rater": name, "cohort": cohort, "answers": drawn}
        assert answers_come(campaign, json.dumps(row).encode(), f"{name}.jsonl").result["counts"] == {"created": 1}
    coco(world, campaign)
    [row] = page(world, "models").context["models"]["groups"][0]["rows"]
    number = row["cells"][0]["number"]
    assert (number["value"], number["n"]) == ("0.50", "n = 1 × 3")  # (1 + 1/2 + 0) / 3


def test_strangers_see_no_boxes_and_an_unknown_stage_is_refused(world: World, campaign: Campaign) -> None:
    for name in ("agreement", "models"):
        assert world.client(world.rival).get(f"/b/{world.benchmark.slug}/{name}/").status_code == 404
        asked = world.client(world.mara).get(f"/b/{world.benchmark.slug}/{name}/", {"stage": "nowhere"})
        assert asked.status_code == 400


def test_without_a_pair_or_a_shared_unit_there_is_no_value() -> None:
    assert people_overlap([]).value is None and people_overlap([{1: [list(LEFT)]}]).value is None
    assert model_overlap({7: [list(LEFT)]}, {8: {1: [list(LEFT)]}}).value is None
    assert people_overlap([{1: [list(LEFT)], 2: [list(LEFT)]}]).value == 1.0
    assert model_overlap({7: [list(LEFT)]}, {7: {1: [list(RIGHT)]}}).value == 0.0


def test_judges_are_compared_on_a_stage_with_codes(world: World, campaign: Campaign) -> None:
    """Models answered the boxes, and those pages open with them; a judge needs another stage."""
    coco(world, campaign)
    alone = page(world, "judge")
    assert alone.status_code == 200 and "No stage asks a question with options or a scale" in alone.content.decode()
    verdict = {"key": "verdict", "kind": "choice", "label": {"en": "Is it right?"}, "config": {"options": VERDICTS}}
    verdicts = Stage.objects.create(
        benchmark=world.benchmark,
        key="verdicts",
        name="Verdicts",
        sheet={"fields": [verdict]},
        display="image",
        position=2,
    )
    make_items(verdicts, 1)
    create_open_campaign(verdicts, world.egypt)
    both = page(world, "judge")
    assert both.status_code == 200 and "No model has answered this stage" in both.content.decode()
