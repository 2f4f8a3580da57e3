"""CAIRE from an empty benchmark to its tables, by pages alone: prompts, images, picks, ratings; named
concepts, brought pictures, links to a knowledge base; models, tables.

Three countries with two people each, since a correlation over two countries is undefined. The practice model makes the
images, an encoder of colours stands in for a dual encoder, and a scripted server names concepts and scores pictures.
The researcher and the first two sheets of each stage are in Chromium; what else people answer is posted to the forms
that they are shown.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from statistics import correlation, fmean
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from playwright.sync_api import Page

from people.models import Cohort
from predictions.models import Attempt, Call, ImageOrder
from tests import pictures as draw
from tests.archives import pack_zip
from tests.chains import caire_specific as specific
from tests.chains.annotators import Annotator
from tests.chains.caire_study import COUNTRIES, Size, Study, reply
from tests.chains.researcher import do_waiting_work
from tests.evaluation.output_forms import table_data, table_forms
from tests.personas import World
from tests.predictions.colour_encoder import find_by_colour
from tests.predictions.model_server import Server
from tests.start.test_practice import serving_practice_model

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
NAMES, NEAREST = ("Ana", "Bo"), 8
SHOWN = (
    "Generated pictures", "Picture picking", "Relevance rating", "Rare concepts", "Pictures of rare concepts",
    "Link check",
)  # fmt: skip
SHORT = Size(("dance",), 8, ("thing 1", "thing 2", "thing 3", "thing 4", "thing 6"))
FULL = Size(("dance", "music"), 40)
TABLES = (
    "table-1", "table-2", "table-3", "table-10", "table-14", "table-15", "table-16", "table-17", "link-cases", "spread",
    "models",
)  # fmt: skip


@pytest.fixture(params=[pytest.param(SHORT, id="short"), pytest.param(FULL, id="full", marks=pytest.mark.slow)])
def study(
    request: pytest.FixtureRequest,
    world: World,
    scripted_server: Server,
    monkeypatch: pytest.MonkeyPatch,
    settings: Any,
    tmp_path: Path,
    media: None,
    open_as: Callable[..., Page],
) -> Iterator[Study]:
    settings.VECTORS_ROOT, settings.MODELS_ROOT = tmp_path / "vectors", tmp_path / "models"
    (tmp_path / "models" / "tiny").mkdir(parents=True)
    find_by_colour(monkeypatch, {})
    for cohort in (world.brazil, world.egypt):
        Cohort.objects.filter(pk=cohort.pk).update(label=f"North of {cohort.label}", country="")  # none of the recipe's
    scripted_server.answer_by(reply)
    with serving_practice_model() as practice:
        yield Study(world, practice, scripted_server, request.param, open_as)


def test_caire_from_an_empty_benchmark_to_its_tables(study: Study) -> None:
    create_prompts(study)
    create_cohorts(study)
    open_chain(study)
    make_images(study)
    search_photographs(study)
    keep_and_pick(study)
    rate_relevance(study)
    ask_a_model(study)
    specific.create_base(study)
    specific.create_label_sets(study)
    specific.propose_concepts(study)
    specific.bring_pictures(study)
    specific.link_pictures(study)
    specific.ask_about_labels(study)
    specific.check_links(study)
    specific.read_specific_tables(study)
    read_tables(study)
    assert study.first_sheets.shown == dict.fromkeys(SHOWN, 2)


def create_prompts(study: Study) -> None:
    researcher = study.researcher
    researcher.create_benchmark("caire-universal", "Three countries", study.world.team.pk)
    researcher.go("Import items")
    researcher.submit(
        "Create items", {"cross-concepts": "\n".join(study.size.concepts), "cross-labels": "\n".join(COUNTRIES)}
    )
    do_waiting_work()
    assert [item.text for item in study.items("prompts")] == [
        f"A realistic photo of {concept} in {country}" for country in COUNTRIES for concept in study.size.concepts
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
    researcher.add_local_encoder("Here")
    researcher.go("Predictions", "Model endpoints", "Practice")
    researcher.submit("Save prices as a new version", {"price-0-model": "*", "price-0-generated": "0.02"})


def open_chain(study: Study) -> None:
    """Two people of each country rate; of what has no country, the cohorts share the answers."""
    researcher = study.researcher
    researcher.go("Open the whole chain")
    targets = {f"target_{study.stage('relevance').pk}": "2"}
    researcher.submit(researcher.button("Open "), targets)
    do_waiting_work()
    researcher.go()
    assert "Nothing computes" not in researcher.page, "the specific set has not begun"


def make_images(study: Study) -> None:
    """One image for each prompt, by the practice model, and its cost."""
    researcher = study.researcher
    researcher.go("Predictions", "Make images", "Generated pictures")
    endpoint = researcher.choose("endpoint", "Practice")
    plan = {"endpoint": endpoint, "model": "practice-heron", "size": "512x512", "seed": "7", "budget": "1"}
    researcher.submit("Make images", plan)
    do_waiting_work()
    assert Counter(ImageOrder.objects.values_list("state", flat=True)) == {"made": study.size.prompts}
    assert len(study.items("generated")) == study.size.prompts == Attempt.objects.filter(call=None).count()
    researcher.open(researcher.path)
    made = study.size.prompts
    assert f"{made} of {made} images made" in researcher.page and f"{0.02 * made:.2f}" in researcher.page


def search_photographs(study: Study) -> None:
    """A collection of photographs, the prompts as its queries, a run, and a sheet for each prompt."""
    researcher = study.researcher
    names = [f"photo-{number:02}" for number in range(study.size.photographs)]
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
    assert len(study.items("photographs")) == study.size.photographs
    researcher.go("Predictions", "Create collection")
    collection = {"stage": str(study.stage("photographs").pk), "name": "Photographs",
                  "asked_by": str(study.stage("prompts").pk)}  # fmt: skip
    researcher.submit("Create collection", collection)
    researcher.go("Predictions", "Encoders")
    values = {"model": "local-dir:tiny", "name": "Tiny", "task": "retrieval", "query_set": "sentences"}
    researcher.submit("Run", values)
    do_waiting_work()
    researcher.go("Predictions", "Encoders", "Contact sheets")
    researcher.submit("Create contact sheets")
    do_waiting_work()
    sheets = study.items("pick")
    assert len(sheets) == study.size.prompts and {sheet.images.count() for sheet in sheets} == {NEAREST}


def keep_and_pick(study: Study) -> None:
    """All images are kept; each country picks among the photographs found for its own prompts."""
    judged = study.answer_by_all("Generated pictures", lambda _person, _text: {"keep": "keep"})
    picked = [study.first_sheets.answer(study.people[country][1], "Picture picking", lambda _text: {"picture": "2"})
              for country in COUNTRIES]  # fmt: skip
    assert (judged, picked) == (study.size.prompts, [len(study.size.concepts)] * 3)
    do_waiting_work()
    items = study.items("relevance")
    assert Counter((item.condition, item.origin) for item in items) == {
        (condition, country): len(study.size.concepts)
        for condition in ("natural", "generated")
        for country in COUNTRIES
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

            sheets += study.first_sheets.answer(person, "Relevance rating", rate)
    assert sheets == 2 * study.size.prompts * 6 == study.answers("relevance").filter(rater__kind="person").count()


def ask_a_model(study: Study) -> None:
    study.researcher.ask_models("Scripted", {"A": ("relevance-no_retrieval",)}, "")
    states = Counter(Call.objects.values_list("state", flat=True))
    assert states == {"answered": 6 * study.size.prompts}, "two pictures of each prompt and three countries"


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
