"""3XCM from an empty benchmark to its tables, by pages alone: concepts, merges, pictures without look-alikes, labels,
trials, captions and their second version.

People of two countries answer, of a third only names and pictures are there. A scripted model labels pictures, and an
encoder knows colours: each concept has one. The researcher and the first two sheets of each stage are in Chromium; what
else people answer is posted to the forms that they are shown.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from playwright.sync_api import Page

from annotation.models import Annotation, Outcome
from benchmarks.models import FilterResult, Item
from people.models import Cohort
from predictions.models import Call, Collection, Query
from predictions.retrieval import trials
from tests.chains.annotators import Annotator
from tests.chains.link_client import LinkClient, text_of
from tests.chains.researcher import do_waiting_work
from tests.chains.searched_pictures import (
    ASKED,
    COLOURS,
    COUNTRIES,
    FULL,
    MERGED,
    SHORT,
    STAYS,
    TYPED,
    searched_pictures,
)
from tests.chains.xcm_queries import SETS, check_query_sets, take_queries, write_queries
from tests.chains.xcm_study import LANGUAGES, NATIVE, Study, reply
from tests.chains.xcm_tables import check_tables, read_tables
from tests.personas import World
from tests.predictions.colour_encoder import find_by_colour
from tests.predictions.model_server import Server

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
NAMES = ("Ana", "Bo")
SHOWN = (
    "Concepts", "Concept-merge confirmation", "De-duplication", "Multi-concept labelling", "Captions", "Longer queries"
)  # fmt: skip
FOUND_FOR = re.compile(r"Found for (\w+)")


@pytest.fixture(params=[pytest.param(SHORT, id="short"), pytest.param(FULL, id="full", marks=pytest.mark.slow)])
def study(
    request: pytest.FixtureRequest, world: World, scripted_server: Server, settings: Any, tmp_path: Any,
    monkeypatch: pytest.MonkeyPatch, media: None, open_as: Callable[..., Page],
) -> Study:  # fmt: skip
    for cohort in (world.brazil, world.egypt):
        Cohort.objects.filter(pk=cohort.pk).update(label=f"North of {cohort.label}", country="")  # none of the recipe's
    settings.VECTORS_ROOT = tmp_path / "vectors"
    spoken = {words[concept]: COLOURS[concept] for words in NATIVE.values() for concept in words}
    find_by_colour(monkeypatch, {**COLOURS, **spoken})
    scripted_server.answer_by(reply)
    return Study(world, scripted_server, request.param, open_as)


def test_3xcm_from_an_empty_benchmark_to_its_tables(study: Study) -> None:
    import_concepts(study)
    create_cohorts(study)
    open_chain(study)
    name_concepts(study)
    merge_concepts(study)
    import_pictures(study)
    drop_look_alikes(study)
    label_pictures(study)
    write_queries(study)
    create_collection(study)
    take_queries(study)
    caption_pictures(study)
    run_encoders(study)
    read_tables(study)
    check_query_sets(study)
    create_second_version(study)
    assert study.first_sheets.shown == dict.fromkeys(SHOWN, 2)


def import_concepts(study: Study) -> None:
    researcher = study.researcher
    researcher.create_benchmark("3xcm", "Three countries", study.world.team.pk)
    words = (*study.size.words, *study.size.rare)
    researcher.import_items([{"key": word, "concept": word} for word in words], {})
    assert len(study.items("concepts")) == len(words)


def create_cohorts(study: Study) -> None:
    researcher = study.researcher
    links = researcher.create_cohorts(list(ASKED))
    for country in ASKED:
        study.people[country] = [
            Annotator(f"{name} {country}", country, link) for name, link in zip(NAMES, links[country], strict=False)
        ]
    researcher.go("People")
    researcher.follow("Roles")
    researcher.submit("Add role", {"user": study.world.reviewer.pk, "name": "reviewer"})
    study.reviewer = LinkClient(study.world.client(study.world.reviewer), researcher.home)
    researcher.add_endpoint("Scripted", study.server.base_url)
    researcher.add_local_encoder("Here")


def open_chain(study: Study) -> None:
    """One answer of each country to concepts; look-alikes and labels are Brazil's."""
    researcher, thailand = study.researcher, Cohort.objects.get(label="Thailand").pk
    researcher.go("Open the whole chain")
    targets = {f"target_{study.stage(key).pk}_{thailand}": "0" for key in ("look-alikes", "labels")}
    researcher.submit(researcher.button("Open "), targets)
    assert "7 stages are open." in text_of(researcher.page)
    do_waiting_work()


