"""3XCM from an empty benchmark to its tables, by pages alone: concepts, merges, pictures without look-alikes, labels,
trials, captions and their second version.

People of two countries answer, of a third only names and pictures are there. A scripted model labels pictures, and an
encoder knows colours: each concept has one.
"""

import io
import json
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from PIL import Image

from annotation.models import Annotation, Outcome
from benchmarks.models import Benchmark, FilterResult, Item, Stage
from papers.xcm.tables.trials import SIX, THREE
from people.models import Cohort
from predictions.models import Call, Collection, Query
from predictions.retrieval import trials
from tests.archives import pack_zip
from tests.chains.annotators import Annotator
from tests.chains.link_client import LINK, text_of
from tests.chains.researcher import Researcher, do_waiting_work
from tests.chains.searched_pictures import (
    ASKED,
    COLOURS,
    COUNTRIES,
    FULL,
    MERGED,
    SHORT,
    STAYS,
    TYPED,
    Size,
    searched_pictures,
)
from tests.evaluation.output_forms import TABLE_FILES, figure_forms, table_data, table_forms
from tests.personas import World
from tests.predictions.colour_encoder import find_by_colour
from tests.predictions.model_server import Act, ReceivedRequest, Server

pytestmark = pytest.mark.django_db
LANGUAGES = {"Brazil": "pt", "Thailand": "th", TYPED: "fr"}
NAMES = ("Ana", "Bo")
NATIVE = {
    "pt": {"train": "trem", "railway": "ferrovia", "market": "feira", "tea": "chá", "bridge": "ponte", "rain": "chuva"},
    "th": {"train": "รถไฟ", "railway": "ทางรถไฟ", "market": "ตลาด", "tea": "ชา", "bridge": "สะพาน", "rain": "ฝน"},
    "fr": {"train": "train (fr)", "market": "marché", "tea": "thé", "bridge": "pont", "rain": "pluie"},
}
SHOWN = re.compile(r'data-picture="(p\d+)".*?alt="([^"]*)"', re.DOTALL)
FOUND_FOR = re.compile(r"Found for (\w+)")
TABLES = ("association", "association-countries", "silhouettes", "wins-countries", "baseline", "descriptor",
          "descriptor-countries", "tests", "tests-language", "tests-descriptor", "drift", "drift-concepts",
          "images-countries", "images-concepts", "languages", "languages-depths", "languages-tiers",
          "models")  # fmt: skip
FIGURES = ("wins", "wins-six", "plane", "tiers-found", "ranks")


def reply(asked: ReceivedRequest) -> Act:
    """The concept whose colour is nearest to the picture's; a query with its word."""
    if not asked.images:
        [word] = re.findall(r"The word (.+) stands in it exactly", asked.text)
        return Act(text=f"? {word} !")
    with Image.open(io.BytesIO(asked.images[0])) as picture:
        mean = np.asarray(picture.convert("RGB"), float).reshape(-1, 3).mean(axis=0)
    offered = [concept for concept in COLOURS if f"- {concept}\n" in f"{asked.text}\n"]
    assert MERGED not in offered, "models are asked about the name that stays"
    nearest = min(offered, key=lambda concept: float(np.abs(mean - COLOURS[concept]).sum()))
    return Act(text=json.dumps({"labels": [nearest]}))


class Study:
    """The benchmark and its people."""

    def __init__(self, world: World, server: Server, size: Size) -> None:
        self.world, self.server, self.size = world, server, size
        self.people: dict[str, list[Annotator]] = {}
        self.researcher = Researcher(world.client(world.team_admin))

    @property
    def benchmark(self) -> Benchmark:
        return Benchmark.objects.get(recipe="3xcm")

    def stage(self, key: str) -> Stage:
        return self.benchmark.stages.get(key=key)

    def items(self, stage: str) -> list[Item]:
        live = Item.objects.filter(stage=self.stage(stage), withdrawn_at=None)
        return list(live.order_by("key"))

    def everybody(self) -> list[Annotator]:
        return [person for country in ASKED for person in self.people[country]]


