"""Queries that people wrote become query sets of a collection: by a press, and following what is accepted until a run
reads them."""

from collections.abc import Mapping
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.fields.contract import Shown
from annotation.models import Annotation, Review, Unit
from annotation.services.answers import model_answers
from annotation.services.answers.model_answers import AnswerDestination, ModelAnswer
from annotation.services.review import reviews
from annotation.services.sheets.sheet_versions import sheet_of
from benchmarks.models import Item
from people.models import Rater
from predictions import tasks
from predictions.models import Collection, Query
from predictions.services.collections import builder, written_queries
from predictions.services.runs.result_runs import FileRunRefused
from tests.annotation.chain.disputed_scene import a_willing_person
from tests.annotation.chain.factories import a_field, a_stage, answer, claim_sheet, create_open_campaign
from tests.personas import World
from tests.predictions.file_helpers import a_run, jsonl
from tests.predictions.test_people_texts import CONCEPTS, Scene

pytestmark = pytest.mark.django_db
SHEET = {"fields": [{**a_field(key, "text"), "required": False} for key in ("task", "casual")]}


def sent_by(monkeypatch: pytest.MonkeyPatch) -> list[tuple[object, ...]]:
    """What the worker is told."""
    sent: list[tuple[object, ...]] = []
    monkeypatch.setattr(written_queries, "dispatch", lambda *told: sent.append(told))
    return sent


class Study:
    """The pictures of `Scene` with native names, their collection, and a stage in which both countries write."""

    def __init__(self, world: World) -> None:
        self.scene, self.world = Scene(world), world
        self.scene.name()
        self.stage = a_stage(
            world.benchmark, "queries", SHEET, display="words", pictures="none", own_items_only=True,
            acceptance="by_review",
        )  # fmt: skip
        cohorts = (world.brazil, world.egypt)
        Item.objects.bulk_create(
            Item(stage=self.stage, key=f"{concept}-{cohort.label}", concept=concept, origin=cohort.label, text=concept)
            for concept in CONCEPTS for cohort in cohorts
        )  # fmt: skip
        self.campaign = create_open_campaign(self.stage, *cohorts)
        self.client: Client = self.scene.client()

    def write(self) -> None:
        for cohort in (self.world.brazil, self.world.egypt):
            person = a_willing_person(cohort)
            while sheet := claim_sheet(person, self.campaign, cohort):
                concept = sheet.unit.item.concept
                answer(sheet, task=f"{concept} for work, {cohort.label}", casual=f"{concept}, {cohort.label}")

    def of(self, key: str) -> Annotation:
        return Annotation.objects.get(assignment__unit__item__key=key, assignment__campaign=self.campaign, live=True)

    def accept(self, *keys: str) -> list[Review]:
        return [reviews.decide(self.of(key).pk, self.world.reviewer, "accept", timezone.now()) for key in keys]

    def write_as(self, model: str, setting: str, countries: tuple[str, ...] = ("Brazil", "Egypt")) -> Rater:
        """A model answers the question of its setting, as the engine writes it."""
        rater = Rater.objects.create(kind="model", team=self.world.team, name=model, setting=setting)
        sheet, now, answers = sheet_of(self.campaign.sheet_version), timezone.now(), []
        for item in self.stage.items.filter(origin__in=countries):
            unit, _new = Unit.objects.get_or_create(item=item, target="")
            parsed = sheet.parse({setting: f"{item.concept} by {model}"}, Shown(item.pk))
            answers.append(ModelAnswer(unit.pk, item.pk, 0, f"run:1:{unit.pk}0:", parsed, now, now, 1))
        model_answers.write(AnswerDestination.of(self.campaign, rater), answers, now)
        return rater

    def page(self, collection: Collection) -> str:
        return reverse("predictions:collection_queries", args=[self.world.benchmark.slug, collection.pk])

    def take(self, collection: Collection, **more: str) -> str:
        reply = self.client.post(self.page(collection), {"stage": self.stage.pk, **more}, follow=True)
        assert reply.status_code == 200
        return reply.content.decode()


