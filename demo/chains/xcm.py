"""3XCM half-way: named concepts, a merge, queries, pictures without look-alikes, labels, trials, captions, models."""

from collections import Counter
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from annotation.models import Annotation
from annotation.services.campaigns.lifecycle import add_slots
from demo import pictures
from demo.context import SEED, Demo, picture_row
from demo.reviews import ACCEPT, Decision, review_answers
from demo.simulation import (
    HERON,
    MODELS,
    SimulatedSheet,
    answer_of,
    answer_sheets,
    benchmark_of,
    campaign_of,
    derive,
    finish_waiting_jobs,
    import_embeddings,
    import_model_run,
    import_ranked_lists,
    items_of,
    stage_of,
)
from demo.steps import chain
from predictions.models import Collection, Entry, Query, Run
from predictions.services.collections.builder import KEPT, SIX, THREE, CollectionPlan, build_collection

SLUG = "3xcm-demo"
SORTED_BY = "Brazil"  # pictures and labels
SYNONYM, STAYS = "garments", "clothing"
LANGUAGES = {"Egypt": "ar", "Brazil": "pt", "China": "zh"}
NATIVE = {
    "Egypt": {
        "breakfast": "فطور", "clothing": "ملابس", "garments": "ثياب", "dance": "رقص", "drinks": "مشروبات",
        "festival": "مهرجان", "transport": "مواصلات",
    },
    "Brazil": {
        "breakfast": "café da manhã", "clothing": "roupa", "garments": "vestuário", "dance": "dança",
        "drinks": "bebidas", "festival": "festa", "transport": "transporte",
    },
    "China": {
        "breakfast": "早餐", "clothing": "衣服", "garments": "服装", "dance": "舞蹈", "drinks": "饮料",
        "festival": "节日", "transport": "交通",
    },
}  # fmt: skip
SENTENCES = {
    "Egypt": {"task": "صورة فيها {word} لدرس في المدرسة", "casual": "أريد صورة {word} من فضلك :)"},
    "Brazil": {"task": "Uma foto de {word} para uma aula", "casual": "quero ver {word} :)"},
    "China": {"task": "上课用的一张{word}图片", "casual": "想看看{word} :)"},
}
"""How people of a country ask for a picture of a word: for some work, and in a chat."""
RARE = {
    "Brazil": ("transport", "clothing"), "China": ("drinks", "festival", "transport"), "Egypt": ("festival", "drinks"),
}  # fmt: skip
"""Words that not everybody of a cohort calls everyday ones."""
CONCEPTS = tuple(concept for concept in NATIVE["Brazil"] if concept != SYNONYM)
LOOK_ALIKES = "scenes-1"
GIVES_AWAY = Decision("return", "culture_cue", "Leave out where it is from.")
PREFERENCE = {
    "correct": 0.3, "language_biased": 0.26, "irrelevant": 0.1, "object_language_biased": 0.24, "object_relevant": 0.22,
    "descriptor_relevant": 0.2,
}  # fmt: skip
SYSTEM_PROMPT = "The picture may come from any country."


def import_concepts(demo: Demo) -> None:
    """Words with the vectors that a text encoder gave them elsewhere: two of them are near to each other."""
    benchmark = demo.create_benchmark("3xcm", "3XCM, demo", SLUG)
    rows = [{"key": word, "concept": word, "fact.text_vector": _vector(word)} for word in NATIVE["Brazil"]]
    demo.import_items(benchmark.stages.get(key="concepts"), rows)
    demo.open_chain(
        SLUG,
        {"concepts": 2, "merges": 3, "captions": 2},
        only={"look-alikes": SORTED_BY, "labels": SORTED_BY, "captions": SORTED_BY},
    )


def _vector(word: str) -> list[float]:
    place = [*CONCEPTS, SYNONYM].index(word)
    vector = [0.0] * len(CONCEPTS)
    vector[CONCEPTS.index(STAYS) if word == SYNONYM else place] = 1.0
    if word == SYNONYM:
        vector[0] = 0.2
    return vector


