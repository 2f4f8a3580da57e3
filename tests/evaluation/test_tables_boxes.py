"""GlobalRG's tables of boxes from the database: what was collected, and where models see it."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from django.db.models import F
from django.http import QueryDict

from annotation.models import Annotation, Assignment, Campaign, Participation, Resolution, Tally, Unit
from annotation.services.campaigns import lifecycle
from benchmarks.models import Benchmark, Item, ItemFact, Stage
from benchmarks.services.benchmarks import create_from_recipe
from evaluation.tables.registry import tables_of
from evaluation.tables.table import MissingData
from evaluation.tables.table_builder import build_table
from people.models import Cohort, Rater, User
from people.services.raters import rater_of
from predictions.models import Call, Endpoint, Run
from tests.evaluation.data import NOON
from tests.evaluation.sample_tables import cells, model, store_answers, table
from tests.module_world import built_once
from tests.personas import World, stand_in

pytestmark = pytest.mark.django_db
Box = Sequence[float]
LEFT, MIDDLE, WHOLE = [0, 0, 0.5, 0.5], [0.25, 0, 0.75, 0.5], [0, 0, 1, 0.5]  # IoU with the left: 1/3, and 1/2


def box_answer(box: Box) -> list[dict[str, float]]:
    return [dict(zip(("x0", "y0", "x1", "y1"), box, strict=True))]


@built_once
def benchmark(world: World) -> Benchmark:
    return create_from_recipe(world.team, "globalrg-grounding", "Grounding", "grounding", world.owner)


def create_open_campaign(
    world: World, stage: Stage, items: Mapping[str, tuple[str, dict[str, Any]]]
) -> tuple[Campaign, list[Item]]:
    new_items = [
        Item.objects.create(stage=stage, key=key, concept=key, origin=country, context=context)
        for key, (country, context) in items.items()
    ]
    stand_in(new_items)
    campaign = lifecycle.create(stage, stage.name, world.owner, dict.fromkeys((world.egypt, world.brazil), 1))
    lifecycle.open_campaign(campaign, world.owner, NOON)
    return campaign, new_items


def draw(campaign: Campaign, cohort: Cohort, user: User, item: Item, box: Box) -> None:
    rater, row = rater_of(user), campaign.cohorts.get(cohort=cohort)
    seat, _new = Participation.objects.get_or_create(cohort=row, rater=rater, defaults={"last_seen_at": NOON})
    unit, _new = Unit.objects.get_or_create(item=item, target=cohort.label)
    assignment = Assignment.objects.create(
        campaign=campaign, participation=seat, unit=unit, rater=rater, state="submitted", in_hand=False,
        reserved_at=NOON, shown_at=NOON, changed_at=NOON,
    )  # fmt: skip
    Annotation.objects.create(
        assignment=assignment, rater=rater, version=1, client_key=f"p-{assignment.pk}",
        answers={"box": box_answer(box)},
        sheet_version=campaign.sheet_version, instruction_version=campaign.instruction_versions.first(),
        cohort=cohort, language="en", shown_at=NOON, submitted_at=NOON,
    )  # fmt: skip
    Tally.objects.filter(cohort=row, shard=0).update(changes=F("changes") + 1)


def a_small_set(world: World, benchmark: Benchmark) -> tuple[Campaign, list[Item]]:
    """Three items of Egypt and one of Brazil, each with the left box of a person (a quarter of the picture)."""
    names = {"koshari": "Egypt", "tabla": "Egypt", "galabeya": "Egypt", "acai": "Brazil"}
    items = {key: (country, {}) for key, country in names.items()}
    campaign, new_items = create_open_campaign(world, benchmark.stages.get(key="boxes"), items)
    for item in new_items:
        cohort, user = (world.brazil, world.bia) if item.origin == "Brazil" else (world.egypt, world.nour)
        draw(campaign, cohort, user, item, LEFT)
    return campaign, new_items


def answer(world: World, campaign: Campaign, name: str, boxes: Mapping[Item, Box], **about: Any) -> None:
    boxes_by_unit = {(item, item.origin): box_answer(box) for item, box in boxes.items()}
    store_answers(campaign, model(world.team, name, **about), boxes_by_unit, field="box", codes=False)


def test_without_a_campaign_people_or_models_the_table_says_what_to_bring(world: World, benchmark: Benchmark) -> None:
    for spec in tables_of(benchmark):
        with pytest.raises(MissingData, match="no campaign yet"):
            build_table(benchmark, spec, QueryDict(), NOON)
    campaign, _items = create_open_campaign(world, benchmark.stages.get(key="boxes"), {"koshari": ("Egypt", {})})
    with pytest.raises(MissingData, match="There are no boxes yet"):
        table(benchmark, "collected")
    draw(campaign, world.egypt, world.nour, _items[0], LEFT)
    with pytest.raises(MissingData, match="No model has answered"):
        table(benchmark, "grounding")


def test_accuracy_counts_strictly_and_a_missing_box_as_wrong(world: World, benchmark: Benchmark) -> None:
    """IoU 1, exactly 1/2, 1/3 and no box: 1 of 4 right; mean IoU (1 + 1/2 + 1/3 + 0) / 4 = 0.458."""
    campaign, items = a_small_set(world, benchmark)
    koshari, tabla, _galabeya, acai = items
    answer(world, campaign, "Grounding DINO", {koshari: LEFT, tabla: WHOLE, acai: MIDDLE}, family="Specialist")
    built_table = table(benchmark, "grounding")
    of = cells(built_table, "Grounding DINO")
    assert [cell.shown for cell in of.values()] == ["25.00", "0.458", "25.00"]
    accuracy = of["Accuracy, %"].estimate
    assert accuracy is not None and accuracy.extras["no_box"] == 1 and accuracy.extras["interval"] == "Wilson"
    assert of["Accuracy, %"].printed is not None and built_table.rows[0].group == "Specialist"
    assert cells(table(benchmark, "grounding", "strict=reached"), "Grounding DINO")["Accuracy, %"].shown == "50.00"
    assert cells(table(benchmark, "grounding", "threshold=0.25"), "Grounding DINO")["Accuracy, %"].shown == "75.00"
    left_out = cells(table(benchmark, "grounding", "no_box=left_out"), "Grounding DINO")
    assert [cell.shown for cell in left_out.values()] == ["33.33", "0.611", "25.00"]
    assert any("has to be greater" in str(words) for words in built_table.words)


def test_items_that_a_run_did_not_ask_about_are_left_out(world: World, benchmark: Benchmark) -> None:
    """Asked about two of four items, it gave one box, the right one: 1 of 2. A third call was never sent, a fourth is
    still waiting. With an imported answer nobody knows what was asked: see above."""
    campaign, items = a_small_set(world, benchmark)
    answer(world, campaign, "Asker", {items[0]: LEFT})
    endpoint = Endpoint.objects.create(team=world.team, name="tiny", created_at=NOON)
    run = Run.objects.create(
        benchmark=benchmark,
        campaign=campaign,
        rater=Rater.objects.get(name="Asker"),
        task="answers",
        endpoint=endpoint,
        complete=True,
    )
    ends: list[dict[str, Any]] = [
        {"state": "answered"},
        {"state": "no_response", "reason": "empty", "attempts_made": 1},
        {"state": "over_budget", "reason": "budget"},
        {"state": "pending"},
    ]
    for item, end in zip(items, ends, strict=True):
        Call.objects.create(run=run, item=item, unit=Unit.objects.get(item=item, target=item.origin), **end)
    built_table = table(benchmark, "grounding")
    of = cells(built_table, "Asker")
    assert [cell.shown for cell in of.values()] == ["50.00", "0.500", "50.00"]
    accuracy = of["Accuracy, %"].estimate
    assert accuracy is not None and (accuracy.n_units, accuracy.extras["no_box"]) == (2, 1)
    assert "Asker was asked about 2 of the 4 items; the others are left out." in [
        str(text) for text in built_table.words
    ]
    brazil = cells(table(benchmark, "grounding-countries"), "Brazil")["Asker"].estimate
    assert brazil is not None and brazil.value is None and brazil.reason, "nothing was asked about Brazil"


def test_regions_are_plain_means_of_their_countries(world: World, benchmark: Benchmark) -> None:
    """Africa: Nigeria 1 of 1, South Africa 1 of 3: mean 66.67, pooled 50. A second model is right once, in Nigeria:
    50 and 25; over both models 58.33 and 37.5."""
    campaign, items = create_open_campaign(
        world,
        benchmark.stages.get(key="boxes"),
        {"suya": ("Nigeria", {}), **{f"za{n}": ("South Africa", {}) for n in range(3)}},
    )
    for item in items:
        draw(campaign, world.egypt, world.nour, item, LEFT)
    answer(world, campaign, "A", dict.fromkeys(items[:2], LEFT) | {items[2]: MIDDLE})
    answer(world, campaign, "B", {items[0]: LEFT})
    assert [c.shown for c in cells(table(benchmark, "grounding-regions"), "Africa").values()] == [
        "66.67",
        "50.00",
        "58.33",
    ]
    pooled = cells(table(benchmark, "grounding-regions", "average=pooled"), "Africa")
    assert [cell.shown for cell in pooled.values()] == ["50.00", "25.00", "37.50"]
    by_country = table(benchmark, "grounding-countries")
    assert [(row.group, row.label) for row in by_country.rows] == [("Africa", "Nigeria"), ("Africa", "South Africa")]
    assert [cell.shown for cell in cells(by_country, "South Africa").values()] == ["33.33", "0.00"]


def test_table_4_by_hand(world: World, benchmark: Benchmark) -> None:
    """Egypt: three boxes of a quarter; objects 4 and 7 found in two pictures: 5.5; verifiers' IoU 1 and 1/3: 0.67.
    Brazil: nobody looked for objects, nobody verified."""
    _campaign, items = a_small_set(world, benchmark)
    for item, count in zip(items, (4, 7), strict=False):
        ItemFact.objects.create(item=item, key="objects", value=count, source="detector")
    first = {"first_box": box_answer(LEFT)}
    again, copies = create_open_campaign(
        world, benchmark.stages.get(key="verification"), {"koshari": ("Egypt", first), "tabla": ("Egypt", first)}
    )
    draw(again, world.egypt, world.tarek, copies[0], LEFT)
    draw(again, world.egypt, world.tarek, copies[1], MIDDLE)
    made = table(benchmark, "collected")
    assert [cell.shown for cell in cells(made, "Egypt").values()] == ["3", "0.250", "5.500", "0.67"]
    brazil = cells(made, "Brazil")
    assert [cell.shown for cell in brazil.values()] == ["1", "0.250", "", ""]
    assert brazil["Human IoU"].estimate is not None and brazil["Human IoU"].estimate.reason == "nothing_counted"
    assert [cell.printed.text for cell in brazil.values() if cell.printed] == ["32", "0.153", "3.906", "0.87"]
    assert cells(table(benchmark, "collected", "pairs=verifiers"), "Egypt")["Human IoU"].shown == ""
    draw(again, world.egypt, world.nour, copies[0], WHOLE)  # a second verifier
    assert cells(table(benchmark, "collected", "pairs=verifiers"), "Egypt")["Human IoU"].shown == "0.50"
    assert cells(table(benchmark, "collected"), "Egypt")["Human IoU"].shown == "0.54"  # (1 + 1/2) / 2 and 1/3


def test_columns_of_a_file_that_are_no_number_and_no_box_leave_table_4_standing(
    world: World, benchmark: Benchmark
) -> None:
    _campaign, items = a_small_set(world, benchmark)
    for item, count in zip(items, (4, "many"), strict=False):
        ItemFact.objects.create(item=item, key="objects", value=count, source="import")
    columns = {"koshari": json.dumps(box_answer(LEFT)), "tabla": "upper left", "galabeya": "[[0, 0, 1]]"}
    again, copies = create_open_campaign(
        world, benchmark.stages.get(key="verification"),
        {key: ("Egypt", {"first_box": text}) for key, text in columns.items()},
    )  # fmt: skip
    for copy in copies:
        draw(again, world.egypt, world.tarek, copy, MIDDLE)
    egypt = cells(table(benchmark, "collected"), "Egypt")
    assert [cell.shown for cell in egypt.values()] == ["3", "0.250", "4.000", "0.33"]
    assert egypt["Human IoU"].estimate is not None and egypt["Human IoU"].estimate.n_units == 1


def settle(item: Item, box: Box | None) -> None:
    """A third person's word on the box of an item, as the sheet that settles writes it."""
    drawn = Annotation.objects.get(assignment__unit__item=item, rater__kind="person")
    Resolution.objects.create(
        unit=drawn.assignment.unit, field="box", answer=None if box is None else box_answer(box), annotation=drawn,
        reason="closer", by=drawn.rater, at=NOON, version=1,
    )  # fmt: skip


