"""What models said in the demo: simulated ones, named so, whose answers and lists came in through the same doors.

None of them ever saw a picture: each knows what the simulated people would say, and errs as much as its noise.
"""

from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any

from django.db import transaction

from annotation.imports.gathering import each
from annotation.models import Campaign
from annotation.services.answer_files import settle
from annotation.services.campaigns import create
from annotation.services.file_campaigns import open_for_imports
from annotation.services.file_rows import Place
from annotation.services.sheet_versions import sheet_of
from benchmarks.models import Benchmark, Item, Stage
from config.demo_workflows import FACETS, NAMES, SEED, SHOWN, Stuff
from demo import pictures
from people.services.raters import add_model_info, models_of
from predictions.models import Collection, Entry, Query, Ranking, Run

# Name, what is known of it, and how far it strays from what people say.
MODELS: tuple[tuple[str, dict[str, Any], float], ...] = (
    ("Simulated Heron", {"family": "Simulated, large", "open": False, "released": "2026-03-01"}, 0.5),
    ("Simulated Wren", {"family": "Simulated, small", "open": True, "released": "2026-06-01"}, 1.0),
    ("Simulated Sparrow", {"family": "Simulated, small", "open": True, "released": "2025-09-01"}, 2.0),
)
REGION = {"Egypt": "Africa", "Brazil": "Latin America", "China": "East Asia"}
CONCEPTS = pictures.concepts()
LANGUAGE = {"Egypt": "ar", "Brazil": "pt", "China": "zh"}


def load(stuff: Stuff) -> None:
    for say in (relevance, answers_judged, values, lists, choices):
        with transaction.atomic():
            say(stuff)


def relevance(stuff: Stuff) -> None:
    """CAIRE: every model rates every picture for every cohort."""
    stage = _benchmark("caire-demo").stages.get(key="relevance")
    for campaign in Campaign.objects.filter(stage=stage):
        items = list(stage.items.filter(condition__in=campaign.conditions))
        rows = []
        for name, about, noise in MODELS:
            rng = Random(f"{SEED}/{name}/{campaign.name}")
            for item in items:
                for label in stuff.cohorts:
                    taste = Random(f"{item.concept}/{item.origin}/{label}").gauss(0, 0.7)
                    score = (4.2 if item.origin == label else 1.7) + taste + rng.gauss(0, noise)
                    code = str(min(5, max(1, round(score))))
                    rows.append(_row(item, name, about, {"relevance": code}, target=label))
        _say(stuff, campaign, rows)


def answers_judged(stuff: Stuff) -> None:
    """CulturalVQA: candidates of the models and of people, judged by a model that sees no picture."""
    stage = _benchmark("culturalvqa-demo").stages.get(key="lave")
    rows = []
    for label in stuff.cohorts:
        for concept in SHOWN:
            question = f"{label}/{concept}"
            told = {"question": question, "facet": FACETS[concept], "references": [NAMES[label][concept]]}
            for name, _about, noise in (*MODELS, ("human", {}, 0.2)):
                by = {"candidate_by": name, "setting": "" if name == "human" else "vlm"}
                right = Random(f"{SEED}/{question}/{name}").gauss(0, noise) < 0.6
                item = Item.objects.create(
                    stage=stage, key=f"{question}/{name}", concept=concept, origin=label,
                    text=f"What do people of {label} call this?",
                    context=told | by | {"candidate": NAMES[label][concept] if right else "Something else"},
                )  # fmt: skip
                rows.append(_row(item, "Simulated judge", {}, {"lave": "2" if right else "1"}))
    _say(stuff, _for_imports(stuff, stage, "LAVE"), rows)


def values(stuff: Stuff) -> None:
    """ValueGround: which picture fits a country, asked with pictures and with words alone."""
    benchmark = _benchmark("valueground-demo")
    choice, alignment = (benchmark.stages.get(key=key) for key in ("choice", "alignment"))
    chosen, aligned = [], []
    for number in range(24):
        of_question = Random(f"{SEED}/value/{number}")
        survey = {label: _counts(of_question.random()) for label in stuff.cohorts}
        told = {
            "option_a": "It matters", "option_b": "It does not", "options": {"1": "It matters", "2": "It does not"},
            "survey": survey,
        }  # fmt: skip
        shared = {"concept": f"V{number + 1:02}", "condition": "drawn", "context": told}
        asked, shown = (
            Item.objects.create(stage=stage, key=f"V{number + 1:02}/drawn", text=f"Question {number + 1}", **shared)
            for stage in (choice, alignment)
        )
        for name, about, noise in MODELS:
            rng = Random(f"{SEED}/{name}/{number}")
            code = "aligned" if rng.gauss(0, noise) < 0.9 else "swapped"
            aligned.append(_row(shown, name, about, {"alignment": code}, setting="alignment"))
            for label, setting, more in [
                (label, *how) for label in stuff.cohorts for how in (("main", 1.6), ("text_only", 1.0))
            ]:
                right = rng.gauss(0, noise * more) < 0.8
                wanted = "a" if survey[label]["1"] > survey[label]["2"] else "b"
                said = wanted if right else "ab".replace(wanted, "")
                chosen.append(_row(asked, name, about, {"choice": said}, target=label, setting=setting))
    _say(stuff, _for_imports(stuff, choice, "Models choose pictures"), chosen)
    _say(stuff, _for_imports(stuff, alignment, "Models match pictures to answers"), aligned)