def texts(collection: Collection, name: str) -> Mapping[str, str]:
    return dict(Query.objects.filter(collection=collection, query_set=name).values_list("key", "text"))


def test_accepted_queries_ask_the_same_trials_in_other_words(world: World) -> None:
    study = Study(world)
    collection = study.scene.create()
    study.write()
    assert "Nothing is accepted in this stage yet" in study.take(collection)
    study.client.post(study.page(collection), {"remove": "1"})
    study.accept("train-Brazil", "tea-Egypt")
    page = study.take(collection)
    assert "8 queries were taken." in page and "Follows what is accepted" in page
    assert texts(collection, "casual") == {
        "Brazil-train-0": "train, Brazil", "Brazil-train-1": "train, Brazil",
        "Egypt-tea-0": "tea, Egypt", "Egypt-tea-1": "tea, Egypt",
    }  # fmt: skip
    for query in Query.objects.filter(collection=collection, query_set="task"):
        plain = Query.objects.get(collection=collection, query_set="plain", key=query.key)
        assert (query.roles, query.relevant, query.about) == (plain.roles, plain.relevant, plain.about)
    assert len(texts(collection, "plain")) == 12, "the plain set stays as it is"


def test_sets_follow_what_is_accepted_until_a_run_reads_them(world: World) -> None:
    study = Study(world)
    collection = study.scene.create()
    study.write()
    [decision, _other] = study.accept("train-Brazil", "tea-Egypt")
    study.take(collection)
    reviews.undo(decision.pk, world.reviewer, timezone.now())
    study.accept("tea-Brazil")
    assert written_queries.follow_written_queries() == 8 and written_queries.follow_written_queries() == 0
    assert set(texts(collection, "task").values()) == {"tea for work, Brazil", "tea for work, Egypt"}

    Annotation.objects.filter(pk=study.of("tea-Brazil").pk).update(answers={"task": "Tea, please", "casual": "Tea"})
    assert written_queries.follow_written_queries() == 4, "two pictures and two questions"
    assert texts(collection, "task")["Brazil-tea-1"] == "Tea, please"

    asked = Query.objects.filter(collection=collection, query_set="task")
    rows = [{"query": query.key, "keys": list(query.roles.values()), "scores": [0.3, 0.2, 0.1]} for query in asked]
    a_run(world, jsonl(rows), collection=collection, task="forced_choice", query_set="task")
    study.accept("railway-Egypt")
    assert written_queries.follow_written_queries() == 2, "of the set that no run has read"
    assert len(texts(collection, "task")) == 4 and len(texts(collection, "casual")) == 6
    page = study.client.get(study.page(collection)).content.decode()
    assert "The next version would change 2 queries." in page
    url = reverse("predictions:collection_next", args=[world.benchmark.slug, collection.pk])
    assert "would change 2 trials of the query set <bdi>task</bdi>" in study.client.get(url).content.decode()


def test_queries_are_removed_again_while_no_run_has_read_them(world: World) -> None:
    study = Study(world)
    collection = study.scene.create()
    study.write()
    study.accept("train-Brazil")
    study.take(collection)
    study.client.post(study.page(collection), {"remove": "1"})
    assert not texts(collection, "task") and written_queries.follow_written_queries() == 0
    study.take(collection)
    rows = [{"query": key, "keys": ["Egypt-tea-0"], "scores": [0.1]} for key in texts(collection, "casual")]
    a_run(world, jsonl(rows), collection=collection, task="retrieval", query_set="casual")
    reply = study.client.post(study.page(collection), {"remove": "1"})
    assert reply.status_code == 400 and "so they stay" in reply.content.decode() and texts(collection, "task")


def test_a_text_for_the_word_itself_goes_before_one_for_a_merged_word(world: World) -> None:
    study = Study(world)
    study.scene.merge()
    study.write()
    study.accept("train-Brazil", "railway-Brazil", "railway-Egypt")
    found = written_queries.accepted_texts(study.stage, study.scene.merges)["casual"]
    assert found == {("train", "Brazil"): "train, Brazil", ("train", "Egypt"): "railway, Egypt"}


