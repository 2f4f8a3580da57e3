"""What was said about what, by whom: who is counted, what comes out of each array, and that measures see the same."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from django.db import connection
from django.http import QueryDict
from django.test.utils import CaptureQueriesContext

from annotation.models import Annotation, Campaign
from annotation.services.campaigns import lifecycle
from benchmarks.models import Item
from evaluation.metrics.alpha import alpha
from evaluation.queries.observations import Observations, answers, observe
from evaluation.queries.ratings import ratings
from evaluation.selections.catalogue import catalogue_of
from evaluation.selections.selection import Selection, select
from tests.evaluation.data import NOON, an_open_campaign, give_ratings, of_condition, table
from tests.evaluation.sample_tables import model, store_answers
from tests.module_world import built_once
from tests.personas import World


@built_once
def campaign(world: World) -> Campaign:
    """Egypt's two people rate five natural photos, Brazil's Bia two; a model rates three for Egypt, one for Peru."""
    world.add_items(20)
    Item.objects.filter(pk=world.items[0].pk).update(context={"survey": "wave 7"})
    new_campaign = an_open_campaign(world)
    natural = of_condition(world.items, "natural")
    table(new_campaign, world.egypt, natural[:5], {world.nour: "11223", world.tarek: "12233"})
    table(new_campaign, world.brazil, natural[:2], {world.bia: "45"})
    judge = model(world.team, "Judge", "main", family="small")
    store_answers(
        new_campaign, judge, {(natural[0], "Egypt"): "1", (natural[1], "Egypt"): "2", (natural[2], "Egypt"): "5"}
    )
    store_answers(new_campaign, judge, {(natural[0], "Peru"): "3"})
    return new_campaign


def select_from(world: World, query: str = "", **more: Any) -> Selection:
    return replace(select(catalogue_of(world.benchmark), QueryDict(query)), **more)


def observe_everybody(world: World, query: str = "") -> Observations:
    return observe(select_from(world, query, raters=("person", "model")))


def codes_by_triple(observations: Observations) -> dict[tuple[str, str, str], str]:
    """(item, target, rater) to code, read back through every tuple."""
    rows = zip(observations.item, observations.target, observations.rater, observations.code, strict=True)
    return {
        (observations.items[i].key, observations.targets[t], observations.raters[r].name): observations.codes[c]
        for i, t, r, c in rows
    }


def test_people_and_models_stand_in_one_table_each_about_its_target(world: World, campaign: Campaign) -> None:
    observations = observe_everybody(world)
    natural = of_condition(world.items, "natural")
    nour = world.benchmark.pseudonym(world.nour.rater.pk)
    codes = codes_by_triple(observations)
    assert observations.n == len(codes) == 10 + 2 + 3 + 1
    assert [codes[item.key, "Egypt", nour] for item in natural[:5]] == list("11223")
    assert codes[natural[2].key, "Egypt", "Judge"] == "5"
    assert codes[natural[0].key, "Peru", "Judge"] == "3"
    assert observations.targets == ("Brazil", "Egypt", "Peru")
    assert observations.cohorts == ("Egypt", "Brazil")
    assert [observations.codes[c] for c in observations.code] == [f"{v:g}" for v in observations.value]


def test_people_bear_the_name_they_have_here_and_stand_before_the_models(world: World, campaign: Campaign) -> None:
    observations = observe_everybody(world)
    assert [who.kind for who in observations.raters] == ["person"] * 3 + ["model"]
    names = {who.name for who in observations.raters if not who.is_model}
    assert names == {world.benchmark.pseudonym(u.rater.pk) for u in (world.nour, world.tarek, world.bia)}
    assert (observations.raters[-1].name, observations.raters[-1].setting, observations.raters[-1].about) == (
        "Judge",
        "main",
        {"family": "small"},
    )


def test_a_model_belongs_to_no_cohort(world: World, campaign: Campaign) -> None:
    observations = observe_everybody(world)
    assert set(observations.cohort[observations.by_model]) == {-1}
    assert sorted(np.unique(observations.people.cohort).tolist()) == [0, 1]
    assert observations.people.n == 12
    assert observe(select_from(world)).n == 12  # the selection of the pages asks for people alone


def test_a_unit_is_an_item_for_a_target(world: World, campaign: Campaign) -> None:
    observations = observe_everybody(world)
    # Egypt 5 units, Brazil 2, and what the model alone said of Peru
    assert np.unique(observations.unit).size == 5 + 2 + 1
    egypt = observations.where(observations.target == observations.targets.index("Egypt"))
    assert np.unique(egypt.unit).size == 5


@pytest.mark.parametrize("query", ["", "measure=alpha_nominal", "counted=all", "condition=natural"])
def test_measures_see_what_the_pages_readers_see(world: World, campaign: Campaign, query: str) -> None:
    natural = of_condition(world.items, "natural")
    [third] = world.add_annotators(world.egypt, 1)
    give_ratings(campaign, world.egypt, third, dict.fromkeys(natural[:5], "5"), because="surplus")
    selection = select_from(world, f"{query}&cohort={world.egypt.pk}")
    ours = observe(selection).ratings
    theirs = ratings(selection).cells[world.egypt.pk, "natural"]
    assert (ours.n_units, ours.n_raters, ours.n_ratings) == (theirs.n_units, theirs.n_raters, theirs.n_ratings)
    pairs = [sorted(zip(r.unit.tolist(), r.rater.tolist(), r.value.tolist(), strict=True)) for r in (ours, theirs)]
    assert [row[0] for row in pairs[0]] == [row[0] for row in pairs[1]]  # both number units as the database does
    assert alpha(ours, "ordinal").value == alpha(theirs, "ordinal").value is not None
    if not query:
        # nominal: 2 of 5 pairs differ, D_o = 0.4; counts 3, 4, 3: D_e = 66 / 90 (as in test_agreement_page)
        assert alpha(ours, "nominal").value == pytest.approx(1 - 0.4 * 90 / 66)


def test_what_does_not_count_is_left_out_until_it_is_asked_for(world: World, campaign: Campaign) -> None:
    [third] = world.add_annotators(world.egypt, 1)
    give_ratings(campaign, world.egypt, third, {world.items[0]: "5"}, because="excluded")
    assert observe_everybody(world).n == 16
    assert observe_everybody(world, "counted=all").n == 17
    Annotation.objects.filter(rater__user=world.bia).update(live=False, counted=False, uncounted_because="withdrawn")
    world.bia.rater.ratings.update(live=False, counted=False)
    assert observe_everybody(world).n == 14


@pytest.mark.parametrize(("repeats", "code"), [("latest", "5"), ("first", "1")])
def test_of_two_answers_to_one_unit_one_is_kept(world: World, campaign: Campaign, repeats: str, code: str) -> None:
    again = an_open_campaign(world, name="Round two")
    first = of_condition(world.items, "natural")[0]
    give_ratings(again, world.egypt, world.nour, {first: "5"})
    judge = model(world.team, "Another")
    store_answers(campaign, judge, {(first, "Egypt"): "1"})
    store_answers(again, judge, {(first, "Egypt"): "5"})
    observations = observe_everybody(world, f"repeats={repeats}")
    codes = codes_by_triple(observations)
    nour = world.benchmark.pseudonym(world.nour.rater.pk)
    assert codes[first.key, "Egypt", nour] == codes[first.key, "Egypt", "Another"] == code
    assert observations.n == len(codes) == 17


def test_rows_are_cut_by_item_by_rater_and_by_model(world: World, campaign: Campaign) -> None:
    observations = observe_everybody(world)
    natural = of_condition(world.items, "natural")
    egyptian = observations.of_item({"origin": "Egypt", "condition": "natural"})
    keys = {observations.items[i].key for i in observations.item[egyptian]}
    assert keys == {item.key for item in natural[:5] if item.origin == "Egypt"}
    assert {observations.items[i].key for i in observations.item[observations.of_item({"survey": "wave 7"})]} == {
        "item-00000"
    }
    assert observations.item_values("survey")[0] == "wave 7"
    assert observations.item_values("survey")[1] is None
    [(place, rater)] = observations.models()
    assert rater.name == "Judge"
    assert observations.of_rater(place).n == 4
    assert observations.models("main") == [(place, rater)]
    assert observations.models("text_only") == []
    # a part in which the model said nothing has no model, though the tuples stay whole
    assert observations.people.models() == []
    assert observations.people.raters == observations.raters


def test_models_of_one_name_are_told_apart_by_setting(world: World, campaign: Campaign) -> None:
    first = world.items[0]
    for name, setting in (("Judge", "blind"), ("Arbiter", "main")):
        store_answers(campaign, model(world.team, name, setting), {(first, "Egypt"): "1"})
    assert [(w.name, w.setting) for _n, w in observe_everybody(world).models()] == [
        ("Arbiter", "main"), ("Judge", "blind"), ("Judge", "main"),
    ]  # fmt: skip


def test_observations_without_answers_are_empty(world: World) -> None:
    world.add_items(4)
    an_open_campaign(world)
    observations = observe_everybody(world)
    assert (observations.n, observations.items, observations.raters, observations.codes) == (0, (), (), ())
    assert (observations.people.n, observations.models(), observations.of_item({"origin": "Egypt"}).size) == (0, [], 0)
    given = observations.ratings
    assert (given.n_units, given.n_raters, given.n_ratings) == (0, 0, 0)


def test_a_code_that_is_no_number_is_left_out_of_an_ordered_measure(world: World, campaign: Campaign) -> None:
    first = of_condition(world.items, "natural")[4]
    store_answers(campaign, model(world.team, "Unsure"), {(first, "Egypt"): "cannot say"})
    seen = observe_everybody(world)
    assert seen.n == 17
    assert seen.ratings.n_ratings == 16


def test_reading_takes_the_same_number_of_queries_however_much_there_is(world: World, campaign: Campaign) -> None:
    selection = select_from(world, "", raters=("person", "model"))

    def queries() -> int:
        with CaptureQueriesContext(connection) as seen:
            observe(selection)
        return len(seen)

    before = queries()
    for user in world.add_annotators(world.egypt, 4):
        give_ratings(campaign, world.egypt, user, dict.fromkeys(world.items, "3"))
    assert queries() == before


def test_texts_come_whole_with_who_wrote_them(world: World) -> None:
    stage = world.stage
    title: dict[str, Any] = {
        "key": "title", "kind": "text", "version": 1, "label": {"en": "What is it called?"}, "help": {},
        "required": True, "config": {},
    }  # fmt: skip
    stage.sheet = {"fields": [title]}
    stage.save()
    world.add_items(3)
    campaign = lifecycle.create(stage, "Names", world.owner, {world.egypt: 2})
    lifecycle.open_campaign(campaign, world.owner, NOON)
    first, second, _three = world.items
    writer = model(world.team, "Writer", "vlm")
    texts: Mapping[Any, Any] = {(second, "Egypt"): "koshary", (first, "Egypt"): "ful"}
    store_answers(campaign, writer, texts, field="title", codes=False)
    selection = select(catalogue_of(world.benchmark), QueryDict(), field="title")
    assert (selection.field, selection.level) == ("title", "text")
    both = replace(selection, raters=("person", "model"))
    found = list(answers(both))
    assert [(s.thing.key, s.target, s.rater.name, s.rater.setting, s.cohort, s.answer) for s in found] == [
        (first.key, "Egypt", "Writer", "vlm", "", "ful"),
        (second.key, "Egypt", "Writer", "vlm", "", "koshary"),
    ]
    assert list(answers(selection)) == []  # people alone, and nobody wrote
    Annotation.objects.filter(answers__title="ful").update(counted=False, uncounted_because="surplus")
    assert [s.answer for s in answers(both)] == ["koshary"]
