"""Examples that nobody names are drawn by rule: one answered item of each culture, with a person's own answer."""

from annotation.models import Annotation, Slot
from annotation.sheets.sheet import Sheet
from benchmarks.models import Item
from people.models import Rater
from predictions.prompts.registry import prompt
from predictions.queries.example_items import choose_example_items
from predictions.queries.scenes import Scenes
from tests.personas import SHEET, World
from tests.samples import assign, open_campaign


def test_one_item_a_culture_that_a_person_answered(world: World) -> None:
    items = world.add_items(6)
    Item.objects.filter(pk__in=[one.pk for one in items]).update(text="What is it?")
    for cohort, person in ((world.egypt, world.nour), (world.brazil, world.bia)):
        opened = open_campaign(world, cohort)
        for slot in Slot.objects.filter(cohort=opened, unit__item__in=items[:4]):
            assign(opened, person, slot, code="4")
    chosen = choose_example_items(world.stage)
    targets = dict(Annotation.objects.values_list("assignment__unit__item__key", "assignment__unit__target"))
    assert len(chosen) == 2 and set(chosen) <= {one.key for one in items[:4]}
    assert set(chosen) <= set(targets)
    assert chosen == choose_example_items(world.stage), "the same every time"
    assert {tuple(choose_example_items(world.stage, seed)) for seed in range(20)} != {tuple(chosen)}, (
        "drawn, not the first"
    )


def test_a_models_answer_is_no_example(world: World) -> None:
    items = world.add_items(2)
    Item.objects.filter(pk__in=[one.pk for one in items]).update(text="What is it?")
    opened = open_campaign(world, world.egypt)
    slot = Slot.objects.filter(cohort=opened).first()
    assert slot is not None
    assignment = assign(opened, world.nour, slot, code="4")
    few, sheet = prompt("culturalvqa-few-shot"), Sheet.from_json(SHEET)
    scenes = Scenes(world.stage, sheet, few, {"examples": choose_example_items(world.stage)})
    assert [one["item"] for one in scenes.options["examples"]] == [slot.unit.item.key]
    model = Rater.objects.create(kind=Rater.Kind.MODEL, team=world.team, name="model-a")
    Annotation.objects.filter(assignment=assignment).update(rater=model)
    assert choose_example_items(world.stage) == []
    again = Scenes(world.stage, sheet, few, {"examples": [slot.unit.item.key]})
    assert [one["answer"] for one in again.options["examples"]] == [""]
