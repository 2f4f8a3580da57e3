"""What models answered in the demo: simulated ones, named so, whose answers and rankings are imported as files.

None of them ever saw a picture: each knows what the simulated people would say, and errs as much as its noise.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import Any

from django.core.files.base import ContentFile

from annotation.models import Campaign
from annotation.services.campaigns.lifecycle import create
from annotation.services.files.campaigns import open_for_imports
from benchmarks.models import Benchmark, Stage
from demo import pictures
from demo.context import SEED, Demo, Row, finish, json_lines, picture_row
from demo.relevance import CAMPAIGNS, score
from predictions.models import Collection, Run
from predictions.services.collections import collection_import
from predictions.services.runs import result_runs

# Name, what is known of it, and how far it strays from what people say.
MODELS: tuple[tuple[str, dict[str, Any], float], ...] = (
    ("Simulated Heron", {"family": "Simulated, large", "open": False, "released": "2026-03-01"}, 0.5),
    ("Simulated Wren", {"family": "Simulated, small", "open": True, "released": "2026-06-01"}, 1.0),
    ("Simulated Sparrow", {"family": "Simulated, small", "open": True, "released": "2025-09-01"}, 2.0),
)
REGION = {"Egypt": "Africa", "Brazil": "Latin America", "China": "East Asia"}
LANGUAGE = {"Egypt": "ar", "Brazil": "pt", "China": "zh"}
UNIVERSALS = 6
TRIALS = 8  # concepts of the forced choice
SURVEY_QUESTIONS = 24
PREFERENCE = {"correct": 1.0, "language_biased": 0.55, "irrelevant": 0.0}


def relevance(demo: Demo) -> None:
    """CAIRE: every model rates every picture for every cohort."""
    for condition, campaign_name, _share in CAMPAIGNS:
        campaign = Campaign.objects.get(stage__benchmark__slug="caire-demo", name=campaign_name)
        scenes = [picture for picture in pictures.of_kind("scene") if picture.condition == condition]
        rows = []
        for name, about, noise in MODELS:
            rng = Random(f"{SEED}/{name}/{campaign_name}")
            for scene in scenes:
                for label in demo.cohorts:
                    code = score(scene.concept, scene.country, label, rng.gauss(0, noise))
                    rows.append(answer_row(scene.key, name, about, {"relevance": code}, target=label))
        demo.import_answers(campaign, rows)


def values(demo: Demo) -> None:
    """ValueGround: which picture fits a country, asked with pictures and with words alone."""
    benchmark = benchmark_of("valueground-demo")
    choice, alignment = (benchmark.stages.get(key=key) for key in ("choice", "alignment"))
    items: list[Row] = []
    chosen, aligned = [], []
    for number in range(SURVEY_QUESTIONS):
        shares = Random(f"{SEED}/value/{number}")
        survey = {label: survey_counts(shares.random()) for label in demo.cohorts}
        key = f"V{number + 1:02}/drawn"
        items += survey_items(key, number, survey)
        for name, about, noise in MODELS:
            rng = Random(f"{SEED}/{name}/{number}")
            code = "aligned" if rng.gauss(0, noise) < 0.9 else "swapped"
            aligned.append(answer_row(key, name, about, {"alignment": code}, setting="alignment"))
            for label, counts in survey.items():
                preferred = "a" if counts["1"] > counts["2"] else "b"
                for setting, factor in (("main", 1.6), ("text_only", 1.0)):
                    right = rng.gauss(0, noise * factor) < 0.8
                    code = preferred if right else "ab".replace(preferred, "")
                    chosen.append(answer_row(key, name, about, {"choice": code}, target=label, setting=setting))
    for stage, name, rows in (
        (choice, "Models choose pictures", chosen),
        (alignment, "Models match pictures to answers", aligned),
    ):
        demo.import_items(stage, items)
        demo.import_answers(campaign_for_imports(demo, stage, name), rows)


def survey_items(key: str, number: int, survey: Mapping[str, Mapping[str, int]]) -> Iterator[Row]:
    """The rows of a question, one for each of its two pictures; questions share the demo's pairs."""
    texts = {"1": "It matters", "2": "It does not"}
    pairs = pictures.of_kind("pair")
    first = 2 * number % len(pairs)
    for picture in pairs[first : first + 2]:
        yield picture_row(
            picture,
            key=key,
            concept=f"V{number + 1:02}",
            text=f"Question {number + 1}",
            option_a=texts["1"],
            option_b=texts["2"],
            options=texts,
            survey=survey,
        )


def survey_counts(share: float) -> dict[str, int]:
    """How a thousand people answered."""
    yes = round(1000 * share)
    return {"1": yes, "2": 1000 - yes}