def name_concepts(study: Study) -> None:
    """What is an everyday thing in one of both countries alone goes no further."""
    sheets, size = 0, study.size
    for person in study.everybody():
        words = NATIVE[LANGUAGES[person.cohort]]

        def name(text: str, words: Mapping[str, str] = words, cohort: str = person.cohort) -> Mapping[str, str]:
            [concept] = re.findall(r"Concept (\w+)", text)
            is_everyday = concept not in size.rare or cohort == "Brazil"
            return {"native_name": words.get(concept, concept), "everyday": "yes" if is_everyday else "no"}

        sheets += study.answer(person, "Concepts", name)
    do_waiting_work()
    assert sheets == 2 * len(size.words + size.rare), "one answer of each country"
    states = Counter(Outcome.objects.filter(campaign__stage__key="concepts").values_list("state", flat=True))
    assert states == Counter(accepted=len(size.words)) + Counter(rejected=len(size.rare))
    assert {item.concept for item in study.items("queries")} == set(size.words)


def merge_concepts(study: Study) -> None:
    """Vectors come by themselves; of all pairs one is alike enough."""
    researcher = study.researcher
    researcher.go("Predictions", "Item facts")
    researcher.submit("Run", {
        "stage": researcher.choose("stage", "Concepts"), "what": "text_vector", "model": "local-dir:tiny",
        "endpoint": researcher.choose("endpoint", "Here"), "words": "concept",
    })  # fmt: skip
    do_waiting_work()
    researcher.go("Stages", "Concept-merge confirmation")
    researcher.submit("Publish", {"i:derivation.params.similar.least": "0.98"})
    do_waiting_work()
    [pair] = study.items("merges")
    assert {pair.context["first"], pair.context["second"]} == {MERGED, STAYS} and pair.context["similarity"] > 0.98

    def merge(text: str) -> Mapping[str, str]:
        [first] = re.findall(r"First (\w+)", text)
        return {"same": "same", "name": "first" if first == STAYS else "second"}

    sheets = [study.answer(person, "Concept-merge confirmation", merge) for person in study.everybody()]
    do_waiting_work()
    assert sheets == [1, 0, 1, 0], "two answers in all"
    assert Outcome.objects.get(campaign__stage__key="merges").state == "accepted"


def import_pictures(study: Study) -> None:
    """A filter drops what repeats; the others lie on a sheet for each concept that stays and country."""
    size = study.size
    rows, pictures = searched_pictures(size)
    study.import_rows("Pictures of searches", rows, pictures)
    states = Counter(item.intake for item in study.items("images"))
    assert states == {"kept": size.kept, "dropped": size.repeats}
    dropped = FilterResult.objects.filter(state="dropped").values_list("key", flat=True)
    assert Counter(dropped) == {"near_duplicate": size.repeats}
    sheets = study.items("look-alikes")
    assert {(sheet.concept, sheet.origin) for sheet in sheets} == set(size.cells) and len(sheets) == len(size.cells)
    assert sum(sheet.images.count() for sheet in sheets) == size.kept


def drop_look_alikes(study: Study) -> None:
    size, person = study.size, study.people["Brazil"][0]

    def group(text: str) -> Mapping[str, Any]:
        return {"groups": study.grouped(text)}

    assert study.answer(person, "De-duplication", group) == len(size.cells)
    do_waiting_work()
    unique = study.items("unique")
    assert len(unique) == size.unique and {item.concept for item in unique} == set(size.concepts)
    found_as = [item for item in unique if item.context.get("concept_as_found") == MERGED]
    assert found_as and all(item.concept == STAYS for item in found_as), "the name that stays, and what was searched"
    assert {item.images.get().licence for item in unique} == {"CC BY 4.0"}