@pytest.fixture(params=[pytest.param(SHORT, id="short"), pytest.param(FULL, id="full", marks=pytest.mark.slow)])
def study(
    request: pytest.FixtureRequest, world: World, scripted_server: Server, settings: Any, tmp_path: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> Study:  # fmt: skip
    for cohort in (world.brazil, world.egypt):
        Cohort.objects.filter(pk=cohort.pk).update(label=f"North of {cohort.label}", country="")  # none of the recipe's
    settings.VECTORS_ROOT = tmp_path / "vectors"
    spoken = {words[concept]: COLOURS[concept] for words in NATIVE.values() for concept in words}
    find_by_colour(monkeypatch, {**COLOURS, **spoken})
    scripted_server.answer_by(reply)
    return Study(world, scripted_server, request.param)


def test_3xcm_from_an_empty_benchmark_to_its_tables(study: Study) -> None:
    import_concepts(study)
    create_cohorts(study)
    open_chain(study)
    name_concepts(study)
    merge_concepts(study)
    import_pictures(study)
    drop_look_alikes(study)
    label_pictures(study)
    create_collection(study)
    caption_pictures(study)
    run_encoders(study)
    read_tables(study)
    create_second_version(study)


def import_concepts(study: Study) -> None:
    researcher = study.researcher
    researcher.create_benchmark("3xcm", "Three countries", study.world.team.pk)
    researcher.import_items([{"key": word, "concept": word} for word in study.size.words], {})
    assert len(study.items("concepts")) == len(study.size.words)


def create_cohorts(study: Study) -> None:
    researcher = study.researcher
    links = researcher.create_cohorts(list(ASKED))
    for country in ASKED:
        study.people[country] = [
            Annotator(f"{name} {country}", country, link) for name, link in zip(NAMES, links[country], strict=False)
        ]
    researcher.add_endpoint("Scripted", study.server.base_url)
    researcher.add_local_encoder("Here")


def open_chain(study: Study) -> None:
    """One answer of each country to concepts and to pairs, so two in all; look-alikes and labels are Brazil's."""
    researcher, thailand = study.researcher, Cohort.objects.get(label="Thailand").pk
    researcher.go("Open the whole chain")
    targets = {f"target_{study.stage('merges').pk}": "1"}
    targets |= {f"target_{study.stage(key).pk}_{thailand}": "0" for key in ("look-alikes", "labels")}
    researcher.submit("Open the chain", targets)
    assert "7 stages are open." in text_of(researcher.page)
    do_waiting_work()


def name_concepts(study: Study) -> None:
    sheets = 0
    for person in study.everybody():
        words = NATIVE[LANGUAGES[person.cohort]]

        def name(text: str, words: Mapping[str, str] = words) -> Mapping[str, str]:
            [concept] = re.findall(r"Concept (\w+)", text)
            return {"native_name": words[concept], "everyday": "yes"}

        sheets += person.answer("Concepts", name)
    do_waiting_work()
    assert sheets == 2 * len(study.size.words), "one answer of each country"
    states = Counter(Outcome.objects.filter(campaign__stage__key="concepts").values_list("state", flat=True))
    assert states == {"accepted": len(study.size.words)}


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

    sheets = [person.answer("Concept-merge confirmation", merge) for person in study.everybody()]
    do_waiting_work()
    assert sheets == [1, 0, 1, 0], "two answers in all"
    assert Outcome.objects.get(campaign__stage__key="merges").state == "accepted"


def import_pictures(study: Study) -> None:
    """A filter drops what repeats; the others lie on a sheet for each concept that stays and country."""
    size = study.size
    rows, pictures = searched_pictures(size)
    upload_items(study, "Pictures of searches", rows, pictures)
    states = Counter(item.intake for item in study.items("images"))
    assert states == {"kept": size.kept, "dropped": size.repeats}
    dropped = FilterResult.objects.filter(state="dropped").values_list("key", flat=True)
    assert Counter(dropped) == {"near_duplicate": size.repeats}
    sheets = study.items("look-alikes")
    assert {(sheet.concept, sheet.origin) for sheet in sheets} == set(size.cells) and len(sheets) == len(size.cells)
    assert sum(sheet.images.count() for sheet in sheets) == size.kept


def upload_items(study: Study, stage: str, rows: list[dict[str, str]], pictures: Mapping[str, bytes]) -> None:
    researcher = study.researcher
    researcher.go("Import items", stage)
    manifest = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows).encode()
    files = {"manifest": SimpleUploadedFile("manifest.jsonl", manifest)}
    if pictures:
        files["archive"] = SimpleUploadedFile("pictures.zip", pack_zip(dict(pictures)))
    researcher.submit("Import", files)
    do_waiting_work()


def drop_look_alikes(study: Study) -> None:
    size, person = study.size, study.people["Brazil"][0]

    def group(_text: str) -> Mapping[str, Any]:
        return {"groups": acts_on(size, person)}

    assert person.answer("De-duplication", group) == len(size.cells)
    do_waiting_work()
    unique = study.items("unique")
    assert len(unique) == size.unique and {item.concept for item in unique} == set(size.concepts)
    found_as = [item for item in unique if item.context.get("concept_as_found") == MERGED]
    assert found_as and all(item.concept == STAYS for item in found_as), "the name that stays, and what was searched"
    assert {item.images.get().licence for item in unique} == {"CC BY 4.0"}


def acts_on(size: Size, person: Annotator, more: int = 0) -> list[str]:
    """What is done with each picture of the sheet in hand: the last ones repeat the first."""
    shown = SHOWN.findall(person.visitor.page.split("<template", 1)[0])
    [(concept, country)] = set(re.findall(r"Picture \d+ of (\w+) in (\w+)", " ".join(alt for _role, alt in shown)))
    roles = [role for role, _alt in shown]
    stay = len(roles) - size.drops(concept, country) - more
    return [f"keep:{role}" if number < stay else f"same:{role}:{roles[0]}" for number, role in enumerate(roles)]


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

    person.answer("Multi-concept labelling", look)
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
    upload_items(study, "Captions", rows, {})
    researcher.go("Predictions", "Create collection")
    researcher.submit("Create collection", {
        "name": "Captions", "stage": researcher.choose("stage", "Captions"), "of": "kept", "what": "texts",
        "asked_by": researcher.choose("asked_by", "Unique pictures"),
    })  # fmt: skip
    n = size.captioned
    assert f"The collection has {6 * n} entries and {n} queries: images {n}." in text_of(researcher.page)