def rankings(demo: Demo) -> None:
    """GlobalRG: each model's ranked list for each universal, over pictures of three countries."""
    concepts = pictures.concepts()[:UNIVERSALS]
    entries = {
        f"{label}/{concept}/{number}": {"country": label, "region": REGION[label], "universal": concept}
        for label in demo.cohorts
        for concept in concepts
        for number in range(3)
    }
    queries = [
        {"kind": "query", "key": concept, "text": concept, "about": {"universal": concept}} for concept in concepts
    ]
    collection = import_collection(
        demo, "globalrg-retrieval-demo", "pictures", "Pictures for universals", entries, queries
    )

    def scores(query: Row, rng: Random, noise: float) -> dict[str, float]:
        return {
            key: (1.0 if about["universal"] == query["key"] else 0.0) + rng.gauss(0, 0.6 * noise)
            for key, about in entries.items()
        }

    import_runs(demo, collection, Run.Task.RETRIEVAL, "", queries, scores)


def choices(demo: Demo) -> None:
    """3XCM: three candidates for each seed picture, one of them of the query's own country."""
    concepts = pictures.concepts()[:TRIALS]
    entries = {
        f"{label}-{concept}": {"country": label, "concept": concept} for label in demo.cohorts for concept in concepts
    }
    queries = [
        trial(place, key, about, list(demo.cohorts), concepts) for place, (key, about) in enumerate(entries.items())
    ]
    collection = import_collection(demo, "3xcm-demo", "trials", "Trials of three candidates", entries, queries)

    def scores(query: Row, rng: Random, noise: float) -> dict[str, float]:
        return {key: PREFERENCE[role] + rng.gauss(0, 0.4 * noise) for role, key in query["roles"].items()}

    import_runs(demo, collection, Run.Task.FORCED_CHOICE, "plain", queries, scores)


def trial(place: int, key: str, about: Mapping[str, str], labels: Sequence[str], concepts: Sequence[str]) -> Row:
    rng = Random(f"{SEED}/trial/{place}")
    other_labels = [label for label in labels if label != about["country"]]
    other_concepts = [concept for concept in concepts if concept != about["concept"]]
    roles = {
        "correct": f"{other_labels[0]}-{about['concept']}",
        "language_biased": f"{about['country']}-{rng.choice(other_concepts)}",
        "irrelevant": f"{other_labels[1]}-{rng.choice(other_concepts)}",
    }
    more = {"image": key, "language": LANGUAGE[about["country"]], "query_set": "plain"}
    return {
        "kind": "query", "query_set": "plain", "key": key, "text": about["concept"], "roles": roles,
        "about": {**about, **more},
    }  # fmt: skip


# Imports


def benchmark_of(slug: str) -> Benchmark:
    return Benchmark.objects.get(slug=slug)


def answer_row(item: str, name: str, about: Row, answers: Mapping[str, str], **more: str) -> dict[str, Any]:
    """A model's answer as a row of a file of answers."""
    row = {"item": item, "rater": name, "rater_kind": "model", "about": dict(about), "answers": dict(answers)}
    return row | {"setting": "", **more}


def campaign_for_imports(demo: Demo, stage: Stage, name: str) -> Campaign:
    campaign = create(stage, name, demo.actor, dict.fromkeys(demo.cohorts.values(), 1), summary="", seed=SEED)
    open_for_imports(campaign, demo.actor, demo.now)
    campaign.refresh_from_db()
    return campaign


def import_collection(
    demo: Demo, slug: str, key: str, name: str, entries: Mapping[str, Row], queries: Sequence[Row]
) -> Collection:
    rows = [{"kind": "entry", "key": entry, "about": about} for entry, about in entries.items()]
    file = ContentFile(json_lines([*rows, *queries]), name=f"{key}.jsonl")
    benchmark = benchmark_of(slug)
    finish(collection_import.start(benchmark, demo.actor, file, key=key, version="1", name=name, licence="Apache-2.0"))
    return Collection.objects.get(benchmark=benchmark, key=key)


def import_runs(
    demo: Demo,
    collection: Collection,
    task: str,
    query_set: str,
    queries: Sequence[Row],
    scores: Callable[[Row, Random, float], Mapping[str, float]],
) -> None:
    """A run of each model: `scores` returns the score of each entry for a query."""
    for name, about, noise in MODELS:
        rng = Random(f"{SEED}/{task}/{name}")
        results = json_lines(result_rows(queries, scores, rng, noise))
        file_info = result_runs.RunFileInfo(
            collection=collection, model=name, setting="", about=about, task=task, query_set=query_set,
            system_prompt="", score_kind="simulated",
        )  # fmt: skip
        job = result_runs.start(collection.benchmark, demo.actor, ContentFile(results, name=f"{name}.jsonl"), file_info)
        assert job is not None
        finish(job)


def result_rows(
    queries: Sequence[Row], scores: Callable[[Row, Random, float], Mapping[str, float]], rng: Random, noise: float
) -> Iterator[Row]:
    for query in queries:
        scored = scores(query, rng, noise)
        yield {"query": query["key"], "keys": list(scored), "scores": [round(value, 6) for value in scored.values()]}
