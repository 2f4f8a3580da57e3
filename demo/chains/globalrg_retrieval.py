"""GlobalRG's retrieval half-way: candidates of searches, screening, the set as a collection, rankings."""

from random import Random
from typing import Any

from demo import pictures
from demo.context import Demo, picture_row
from demo.simulation import (
    MODELS,
    SimulatedSheet,
    answer_sheets,
    campaign_of,
    derive,
    finish_waiting_jobs,
    import_ranked_lists,
    stage_of,
)
from demo.steps import chain
from demo.vocabulary import NAMES
from predictions.models import Collection, Entry, Query, Run
from predictions.services.collections.builder import UNIVERSALS, CollectionPlan, build_collection

SLUG = "globalrg-retrieval-demo"
CONCEPTS = 6  # of those that the pictures show
SCREENED = 3  # by each of three people of a cohort


def import_candidates(demo: Demo) -> None:
    """Two pictures of each cell, and for every third cell a second finding of the first one, which a filter drops."""
    benchmark = demo.create_benchmark("globalrg-retrieval", "GlobalRG retrieval, demo", SLUG)
    concepts = pictures.concepts()[:CONCEPTS]
    cells = [(label, concept, number) for label in demo.cohorts for number, concept in enumerate(concepts)]
    rows = [row for cell in cells for row in _cell(*cell)]
    demo.import_items(benchmark.stages.get(key="candidates"), rows)
    finish_waiting_jobs(benchmark)
    derive(demo)


def _cell(label: str, concept: str, number: int) -> list[dict[str, Any]]:
    searches = [(1, "natural"), (2, "generated"), *([(3, "natural")] if number % 3 == 0 else [])]
    return [
        picture_row(
            pictures.scene(concept, label, condition), key=f"{label}/{concept}/{rank}", condition="", rank=str(rank),
            sentence=f"{NAMES[label][concept]}, {concept} in {label}",
        )
        for rank, condition in searches
    ]  # fmt: skip


def open_chain(demo: Demo) -> None:
    demo.open_chain(SLUG)


def screen(demo: Demo) -> None:
    """Three people of each cohort; now and then a picture is not what it was found for. The rest waits for visitors."""

    def judge(sheet: SimulatedSheet) -> dict[str, str]:
        shows = sheet.rng.random() > 0.12
        return {"keep": "yes"} if shows else {"keep": "no", "reason": "wrong_concept"}

    answer_sheets(demo, campaign_of(SLUG, "screening"), judge, most=SCREENED)
    derive(demo)


def create_collection(demo: Demo) -> None:
    """What was accepted, with a query for each universal."""
    plan = CollectionPlan(stage=stage_of(SLUG, "retrieval-set"), name="Retrieval set", queries=(UNIVERSALS,))
    build_collection(plan, demo.actor)


def import_rankings(demo: Demo) -> None:
    """Each model's ranked list for each universal, over the pictures of the set."""
    collection = Collection.objects.get(benchmark__slug=SLUG)
    entries = list(Entry.objects.filter(collection=collection).order_by("key"))

    def scores(query: Query, rng: Random, noise: float) -> dict[str, float]:
        return {
            entry.key: (0.3 if entry.about["concept"] == query.text else 0.2) + rng.gauss(0, 0.05 * noise)
            for entry in entries
        }

    for model in MODELS:
        import_ranked_lists(demo, collection, model, Run.Task.RETRIEVAL, UNIVERSALS, scores)


STEPS = chain(
    "globalrg-retrieval", "GlobalRG retrieval",
    ("pictures", import_candidates),
    ("campaigns", open_chain),
    ("screening", screen),
    ("collection", create_collection),
    ("ranked lists", import_rankings),
)  # fmt: skip
