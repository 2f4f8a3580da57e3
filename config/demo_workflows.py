"""The demo's other benchmarks: a few items for each workflow of the five papers, some of them answered by simulation.

Questions, words and scenes are made up for the demo; simulated people are named so, as in the rest of it.
"""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction

import annotation.services.allocation as allocation
import annotation.services.answers as answers
import annotation.services.campaigns as campaigns
import annotation.services.deriving as deriving
import annotation.services.reviews as reviews
from annotation.models import Annotation, Assignment, Campaign, Upload
from benchmarks.models import Benchmark, Image, Item, ItemFact, ItemImage, Stage
from benchmarks.services.benchmarks import create_from_recipe
from benchmarks.services.images import store_image
from benchmarks.services.lookalikes import arrange
from demo import pictures
from demo.pictures import Picture
from people.models import Cohort, Rater, Team, User

SEED = 31
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
HOURS = (
    ("When should a family eat together?", "By day", "After dark"),
    ("When do people like to dress up?", "By day", "After dark"),
    ("When should people dance?", "By day", "After dark"),
)
MERGES = (("train", "railway", 0.94), ("doll", "puppet", 0.92), ("bread", "loaf", 0.95), ("boat", "bridge", 0.92))


@dataclass
class Stuff:
    """What the workflows are made of: whose demo it is, its pictures, its simulated people."""

    team: Team
    actor: User
    cohorts: Mapping[str, Cohort]
    raters: Mapping[str, list[Rater]]
    pictures: Mapping[tuple[str, str, str], Image]
    now: datetime

    def picture(self, concept: str, label: str) -> Image:
        return self.pictures[concept, label, "natural"]


def load(stuff: Stuff) -> None:
    for make in (questions, screening, grounding, pairs, concepts):
        with transaction.atomic():
            make(stuff)


def questions(stuff: Stuff) -> None:
    """CulturalVQA: some questions written and accepted, so that others can be asked to answer them."""
    benchmark = _benchmark(stuff, "culturalvqa", "CulturalVQA, demo")
    writing, answering, judging = (benchmark.stages.get(key=key) for key in ("questions", "answers", "model-answers"))
    for label in stuff.cohorts:
        for concept in SHOWN:
            name = NAMES[label][concept]
            told = {"assertion": f"{name} is well known in {label}.", "facet": FACETS[concept]}
            told["entities"] = concept  # what a recogniser could name: the kind of thing, not its local name
            _item(stuff, writing, concept, label, context=told)
            response = GENERIC.get(concept, name)
            asked = {"text": f"What do people of {label} call this?", "context": {"candidate": response}}
            _item(stuff, judging, concept, label, condition="simulated model", **asked)
    campaign = _campaign(stuff, writing, "Questions about pictures", "Ask what only your people can answer.")
    for label in stuff.cohorts:
        for rater in stuff.raters[label][:2]:
            item = _hand(campaign, rater, label, stuff.now).unit.item
            _give(campaign, rater, label, stuff.now, {
                "familiarity": "familiar", "question": f"What do people of {label} call what is seen here?",
                "answer": NAMES[label][item.concept],
            })  # fmt: skip
    for answer in Annotation.objects.filter(assignment__campaign=campaign).order_by("pk")[::2]:
        reviews.decide(answer.pk, stuff.actor, "accept", stuff.now)
    deriving.work_off(stuff.now)
    _campaign(stuff, answering, "Answers to questions", "Answer what others of your culture asked.")
    _campaign(stuff, judging, "Are these answers right?", "Say how correct a response is.")


def screening(stuff: Stuff) -> None:
    """GlobalRG, retrieval."""
    stage = _benchmark(stuff, "globalrg-retrieval", "GlobalRG retrieval, demo").stages.get()
    for label in stuff.cohorts:
        for concept in ("lunch", "farming", "transport"):
            _item(stuff, stage, concept, label)
    _campaign(stuff, stage, "Does the picture show it?", "Confirm pictures that were found for a word.")


def grounding(stuff: Stuff) -> None:
    """GlobalRG, grounding: one picture of each cohort found and boxed, so that others can draw the box again."""
    benchmark = _benchmark(stuff, "globalrg-grounding", "GlobalRG grounding, demo")
    finding, boxes, checking = (benchmark.stages.get(key=key) for key in ("finding", "boxes", "verification"))
    for label in stuff.cohorts:
        for concept in SHOWN:
            name = NAMES[label][concept]
            Item.objects.create(stage=finding, key=f"{label}/{concept}", concept=name, origin=label)
    campaign = _campaign(stuff, finding, "Find a picture", "Bring a picture of something from your culture.")
    shown = {NAMES[label][concept]: (concept, label) for label in stuff.cohorts for concept in SHOWN}
    for label in stuff.cohorts:
        rater = stuff.raters[label][0]
        hand = _hand(campaign, rater, label, stuff.now)
        image = stuff.picture(*shown[hand.unit.item.concept])
        Upload.objects.create(assignment=hand, image=image, at=stuff.now)
        picture = {"sha": image.sha256, "kind": "file", "licence": "own", "source": ""}
        _give(campaign, rater, label, stuff.now, {"picture": picture, "prevalent": "yes"})
    deriving.work_off(stuff.now)
    for item in boxes.items.all():
        ItemFact.objects.create(item=item, key="objects", value=5, source="simulated detector")
    campaign = _campaign(stuff, boxes, "Boxes round things", "Draw one box round what the word names.")
    for label in stuff.cohorts:
        box = {"x0": 0.34, "y0": 0.3, "x1": 0.66, "y1": 0.78}
        _give(campaign, stuff.raters[label][0], label, stuff.now, {"box": [box]})
    deriving.work_off(stuff.now)
    _campaign(stuff, checking, "The box once more", "Draw the box again. You do not see the first one.")


