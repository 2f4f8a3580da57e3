"""CAIRE's specific set half-way: rare concepts with their labels and articles, brought pictures, links, and a model.

Names and links come as a linking run would find them, out of files, since the demo has no encoder.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

from django.core.files.base import ContentFile, File

from annotation.models import Annotation, Assignment
from annotation.services.answers import uploads
from benchmarks.models import Image, Item
from benchmarks.services import label_sets
from demo import pictures
from demo.context import ANSWERED_BEFORE, SEED, Demo, finish, json_lines
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
    import_model_run,
    items_of,
    stage_of,
)
from jobs.models import Job
from predictions.models import KnowledgeBase, Run
from predictions.services.knowledge import bases, link_checks, link_import
from predictions.services.knowledge.link_import import LinkFileInfo
from predictions.services.knowledge.linking import NAMED

SLUG = "caire-demo"
ENTRIES = Path(__file__).resolve().parents[1] / "knowledge.jsonl"
BASE, ENCODER = "small-encyclopedia", "Simulated encoder"
SETS = {
    "Countries of rare concepts": ("Egypt", "Sudan", "Brazil", "Portugal", "China", "Vietnam"),
    "World religions": ("Buddhism", "Christianity", "Hinduism", "Islam", "Judaism"),
}
COUNTRIES, RELIGIONS = SETS


@dataclass(frozen=True)
class RareConcept:
    """`entry`: its entry in the knowledge base, empty where that has none. `near`: what a linking run finds first where
    it does not find the entry. `case`: what people say of that link. `similarity`: to the nearest picture of the base.
    """

    name: str
    label_set: str
    gold: tuple[str, ...]
    scene: tuple[str, str]
    entry: str
    near: str = ""
    case: str = "exact"
    similarity: float = 0.4


CONCEPTS = (
    RareConcept("Koshari", COUNTRIES, ("Egypt",), ("lunch", "Egypt"), "koshari"),
    RareConcept("Tanoura", COUNTRIES, ("Egypt", "Sudan"), ("dance", "Egypt"), "tanoura", "whirling", "related", 0.52),
    RareConcept("Feijoada", COUNTRIES, ("Brazil", "Portugal"), ("lunch", "Brazil"), "feijoada", "bean-stew",
                "narrower_or_broader", 0.47),
    RareConcept("Pandeiro", COUNTRIES, ("Brazil", "Portugal"), ("instrument", "Brazil"), "pandeiro"),
    RareConcept("Qipao", COUNTRIES, ("China",), ("clothing", "China"), "qipao", similarity=1.0),
    RareConcept("Douli", COUNTRIES, ("China", "Vietnam"), ("head coverings", "China"), "douli"),
    RareConcept("Minaret", RELIGIONS, ("Islam",), ("religion", "Egypt"), "minaret", "lighthouse", "wrong", 0.31),
    RareConcept("Igreja", RELIGIONS, ("Christianity",), ("religion", "Brazil"), "parish-church"),
    RareConcept("Pagoda", RELIGIONS, ("Buddhism",), ("religion", "China"), "pagoda"),
    RareConcept("Mooncake", COUNTRIES, ("China", "Vietnam"), ("dessert", "China"), "mooncake"),
    RareConcept("Basbousa", COUNTRIES, ("Egypt",), ("dessert", "Egypt"), ""),
    RareConcept("Bean stew", COUNTRIES, ("Brazil",), ("lunch", "Brazil"), "bean-stew"),
)  # fmt: skip
"""The picture of Qipao is one of the base, and the base has no entry for Basbousa. Reviewers reject Bean stew."""
BY_NAME = {concept.name: concept for concept in CONCEPTS}
TO_CONFIRM, TO_FIND = "Mooncake", "Pagoda"  # which visitors confirm, and of which they bring a picture
WRONG_LABELS = Decision("reject", "wrong_labels")
DECISIONS = {"Bean stew": (WRONG_LABELS, WRONG_LABELS), "Tanoura": (ACCEPT, WRONG_LABELS), "Douli": (ACCEPT,)}
"""Where they are not two acceptances: a visitor decides as a third person on one, and as a second one on another."""
SETTINGS = {"": 0.9, "no_retrieval": 1.4, "gold_context": 0.6}  # and how much a model errs in each
SECOND_METHOD = {"Koshari", "Pandeiro", "Douli", "Igreja", "Tanoura"}  # found by glosses, too


def import_base(demo: Demo) -> None:
    """A small encyclopedia with pictures of some entries, and two sets of labels."""
    base, _created = bases.get_or_create_base(
        demo.team, demo.actor, key=BASE, name="Small encyclopedia", licence="Apache-2.0"
    )
    finish(bases.start_path(base, demo.actor, ENTRIES, pictures.FOLDER))
    for name, labels in SETS.items():
        label_sets.create_typed(demo.team, name, "\n".join(labels), demo.actor)


def propose_concepts(demo: Demo) -> None:
    """A model names rare concepts with their labels; those that the base has by that name become items."""
    stage = stage_of(SLUG, "specific-proposals")
    rows = [
        {
            "key": f"proposal-{number}", "text": f"A rare thing of this set, number {number}",
            "label_set": concept.label_set, "labels": ", ".join(SETS[concept.label_set]),
        }
        for number, concept in enumerate(CONCEPTS, start=1)
    ]  # fmt: skip
    demo.import_items(stage, rows)
    by_key = {row["key"]: concept for row, concept in zip(rows, CONCEPTS, strict=True)}
    names = [
        answer_of(item, {"entity": by_key[item.key].name, "gold": "|".join(by_key[item.key].gold)})
        for item in items_of(SLUG, "specific-proposals")
    ]
    answers = import_model_run(demo, campaign_of(SLUG, "specific-proposals"), HERON, "", names)
    links = [{"item": key, "entries": [concept.entry] if concept.entry else []} for key, concept in by_key.items()]
    run = import_links(demo, LinkFileInfo(stage, base_of(demo), NAMED, HERON.name, answers=answers), links)
    link_checks.create_check_items(run, stage_of(SLUG, "specific-concepts"), demo.actor)


def base_of(demo: Demo) -> KnowledgeBase:
    return KnowledgeBase.objects.get(team=demo.team, key=BASE)


def import_links(demo: Demo, file_info: LinkFileInfo, links: list[dict[str, Any]]) -> Run:
    """A linking run out of a file. Raises DemoError."""
    file = ContentFile(json_lines(links), name="links.jsonl")
    run = link_import.start(benchmark_of(SLUG), demo.actor, file, file_info)
    finish(Job.objects.get(pk=run.options["job"]))
    return Run.objects.get(pk=run.pk)


def confirm_concepts(demo: Demo) -> None:
    """People confirm the articles but one; two reviewers accept most of them."""

    def confirm(sheet: SimulatedSheet) -> dict[str, str] | None:
        return None if sheet.item.concept == TO_CONFIRM else {"article": "same"}

    answer_sheets(demo, campaign_of(SLUG, "specific-concepts"), confirm, most=2)
    review_answers(demo, campaign_of(SLUG, "specific-concepts"), decide)
    derive(demo)


def decide(answer: Annotation, _number: int) -> Sequence[Decision]:
    return DECISIONS.get(answer.assignment.unit.item.concept, (ACCEPT, ACCEPT))


def bring_pictures(demo: Demo) -> None:
    """People bring a picture of each concept but one; how near it is to the base is known from elsewhere."""

    def find(sheet: SimulatedSheet) -> dict[str, Any] | None:
        if sheet.item.concept == TO_FIND:
            return None
        image = upload_scene(demo, sheet.assignment)
        return {"picture": {"sha": image.sha256, "kind": "file", "licence": "own", "source": ""}}

    answer_sheets(demo, campaign_of(SLUG, "specific-pictures"), find, most=2)
    derive(demo)
    stage = stage_of(SLUG, "specific")
    files = {sha256(scene.path.read_bytes()).hexdigest(): scene.file for scene in pictures.of_kind("scene")}
    rows = [
        {
            "key": item.key, "file": files[item.images.get().image.sha256],
            "fact.base_similarity": BY_NAME[item.concept].similarity,
        }
        for item in stage.items.filter(withdrawn_at=None).prefetch_related("images__image")
    ]  # fmt: skip
    demo.import_items(stage, rows, complete=True)
    derive(demo)


def upload_scene(demo: Demo, assignment: Assignment) -> Image:
    """The scene that shows a concept, as a person's upload."""
    scene = pictures.scene(*BY_NAME[assignment.unit.item.concept].scene)
    with scene.path.open("rb") as file:
        return uploads.store_upload(assignment, File(file), scene.file, demo.now - ANSWERED_BEFORE)


