"""CAIRE from an empty benchmark to its tables, by pages alone: prompts, images, picks, ratings, a model, tables.

Three countries with two people each, since a correlation over two countries is undefined. The practice model makes the
images; a retrieval run comes from a file, and a scripted server scores pictures.
"""

import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from statistics import correlation, fmean
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotation import tasks
from annotation.models import Annotation
from benchmarks.models import Benchmark, Item, Stage
from people.models import Cohort
from predictions.models import Attempt, Call, ImageOrder
from tests import pictures as draw
from tests.archives import pack_zip
from tests.chains import researcher as researchers
from tests.chains.annotators import Annotator
from tests.chains.researcher import Researcher
from tests.evaluation.output_forms import table_data, table_forms
from tests.personas import World
from tests.predictions.model_server import Act, ReceivedRequest, Server
from tests.start.test_practice import serving_practice_model

pytestmark = pytest.mark.django_db
COUNTRIES, CONCEPTS, NAMES = ("Brazil", "China", "Egypt"), ("dance", "music"), ("Ana", "Bo")
PROMPTS = len(COUNTRIES) * len(CONCEPTS)
PHOTOGRAPHS, NEAREST = 40, 8
TABLES = ("table-2", "table-14", "table-15", "table-16", "table-17", "spread", "models")


def do_waiting_work() -> None:
    """What the worker and the beat do meanwhile; items that arrive get to people."""
    researchers.do_waiting_work()
    tasks.fill_open_campaigns()


class Study:
    """The benchmark and its people."""

    def __init__(self, world: World, server: Server, practice: str) -> None:
        self.world, self.server, self.practice = world, server, practice
        self.people: dict[str, list[Annotator]] = {}
        self.researcher = Researcher(world.client(world.team_admin))

    @property
    def benchmark(self) -> Benchmark:
        return Benchmark.objects.get(recipe="caire-universal")

    def stage(self, key: str) -> Stage:
        return self.benchmark.stages.get(key=key)

    def items(self, stage: str) -> list[Item]:
        live = Item.objects.filter(stage__benchmark=self.benchmark, stage__key=stage, withdrawn_at=None)
        return list(live.order_by("key"))

    def answers(self, stage: str) -> Any:
        return Annotation.objects.filter(assignment__campaign__stage=self.stage(stage), live=True, counted=True)


def reply(asked: ReceivedRequest) -> Act:
    """A score that depends on picture and country."""
    [country] = re.findall(r"to this culture: (\w+)", asked.text)
    digest = hashlib.sha256(f"{asked.images[0]!r} {country}".encode()).digest()
    return Act(text=str(1 + digest[0] % 5))


@pytest.fixture
def study(world: World, scripted_server: Server) -> Iterator[Study]:
    for cohort in (world.brazil, world.egypt):
        Cohort.objects.filter(pk=cohort.pk).update(label=f"North of {cohort.label}", country="")  # none of the recipe's
    scripted_server.answer_by(reply)
    with serving_practice_model() as practice:
        yield Study(world, scripted_server, practice)


def test_caire_from_an_empty_benchmark_to_its_tables(study: Study) -> None:
    create_prompts(study)
    create_cohorts(study)
    open_chain(study)
    make_images(study)
    search_photographs(study)
    keep_and_pick(study)
    rate_relevance(study)
    ask_a_model(study)
    read_tables(study)


def create_prompts(study: Study) -> None:
    researcher = study.researcher
    researcher.create_benchmark("caire-universal", "Three countries", study.world.team.pk)
    researcher.go("Import items")
    researcher.submit("Create items", {"cross-concepts": "\n".join(CONCEPTS), "cross-labels": "\n".join(COUNTRIES)})
    do_waiting_work()
    assert [item.text for item in study.items("prompts")] == [
        f"A realistic photo of {concept} in {country}" for country in COUNTRIES for concept in CONCEPTS
    ]


def create_cohorts(study: Study) -> None:
    researcher = study.researcher
    links = researcher.create_cohorts(list(COUNTRIES))
    for country in COUNTRIES:
        study.people[country] = [
            Annotator(f"{name} {country}", country, link) for name, link in zip(NAMES, links[country], strict=False)
        ]
    researcher.add_endpoint("Scripted", study.server.base_url)
    researcher.add_endpoint("Practice", study.practice)
    researcher.go("Predictions", "Model endpoints", "Practice")
    researcher.submit("Save prices as a new version", {"price-0-model": "*", "price-0-generated": "0.02"})


def open_chain(study: Study) -> None:
    """Two people of each country rate; one person of Brazil looks at the generated pictures."""
    researcher = study.researcher
    researcher.go("Open the whole chain")
    targets = {f"target_{study.stage('relevance').pk}": "2"}
    for label in ("China", "Egypt"):
        targets[f"target_{study.stage('generated').pk}_{Cohort.objects.get(label=label).pk}"] = "0"
    researcher.submit("Open the chain", targets)
    do_waiting_work()


def make_images(study: Study) -> None:
    """One image for each prompt, by the practice model, and its cost."""
    researcher = study.researcher
    researcher.go("Predictions", "Make images", "Generated pictures")
    endpoint = researcher.choose("endpoint", "Practice")
    plan = {"endpoint": endpoint, "model": "practice-heron", "size": "512x512", "seed": "7", "budget": "1"}
    researcher.submit("Make images", plan)
    do_waiting_work()
    assert Counter(ImageOrder.objects.values_list("state", flat=True)) == {"made": PROMPTS}
    assert len(study.items("generated")) == PROMPTS == Attempt.objects.filter(call=None).count()
    researcher.open(researcher.path)
    assert "6 of 6 images made" in researcher.page and "0.12" in researcher.page