def label_pictures(study: Study) -> None:
    """A model labels every picture, and writes queries in two styles; a person corrects some labels, of another concept
    each."""
    size, researcher = study.size, study.researcher
    assert not study.items("labels"), "they wait for what the model says"
    named = study.items("queries")
    assert {item.concept for item in named} == set(size.concepts) and len(named) == 2 * len(size.words)
    researcher.ask_models("Scripted", {"A": ("labels",), "B": ("task_query", "casual_query")}, "")
    states = Counter(Call.objects.values_list("run__campaign__stage__key", "state"))
    assert states == {("tagging", "answered"): size.unique, ("queries", "answered"): 2 * len(named)}
    assert len(study.items("labels")) == size.unique
    correct(study, size.corrected)


def correct(study: Study, n: int) -> None:
    """Add all other concepts to the labels of n pictures; what is shown between them is confirmed."""
    person, corrected = study.people["Brazil"][1], set[str]()

    def look(text: str) -> Mapping[str, str] | None:
        concept = FOUND_FOR.findall(text)[-1]
        if len(corrected) == n:
            return None
        if concept in corrected:
            return {}
        corrected.add(concept)
        return {"others": ", ".join(word for word in study.size.concepts if word != concept)}

    study.answer(person, "Multi-concept labelling", look)
    do_waiting_work()
    assert len(corrected) == n


def corrected_items(study: Study) -> list[Item]:
    answers = Annotation.objects.filter(assignment__campaign__stage__key="labels", live=True, rater__kind="person")
    return [
        answer.assignment.unit.item
        for answer in answers.select_related("assignment__unit__item")
        if answer.answers.get("others")
    ]


def create_collection(study: Study) -> None:
    """Every picture of `unique` with the labels of people, else of the model; trials by the seed."""
    researcher, size = study.researcher, study.size
    lines = [f"{concept} | | fr | {NATIVE['fr'][concept]}" for concept in size.concepts]
    lines += [
        f"{concept} | {country} | {language} | {NATIVE[language][concept]}: {country}"
        for concept in size.concepts for country in COUNTRIES for language in LANGUAGES.values()
    ]  # fmt: skip
    researcher.go("Predictions", "Create collection")
    researcher.submit("Create collection", {
        "name": "Pictures", "queries": ["three", "six"], "seed": "7", "words": "\n".join(lines),
        "languages": f"{TYPED} = fr", "labels_from": researcher.choose("labels_from", "Multi-concept labelling"),
        "renamed_by": researcher.choose("renamed_by", "Concept-merge"),
        "names_from": researcher.choose("names_from", "Concepts"),
    })  # fmt: skip
    text = text_of(researcher.page)
    assert f"The collection has {size.unique} entries" in text
    collection = Collection.objects.get()
    sources = Counter(entry.about["labels_from"] for entry in collection.entries.all())
    assert sources["people"] >= size.corrected and sources["people"] + sources["model"] == size.unique
    for name in ("plain", "plain-six"):
        left = re.findall(rf"“{name}” has no query for (\d+) pictures\.", text)
        assert collection.queries.filter(query_set=name).count() + sum(map(int, left)) == size.unique
    assert name_a_changed_trial(study, collection)


def name_a_changed_trial(study: Study, collection: Collection) -> str:
    """A trial whose candidate is another one because of a corrected label: drawn here without the corrections."""
    corrected = {item.key for item in corrected_items(study)}
    pictures = [
        trials.TrialPicture(
            entry.key, entry.about["concept"], entry.about["country"], LANGUAGES[entry.about["country"]],
            NATIVE[LANGUAGES[entry.about["country"]]][entry.about["concept"]],
            frozenset([entry.about["concept"]] if entry.key in corrected else entry.about["labels"]),
        )
        for entry in collection.entries.all()
    ]  # fmt: skip
    before = {trial.seed.key: trial.roles for trial in trials.draw_three(pictures, 7).trials}
    queries = collection.queries.filter(query_set="plain")
    changed = [query for query in queries if query.roles != before[query.key]]
    for query in changed:
        assert set(before[query.key].values()) - set(query.roles.values()) and not corrected & {
            query.roles["language_biased"], query.roles["irrelevant"]
        }  # fmt: skip
    return changed[0].key


