"""Collections out of a stage's items: entries with pictures, queries of the papers, trials by rules and a seed."""

import re
from collections import Counter
from itertools import product

import pytest

from benchmarks.models import Item, ItemImage, Stage
from jobs.models import Event
from papers.xcm.tables.trials import THREE as XCM_ROLES
from predictions.models import Collection, Entry, Query
from predictions.retrieval import trials
from predictions.retrieval.trials import TrialPicture
from predictions.services.collections import builder
from predictions.services.collections.builder import NATIVE, SIX, THREE, UNIVERSALS, CollectionPlan
from predictions.services.runs.result_runs import FileRunRefused
from tests.module_world import built_once
from tests.personas import World
from tests.predictions.shapes import store
from tests.predictions.tiny_clip import draw_shape, png

LANGUAGES = {"Egypt": "ar", "Brazil": "pt", "Japan": "ja", "Portugal": "pt"}
CONCEPTS = ("train", "bread", "tea")


def trial_picture(country: str, concept: str, number: int = 0, **more: object) -> TrialPicture:
    language = LANGUAGES[country]
    fields = {"native": f"{concept} in {language}", "labels": frozenset([concept]), **more}
    return TrialPicture(f"{country}-{concept}-{number}", concept, country, language, **fields)  # type: ignore[arg-type]


PICTURES = [trial_picture(country, concept, n) for country, concept, n in product(LANGUAGES, CONCEPTS, range(3))]
BY_KEY = {one.key: one for one in PICTURES}
TEXTS = {(concept, country, language): f"{concept} of {country} in {language}"
         for concept, country, language in product(CONCEPTS, LANGUAGES, set(LANGUAGES.values()))}  # fmt: skip


def test_three_candidates_keep_the_rules_for_every_seed() -> None:
    drawn_ones = trials.draw_three(PICTURES, 1)
    assert len(drawn_ones.trials) == len(PICTURES) and drawn_ones.left_out == {}
    for trial in drawn_ones.trials:
        seed, roles = trial.seed, {role: BY_KEY[key] for role, key in trial.roles.items()}
        assert tuple(roles) == XCM_ROLES and len(set(trial.roles.values())) == 3
        assert roles["correct"].concept == seed.concept and roles["correct"].country != seed.country
        assert roles["language_biased"].concept != seed.concept and roles["language_biased"].country == seed.country
        assert roles["irrelevant"].concept != seed.concept and roles["irrelevant"].country != seed.country


def test_six_candidates_keep_the_rules_for_every_seed() -> None:
    drawn_ones = trials.draw_six(PICTURES, TEXTS, 1)
    assert len(drawn_ones.trials) == len(PICTURES)
    for trial in drawn_ones.trials:
        seed, country = trial.seed, trial.descriptor
        assert LANGUAGES[country] != seed.language, "the descriptor's country has another language"
        assert trial.described == f"{seed.concept} of {country} in {seed.language}"
        roles = {role: BY_KEY[key] for role, key in trial.roles.items()}
        where = {role: (one.concept == seed.concept, one.country) for role, one in roles.items()}
        assert where["correct"] == (True, country) and where["object_language_biased"] == (True, seed.country)
        assert where["descriptor_relevant"] == (False, country) and where["language_biased"] == (False, seed.country)
        for role, same in (("object_relevant", True), ("irrelevant", False)):
            assert where[role][0] is same and where[role][1] not in (country, seed.country)


def test_no_candidate_of_another_concept_shows_the_querys() -> None:
    mixed = [
        trial_picture(
            country, concept, number, labels=frozenset(["train", "bread"] if concept == "bread" else [concept])
        )
        for country, concept, number in product(LANGUAGES, CONCEPTS, range(2))
    ]
    pictures = {one.key: one for one in mixed}
    trains = [one for one in trials.draw_three(mixed, 3).trials if one.seed.concept == "train"]
    assert trains and {pictures[one.roles["language_biased"]].concept for one in trains} == {"tea"}
    assert {pictures[one.roles["irrelevant"]].concept for one in trains} == {"tea"}


def test_the_seed_decides_and_another_seed_draws_otherwise() -> None:
    first, again, other = (
        trials.draw_three(order, seed) for order, seed in ((PICTURES, 1), (PICTURES[::-1], 1), (PICTURES, 2))
    )
    assert first == again and first != other
    drawn_often = Counter(one.roles["correct"] for one in first.trials)
    assert max(drawn_often.values()) < 8, "no candidate is drawn all the time"


def test_another_language_is_asked_for_where_that_is_wanted() -> None:
    strict = trials.draw_three(PICTURES, 1, other_language=True)
    pairs = [(one.seed.language, BY_KEY[one.roles["correct"]].language) for one in strict.trials]
    assert all(mine != other for mine, other in pairs)
    loose = trials.draw_three(PICTURES, 1)
    assert any(one.seed.language == BY_KEY[one.roles["correct"]].language for one in loose.trials)


def test_a_seed_without_partners_or_words_yields_no_trial_and_is_counted() -> None:
    alone = [*PICTURES, trial_picture("Egypt", "pyramid"), trial_picture("Japan", "tea", 9, native="")]
    assert trials.draw_three(alone, 1).left_out == {"correct": 1, "no_words": 1}
    few = {key: words for key, words in TEXTS.items() if key[1] != "Japan"}
    assert trials.draw_six(PICTURES, few, 1).left_out["no_described"] > 0
    assert trials.draw_six([trial_picture("Egypt", "tea")], TEXTS, 1).left_out == {"no_country": 1}


