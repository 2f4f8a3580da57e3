"""GlobalRG's retrieval half-way: candidates of searches, screening, the set as a collection, rankings."""

from collections.abc import Iterable
from random import Random
from typing import Any

from annotation.services.campaigns.lifecycle import add_slots
from benchmarks.models import Benchmark
from demo import pictures
from demo.context import Demo, picture_row
from demo.simulation import (
    MODELS,
    SimulatedSheet,
    answer_sheets,
    benchmark_of,
    campaign_of,
    derive,
    finish_waiting_jobs,
    import_ranked_lists,
    items_of,
    stage_of,
)
from demo.steps import chain
from demo.vocabulary import NAMES
from predictions.models import Collection, Entry, Query, Run
from predictions.services.collections.builder import UNIVERSALS, CollectionPlan, build_collection

SLUG = "globalrg-retrieval-demo"
CONCEPTS = 6  # of those that the pictures show
LEFT = "head coverings"  # which visitors screen
WRONG = {"wrong_concept": 4, "several_scenes": 6}  # of so many pictures one is not what it was found for


def import_candidates(demo: Demo) -> None:
    """Two pictures of each cell, and for every third cell a second finding of the first one, which a filter drops."""
    benchmark = demo.create_benchmark("globalrg-retrieval", "GlobalRG retrieval, demo", SLUG)
    concepts = pictures.concepts()[:CONCEPTS]
    cells = [(label, concept, number) for label in demo.cohorts for number, concept in enumerate(concepts)]
    _import_cells(demo, benchmark, cells)


def _import_cells(demo: Demo, benchmark: Benchmark, cells: Iterable[tuple[str, str, int]]) -> None:
    demo.import_items(benchmark.stages.get(key="candidates"), [row for cell in cells for row in _cell(*cell)])
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
    demo.open_chain(SLUG, {"screening": 3})


def screen(demo: Demo) -> None:
    """Three people of each cohort look at every picture; the third one overlooks something now and then."""
    places = {item.key: place for place, item in enumerate(items_of(SLUG, "screening"), start=1)}

    def judge(sheet: SimulatedSheet) -> dict[str, str]:
        place = places[sheet.item.key]
        reasons = [reason for reason, every in WRONG.items() if place % every == 0]
        is_third = sheet.assignment.rater == demo.raters[sheet.label][2]
        if not reasons or (is_third and place % 8 == 0):
            return {"keep": "yes"}
        return {"keep": "no", "reason": reasons[0]}

    answer_sheets(demo, campaign_of(SLUG, "screening"), judge, most=len(places))
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


def leave_work(demo: Demo) -> None:
    """Pictures of one more concept, for visitors to screen."""
    _import_cells(demo, benchmark_of(SLUG), [(label, LEFT, 1) for label in demo.cohorts])
    add_slots(campaign_of(SLUG, "screening"))


STEPS = chain(
    "globalrg-retrieval", "GlobalRG retrieval",
    ("pictures", import_candidates),
    ("campaigns", open_chain),
    ("screening", screen),
    ("collection", create_collection),
    ("ranked lists", import_rankings),
    ("work for visitors", leave_work),
)  # fmt: skip
