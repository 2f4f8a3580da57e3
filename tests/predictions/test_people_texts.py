"""A collection takes the labels that people corrected, the names that stay and the native names that cohorts say."""

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.services.answers import submit
from annotation.services.derivation import derived_items
from benchmarks.models import Item, Stage
from predictions.models import Collection, Query
from tests.annotation.chain.disputed_scene import a_willing_person
from tests.annotation.chain.factories import (
    a_field,
    a_stage,
    answer,
    claim_sheet,
    create_open_campaign,
    process_derivations,
)
from tests.annotation.chain.test_renaming import RULE, SAME
from tests.personas import World, stand_in

pytestmark = pytest.mark.django_db
CHOICE = {**a_field("labels", "choice", many=True, options_from="labels"), "required_unless": "others"}
LABELS = {"fields": [CHOICE, a_field("others", "text")]}
NAMES = {"fields": [a_field("native_name", "text")]}
CONCEPTS = ("train", "railway", "tea")


class Scene:
    """Pictures of trains and tea in two countries. "railway" is merged into "train", in a stage of its own."""

    def __init__(self, world: World) -> None:
        self.world, benchmark = world, world.benchmark
        self.names = a_stage(benchmark, "names", NAMES, display="words", pictures="none")
        self.merges = a_stage(benchmark, "merges", SAME, display="words", acceptance="by_rule", acceptance_rule=RULE)
        self.unique = a_stage(benchmark, "unique", {"fields": []}, target_answers=0)
        promoted = {
            "kind": "promote",
            "from": ["unique"],
            "of": "items",
            "params": {"context": {"labels": "item.context.labels"}},
        }
        self.labels = a_stage(benchmark, "labels", LABELS, derivation=promoted)
        Item.objects.create(stage=self.merges, key="r+t", context={"first": "railway", "second": "train"})
        Item.objects.bulk_create(Item(stage=self.names, key=name, concept=name) for name in CONCEPTS)
        rows = [
            Item(
                stage=self.unique, key=f"{country}-{concept}-{n}", concept=concept, origin=country,
                context={"labels": concept if n else f"{concept} | cup"},
            )
            for country in ("Brazil", "Egypt") for concept in CONCEPTS for n in range(2)
        ]  # fmt: skip
        stand_in(Item.objects.bulk_create(rows))
        derived_items.rederive_stage(self.labels)
        process_derivations()

    def merge(self) -> None:
        campaign = create_open_campaign(self.merges, self.world.brazil)
        person = a_willing_person(self.world.brazil)
        answer(claim_sheet(person, campaign, self.world.brazil), same="same", name="second")
        process_derivations()

    def name(self) -> None:
        campaign = create_open_campaign(self.names, self.world.brazil, self.world.egypt)
        for cohort, ending in ((self.world.brazil, "pt"), (self.world.egypt, "ar")):
            person = a_willing_person(cohort)
            while sheet := claim_sheet(person, campaign, cohort):
                answer(sheet, native_name=f"{sheet.unit.item.concept} {ending}")

    def correct(self, key: str, *labels: str, others: str = "") -> None:
        person = a_willing_person(self.world.brazil)
        campaign = create_open_campaign(self.labels, self.world.brazil)
        while sheet := claim_sheet(person, campaign, self.world.brazil):
            if sheet.unit.item.key == key:
                answer(sheet, labels=list(labels), others=others or "none")
                return
            submit.skip(sheet.pk, person, "unknown", "", timezone.now())

    def create(self, client: Client | None = None, **more: Any) -> Collection:
        stages = {"stage": self.unique, "labels_from": self.labels, "renamed_by": self.merges, "names_from": self.names}
        data: dict[str, Any] = {name: stage.pk for name, stage in stages.items()}
        data |= {"name": "Set", "version": "1", "what": "images", "seed": 5, "queries": ["three"], **more}
        url = reverse("predictions:collection_make", args=[self.world.benchmark.slug])
        reply = (client or self.client()).post(url, data)
        assert reply.status_code == 302, reply.content.decode()[:3000]
        return Collection.objects.get()

    def client(self) -> Client:
        return self.world.client(self.world.mara)


def test_entries_have_the_texts_of_people_with_their_source(world: World) -> None:
    scene = Scene(world)
    scene.merge()
    scene.name()
    scene.correct("Brazil-tea-0", "tea", others="kettle, spoon")
    collection = scene.create()
    about = dict(collection.entries.values_list("key", "about"))
    assert {row["concept"] for row in about.values()} == {"train", "tea"}
    assert about["Brazil-railway-0"]["concept_as_found"] == "railway"
    assert (about["Brazil-tea-0"]["labels"], about["Brazil-tea-0"]["labels_from"]) == (
        ["tea", "kettle", "spoon"],
        "people",
    )
    assert (about["Egypt-tea-0"]["labels"], about["Egypt-tea-0"]["labels_from"]) == (["tea", "cup"], "import")
    texts = set(Query.objects.filter(collection=collection, query_set="plain").values_list("text", flat=True))
    assert texts == {"train pt", "tea pt", "train ar", "tea ar"}, "the name of the word that stays"
    assert collection.params["words"] == [], "what people say is read anew for the next version"