def test_only_trials_of_this_benchmark_take_queries_and_only_researchers_do(world: World) -> None:
    study = Study(world)
    collection = study.scene.create()
    collection.queries.filter(query_set="plain").delete()
    with pytest.raises(FileRunRefused):
        written_queries.take_queries(collection, study.stage, world.mara)
    assert "no forced choice between three" in study.client.get(study.page(collection)).content.decode()
    for visitor in (world.stranger, world.bia):
        assert world.client(visitor).get(study.page(collection)).status_code == 404
    assert study.client.post(study.page(collection), {"stage": study.scene.unique.pk}).status_code == 400


def test_queries_of_models_are_sets_that_bear_their_names(world: World) -> None:
    study = Study(world)
    collection = study.scene.create()
    assert "Also queries that models wrote" not in study.client.get(study.page(collection)).content.decode()
    heron = study.write_as("Heron v1", "task")
    study.write_as("Heron v1", "casual", ("Brazil",))
    assert "Also queries that models wrote" in study.client.get(study.page(collection)).content.decode()
    study.take(collection)
    assert not texts(collection, "task-model-heron-v1"), "nobody asked for them"
    study.client.post(study.page(collection), {"remove": "1"})
    page = study.take(collection, by_models="on")
    assert "18 queries were taken." in page and "Heron v1" in page, page[-3500:]
    assert "Follows what the model answered" in page
    assert texts(collection, "task-model-heron-v1")["Egypt-tea-0"] == "tea by Heron v1"
    assert len(texts(collection, "casual-model-heron-v1")) == 6 and not texts(collection, "task")
    rows = Annotation.objects.filter(rater=heron, assignment__unit__item__concept="tea")
    rows.update(counted=False, uncounted_because="withdrawn")
    assert written_queries.follow_written_queries() == 4 and len(texts(collection, "task-model-heron-v1")) == 8
    study.stage.items.filter(concept="railway").update(intake=Item.Intake.DROPPED)
    assert written_queries.follow_written_queries() == 6 and len(texts(collection, "task-model-heron-v1")) == 4
    study.stage.items.update(intake="")
    assert written_queries.follow_written_queries() == 6
    Annotation.objects.filter(rater=heron).update(counted=False, uncounted_because="withdrawn")
    assert written_queries.follow_written_queries() == 8 and not texts(collection, "task-model-heron-v1")


def test_the_next_version_keeps_the_queries_of_models(world: World) -> None:
    study = Study(world)
    study.write_as("Heron v1", "task")
    collection = study.scene.create(queries_from=study.stage.pk, queries_by_models="on")
    assert len(texts(collection, "task-model-heron-v1")) == 12
    plan = builder.plan_from(collection, "2")
    second = builder.build_collection(plan, world.mara).collection
    assert texts(second, "task-model-heron-v1") == texts(collection, "task-model-heron-v1")


def test_a_decision_sends_the_worker_to_the_collections_that_take_the_queries(
    world: World, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    study, sent = Study(world), sent_by(monkeypatch)
    study.write()
    collection = study.scene.create()
    with django_capture_on_commit_callbacks(execute=True):
        [first] = study.accept("tea-Brazil")
    assert sent == [], "nobody takes the queries yet"
    study.take(collection)
    before = len(texts(collection, "task"))
    with django_capture_on_commit_callbacks(execute=True):
        study.accept("tea-Egypt")
        assert sent == [], "not before the decision is committed"
    assert sent == [(written_queries.TASK, study.stage.pk)]
    assert tasks.follow_written_queries(study.stage.pk) and len(texts(collection, "task")) > before
    with django_capture_on_commit_callbacks(execute=True):
        reviews.undo(first.pk, world.reviewer, timezone.now())
    assert len(sent) == 2 and tasks.follow_written_queries(study.stage.pk)
    assert tasks.follow_written_queries(collection.stage_id) == 0, "another stage has no such queries"