def run_encoders(study: Study) -> None:
    forced = [("Pictures", "forced_choice", name) for name in ("plain", "plain-six", "descriptor")]
    others = [("Captions", "retrieval", "images"), ("Pictures", "embedding", ""), ("Captions", "embedding", "")]
    for collection, task, query_set in forced + others:
        run_encoder(study, collection, task, query_set)


def run_encoder(study: Study, collection: str, task: str, query_set: str) -> None:
    researcher = study.researcher
    researcher.go("Predictions", "Encoders")
    values = {"model": "local-dir:tiny", "name": "Tiny", "task": task}
    if query_set:
        values["query_set"] = query_set
    researcher.submit("Run", {**values, "collection": researcher.choose("collection", f"{collection}, version")})
    do_waiting_work()


def read_tables(study: Study) -> None:
    client, slug, full = study.researcher.client, study.benchmark.slug, study.size is FULL
    check_tables(study, "1", study.size.unique)
    for key in TABLES:
        table_forms(client, slug, key, files=TABLE_FILES if full or key == "association" else ("json",))
    for key in FIGURES if full else FIGURES[:1]:
        figure_forms(client, slug, key)


def export(study: Study, start: str) -> list[dict[str, Any]]:
    """The file of the first link of this label."""
    researcher = study.researcher
    researcher.go("Predictions")
    address = next(to for to, inside in LINK.findall(researcher.page) if text_of(inside).startswith(start))
    content = b"".join(study.researcher.client.get(address).streaming_content)  # type: ignore[attr-defined]
    return [json.loads(line) for line in content.decode().splitlines()]


def check_tables(study: Study, version: str, n: int) -> None:
    """Tables 2, 3, 9 and 10 as they follow from the exported files; nothing is summed over collections or versions."""
    client, slug, query = study.researcher.client, study.benchmark.slug, f"collection=pictures@{version}"
    rows = export(study, f"Download Pictures {version}")
    entries = {row["key"]: row["about"] for row in rows if row["kind"] == "entry"}
    assert len(entries) == n
    for key, name in (("images-countries", "country"), ("images-concepts", "concept")):
        table = table_data(client, slug, key, query)
        shown = [int(row["cells"][0]["shown"]) for row in table["rows"]]
        counts = Counter(about[name] for about in entries.values())
        assert sorted(shown) == sorted(counts.values()) and sum(shown) == n
    for key, query_set, roles in (("association", "plain", THREE), ("descriptor", "descriptor", SIX)):
        table = table_data(client, slug, key, query)
        [row] = table["rows"]
        values = [cell["estimate"]["value"] for cell in row["cells"][: len(roles)]]
        assert values == pytest.approx(shares_of_wins(study, version, query_set, roles)), key


def shares_of_wins(study: Study, version: str, query_set: str, roles: tuple[str, ...]) -> list[float]:
    """Of the exported trials and similarities: how often each candidate is the nearest, the first of equal ones."""
    rows = export(study, f"Download Pictures {version}")
    asked = {row["key"]: row["roles"] for row in rows if row["kind"] == "query" and row["query_set"] == query_set}
    collection = Collection.objects.get(key="pictures", version=version)
    [run] = [run for run in collection.runs.all() if run.task == "forced_choice" and run.query_set == query_set]
    scores = {row["query"]: dict(zip(row["keys"], row["scores"], strict=True)) for row in export_of_run(study, run.pk)}
    wins = Counter(max(roles, key=lambda role: scores[key][named[role]]) for key, named in asked.items())
    return [wins[role] / len(asked) for role in roles]


def export_of_run(study: Study, run: int) -> list[dict[str, Any]]:
    researcher = study.researcher
    researcher.go("Predictions")
    [address] = {to for to, _inside in LINK.findall(researcher.page) if re.search(rf"/runs/{run}\.jsonl$", to)}
    content = b"".join(researcher.client.get(address).streaming_content)  # type: ignore[attr-defined]
    return [json.loads(line) for line in content.decode().splitlines()]


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
    check_tables(study, "2", size.unique - 1)
    check_tables(study, "1", size.unique)


def drop_another_picture(study: Study) -> None:
    """Of the sheet that was answered last."""
    author = study.people["Brazil"][0]
    author.visitor.open("/work/history/")
    author.visitor.submit(author.visitor.button("Edit"))
    author.visitor.submit("Submit Enter", {"a-groups": acts_on(study.size, author, more=1)})
    do_waiting_work()
    assert len(study.items("unique")) == study.size.unique - 1