def test_a_corrected_label_changes_trials_and_the_page_says_how_many(world: World) -> None:
    scene = Scene(world)
    scene.name()
    collection = scene.create()
    trial = collection.queries.get(query_set="plain", key="Brazil-train-0")
    biased = trial.roles["language_biased"]
    url = reverse("predictions:collection_next", args=[world.benchmark.slug, collection.pk])
    assert "would change" not in scene.client().get(url).content.decode()

    concept = biased.split("-")[1]
    scene.correct(biased, concept, others="train")
    page = scene.client().get(url).content.decode()
    [number] = re.findall(r"Version 2 would change (\d+) trials? of the query set <bdi>plain</bdi>", page)
    assert int(number) >= 1 and "Entries that change" in page
    [digest] = re.findall(r'name="digest" value="([0-9a-f]+)"', page)
    assert scene.client().post(url, {"digest": digest}).status_code == 302
    second = Collection.objects.latest("pk")
    assert second.queries.get(query_set="plain", key=trial.key).roles["language_biased"] != biased
    changed = [
        query.key for query in collection.queries.filter(query_set="plain")
        if query.roles != second.queries.get(query_set="plain", key=query.key).roles
    ]  # fmt: skip
    assert len(changed) == int(number)
    assert collection.queries.get(query_set="plain", key=trial.key).roles == trial.roles, "version 1 stays"


def test_words_that_people_wrote_replace_all_that_a_model_proposed(world: World) -> None:
    scene = Scene(world)
    scene.name()
    scene.correct("Brazil-tea-0", others="boat, river")
    about = scene.create().entries.get(key="Brazil-tea-0").about
    assert (about["labels"], about["labels_from"]) == (["boat", "river"], "people")


def test_people_who_give_a_picture_different_labels_are_counted_and_the_last_answer_stays(world: World) -> None:
    """Two people correct each of two pictures: of one they say the same in another order, of the other they do not."""
    scene = Scene(world)
    scene.name()
    campaign = create_open_campaign(scene.labels, world.brazil, target=2)
    answers = {"Brazil-tea-0": ["tea, cup", "cup, tea"], "Brazil-train-0": ["train", "train, bench"]}
    for turn in range(2):
        person = a_willing_person(world.brazil)
        while sheet := claim_sheet(person, campaign, world.brazil):
            if words := answers.get(sheet.unit.item.key):
                answer(sheet, others=words[turn])
            else:
                submit.skip(sheet.pk, person, "unknown", "", timezone.now())
    client = scene.client()
    collection = scene.create(client)
    page = client.get(reverse("predictions:index", args=[world.benchmark.slug])).text
    assert "People gave different labels to 1 picture. The last answer counts." in page
    assert collection.entries.get(key="Brazil-train-0").about["labels"] == ["train", "bench"]


def test_stages_of_another_benchmark_are_not_offered(world: World) -> None:
    scene = Scene(world)
    other = Stage.objects.exclude(benchmark=world.benchmark).first()
    data = {
        "stage": scene.unique.pk,
        "labels_from": other.pk if other else 0,
        "name": "S",
        "version": "1",
        "what": "images",
        "seed": 1,
    }
    reply = scene.client().post(reverse("predictions:collection_make", args=[world.benchmark.slug]), data)
    assert reply.status_code == 400 and not Collection.objects.exists()


def test_a_text_that_people_wrote_better_is_searched_in_place_of_the_items_own(world: World) -> None:
    sheet = {"fields": [{**a_field("better", "text"), "required": False}]}
    captions = a_stage(world.benchmark, "captions", sheet, display="words", pictures="none")
    Item.objects.bulk_create(Item(stage=captions, key=f"c{n}", text=f"Caption {n}", origin="Brazil") for n in range(4))
    campaign = create_open_campaign(captions, world.brazil, target=3)
    written = {"c0": ("", "", ""), "c1": ("Better", "Better", "Another"), "c2": ("Better", "", "")}
    for place in range(3):
        person = a_willing_person(world.brazil)
        while sheet_shown := claim_sheet(person, campaign, world.brazil):
            key = sheet_shown.unit.item.key
            answer(sheet_shown, better=written.get(key, ("Own",) * 3)[place])
    data: dict[str, Any] = {"stage": captions.pk, "name": "Texts", "version": "1", "what": "texts", "seed": 5}
    client = world.client(world.mara)
    url = reverse("predictions:collection_make", args=[world.benchmark.slug])
    assert client.post(url, data).status_code == 302
    entries = {entry.key: entry for entry in Collection.objects.get().entries.all()}
    assert {key: entry.text for key, entry in entries.items()} == {
        "c0": "Caption 0", "c1": "Better", "c2": "Caption 2", "c3": "Own",
    }  # fmt: skip
    about = entries["c1"].about
    assert (about["text"], about["text_as_found"], about["text_from"]) == ("Better", "Caption 1", "people")
    assert "text_as_found" not in entries["c0"].about
