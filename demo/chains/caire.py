"""CAIRE half-way: prompts, photographs that people pick, generated pictures, ratings, two models, the specific set."""

from random import Random
from typing import Any

from annotation.services.campaigns.lifecycle import add_slots
from benchmarks.models import Item
from benchmarks.rules.crossing import crossed_rows
from benchmarks.rules.label_sets.contract import LabelSpec
from demo import pictures
from demo.chains import caire_specific
from demo.context import SEED, Demo, picture_row
from demo.simulation import (
    MODELS,
    SimulatedSheet,
    answer_of,
    answer_sheets,
    campaign_of,
    derive,
    import_model_run,
    import_ranked_lists,
    items_of,
    stage_of,
)
from demo.steps import chain
from predictions.models import Endpoint, Entry, Query, Run
from predictions.prompts import registry
from predictions.services.collections.builder import SENTENCES, CollectionPlan, build_collection
from predictions.services.collections.pick_sheets import create_sheets
from predictions.services.endpoints import endpoints
from predictions.services.runs import answer_runs
from predictions.services.runs.answer_runs import RunPlan

SLUG = "caire-demo"
CONCEPTS = ("breakfast", "clothing", "dance", "drinks", "festival", "transport")
WANTED = {"relevance": 5}
CHECKED_BY = "Brazil"  # generated pictures
LEFT = "lunch"  # of which nothing is picked or checked yet
RATED = 36  # pictures, by each of three people of a cohort
SENTENCE = "A realistic photo of {concept} in {origin}"
SETTINGS = {"": 1.0, "no_retrieval": 1.5}  # and how much more a model errs in each
PRACTICE_MODEL = "practice-wren"


def import_prompts(demo: Demo) -> None:
    """A sentence for each concept and country, and photographs to search."""
    benchmark = demo.create_benchmark("caire-universal", "CAIRE universal, demo", SLUG)
    demo.make_public(benchmark)
    labels = [LabelSpec(label.lower(), label) for label in demo.cohorts]
    demo.import_items(benchmark.stages.get(key="prompts"), crossed_rows(CONCEPTS, labels, SENTENCE))
    scenes = [scene for scene in pictures.of_kind("scene") if scene.condition == "natural"]
    rows = [
        {name: row[name] for name in ("file", "key", "alt", "source", "licence")}
        for row in (picture_row(scene, key=photograph_key(scene.concept, scene.country)) for scene in scenes)
    ]
    demo.import_items(benchmark.stages.get(key="photographs"), rows)


def photograph_key(concept: str, country: str) -> str:
    return f"{country.lower()}-{concept.replace(' ', '-')}"


def search_photographs(demo: Demo) -> None:
    """A ranked list for each sentence, and the sheets on which people pick the best of the first eight."""
    plan = CollectionPlan(stage=stage_of(SLUG, "photographs"), name="Photographs", asked_by=stage_of(SLUG, "prompts"))
    collection = build_collection(plan, demo.actor).collection
    keys = list(Entry.objects.filter(collection=collection).order_by("key").values_list("key", flat=True))

    def scores(query: Query, rng: Random, noise: float) -> dict[str, float]:
        country, concept = query.key.split("/")
        return {
            key: 0.2
            + 0.1 * (key == f"{country}-{concept}")
            + 0.04 * key.startswith(country)
            + rng.gauss(0, 0.02 * noise)
            for key in keys
        }

    import_ranked_lists(demo, collection, MODELS[0], Run.Task.RETRIEVAL, SENTENCES, scores)
    run = Run.objects.get(collection=collection)
    create_sheets(run, stage_of(SLUG, "prompts"), stage_of(SLUG, "pick"), demo.actor)


def import_generated(demo: Demo) -> None:
    """One picture for each sentence, as an image model made them elsewhere."""
    rows = [
        picture_row(
            pictures.scene(item.concept, item.origin, "generated"), key=item.key, condition="",
            prompt=item.text, source="Simulated image model", origin=item.origin,
        )
        for item in items_of(SLUG, "prompts")
    ]  # fmt: skip
    demo.import_items(stage_of(SLUG, "generated"), [_without_country(row) for row in rows])
    demo.open_chain(SLUG, WANTED, only={"generated": CHECKED_BY})


def _without_country(row: dict[str, Any]) -> dict[str, Any]:
    """`origin` says it here."""
    return {name: value for name, value in row.items() if name != "country"}