def caption_pictures(study: Study) -> None:
    """Two captions of some pictures in each language; each of these pictures asks for its captions among all."""
    researcher, size = study.researcher, study.size
    captioned = study.items("unique")[:: max(1, size.unique // size.captioned)][: size.captioned]
    rows = [
        {
            "key": f"{item.key}/{language}/{n}", "text": f"{NATIVE[language][item.concept]} {n}", "country": country,
            "language": language, "image_id": item.key, "concept": item.concept,
        }
        for item in captioned for country, language in LANGUAGES.items() for n in (1, 2)
    ]  # fmt: skip
    study.import_rows("Captions", rows, {})
    read = study.answer(study.people["Thailand"][1], "Captions", lambda _text: {"natural": "yes"})
    assert read == 2 * len(captioned), "those of the reader's own language"
    researcher.go("Predictions", "Create collection")
    researcher.submit("Create collection", {
        "name": "Captions", "stage": researcher.choose("stage", "Captions"), "of": "kept", "what": "texts",
        "asked_by": researcher.choose("asked_by", "Unique pictures"),
    })  # fmt: skip
    n = size.captioned
    assert f"The collection has {6 * n} entries and {n} queries: images {n}." in text_of(researcher.page)


def run_encoders(study: Study) -> None:
    forced = [("Pictures", "forced_choice", name) for name in ("plain", "plain-six", "descriptor", *SETS)]
    others = [("Captions", "retrieval", "images"), ("Pictures", "embedding", ""), ("Captions", "embedding", "")]
    for collection, task, query_set in forced + others:
        run_encoder(study, collection, task, query_set)
    run_encoder(study, "Pictures", "forced_choice", "plain", template="Find this: {text}")
    do_waiting_work()


def run_encoder(study: Study, collection: str, task: str, query_set: str, template: str = "") -> None:
    researcher = study.researcher
    researcher.go("Predictions", "Encoders")
    values = {"model": "local-dir:tiny", "name": "Tiny", "task": task, "template": template}
    if query_set:
        values["query_set"] = query_set
    researcher.submit("Run", {**values, "collection": researcher.choose("collection", f"{collection}, version")})


def create_second_version(study: Study) -> None:
    """A picture that people drop after all and a further corrected label: the page says what they would change."""
    researcher, size = study.researcher, study.size
    first = list(Query.objects.filter(collection__key="pictures").order_by("pk").values())
    drop_another_picture(study)
    researcher.go("Predictions", "Next version Pictures 1")
    text = text_of(researcher.page)
    assert "Entries that go (1)" in text and re.search(
        r"Version 2 would change \d+ trials? of the query set plain", text
    )
    researcher.submit("Create version 2")
    assert f"The collection has {size.unique - 1} entries" in text_of(researcher.page)
    kept = Query.objects.filter(collection__key="pictures", collection__version="1").order_by("pk")
    assert list(kept.values()) == first, "version 1 stays as it is"
    for name in ("plain", "descriptor"):
        run_encoder(study, "Pictures", "forced_choice", name)
    do_waiting_work()
    check_tables(study, "2", size.unique - 1)
    check_tables(study, "1", size.unique)


def drop_another_picture(study: Study) -> None:
    """Of the sheet that was answered last."""
    author = study.people["Brazil"][0]
    author.visitor.open("/work/history/")
    author.visitor.submit(author.visitor.button("Edit"))
    author.visitor.submit("Submit Enter", {"a-groups": study.grouped(author.sheet_text, more=1)})
    do_waiting_work()
    assert len(study.items("unique")) == study.size.unique - 1
