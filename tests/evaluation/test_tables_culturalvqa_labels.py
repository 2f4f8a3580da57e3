"""What judges and people say of CulturalVQA's questions: sub-categories that people correct, and stereotypes."""

import pytest

from annotation.models import Campaign, Rating
from benchmarks.models import Item
from papers.culturalvqa.prompts import questions as prompts
from people.models import Rater
from people.services.raters import rater_of
from tests.evaluation.sample_tables import model, store_answers
from tests.evaluation.test_tables_culturalvqa import Study, cell, study, value  # noqa: F401  (study: a fixture)
from tests.personas import World

pytestmark = pytest.mark.django_db


def create_labelled(study: Study, stage: str, world: World) -> tuple[Campaign, list[Item]]:  # noqa: F811
    items = [study.item(stage, key, key) for key in ("q1", "q2", "q3")]
    for one in items:
        Item.objects.filter(pk=one.pk).update(context={"facet": "food"})
    return study.open(stage), items


def test_people_correct_what_a_judge_says_of_sub_categories(world: World, study: Study) -> None:  # noqa: F811
    study.lave()
    for item in Item.objects.filter(stage__key="lave"):
        item.context = {**item.context, "sub_category": ""}
        item.save()
    campaign, items = create_labelled(study, "sub-categories", world)
    judge = Rater.objects.get(name="Judge")
    store_answers(campaign, judge, {(one, ""): "taste" for one in items}, field="sub_category")
    table = study.table("table-6")
    taste = cell(table, "Taste", "food, GPT-4")
    assert value(taste) == 0.5 and taste.estimate.n_units == 2, "q1 and q3 are of food; GPT-4 is right in q1"
    somebody = rater_of(study.people["Brazil"][0])
    store_answers(campaign, somebody, {(items[0], ""): "ingredients"}, field="sub_category")
    table = study.table("table-6")
    assert value(cell(table, "Ingredients", "food, GPT-4")) == 1 and value(cell(table, "Taste", "food, GPT-4")) == 0
    assert any("as people said" in str(words) for words in table.words)


def test_stereotypes_are_counted_by_what_they_are_about(world: World, study: Study) -> None:  # noqa: F811
    campaign, items = create_labelled(study, "stereotypes", world)
    first = model(world.team, "First")
    values = ("stereotype", "neither", "neither")
    store_answers(campaign, first, dict(zip([(i, "") for i in items], values, strict=True)), field="stereotype")
    table = study.table("stereotypes")
    yes = cell(table, "Yes, on a stereotype", "First")
    assert value(yes) == pytest.approx(1 / 3) and yes.estimate.n_units == 3
    assert value(cell(table, "Neither", "First")) == pytest.approx(2 / 3)
    assert cell(table, "It goes against one", "First").shown == "0.0"


def test_an_unreadable_subject_of_a_stereotype_is_unknown_and_not_zero(world: World, study: Study) -> None:  # noqa: F811
    """Two of three rest on a stereotype, none against one: first without what they are about, then one with it."""
    campaign, items = create_labelled(study, "stereotypes", world)
    first = model(world.team, "First")
    units = [(item, "") for item in items]
    values = ("stereotype", "stereotype", "neither")
    store_answers(campaign, first, dict(zip(units, values, strict=True)), field="stereotype")

    def shown() -> list[list[str]]:
        rows = [cell.text or cell.shown for row in study.table("stereotypes").rows for cell in row.cells]
        return [rows[:6], rows[6:11], rows[11:]]

    none = ["0.0", "0", "0", "0", "0"]
    assert shown() == [["66.7", "–", "–", "–", "–", "2"], none, ["33.3"]]
    rating = Rating.objects.get(campaign=campaign, unit__item=items[0], field="stereotype")
    rating.pk, rating.field, rating.code = None, "about", "gender"
    rating.save()
    assert shown() == [["66.7", "0", "1", "0", "0", "1"], none, ["33.3"]]


def test_the_stages_take_the_codes_that_the_prompts_ask_for(study: Study) -> None:  # noqa: F811
    sheet = study.benchmark.stages.get(key="sub-categories").sheet
    codes = [one["code"] for one in sheet["fields"][0]["config"]["options"]]
    assert set(codes) == {*prompts.FIRST, *prompts.SECOND}
    fields = study.benchmark.stages.get(key="stereotypes").sheet["fields"]
    assert tuple(one["key"] for one in fields) == prompts.STEREOTYPE.only