def test_what_was_settled_is_the_gold_box_of_table_4_and_leaves_the_human_iou(
    world: World, benchmark: Benchmark
) -> None:
    """One of three quarters becomes a half: (1/4 + 1/4 + 1/2) / 3 = 0.333. The verifier's IoU of 1/3 stays."""
    campaign, items = a_small_set(world, benchmark)
    again, [copy] = create_open_campaign(
        world, benchmark.stages.get(key="verification"), {"koshari": ("Egypt", {"first_box": box_answer(LEFT)})}
    )
    draw(again, world.egypt, world.tarek, copy, MIDDLE)
    answer(world, campaign, "Grounding DINO", {items[0]: WHOLE, items[1]: WHOLE})
    before = cells(table(benchmark, "collected"), "Egypt")
    assert (before["Box / image"].shown, before["Human IoU"].shown) == ("0.250", "0.33")
    assert cells(table(benchmark, "grounding"), "Grounding DINO")["Accuracy, %"].shown == "0.00"
    settle(items[0], WHOLE)
    settled_table = table(benchmark, "collected")
    after = cells(settled_table, "Egypt")
    assert (after["Concepts"].shown, after["Box / image"].shown, after["Human IoU"].shown) == ("3", "0.333", "0.33")
    assert any("1 gold box was settled" in str(words) for words in settled_table.words)
    assert cells(table(benchmark, "grounding"), "Grounding DINO")["Accuracy, %"].shown == "25.00"
    settle(items[1], None)
    open_table = table(benchmark, "collected")
    assert cells(open_table, "Egypt")["Concepts"].shown == "2"
    assert any("cannot be decided" in str(words) for words in open_table.words)


def test_the_models_of_table_5(world: World, benchmark: Benchmark) -> None:
    campaign, items = a_small_set(world, benchmark)
    answer(world, campaign, "KOSMOS-2", {items[0]: LEFT}, family="Generalist", vision_encoder="CLIP-ViT-L")
    assert {name: cell.text for name, cell in cells(table(benchmark, "models"), "KOSMOS-2").items()} == {
        "Vision encoder": "CLIP-ViT-L"
    }