def name_concepts(demo: Demo) -> None:
    """Each cohort says what the concepts are called, and two words are merged."""

    def name(sheet: SimulatedSheet) -> dict[str, str]:
        everyday = "no" if sheet.item.concept in RARE.get(sheet.label, ()) and sheet.rng.random() < 0.5 else "yes"
        return {"native_name": NATIVE[sheet.label][sheet.item.concept], "everyday": everyday}

    def merge(sheet: SimulatedSheet) -> dict[str, str]:
        return {"same": "same", "name": "first" if sheet.item.context["first"] == STAYS else "second"}

    answer_sheets(demo, campaign_of(SLUG, "concepts"), name, most=len(NATIVE["Brazil"]))
    derive(demo)
    answer_sheets(demo, campaign_of(SLUG, "merges"), merge, most=1)
    derive(demo)


def write_queries(demo: Demo) -> None:
    """People of each cohort write two queries for each of its words but one, and reviewers accept most of them."""
    words = Counter(item.origin for item in items_of(SLUG, "queries"))
    for label, number in words.items():
        written: list[int] = []

        def write(sheet: SimulatedSheet, written: list[int] = written, most: int = number - 1) -> dict[str, str] | None:
            if len(written) == most:
                return None
            written.append(sheet.item.pk)
            word = sheet.item.context["native"]
            return {kind: sentence.format(word=word) for kind, sentence in SENTENCES[sheet.label].items()}

        answer_sheets(demo, campaign_of(SLUG, "queries"), write, most=number, labels=[label])
    review_answers(demo, campaign_of(SLUG, "queries"), decide)
    derive(demo)


def decide(answer: Annotation, number: int) -> Sequence[Decision]:
    """Of each country one waits and one is returned; a visitor is the third person to decide on one."""
    match number, answer.assignment.unit.item.origin:
        case 1, _:
            return ()
        case 2, _:
            return GIVES_AWAY, GIVES_AWAY
        case 3, "China":
            return ACCEPT, GIVES_AWAY
        case _:
            return ACCEPT, ACCEPT


def import_pictures(demo: Demo) -> None:
    """Two findings of each concept and country; Egypt's clothes were searched under the other word."""
    rows = []
    for label in demo.cohorts:
        for concept in CONCEPTS:
            found_as = SYNONYM if (concept, label) == (STAYS, "Egypt") else concept
            for rank, condition in enumerate(("natural", "generated"), start=1):
                scene = pictures.scene(concept, label, condition)
                rows.append(
                    picture_row(
                        scene, key=f"{label.lower()}-{concept}-{rank}", concept=found_as, condition="", rank=str(rank),
                        query_language=LANGUAGES[label], title=NATIVE[label][concept],
                    )
                )  # fmt: skip
    demo.import_items(stage_of(SLUG, "images"), rows)
    finish_waiting_jobs(benchmark_of(SLUG))
    derive(demo)


def drop_look_alikes(demo: Demo) -> None:
    """One person looks at all sheets; of every sixth one picture repeats the other."""

    def group(sheet: SimulatedSheet) -> dict[str, list[str]]:
        roles = sorted(use.role for use in sheet.item.images.all())
        repeats = sheet.number % 6 == 5
        return {
            "groups": [
                f"same:{role}:{roles[0]}" if repeats and number else f"keep:{role}" for number, role in enumerate(roles)
            ]
        }

    answer_sheets(demo, campaign_of(SLUG, "look-alikes"), group, people=slice(0, 1), most=100)
    derive(demo)


def label_pictures(demo: Demo) -> None:
    """A model lists what each picture shows, and people correct some of it."""

    rows = [
        answer_of(item, {"labels": f"{item.concept} | {_also(item.key)}"}) for item in items_of(SLUG, "tagging")
    ]  # fmt: skip
    import_model_run(demo, campaign_of(SLUG, "tagging"), HERON, "", rows)
    derive(demo)

    def correct(sheet: SimulatedSheet) -> dict[str, Any]:
        return {"labels": [sheet.item.concept]}

    answer_sheets(demo, campaign_of(SLUG, "labels"), correct, most=5)
    derive(demo)


def _also(key: str) -> str:
    """What else a model sees in a picture."""
    return Random(f"{SEED}/{key}").choice(["people", "street", "trees"])


