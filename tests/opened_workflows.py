"""A few items for each workflow of the five papers, opened for everybody, some answered by simulated raters."""

import secrets
from collections.abc import Mapping
from datetime import datetime
from hashlib import sha256
from typing import Any

from django.core.files.base import File

import annotation.services.answers.submit as answers
import annotation.services.campaigns.lifecycle as campaigns
import annotation.services.derivation.derived_items as deriving
import annotation.services.queue.next_work as allocation
import annotation.services.review.reviews as reviews
from annotation.models import Annotation, Assignment, Campaign
from annotation.services.answers import uploads
from benchmarks.models import Image, Stage
from demo import pictures
from demo.context import ANSWERED_BEFORE, OPENED_BEFORE, SEED, WARNINGS, Demo, DemoError, picture_row, scene_row
from people.models import Rater

SHOWN = ("dance", "drinks", "festival", "clothing")
FACETS = {"dance": "traditions", "drinks": "drink", "festival": "rituals", "clothing": "clothing"}
# How the demo's cohorts call what its pictures show; used as words to find, as questions and as answers.
NAMES = {
    "Egypt": {"dance": "Tanoura", "drinks": "Karkadeh", "festival": "Fanous", "clothing": "Galabeya"},
    "Brazil": {"dance": "Frevo", "drinks": "Chimarrão", "festival": "Festa Junina", "clothing": "Chapéu de couro"},
    "China": {"dance": "Yangge", "drinks": "Gongfu tea", "festival": "Lantern Festival", "clothing": "Hanfu"},
}
GENERIC = {"festival": "A party", "clothing": "Clothes"}  # correct, and neither precise nor specific
# Of the pairs of pictures, in their order.
QUESTIONS = (
    ("When should a family eat together?", "By day", "After dark"),
    ("When do people like to dress up?", "By day", "After dark"),
    ("When should people dance?", "By day", "After dark"),
)
MERGES = (("train", "railway", 0.94), ("doll", "puppet", 0.92), ("bread", "loaf", 0.95), ("boat", "bridge", 0.92))
BOX = {"x0": 0.34, "y0": 0.3, "x1": 0.66, "y1": 0.78}
OBJECTS = 5  # found in each picture: more than the gate of the boxes asks for


def load(demo: Demo) -> None:
    for load_benchmark in (questions, screening, grounding, pairs, concepts):
        load_benchmark(demo)


def questions(demo: Demo) -> None:
    """CulturalVQA: some questions written and accepted, so that others can be asked to answer them."""
    benchmark = demo.create_benchmark("culturalvqa", "CulturalVQA, demo")
    writing, answering, judging = (benchmark.stages.get(key=key) for key in ("questions", "answers", "model-answers"))
    written, judged = [], []
    for label in demo.cohorts:
        for concept in SHOWN:
            name = NAMES[label][concept]
            assertion = f"{name} is well known in {label}."
            # "entities" is what a recogniser could name: the kind of thing, not its local name
            written.append(scene_row(concept, label, assertion=assertion, facet=FACETS[concept], entities=concept))
            question = f"What do people of {label} call this?"
            candidate = GENERIC.get(concept, name)
            judged.append(scene_row(concept, label, condition="simulated model", text=question, candidate=candidate))
    demo.import_items(writing, written)
    demo.import_items(judging, judged)
    campaign = open_campaign(demo, writing, "Questions about pictures", "Ask what only your people can answer.")
    write_questions(demo, campaign)
    for answer in Annotation.objects.filter(assignment__campaign=campaign).order_by("pk")[::2]:
        reviews.decide(answer.pk, demo.actor, "accept", demo.now)
    deriving.process_due(demo.now)
    open_campaign(demo, answering, "Answers to questions", "Answer what others of your culture asked.")
    open_campaign(demo, judging, "Are these answers right?", "Say how correct a response is.")


def write_questions(demo: Demo, campaign: Campaign) -> None:
    at = demo.now - ANSWERED_BEFORE
    for label in demo.cohorts:
        for rater in demo.raters[label][:2]:
            concept = current_item(campaign, rater, label, at).unit.item.concept
            question = f"What do people of {label} call what is seen here?"
            raw = {"familiarity": "familiar", "question": question, "answer": NAMES[label][concept]}
            submit(campaign, rater, label, at, raw)


def screening(demo: Demo) -> None:
    """GlobalRG, retrieval: candidates that the filters keep are screened."""
    benchmark = demo.create_benchmark("globalrg-retrieval", "GlobalRG retrieval, demo")
    candidates, stage = (benchmark.stages.get(key=key) for key in ("candidates", "screening"))
    concepts = ("lunch", "farming", "transport")
    demo.import_items(candidates, (scene_row(concept, label) for label in demo.cohorts for concept in concepts))
    deriving.process_due(demo.now)
    open_campaign(demo, stage, "Does the picture show it?", "Confirm pictures that were found for a word.")


