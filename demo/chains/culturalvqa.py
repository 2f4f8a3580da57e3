"""CulturalVQA half-way: pictures, questions, reviews, answers, two models in five ways, a judge, ratings of answers."""

from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import Any

from annotation.models import Annotation
from annotation.services.derivation import stage_inputs
from benchmarks.models import Item
from benchmarks.rules.filters import parse_filters
from benchmarks.services.intake import judging
from demo import pictures
from demo.context import SEED, Demo, DemoError, finish, picture_row, scene_row
from demo.reviews import ACCEPT, Decision, review_answers
from demo.simulation import (
    HERON,
    JUDGE,
    OTHERS,
    WREN,
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
from demo.vocabulary import FACETS, GENERIC, NAMES
from predictions.models import Run
from predictions.services.encoders.filter_limits import use_as_limit

SLUG = "culturalvqa-demo"
LABELLED, WRITTEN, JUDGED = 12, 3, 6
"""Sheets of each of three people: of pictures, of questions; and how many answers of models each of them rates."""
WANTED = {"relevance-labels": 3, "sub-categories": 2, "stereotypes": 2}
SCORE_LIMIT = 23.0
DOUBTED = 0.06
"""The share of pictures that a person labels unlike the others."""
# How much more a model errs where it sees less: the paper's five ways to ask.
HARDER = {"vlm": 1.0, "vlm_few_shot": 0.8, "llm_entities": 1.3, "llm_country": 1.6, "llm_only": 2.4}
MISSED = {HERON: {"Egypt": 2, "Brazil": 1, "China": 2}, WREN: {"Egypt": 2, "Brazil": 2, "China": 3}}
"""How many questions of a country each model cannot answer from the picture, whichever questions were written."""
KIND = {
    "Brazil": "",
    "China": ", of the kind “{concept}”",
    "Egypt": ", of the kind “{concept}”, at home or in the street",
}
"""How a question goes on: in some countries they are longer."""
NEEDS_NO_CULTURE = Decision("reject", "no_culture_needed")
SUB_CATEGORIES = {
    "food": "ingredients", "drink": "type_name", "clothing": "type_name", "traditions": "music_instruments",
    "rituals": "celebration",
}  # fmt: skip
STEREOTYPES = {"clothing": "gender", "rituals": "religion"}


def import_candidates(demo: Demo) -> None:
    """Pictures of searches with their scores: two thirds of them pass the filters."""
    benchmark = demo.create_benchmark("culturalvqa", "CulturalVQA, demo", SLUG)
    rows = [row for label in demo.cohorts for concept in pictures.concepts() for row in _candidates(concept, label)]
    demo.import_items(benchmark.stages.get(key="candidates"), rows)


def _candidates(concept: str, label: str) -> list[dict[str, Any]]:
    """A picture that shows what it was found for, and for every third concept one that a filter drops."""
    rng = Random(f"{SEED}/candidate/{label}/{concept}")
    known = {
        "assertion": f"{NAMES[label][concept]} is well known in {label}.", "facet": FACETS[concept], "entities": concept
    }  # fmt: skip
    rows = [scene_row(concept, label, **known, **{"fact.clip_score": f"{rng.uniform(24, 34):.1f}"})]
    place = pictures.concepts().index(concept)
    if place % 3 == 0:
        other = pictures.scene(concept, label, "generated")
        is_logo = place % 2 == 0
        title, score = ("A logo of a shop", 27.0) if is_logo else ("Found on the web", rng.uniform(15, 22))
        rows.append(
            picture_row(other, key=f"{label}/{concept}/2", condition="", title=title, **known)
            | {"fact.clip_score": f"{score:.1f}"}
        )
    return rows


def open_chain(demo: Demo) -> None:
    derive(demo)
    demo.open_chain(SLUG, WANTED)


def label_pictures(demo: Demo) -> None:
    """People say what the pictures show, not always alike, and the limit of the filter is chosen by that."""
    campaign = campaign_of(SLUG, "relevance-labels")

    def label(sheet: SimulatedSheet) -> dict[str, str]:
        is_other, is_doubted = sheet.item.key.endswith("/2"), sheet.rng.random() < DOUBTED
        return {"relevant": "relevant" if is_other == is_doubted else "irrelevant"}

    answer_sheets(demo, campaign, label, most=LABELLED)
    stage = stage_of(SLUG, "candidates")
    [rule] = [rule for rule in parse_filters(stage.filters) if rule.kind == "fact"]
    job = use_as_limit(
        stage, rule, SCORE_LIMIT, campaign.stage, "relevant", ["relevant"], demo.actor,
        number_seen=judging.version_number(stage),
    )  # fmt: skip
    if job is not None:
        finish(job)
    derive(demo)


def write_questions(demo: Demo) -> None:
    """Each of three people writes some questions; a picture is skipped now and then."""

    def write(sheet: SimulatedSheet) -> dict[str, str] | str:
        if sheet.number == 0 and sheet.rng.random() < 0.2:
            return "unfamiliar"
        name, concept = NAMES[sheet.label][sheet.item.concept], sheet.item.concept
        kind = KIND[sheet.label].format(concept=concept)
        question = f"What do people of {sheet.label} call what is seen here{kind}?"
        return {"familiarity": "familiar", "question": question, "answer": name}

    answer_sheets(demo, campaign_of(SLUG, "questions"), write, most=WRITTEN)


def review_questions(demo: Demo) -> None:
    """Of each cohort one question is returned, one is rejected, one waits, and the others are accepted; the second
    reviewer differs twice, and of these a visitor settles one."""
    review_answers(demo, campaign_of(SLUG, "questions"), decide)
    derive(demo)


def decide(answer: Annotation, number: int) -> Sequence[Decision]:
    country = answer.assignment.unit.item.origin
    match number, country:
        case 1, _:
            return ()
        case 2, _:
            return (Decision("return", "language", "Ask it in fewer words."), Decision("return", "language"))
        case 3, _:
            return NEEDS_NO_CULTURE, NEEDS_NO_CULTURE
        case 4, _:
            return (ACCEPT,)  # waits for the second reviewer
        case 5, "Brazil":
            return ACCEPT, NEEDS_NO_CULTURE
        case 5, "Egypt":
            return ACCEPT, NEEDS_NO_CULTURE, ACCEPT
        case _:
            return ACCEPT, ACCEPT


def answer_questions(demo: Demo) -> None:
    """Three others of the culture answer all questions but one, which is left for visitors."""
    questions = Counter(item.origin for item in items_of(SLUG, "answers"))
    campaign = campaign_of(SLUG, "answers")
    for label, number in questions.items():
        asked: set[int] = set()

        def reply(sheet: SimulatedSheet, asked: set[int] = asked, most: int = number - 1) -> dict[str, str] | None:
            """The first questions that come up are answered, whoever gets them."""
            if sheet.item.pk not in asked and len(asked) >= most:
                return None
            asked.add(sheet.item.pk)
            name = NAMES[sheet.label][sheet.item.concept]
            knows = sheet.rng.random() < 0.85
            return {"answer": name if knows else GENERIC[sheet.item.concept], "sure": "yes" if knows else "maybe"}

        answer_sheets(demo, campaign, reply, people=OTHERS, most=number, labels=[label])
    derive(demo)


def label_questions(demo: Demo) -> None:
    """A model says what each question is about, and two people correct it for all but one."""
    most = min(Counter(item.origin for item in items_of(SLUG, "sub-categories")).values()) - 1
    for key, setting, field in (
        ("sub-categories", "sub_category", "sub_category"), ("stereotypes", "stereotype", "stereotype")
    ):  # fmt: skip
        campaign = campaign_of(SLUG, key)
        rows = [answer_of(item, _label(field, item)) for item in items_of(SLUG, key)]
        import_model_run(demo, campaign, HERON, setting, rows)

        def correct(sheet: SimulatedSheet, field: str = field) -> dict[str, str]:
            return _label(field, sheet.item, sheet.rng.random())

        answer_sheets(demo, campaign, correct, people=slice(0, 2), most=most)


def _label(field: str, item: Item, chance: float = 1.0) -> dict[str, str]:
    """`chance`: of a person, who sees it in another way now and then."""
    facet = item.context["facet"]
    if field == "sub_category":
        return {field: "customs" if chance < 0.2 else SUB_CATEGORIES[facet]}
    if facet not in STEREOTYPES:
        return {field: "neither"}
    return {field: "anti_stereotype" if chance < 0.2 else "stereotype", "about": STEREOTYPES[facet]}


def ask_models(demo: Demo) -> None:
    """Each model in the five ways of the paper, from files."""
    campaign = campaign_of(SLUG, "answers")
    items = items_of(SLUG, "answers")
    for model, missed in MISSED.items():
        unknown = {item.pk for label, n in missed.items() for item in [one for one in items if one.origin == label][:n]}
        for setting in HARDER:
            rows = [answer_of(item, _reply(model, setting, item, item.pk not in unknown)) for item in items]
            import_model_run(demo, campaign, model, setting, [row | _target(demo, row) for row in rows])
    derive(demo)


def _target(demo: Demo, row: dict[str, Any]) -> dict[str, str]:
    """A question is asked about the culture of its picture, whose label begins its key."""
    return {"target": next(label for label in demo.cohorts if row["item"].startswith(label))}


def _reply(model: Model, setting: str, item: Item, knows_picture: bool) -> dict[str, str]:
    """From the picture a model knows all but some things of some countries; else it errs as much as it sees less. Of
    what it does not know it is sure half of the time.
    """
    rng = Random(f"{SEED}/{model.name}/{setting}/{item.origin}/{item.concept}")
    knows = knows_picture if setting == "vlm" else abs(rng.gauss(0, model.noise * HARDER[setting])) < 0.8
    name = NAMES[item.origin][item.concept] if knows else GENERIC[item.concept]
    return {"answer": name, "sure": "yes" if knows or rng.random() < 0.5 else "maybe"}


def judge_answers(demo: Demo) -> None:
    """LAVE: the judge compares what models and people said with the reference answers."""
    rows = [answer_of(item, {"lave": "2" if _agrees(item) else "1"}) for item in items_of(SLUG, "lave")]
    import_model_run(demo, campaign_of(SLUG, "lave"), JUDGE, "", rows)


def _agrees(item: Item) -> bool:
    references = {reference.casefold() for reference in item.context["references"]}
    return str(item.context["candidate"]).casefold() in references


def rate_model_answers(demo: Demo) -> None:
    """People rate what the models said of the picture; five ratings are wanted, so some are left for visitors."""
    runs = Run.objects.filter(benchmark__slug=SLUG, campaign__stage__key="answers", rater__setting="vlm")
    choices = {(run.rater_id, run.pk): True for run in runs}
    if len(choices) != len(MISSED):
        raise DemoError("the answers from the picture have no run of each model")
    stage_inputs.choose_runs(stage_of(SLUG, "model-answers"), choices, demo.actor, demo.now)
    derive(demo)

    def rate(sheet: SimulatedSheet) -> dict[str, str]:
        return {"verdict": _verdict(sheet.item, sheet.rng)}

    answer_sheets(demo, campaign_of(SLUG, "model-answers"), rate, people=OTHERS, most=JUDGED)


def _verdict(item: Item, rng: Random) -> str:
    """How correct a model's answer is, "1" to "5"."""
    return rng.choice("1113" if item.context["candidate"] == NAMES[item.origin][item.concept] else "2455")


def judge_like_people(demo: Demo) -> None:
    """The judge rates the same answers of models as people do, on the same scale."""
    rng = Random(f"{SEED}/{JUDGE.name}/model-answers")
    rows = [
        answer_of(item, {"verdict": _verdict(item, rng)}, target=item.origin)
        for item in items_of(SLUG, "model-answers")
    ]
    import_model_run(demo, campaign_of(SLUG, "model-answers"), JUDGE, "", rows)


def import_word_lists(demo: Demo) -> None:
    """The two lists that two tables compare answers with."""
    names = sorted({name for of_label in NAMES.values() for name in of_label.values()} | set(GENERIC.values()))
    counts = [{"key": name, "count": 10 + 37 * place} for place, name in enumerate(names)]
    demo.import_collection(SLUG, "corpus-counts", "Corpus counts", counts)
    titles = [{"key": name.replace(" ", "_")} for name in names[::2]]
    demo.import_collection(SLUG, "wikipedia-titles", "Wikipedia titles", titles)


STEPS = chain(
    "culturalvqa", "CulturalVQA",
    ("pictures", import_candidates),
    ("campaigns", open_chain),
    ("labels of pictures", label_pictures),
    ("questions", write_questions),
    ("reviews", review_questions),
    ("answers", answer_questions),
    ("labels of questions", label_questions),
    ("models", ask_models),
    ("judged answers", judge_answers),
    ("rated answers", rate_model_answers),
    ("ratings of the judge", judge_like_people),
    ("lists of words", import_word_lists),
)  # fmt: skip