def lists(stuff: Stuff) -> None:
    """GlobalRG: each model's ranked list for each universal, over pictures of three countries."""
    collection = _collection("globalrg-retrieval-demo", "pictures", "Pictures for universals")
    keys = {
        f"{label}/{concept}/{number}": {"country": label, "region": REGION[label], "universal": concept}
        for label in stuff.cohorts
        for concept in CONCEPTS[:6]
        for number in range(3)
    }
    _entries(collection, keys)
    queries = [
        Query(collection=collection, key=concept, text=concept, about={"universal": concept})
        for concept in CONCEPTS[:6]
    ]
    Query.objects.bulk_create(queries)
    for run, noise in _runs(stuff, collection, Run.Task.RETRIEVAL):
        rng = Random(f"{SEED}/lists/{run.rater.name}")
        _found(run, queries, lambda query, rng=rng, noise=noise: {
            key: (1.0 if about["universal"] == query.key else 0.0) + rng.gauss(0, 0.6 * noise)
            for key, about in keys.items()
        })  # fmt: skip


def choices(stuff: Stuff) -> None:
    """3XCM: three candidates for each seed picture, one of them of the query's own country."""
    collection = _collection("3xcm-demo", "trials", "Trials of three candidates")
    pictures = {
        f"{label}-{concept}": {"country": label, "concept": concept}
        for label in stuff.cohorts
        for concept in CONCEPTS[:8]
    }
    _entries(collection, pictures)
    queries = []
    for place, (key, about) in enumerate(pictures.items()):
        rng = Random(f"{SEED}/trial/{place}")
        others = [one for one in stuff.cohorts if one != about["country"]]
        elsewhere = [one for one in CONCEPTS[:8] if one != about["concept"]]
        roles = {
            "correct": f"{others[0]}-{about['concept']}",
            "language_biased": f"{about['country']}-{rng.choice(elsewhere)}",
            "irrelevant": f"{others[1]}-{rng.choice(elsewhere)}",
        }
        more = {"image": key, "language": LANGUAGE[str(about["country"])], "query_set": "plain"}
        queries.append(
            Query(
                collection=collection,
                query_set="plain",
                key=key,
                text=str(about["concept"]),
                roles=roles,
                about=about | more,
            )
        )
    Query.objects.bulk_create(queries)
    likes = {"correct": 1.0, "language_biased": 0.55, "irrelevant": 0.0}
    for run, noise in _runs(stuff, collection, Run.Task.FORCED_CHOICE, query_set="plain"):
        rng = Random(f"{SEED}/choices/{run.rater.name}")
        _found(run, queries, lambda query, rng=rng, noise=noise: {
            key: likes[role] + rng.gauss(0, 0.4 * noise) for role, key in query.roles.items()
        })  # fmt: skip


# ---- the doors -----------------------------------------------------------------------------------------------------


def _benchmark(slug: str) -> Benchmark:
    return Benchmark.objects.get(slug=slug)


def _row(item: Item, name: str, about: Mapping[str, Any], answers: Mapping[str, str], **more: str) -> dict[str, Any]:
    said = {"item": item.key, "rater": name, "rater_kind": "model", "about": dict(about), "answers": dict(answers)}
    return said | {"setting": "", **more}


def _for_imports(stuff: Stuff, stage: Stage, name: str) -> Campaign:
    campaign = create(stage, name, stuff.actor, dict.fromkeys(stuff.cohorts.values(), 1), summary="", seed=SEED)
    open_for_imports(campaign, stuff.actor, stuff.now)
    return campaign


def _say(stuff: Stuff, campaign: Campaign, rows: Sequence[Mapping[str, Any]]) -> None:
    campaign = Campaign.objects.select_related("stage__benchmark__team", "sheet_version", "rule_version").get(
        pk=campaign.pk
    )
    assert campaign.sheet_version is not None
    cohorts = {row.cohort.label: row for row in campaign.cohorts.select_related("cohort")}
    place = Place(campaign, sheet_of(campaign.sheet_version), cohorts, digest=f"demo-{campaign.pk}")
    told = settle(place, list(each(enumerate(rows, start=1))), stuff.now)
    wrong = [line.message for line in told if line.outcome == "error"]
    assert not wrong, wrong[0]


def _collection(slug: str, key: str, name: str) -> Collection:
    return Collection.objects.create(benchmark=_benchmark(slug), key=key, name=name, licence="Apache-2.0")


def _entries(collection: Collection, keys: Mapping[str, Mapping[str, Any]]) -> None:
    Entry.objects.bulk_create(Entry(collection=collection, key=key, about=dict(about)) for key, about in keys.items())


def _runs(stuff: Stuff, collection: Collection, task: str, query_set: str = "") -> Iterator[tuple[Run, float]]:
    raters = models_of(stuff.team, [(name, "") for name, _about, _noise in MODELS])
    for name, about, _noise in MODELS:
        add_model_info(raters[name, ""], about, stuff.actor, collection.benchmark.scope)
    for name, _about, noise in MODELS:
        run = Run.objects.create(
            benchmark=collection.benchmark, rater=raters[name, ""], collection=collection, task=task,
            query_set=query_set, score_kind="simulated", source="simulation", created_by=stuff.actor, complete=True,
            options={"rows": collection.queries.filter(query_set=query_set).count()},
        )  # fmt: skip
        yield run, noise


def _found(run: Run, queries: Sequence[Query], score: Any) -> None:
    """By score, the best first; ties by key."""
    rankings = []
    for query in queries:
        scores = sorted(score(query).items(), key=lambda pair: (-pair[1], pair[0]))
        rankings.append(
            Ranking(run=run, query=query, keys=[key for key, _s in scores], scores=[round(s, 6) for _key, s in scores])
        )
    Ranking.objects.bulk_create(rankings)


def _counts(share: float) -> dict[str, int]:
    """How a thousand people answered."""
    yes = round(1000 * share)
    return {"1": yes, "2": 1000 - yes}
