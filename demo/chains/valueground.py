"""ValueGround half-way: a survey with decided questions, pairs of pictures from two sources, their review, models."""

import json
from collections.abc import Mapping
from random import Random
from typing import Any

from django.core.files.base import ContentFile

from benchmarks.models import Item
from benchmarks.services import label_sets
from demo import pictures
from demo.chains import valueground_builds
from demo.context import SEED, Demo, finish, picture_row
from demo.simulation import (
    HERON,
    JUDGE,
    MODELS,
    Model,
    SimulatedSheet,
    answer_of,
    answer_sheets,
    campaign_of,
    derive,
    import_model_run,
    items_of,
    stage_of,
)
from demo.steps import chain
from papers.valueground.recipe import LABELLED
from papers.valueground.survey.models import SurveyQuestion
from papers.valueground.survey.services import decisions, survey_import

SLUG = valueground_builds.SLUG
LABEL_SET = "recipe-valueground"
QUESTIONS = (
    "When should a family eat together?", "When do people like to dress up?", "When should people dance?",
    "When should friends be visited?", "When is a wedding best held?", "When should music be played?",
    "When should shops be open?", "When do people like to walk in town?", "When is it best to study?",
    "When should a town hold its festival?", "When should work be done?", "When should guests leave?",
)  # fmt: skip
"""Invented for the demo; the last two are still to be decided, and the two before are still to be judged. Those of
valueground_builds come after them, whose pairs are built and not imported."""
OPTIONS = {1: "Always by day", 2: "Mostly by day", 3: "Mostly after dark", 4: "Always after dark"}
CONFIRMED, JUDGED = 10, 8
SOURCES = {"painter": 0.021, "studio": 0.034}
"""What made the pairs, named so, and what a pair of it cost in US dollars."""
QUALITY = {
    ("Q8", "studio"): {"match_b": "0", "pair_match": "0"},
    ("Q7", "painter"): {"match_a": "1", "no_cue": "0"},
    ("Q2", "painter"): {"match_a": "1"},
    ("Q3", "studio"): {"match_b": "1"},
    ("Q5", "studio"): {"match_a": "1"},
}
"""What is not perfect in a pair; the first two are rejected."""
SAFETY = {("Q8", "studio"): ["unsafe"], ("Q7", "painter"): ["person"], ("Q2", "painter"): ["person", "unsafe"]}
COMMENTS = {
    ("Q8", "studio"): ("Make it darker outside in picture B.", "Picture B could be the evening or the morning."),
    ("Q7", "painter"): ("The clock in picture A gives the answer away.", "Leave out the clock in picture A."),
    ("Q2", "painter"): ("Keep the colours of the house the same.", "Keep the colours of the house the same."),
}
"""What is wrong besides, and what two people would change."""
SIDES = ("match_a", "match_b")
SCORES = {"match_a": "2", "match_b": "2", "pair_match": "2", "no_cue": "1"}
UNCLEAR = ("Q1", "Q3", "Q5")  # questions of which people do not always see which picture shows which answer
RUBRIC_JUDGES = (JUDGE, HERON)
REVIEWERS = 2  # of each pair in each cohort


def import_survey(demo: Demo) -> None:
    """Codebook, metadata and counts of thirteen countries; most questions are confirmed."""
    benchmark = demo.create_benchmark("valueground", "ValueGround, demo", SLUG)
    questions = (*QUESTIONS, *valueground_builds.QUESTIONS)
    keys = [f"Q{number}" for number in range(1, len(questions) + 1)]
    codebook = {
        key: {"question": text, "choices": {str(code): label for code, label in OPTIONS.items()}}
        for key, text in zip(keys, questions, strict=True)
    }
    metadata = {
        key: {
            "question": text, "category": "Daily life", "use_case": "value", "answer_scale_min": "1",
            "answer_scale_max": "4", "answer_data_type": "ordinal",
        }
        for key, text in zip(keys, questions, strict=True)
    }  # fmt: skip
    counts = {key: {country: survey_counts(key, country) for country in LABELLED} for key in keys}
    files = {
        kind: ContentFile(json.dumps(content).encode(), name=f"{kind}.json")
        for kind, content in (("codebook", codebook), ("metadata", metadata), ("counts", counts))
    }
    settings = survey_import.SurveySettings(name="Invented survey of daily life", terms="Invented for the demo")
    finish(survey_import.start(benchmark, demo.actor, files, settings))
    chosen = [*keys[:CONFIRMED], *keys[len(QUESTIONS) :]]
    for question in SurveyQuestion.objects.filter(survey__benchmark=benchmark, key__in=chosen).order_by("pk"):
        decisions.confirm(question, demo.actor)


def survey_counts(key: str, country: str) -> dict[str, int]:
    """How a thousand people of a country answered a question."""
    rng = Random(f"{SEED}/survey/{key}/{country}")
    lean = rng.uniform(0.2, 0.8)
    shares = [(1 - lean) * 0.6, (1 - lean) * 0.4, lean * 0.4, lean * 0.6]
    return {str(code): round(1000 * share) for code, share in zip(OPTIONS, shares, strict=True)}


def side_of(key: str, country: str) -> str:
    """Which end of the scale the mean of a country is nearer to: "a" or "b"."""
    counts = survey_counts(key, country)
    mean = sum(int(code) * n for code, n in counts.items()) / sum(counts.values())
    return "a" if mean < 2.5 else "b"