def grounding(demo: Demo) -> None:
    """GlobalRG, grounding: one picture of each cohort found and boxed, so that others can draw the box again."""
    benchmark = demo.create_benchmark("globalrg-grounding", "GlobalRG grounding, demo")
    finding, boxes, checking = (benchmark.stages.get(key=key) for key in ("finding", "boxes", "verification"))
    words = [(label, concept) for label in demo.cohorts for concept in SHOWN]
    demo.import_items(
        finding,
        ({"key": f"{label}/{concept}", "concept": NAMES[label][concept], "country": label} for label, concept in words),
    )
    campaign = open_campaign(demo, finding, "Find a picture", "Bring a picture of something from your culture.")
    shown = {NAMES[label][concept]: (concept, label) for label, concept in words}
    at = demo.now - ANSWERED_BEFORE
    for label in demo.cohorts:
        rater = demo.raters[label][0]
        assignment = current_item(campaign, rater, label, at)
        image = upload_scene(assignment, *shown[assignment.unit.item.concept], demo=demo)
        picture = {"sha": image.sha256, "kind": "file", "licence": "own", "source": ""}
        submit(campaign, rater, label, at, {"picture": picture, "prevalent": "yes"})
    deriving.process_due(demo.now)
    add_objects(demo, boxes)
    campaign = open_campaign(demo, boxes, "Boxes round things", "Draw one box round what the word names.")
    for label in demo.cohorts:
        submit(campaign, demo.raters[label][0], label, at, {"box": [BOX]})
    deriving.process_due(demo.now)
    open_campaign(demo, checking, "The box once more", "Draw the box again. You do not see the first one.")


def upload_scene(assignment: Assignment, concept: str, label: str, *, demo: Demo) -> Image:
    """A rater uploads the scene as the picture that they found."""
    scene = pictures.scene(concept, label)
    with scene.path.open("rb") as file:
        return uploads.store_upload(assignment, File(file), scene.file, demo.now - ANSWERED_BEFORE)


def add_objects(demo: Demo, boxes: Stage) -> None:
    """Add the number of objects in each picture, which decides whether a box is asked for, as a table of facts."""
    files = {sha256(scene.path.read_bytes()).hexdigest(): scene.file for scene in pictures.of_kind("scene")}
    rows = []
    for item in boxes.items.filter(withdrawn_at=None).prefetch_related("images__image"):
        file = files[item.images.get().image.sha256]
        rows.append({"key": item.key, "file": file, "country": item.origin, "fact.objects": OBJECTS})
    demo.import_items(boxes, rows, complete=True)


def pairs(demo: Demo) -> None:
    """ValueGround: one scene by day and by night."""
    stage = demo.create_benchmark("valueground", "ValueGround, demo").stages.get(key="pair-review")
    texts = {f"demo-{number}": texts for number, texts in enumerate(QUESTIONS, start=1)}
    rows = []
    for picture in pictures.of_kind("pair"):
        question, day, night = texts[picture.key]
        rows.append(picture_row(picture, text=question, option_a=day, option_b=night))
    demo.import_items(stage, rows)
    open_campaign(demo, stage, "Pairs of pictures", "Say whether two pictures differ only in what they should.")


def concepts(demo: Demo) -> None:
    """3XCM: words that may mean the same, sets with look-alikes, and what a model says the pictures show."""
    benchmark = demo.create_benchmark("3xcm", "3XCM, demo")
    merging, sorting, labelling = (benchmark.stages.get(key=key) for key in ("merges", "look-alikes", "labels"))
    demo.import_items(
        merging,
        (
            {"key": f"{first}-{second}", "first": first, "second": second, "similarity": f"{similarity:.2f}"}
            for first, second, similarity in MERGES
        ),
    )
    demo.import_items(sorting, map(picture_row, pictures.of_kind("look-alike")))
    demo.import_items(
        labelling,
        (
            scene_row(concept, label, labels=[concept, "street", "tree", "people"])
            for label in demo.cohorts
            for concept in ("transport", "farming")
        ),
    )
    open_campaign(demo, merging, "The same word?", "Say whether two words mean the same thing to look for.")
    open_campaign(demo, sorting, "Look-alikes", "Keep one of each group of pictures that show the same.")
    open_campaign(demo, labelling, "What does it show?", "Correct what a model found in a picture.")


def open_campaign(demo: Demo, stage: Stage, name: str, summary: str) -> Campaign:
    """A campaign of all cohorts, open for some days."""
    sharing = len(demo.cohorts) if stage.target_in_all else 1
    targets = dict.fromkeys(demo.cohorts.values(), stage.target_answers * sharing)
    campaign = campaigns.create(stage, name, demo.actor, targets, summary=summary, seed=SEED)
    campaigns.open_campaign(campaign, demo.actor, demo.now - OPENED_BEFORE)
    return campaign


def current_item(campaign: Campaign, rater: Rater, label: str, at: datetime) -> Assignment:
    """The item that this rater of a cohort works on now."""
    work = allocation.get_or_claim_work(rater, campaign.cohorts.get(cohort__label=label), at)
    if work.current is None:
        raise DemoError(f"{campaign.name}: no item for a rater of {label}")
    return work.current


def submit(campaign: Campaign, rater: Rater, label: str, at: datetime, raw: Mapping[str, Any]) -> None:
    """Submit an answer of a simulated rater, who confirms every warning."""
    assignment = current_item(campaign, rater, label, at)
    confirmed = tuple(f"{key}:{code}" for key in raw for code in WARNINGS)
    submission = answers.Submission(raw=raw, client_key=secrets.token_hex(16), shown_at=at, confirmed=confirmed)
    answers.submit(assignment.pk, rater, submission, at)