def create_trials(demo: Demo) -> None:
    """The unique pictures as a collection, with trials of three and of six candidates."""
    words = {
        (concept, country, LANGUAGES[asked]): f"{NATIVE[asked][concept]} ({country})"
        for concept in CONCEPTS
        for country in LANGUAGES
        for asked in LANGUAGES
    }
    plan = CollectionPlan(
        stage=stage_of(SLUG, "unique"), name="Pictures", queries=(THREE, SIX), languages=LANGUAGES, words=words, seed=7,
        labels_from=stage_of(SLUG, "labels"), renamed_by=stage_of(SLUG, "merges"),
        names_from=stage_of(SLUG, "concepts"), queries_from=stage_of(SLUG, "queries"),
    )  # fmt: skip
    build_collection(plan, demo.actor)


def import_captions(demo: Demo) -> None:
    """Captions of the pictures in four languages, as a collection that pictures search; people read some of them."""
    rows = [
        {
            "key": f"{item.key}/{language}", "text": f"{name}, {item.origin}", "country": item.origin,
            "language": language, "image_id": item.key, "concept": item.concept,
        }
        for item in items_of(SLUG, "unique")
        for language, name in _names(item.concept).items()
    ]  # fmt: skip
    demo.import_items(stage_of(SLUG, "captions"), rows)
    plan = CollectionPlan(
        stage=stage_of(SLUG, "captions"), name="Captions", of=KEPT, what="texts", asked_by=stage_of(SLUG, "unique")
    )
    build_collection(plan, demo.actor)

    def read(sheet: SimulatedSheet) -> dict[str, str]:
        """Now and then somebody words it better."""
        if sheet.rng.random() < 0.8:
            return {"natural": "yes"}
        return {"natural": "no", "better": f"Foto: {sheet.item.text}"}

    answer_sheets(demo, campaign_of(SLUG, "captions"), read, most=4)


def _names(concept: str) -> dict[str, str]:
    """What it is called, by language."""
    return {"en": concept} | {language: NATIVE[country][concept] for country, language in LANGUAGES.items()}


def import_scores(demo: Demo) -> None:
    """What two models prefer in each trial, which captions they find, and their vectors."""
    shown, written = (Collection.objects.get(benchmark__slug=SLUG, key=key) for key in ("pictures", "captions"))
    query_sets = Query.objects.filter(collection=shown).order_by("query_set").values_list("query_set", flat=True)

    def prefer(query: Query, rng: Random, noise: float) -> Mapping[str, float]:
        return {
            key: PREFERENCE.get(role, 0.15) + rng.gauss(0, 0.1 * noise) for role, key in sorted(query.roles.items())
        }

    texts = list(Entry.objects.filter(collection=written).order_by("key"))

    def find(query: Query, rng: Random, noise: float) -> Mapping[str, float]:
        return {
            text.key: (0.3 if text.about["image_id"] == query.key else 0.2)
            + (0.03 if text.about["language"] == "pt" else 0)
            + rng.gauss(0, 0.04 * noise)
            for text in texts
        }

    for model in MODELS:
        for query_set in dict.fromkeys(query_sets):
            import_ranked_lists(demo, shown, model, Run.Task.FORCED_CHOICE, query_set, prefer)
        import_ranked_lists(
            demo, shown, model, Run.Task.FORCED_CHOICE, "plain", prefer, system_prompt=SYSTEM_PROMPT
        )  # fmt: skip
        import_ranked_lists(demo, written, model, Run.Task.RETRIEVAL, "images", find)
        for collection in (shown, written):
            import_embeddings(demo, collection, model)


def leave_work(demo: Demo) -> None:
    """A sheet of many look-alikes, for visitors to sort."""
    rows = [
        picture_row(picture, key=f"brazil-{picture.role}", role="image", concept="street scenes", country=SORTED_BY)
        | {"rank": str(rank)}
        for rank, picture in enumerate(pictures.of_kind("look-alike"), start=1)
        if picture.key == LOOK_ALIKES
    ]
    demo.import_items(stage_of(SLUG, "images"), rows)
    finish_waiting_jobs(benchmark_of(SLUG))
    derive(demo)
    add_slots(campaign_of(SLUG, "look-alikes"))


STEPS = chain(
    "3xcm", "3XCM",
    ("concepts", import_concepts),
    ("native names", name_concepts),
    ("longer queries", write_queries),
    ("pictures", import_pictures),
    ("look-alikes", drop_look_alikes),
    ("labels", label_pictures),
    ("trials", create_trials),
    ("captions", import_captions),
    ("models", import_scores),
    ("work for visitors", leave_work),
)  # fmt: skip
