"""Whether labels of boxes must match: chosen on the agreement page, said beside the number, and stored with it."""

import json
from typing import Any

import pytest

from annotation.models import Campaign
from benchmarks.models import Item
from tests.annotation.files.test_answer_files import import_answers
from tests.evaluation.data import an_open_campaign
from tests.module_world import built_once
from tests.personas import World

LABELS = [{"code": code, "label": {"en": code.title()}} for code in ("lamp", "stall")]
FIELDS: list[dict[str, Any]] = [
    {
        "key": "box",
        "kind": "box",
        "label": {"en": "Draw a box"},
        "config": {"labels": LABELS, "label_required": True},
    },
    {"key": "name", "kind": "text", "label": {"en": "What is it called?"}, "config": {}, "required": False},
]
ALL, LEFT = {"x0": 0, "y0": 0, "x1": 1, "y1": 1}, {"x0": 0, "y0": 0, "x1": 0.5, "y1": 1}


@built_once
def campaign(world: World) -> Campaign:
    """Of three pictures two people give the same box: with the same label, with another one, and half of it."""
    stage = world.stage
    stage.sheet, stage.has_target, stage.own_items_only = {"fields": FIELDS}, True, True
    stage.save()
    world.add_items(3, images=True)
    Item.objects.filter(stage=stage).update(origin="Egypt")
    opened = an_open_campaign(world)
    lamp, stall, half = ({**ALL, "label": "lamp"}, {**ALL, "label": "stall"}, {**LEFT, "label": "lamp"})
    for rater, drawn in (("one", (lamp, lamp, lamp)), ("two", (lamp, stall, half))):
        rows = [
            {"item": item.key, "rater": rater, "cohort": "Egypt", "answers": {"box": [box]}}
            for item, box in zip(world.items, drawn, strict=True)
        ]
        job = import_answers(opened, "\n".join(map(json.dumps, rows)).encode(), f"{rater}.jsonl")
        assert job.result["counts"] == {"created": 3}, job.result
    return opened


def report(world: World, query: str = "") -> dict[str, Any]:
    reply = world.client(world.mara).get(f"/b/{world.benchmark.slug}/agreement.json?{query}")
    assert reply.status_code == 200, reply.content
    return dict(reply.json())


def estimates(world: World, query: str) -> dict[str, Any]:
    rows = [row for row in report(world, query)["questions"] if row["field"] == "box"]
    [row] = [row for row in rows if row["cohort"]["label"] == "Egypt"]
    return dict(row["estimates"])


@pytest.mark.parametrize(
    ("measure", "with_labels", "without"),
    [("overlap", 0.5, 2.5 / 3), ("f1_overlap", 2 / 3, 1.0)],
)
def test_a_pair_of_different_labels_does_not_match_unless_labels_are_ignored(
    world: World, campaign: Campaign, measure: str, with_labels: float, without: float
) -> None:
    """(1 + 0 + 1/2) / 3 and (1 + 1 + 1/2) / 3; of F1 (1 + 0 + 1) / 3 and 1."""
    for query, rule, value in (("", "must_match", with_labels), ("&labels=ignore", "ignore", without)):
        estimate = estimates(world, f"as=box:{measure}{query}")[measure]
        assert estimate["value"] == pytest.approx(value)
        assert estimate["extras"]["label_rule"] == rule


def test_the_page_says_whether_labels_count_and_offers_the_other(world: World, campaign: Campaign) -> None:
    client = world.client(world.mara)
    for query, words, chosen in (
        ("", "Labels of boxes: Boxes of different labels do not match.", "must_match"),
        ("?labels=ignore", "Labels of boxes: Labels are ignored.", "ignore"),
    ):
        html = client.get(f"/b/{world.benchmark.slug}/agreement/{query}").content.decode()
        assert words in html
        assert f'<option value="{chosen}" selected>' in html
    assert report(world, "labels=ignore")["selection"]["label_rule"] == "ignore"
    refused = client.get(f"/b/{world.benchmark.slug}/agreement.json?labels=never")
    assert refused.status_code == 400 and "must_match" in refused.content.decode()


def test_models_and_disagreement_pages_follow_the_choice(world: World, campaign: Campaign) -> None:
    client, slug = world.client(world.mara), world.benchmark.slug
    shown = client.get(f"/b/{slug}/models/").content.decode()
    assert "Boxes of different labels do not match." in shown and "labels=ignore" in shown
    assert "0.50" in shown
    assert "0.83" in client.get(f"/b/{slug}/models/?field=box&labels=ignore").content.decode()
    for query, most, words in (
        ("", "1.00", "Boxes of different labels do not match."),
        ("&labels=ignore", "0.50", "are ignored."),
    ):
        items = client.get(f"/b/{slug}/disagreement/?field=box{query}")
        assert items.context["rows"][0]["value"] == most and words in items.content.decode()


def test_a_sheet_without_labels_has_no_such_choice(world: World, campaign: Campaign) -> None:
    plain = [{**FIELDS[0], "config": {}}, FIELDS[1]]
    version = campaign.sheet_version
    type(version).objects.filter(pk=version.pk).update(definition={"fields": plain})
    html = world.client(world.mara).get(f"/b/{world.benchmark.slug}/agreement/").content.decode()
    assert "Labels of boxes" not in html
    assert "label_rule" not in report(world)["selection"]