def pairs(stuff: Stuff) -> None:
    """ValueGround: one scene by day and by night."""
    stage = _benchmark(stuff, "valueground", "ValueGround, demo").stages.get(key="pair-review")
    for number, (question, day, night) in enumerate(HOURS):
        item = Item.objects.create(
            stage=stage, key=f"demo-{number + 1}", text=question, condition="drawn",
            context={"option_a": day, "option_b": night},
        )  # fmt: skip
        for picture in pictures.of_kind("pair"):
            if picture.key == item.key:
                _attach(stuff, item, picture)
    _campaign(stuff, stage, "Pairs of pictures", "Say whether two pictures differ only in what they should.")


def concepts(stuff: Stuff) -> None:
    """3XCM: words that may mean the same, a set with look-alikes, and what a model says the pictures show."""
    benchmark = _benchmark(stuff, "3xcm", "3XCM, demo")
    merging, sorting, labelling = (benchmark.stages.get(key=key) for key in ("merges", "look-alikes", "labels"))
    Item.objects.bulk_create(
        Item(
            stage=merging, key=f"{first}-{second}",
            context={"first": first, "second": second, "similarity": f"{alike:.2f}"},
        )
        for first, second, alike in MERGES
    )  # fmt: skip
    for number in (1, 2):
        _contact_sheet(stuff, sorting, f"scenes-{number}")
    for label in stuff.cohorts:
        for concept in ("transport", "farming"):
            _item(stuff, labelling, concept, label, context={"labels": [concept, "street", "tree", "people"]})
    _campaign(stuff, merging, "The same word?", "Say whether two words mean the same thing to look for.")
    _campaign(stuff, sorting, "Look-alikes", "Keep one of each group of pictures that show the same.")
    _campaign(stuff, labelling, "What does it show?", "Correct what a model found in a picture.")


def _contact_sheet(stuff: Stuff, stage: Stage, key: str) -> None:
    item = Item.objects.create(stage=stage, key=key, concept="street scenes")
    for picture in pictures.of_kind("look-alike"):
        if picture.key == key:
            _attach(stuff, item, picture)
    arrange(item)


def _benchmark(stuff: Stuff, recipe: str, name: str) -> Benchmark:
    return create_from_recipe(stuff.team, recipe, name=name, slug=f"{recipe}-demo", actor=stuff.actor)


def _item(stuff: Stuff, stage: Stage, concept: str, label: str, condition: str = "", **more: Any) -> Item:
    told = {"concept": concept, "origin": label, "condition": condition, **more}
    item = Item.objects.create(stage=stage, key=f"{label}/{concept}", **told)
    scene = pictures.scene(concept, label)
    image = stuff.picture(concept, label)
    ItemImage.objects.create(item=item, image=image, alt=scene.alt, source=scene.source, licence=scene.licence)
    return item


def _attach(stuff: Stuff, item: Item, picture: Picture) -> None:
    image, _new = store_image(stuff.team, picture.path.read_bytes(), name=picture.file)
    ItemImage.objects.create(
        item=item, image=image, role=picture.role, alt=picture.alt, source=picture.source, licence=picture.licence
    )


def _campaign(stuff: Stuff, stage: Stage, name: str, summary: str) -> Campaign:
    targets = dict.fromkeys(stuff.cohorts.values(), stage.target_answers)
    campaign = campaigns.create(stage, name, stuff.actor, targets, summary=summary, seed=SEED)
    campaigns.open_campaign(campaign, stuff.actor, stuff.now)
    return campaign


def _hand(campaign: Campaign, rater: Rater, label: str, at: datetime) -> Assignment:
    hand = allocation.open_work(rater, campaign.cohorts.get(cohort__label=label), at).hand
    assert hand is not None
    return hand


def _give(campaign: Campaign, rater: Rater, label: str, at: datetime, raw: Mapping[str, Any]) -> None:
    """One simulated answer; what it may be warned of is confirmed, as a person would."""
    hand = _hand(campaign, rater, label, at)
    warnings = tuple(f"{key}:{code}" for key in raw for code in ("words", "in_question", "other_script"))
    submission = answers.Submission(raw=raw, client_key=secrets.token_hex(16), shown_at=at, confirmed=warnings)
    answers.submit(hand.pk, rater, submission, at)