def link_pictures(demo: Demo) -> None:
    """Entries of the pictures in two ways, and what three people say of the first one's links."""
    stage = stage_of(SLUG, "specific")
    items = [item for item in items_of(SLUG, "specific") if item.intake == "kept"]
    run = import_links(demo, LinkFileInfo(stage, base_of(demo), "lemma_vt", ENCODER), [_link(item) for item in items])
    second = [_link(item) if item.concept in SECOND_METHOD else {"item": item.key, "entries": []} for item in items]
    import_links(demo, LinkFileInfo(stage, base_of(demo), "gloss_vt", ENCODER), second)
    link_checks.create_check_items(run, stage_of(SLUG, "link-check"), demo.actor)

    def judge(sheet: SimulatedSheet) -> dict[str, str]:
        return {"link": BY_NAME[sheet.item.concept].case if sheet.rng.random() < 0.85 else "related"}

    answer_sheets(demo, campaign_of(SLUG, "link-check"), judge, most=2)


def _link(item: Item) -> dict[str, Any]:
    """The right entry is first where nothing else is nearer."""
    concept = BY_NAME[item.concept]
    entries = [concept.near, concept.entry] if concept.near else [concept.entry, "temple"]
    return {"item": item.key, "entries": entries, "scores": [0.38, 0.31]}


def score_labels(demo: Demo) -> None:
    """Each model in three ways, about each picture and each label of its set."""
    campaign = campaign_of(SLUG, "specific")
    references: Mapping[str, str] = {
        name: f"{label_set.key}@{label_set.version}"
        for name in SETS
        for label_set in demo.team.label_sets.filter(name=name)
    }
    items = [item for item in items_of(SLUG, "specific") if item.intake == "kept"]
    for model in MODELS:
        for setting, harder in SETTINGS.items():
            rng = Random(f"{SEED}/{model.name}/{setting}/specific")
            rows = [
                answer_of(item, {"relevance": _score(item, label, rng.gauss(0, model.noise * harder))}, target=label)
                | {"label_set": references[item.context["label_set"]]}
                for item in items
                for label in SETS[item.context["label_set"]]
            ]
            import_model_run(demo, campaign, model, setting, rows)


def _score(item: Item, label: str, noise: float) -> str:
    usual = 4.6 if label in BY_NAME[item.concept].gold else 1.6
    return str(min(5, max(1, round(usual + noise))))


STEPS = (
    ("knowledge base", import_base),
    ("rare concepts", propose_concepts),
    ("confirmed concepts", confirm_concepts),
    ("pictures of rare concepts", bring_pictures),
    ("links", link_pictures),
    ("scores of labels", score_labels),
)