def search_photographs(study: Study) -> None:
    """A collection of photographs, the prompts as its queries, a run, and a sheet for each prompt."""
    researcher = study.researcher
    names = [f"photo-{number:02}" for number in range(PHOTOGRAPHS)]
    rows = [{"file": f"{name}.png", "key": name, "licence": "CC0", "source": f"https://example.org/{name}"}
            for name in names]  # fmt: skip
    archive = pack_zip({f"{name}.png": draw.png(60, 40, seed=number) for number, name in enumerate(names, start=1)})
    researcher.go("Import items", "Photographs to search")
    manifest = "\n".join(map(json.dumps, rows)).encode()
    researcher.submit("Import", {
        "manifest": SimpleUploadedFile("manifest.jsonl", manifest),
        "archive": SimpleUploadedFile("pictures.zip", archive),
    })  # fmt: skip
    do_waiting_work()
    assert len(study.items("photographs")) == PHOTOGRAPHS
    researcher.go("Predictions", "Create collection")
    collection = {"stage": str(study.stage("photographs").pk), "name": "Photographs",
                  "asked_by": str(study.stage("prompts").pk)}  # fmt: skip
    researcher.submit("Create collection", collection)
    rankings = [
        {"query": item.key, "keys": names[place : place + 20], "scores": [1 - rank / 100 for rank in range(20)]}
        for place, item in enumerate(study.items("prompts"))
    ]
    file = SimpleUploadedFile("run.jsonl", "\n".join(map(json.dumps, rankings)).encode())
    researcher.go("Predictions", "Import a run")
    researcher.submit("Import", {"file": file, "task": "retrieval", "query_set": "sentences", "model": "tiny-clip"})
    do_waiting_work()
    researcher.go("Predictions", "Encoders", "Contact sheets")
    researcher.submit("Create contact sheets")
    do_waiting_work()
    sheets = study.items("pick")
    assert len(sheets) == PROMPTS and {sheet.images.count() for sheet in sheets} == {NEAREST}


def keep_and_pick(study: Study) -> None:
    """All images are kept; each country picks among the photographs found for its own prompts."""
    judged = study.people["Brazil"][0].answer("Generated pictures", lambda _text: {"keep": "keep"})
    picked = [study.people[country][1].answer("Picture picking", lambda _text: {"picture": "2"})
              for country in COUNTRIES]  # fmt: skip
    assert (judged, picked) == (PROMPTS, [2, 2, 2])
    do_waiting_work()
    items = study.items("relevance")
    assert Counter((item.condition, item.origin) for item in items) == {
        (condition, country): 2 for condition in ("natural", "generated") for country in COUNTRIES
    }
    natural = next(item for item in items if item.condition == "natural")
    assert natural.images.get().licence == "CC0" and natural.context["prompt"].startswith("A realistic photo of")


def rate_relevance(study: Study) -> None:
    sheets = 0
    for at, country in enumerate(COUNTRIES):
        for shift, person in enumerate(study.people[country]):
            ratings = iter(1 + (number * (at + 2) + shift + number // 3) % 5 for number in range(100))

            def rate(_text: str, ratings: Iterator[int] = ratings) -> Mapping[str, str]:
                return {"relevance": str(next(ratings))}

            sheets += person.answer("Relevance rating", rate)
    assert sheets == 12 * 6 == study.answers("relevance").filter(rater__kind="person").count()


def ask_a_model(study: Study) -> None:
    study.researcher.ask_models("Scripted", {"A": ("relevance-no_retrieval",)}, "")
    states = Counter(Call.objects.values_list("state", flat=True))
    assert states == {"answered": 36}, "12 pictures and three countries"


def read_tables(study: Study) -> None:
    """Table 2 from the answers alone, and every table in each form."""
    slug = study.benchmark.slug
    table = table_data(study.researcher.client, slug, "table-2")
    shown = dict(zip(table["columns"], table["rows"][0]["cells"], strict=True))
    expected = image_wise(study)
    assert expected, "some picture has scores that differ"
    for (country, condition), value in expected.items():
        [cell] = [cell for name, cell in shown.items() if country in name and condition.lower() in name.lower()]
        assert cell["estimate"]["value"] == pytest.approx(value), (country, condition)
    for key in TABLES:
        table_forms(study.researcher.client, slug, key)


def image_wise(study: Study) -> dict[tuple[str, str], float]:
    """By country of the prompt and condition: the mean over pictures of the correlation, over countries, of the model's
    scores with the mean ratings. A picture with constant scores has none."""
    scores: dict[tuple[int, str], dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for annotation in study.answers("relevance").select_related("assignment__unit__item", "rater"):
        unit = annotation.assignment.unit
        scores[unit.item_id, annotation.rater.kind][unit.target].append(int(annotation.answers["relevance"]))
    values: dict[tuple[str, str], list[float]] = defaultdict(list)
    for item in study.items("relevance"):
        rows = [[fmean(scores[item.pk, kind][country]) for country in COUNTRIES] for kind in ("person", "model")]
        if all(len(set(row)) > 1 for row in rows):
            values[item.origin, item.condition].append(correlation(*rows))
    return {key: fmean(each) for key, each in values.items()}