@built_once
def stage(world: World):
    for number, (country, concept) in enumerate(product(("Egypt", "Brazil", "Japan"), CONCEPTS)):
        item = Item.objects.create(
            stage=world.stage,
            key=f"{country}-{concept}",
            concept=concept,
            origin=country,
            text=f"A {concept}",
            context={
                "concept_in_native": f"{concept} x {country}",
                "labels": [concept],
                "title": f"t{number}",
                "deep": {},
            },
        )
        image = store(world.team, png(draw_shape("red", "circle", seed=number)))
        ItemImage.objects.create(item=item, image=image, role="image")
    Stage.objects.filter(pk=world.stage.pk).update(target_answers=0)  # nobody is asked: all its items go in
    return Stage.objects.get(pk=world.stage.pk)


@pytest.mark.django_db
def test_entries_hold_pictures_and_what_numbers_are_cut_by(world: World, stage) -> None:
    queries = (UNIVERSALS, NATIVE, THREE)
    plan = CollectionPlan(stage, "Everyday", queries=queries, seed=4, languages={"Japan": "ja"})
    result = builder.build_collection(plan, world.mara)
    assert (
        result.entries == 9
        and result.queries == {UNIVERSALS: 3, NATIVE: 9, "plain": 9}
        and not result.left_out["plain"]
    )
    entry = Entry.objects.get(collection=result.collection, key="Japan-tea")
    assert entry.image and entry.about == {  # no language: tables tell texts from pictures by it
        "item": "Japan-tea", "concept": "tea", "country": "Japan", "text": "A tea",
        "concept_in_native": "tea x Japan", "labels": ["tea"], "title": "t8",
    }  # fmt: skip
    universal = Query.objects.get(collection=result.collection, query_set=UNIVERSALS, key="tea")
    assert universal.text == "tea" and universal.relevant == ["Brazil-tea", "Egypt-tea", "Japan-tea"]
    native = Query.objects.get(collection=result.collection, query_set=NATIVE, key="Egypt-tea")
    assert native.text == "tea x Egypt" and native.about["country"] == "Egypt" and native.about["language"] == "ar"
    trial = Query.objects.get(collection=result.collection, query_set="plain", key="Egypt-tea")
    assert trial.text == "tea x Egypt" and set(trial.roles) == set(XCM_ROLES)
    assert Event.objects.get(verb="collection.made").data["seed"] == 4


@pytest.mark.django_db
def test_the_descriptor_task_has_the_same_trials_with_and_without_the_country(world: World, stage) -> None:
    every = product(CONCEPTS, ("Egypt", "Brazil", "Japan"), ("ar", "pt", "ja"))
    words = {(concept, country, language): f"{concept} of {country}" for concept, country, language in every}
    plan = CollectionPlan(stage, "Six", queries=(SIX,), words=words, languages={"Japan": "ja"})
    result = builder.build_collection(plan, world.mara)
    assert result.queries == {"plain-six": 9, "descriptor": 9}
    for query in Query.objects.filter(collection=result.collection, query_set="descriptor"):
        plain = Query.objects.get(collection=result.collection, query_set="plain-six", key=query.key)
        assert plain.roles == query.roles and "descriptor" not in plain.about
        assert re.fullmatch(rf"{plain.about['concept']} of {query.about['descriptor']}", query.text)


@pytest.mark.django_db
def test_pictures_ask_for_captions_of_their_item(world: World, stage) -> None:
    made = builder.build_collection(CollectionPlan(stage, "Captions", what="texts", asked_by=stage), world.mara)
    assert made.queries == {"images": 9} and Entry.objects.filter(collection=made.collection, image=None).count() == 9
    query = Query.objects.get(collection=made.collection, key="Japan-tea")
    assert query.image and query.text == "" and query.relevant == ["Japan-tea"]


@pytest.mark.django_db
@pytest.mark.parametrize("pictures", [Stage.Pictures.ONE, Stage.Pictures.NONE])
def test_items_that_filters_dropped_ask_nothing(world: World, stage, pictures: str) -> None:
    Stage.objects.filter(pk=stage.pk).update(pictures=pictures)
    stage.refresh_from_db()
    Item.objects.filter(stage=stage).update(text="A caption")
    Item.objects.filter(stage=stage, key="Japan-tea").update(intake=Item.Intake.DROPPED)
    made = builder.build_collection(CollectionPlan(stage, "Captions", what="texts", asked_by=stage), world.mara)
    asked = set(Query.objects.filter(collection=made.collection).values_list("key", flat=True))
    assert len(asked) == 8 and "Japan-tea" not in asked


@pytest.mark.django_db
def test_pictures_without_native_names_refuse_with_what_they_lack(world: World, stage) -> None:
    for item in Item.objects.filter(stage=stage):
        item.context.pop("concept_in_native")
        item.save(update_fields=["context"])
    with pytest.raises(FileRunRefused, match="No query could be made: no words in the language of its country"):
        builder.build_collection(CollectionPlan(stage, "Trials", queries=(NATIVE, THREE, SIX)), world.mara)
    assert not Collection.objects.exists()


@pytest.mark.django_db
def test_all_or_nothing_is_made(world: World, stage) -> None:
    builder.build_collection(CollectionPlan(stage, "Once"), world.mara)
    for plan, words in (
        (CollectionPlan(stage, "Once"), "another version"),
        (CollectionPlan(stage, "مجموعة"), "Latin letters"),
        (CollectionPlan(stage, "Six", queries=(SIX,)), "No query could be made"),
    ):
        with pytest.raises(FileRunRefused, match=words):
            builder.build_collection(plan, world.mara)
    Item.objects.filter(stage=stage).update(withdrawn_at="2026-01-01T00:00Z")
    with pytest.raises(FileRunRefused, match="has a picture"):
        builder.build_collection(CollectionPlan(stage, "Empty"), world.mara)
    assert Collection.objects.count() == 1