def keep_and_pick(demo: Demo) -> None:
    """Generated pictures are kept, photographs are picked; what is left waits for visitors."""
    answer_sheets(demo, campaign_of(SLUG, "generated"), lambda _sheet: {"keep": "keep"}, most=6)
    answer_sheets(demo, campaign_of(SLUG, "pick"), lambda _sheet: {"picture": "1"}, most=2)
    derive(demo)


def rate_relevance(demo: Demo) -> None:
    """A cohort rates pictures of its own country high, with a taste of its own."""
    answer_sheets(demo, campaign_of(SLUG, "relevance"), _rate, people=slice(0, 2), most=RATED)


def rate_once_more(demo: Demo) -> None:
    """A third person of each cohort; five are wanted."""
    answer_sheets(demo, campaign_of(SLUG, "relevance"), _rate, people=slice(2, 3), most=RATED)


def _rate(sheet: SimulatedSheet) -> dict[str, str] | str:
    if sheet.rng.random() < 0.02:
        return "unknown"
    return {"relevance": relevance(sheet.item, sheet.label, sheet.rng.gauss(0, 0.55))}


def relevance(item: Item, label: str, noise: float) -> str:
    """The relevance of a picture for a culture, "1" to "5"."""
    taste = Random(f"{item.concept}/{item.origin}/{label}").gauss(0, 0.7)
    return str(min(5, max(1, round((4.2 if item.origin == label else 1.7) + taste + noise))))


def ask_models(demo: Demo) -> None:
    """Each model in two ways, about each picture and culture."""
    campaign, items = campaign_of(SLUG, "relevance"), items_of(SLUG, "relevance")
    for model in MODELS:
        for setting, harder in SETTINGS.items():
            rng = Random(f"{SEED}/{model.name}/{setting}/relevance")
            rows = [
                answer_of(item, {"relevance": relevance(item, label, rng.gauss(0, model.noise * harder))}, target=label)
                for item in items
                for label in demo.cohorts
            ]
            import_model_run(demo, campaign, model, setting, rows)


def leave_work(demo: Demo) -> None:
    """Pictures of one more concept, for visitors to pick and to check."""
    generated, sheets = [], []
    for label in demo.cohorts:
        key = f"{label.lower()}/{LEFT}"
        known = {"prompt": SENTENCE.format(concept=LEFT, origin=label), "origin": label, "condition": ""}
        generated.append(picture_row(pictures.scene(LEFT, label, "generated"), **{**known, "key": key}))
        near = [pictures.scene(concept, label) for concept in (LEFT, "dessert", "farming", "instrument")]
        for number, scene in enumerate(near, start=1):
            sheets.append(picture_row(scene, **{**known, "key": key, "role": str(number), "concept": LEFT}))
    demo.import_items(stage_of(SLUG, "generated"), [_without_country(row) for row in generated])
    demo.import_items(stage_of(SLUG, "pick"), [_without_country(row) for row in sheets])
    for stage in ("generated", "pick"):
        add_slots(campaign_of(SLUG, stage))


def ask_practice_model(demo: Demo) -> None:
    """A run for the worker to begin with, by the model that answers on this machine; nothing where none does."""
    if not demo.practice_address:
        return
    endpoint = endpoints.create(
        demo.team, demo.actor, demo.now, kind=Endpoint.Kind.OPENAI, name="Practice model",
        base_url=demo.practice_address, offers=["images", "guided", "schema"], most_in_flight=4, timeout_seconds=30,
    )  # fmt: skip
    endpoints.set_prices(endpoint, {"*": {"in": "0", "out": "0"}}, demo.actor, demo.now)
    plan = RunPlan(
        campaign=campaign_of(SLUG, "relevance"), endpoint=endpoint, model=PRACTICE_MODEL,
        prompt=registry.prompt("sheet"), seed=SEED, name="Practice Wren",
    )  # fmt: skip
    answer_runs.open_run(plan, demo.actor, demo.now)


STEPS = chain(
    "caire", "CAIRE",
    ("sentences and photographs", import_prompts),
    ("searches", search_photographs),
    ("generated pictures", import_generated),
    ("picking", keep_and_pick),
    ("ratings of two people", rate_relevance),
    ("ratings of a third one", rate_once_more),
    ("models", ask_models),
    ("work for visitors", leave_work),
    *caire_specific.STEPS,
    ("practice model", ask_practice_model),
)  # fmt: skip