def import_pairs(demo: Demo) -> None:
    """Pairs of both sources for the questions that are judged."""
    demo.import_items(stage_of(SLUG, "pair-review"), _pairs(range(1, JUDGED + 1)))
    demo.open_chain(SLUG, {"pair-review": REVIEWERS})


def _pairs(numbers: range) -> list[dict[str, Any]]:
    drawn = pictures.of_kind("pair")
    rows = []
    for number in numbers:
        for place, (source, cost) in enumerate(SOURCES.items()):
            first = 2 * (number + place) % len(drawn)
            for picture in drawn[first : first + 2]:
                rows.append(picture_row(picture, **_known(number, source, cost)))
    return rows


def _known(number: int, source: str, cost: float) -> dict[str, Any]:
    return {
        "key": f"Q{number}-{source}", "concept": f"Q{number}", "condition": source, "text": QUESTIONS[number - 1],
        "option_a": OPTIONS[1], "option_b": OPTIONS[4], "backbone": f"Simulated {source}",
        "configuration": "planner_editor_critic",
        "cost": f"{cost + 0.001 * number:.3f}", "source": f"Simulated {source}",
    }  # fmt: skip


def review_pairs(demo: Demo) -> None:
    """Two people of each cohort look at each pair, and two judges do; one pair is not good enough."""

    def score(sheet: SimulatedSheet) -> dict[str, Any]:
        pair = (sheet.item.concept, sheet.item.condition)
        scores: dict[str, Any] = _scores(*pair, sheet.rng)
        if pair in SAFETY:
            place = demo.raters[sheet.label].index(sheet.assignment.rater) % REVIEWERS
            scores |= {"safety": SAFETY[pair][: place + 1], "comment": COMMENTS[pair][place]}
        return scores

    answer_sheets(demo, campaign_of(SLUG, "pair-review"), score, most=2 * JUDGED)
    for judge in RUBRIC_JUDGES:
        rng = Random(f"{SEED}/rubric/{judge.name}")
        rows = [answer_of(item, _scores(item.concept, item.condition, rng)) for item in items_of(SLUG, "pair-review")]
        import_model_run(demo, campaign_of(SLUG, "pair-review"), judge, "", rows)
    derive(demo)


def _scores(concept: str, source: str, rng: Random) -> dict[str, str]:
    """A good pair has a lower score now and then, so little that it is accepted."""
    faults = QUALITY.get((concept, source), {rng.choice(SIDES): "1"} if rng.random() < 0.2 else {})
    return {**SCORES, **faults}


def ask_models(demo: Demo) -> None:
    """Both models about thirteen countries, with pictures and with words alone, and what each picture shows."""
    label_set = label_sets.ensure(demo.team, LABEL_SET)
    about = {"label_set": f"{label_set.key}@{label_set.version}"}
    for model in MODELS:
        for setting, harder in (("main", 1.4), ("text_only", 1.0)):
            rows = [
                answer_of(item, {"choice": _choice(model, setting, harder, item, country)}, target=country) | about
                for item in items_of(SLUG, "choice")
                for country in LABELLED
            ]
            import_model_run(demo, campaign_of(SLUG, "choice"), model, setting, rows)
        rng = Random(f"{SEED}/alignment/{model.name}")
        rows = [
            answer_of(item, {"alignment": "aligned" if abs(rng.gauss(0, model.noise)) < 1.3 else "swapped"})
            for item in items_of(SLUG, "alignment")
        ]
        import_model_run(demo, campaign_of(SLUG, "alignment"), model, "", rows)


def _choice(model: Model, setting: str, harder: float, item: Item, country: str) -> str:
    key = item.concept
    rng = Random(f"{SEED}/{model.name}/{setting}/{key}/{country}")
    side = side_of(key, country)
    return side if abs(rng.gauss(0, model.noise * harder)) < 1 else {"a": "b", "b": "a"}[side]


def answer_as_people(demo: Demo) -> None:
    """People of the demo's cohorts choose for their own country, and say which picture shows which answer."""

    def choose(sheet: SimulatedSheet) -> dict[str, str]:
        side = side_of(sheet.item.concept, sheet.label)
        return {"choice": side if sheet.rng.random() < 0.8 else {"a": "b", "b": "a"}[side]}

    def align(sheet: SimulatedSheet) -> Mapping[str, str]:
        is_unsure = sheet.item.concept in UNCLEAR and sheet.rng.random() < 0.7
        return {"alignment": "both_a" if is_unsure else "aligned"}

    for key, reply in (("choice", choose), ("alignment", align)):
        answer_sheets(demo, campaign_of(SLUG, key), reply, most=len(items_of(SLUG, key)) - 2)


def leave_work(demo: Demo) -> None:
    """Pairs of two more questions, for visitors to judge."""
    demo.import_items(stage_of(SLUG, "pair-review"), _pairs(range(JUDGED + 1, CONFIRMED + 1)))
    derive(demo)


STEPS = chain(
    "valueground", "ValueGround",
    ("survey", import_survey),
    ("pairs of pictures", import_pairs),
    ("review of pairs", review_pairs),
    ("models", ask_models),
    ("answers of people", answer_as_people),
    ("work for visitors", leave_work),
    *valueground_builds.STEPS,
)  # fmt: skip
