"""CAIRE filled by its pages: ratings on the sheet, scores of models, gold labels, and names linked to a base."""

from collections.abc import Iterator, Mapping
from typing import Any

from annotation.models import Campaign
from benchmarks.models import Item
from people.models import User
from predictions.models import Run
from tests import pictures as draw
from tests.filling.public_client import PublicDoor, Row, cohort_of
from tests.personas import World

CONCEPTS, CULTURES, CONDITIONS = ("dance", "drinks"), ("Egypt", "Brazil", "China"), ("natural", "generated")
GOLD = {"oni": "Japan|Akita", "kente": "Ghana|Ashanti", "samba": "Brazil"}


def fill(world: World) -> PublicDoor:
    door = PublicDoor(world, "caire-universal")
    rows, pictures = universal_items()
    door.import_items("relevance", rows, pictures)
    rate_everything(door, "First round")
    score_the_specific_set(door)
    link(door, "1")
    check_links(door)
    return door


def fill_again(door: PublicDoor) -> None:
    """Models score the same pictures in a second campaign, and there is a second version of the knowledge base."""
    score(door, open_rating(door, "Second round"))
    link(door, "2")


def universal_items() -> tuple[list[Row], dict[str, bytes]]:
    rows: list[Row] = []
    pictures = {}
    for number, (concept, country, condition) in enumerate(places()):
        file = f"{number}.png"
        pictures[file] = draw.png(40, 30, seed=number)
        key = f"{concept}-{country}-{condition}"
        rows.append({"file": file, "key": key, "concept": concept, "country": country, "condition": condition})
    return rows, pictures


def places() -> Iterator[tuple[str, str, str]]:
    for concept in CONCEPTS:
        for country in CULTURES:
            for condition in CONDITIONS:
                yield concept, country, condition


def rate_everything(door: PublicDoor, name: str) -> Campaign:
    """Two people of each of three cohorts rate everything; models score it for all three."""
    campaign = open_rating(door, name)
    door.everybody_answers(campaign, rate)
    for user in User.objects.filter(cohort_memberships__cohort__label="China"):
        door.answer(campaign, user, rate)
    score(door, campaign)
    return campaign


def open_rating(door: PublicDoor, name: str) -> Campaign:
    wanted = {door.first: 2, door.second: 2, cohort_of(door.world, "China"): 2}
    return door.open_campaign("relevance", wanted, name)


def score(door: PublicDoor, campaign: Campaign) -> None:
    for model, setting in (("Keen", ""), ("Keen", "no_retrieval"), ("CLIP", "cosine")):
        scores = [
            {"item": item.key, "target": target, "answers": {"relevance": str(1 + (item.pk + len(target)) % 5)}}
            for item in Item.objects.filter(stage=campaign.stage).order_by("pk")
            for target in CULTURES
        ]
        door.model_answers(campaign, model, scores, setting, family="Tests")


def rate(item: Item, user: User) -> Mapping[str, Any]:
    own = item.origin == user.cohort_memberships.get().cohort.label
    return {"relevance": str(min(5, (4 if own else 1) + (item.pk + len(user.name)) % 3))}


def score_the_specific_set(door: PublicDoor) -> None:
    rows = [{"file": f"{key}.png", "key": key, "concept": key, "gold": gold, "gold_entity": f"Q{key}",
             "fact.base_similarity": "0.5"}
            for key, gold in GOLD.items()]  # fmt: skip
    pictures = {f"{key}.png": draw.png(40, 30, seed=70 + n) for n, key in enumerate(GOLD)}
    door.import_items("specific", rows, pictures)
    campaign = door.open_campaign("specific", {door.first: 1, door.second: 1})
    for place, setting in enumerate(("", "no_retrieval", "gold_context")):
        scores = [
            {"item": key, "target": label, "answers": {"relevance": str(5 - (place + n + len(key)) % 4)}}
            for key, gold in GOLD.items()
            for n, label in enumerate(gold.split("|"))
        ]
        door.model_answers(campaign, "Keen", scores, setting, family="Tests")


def link(door: PublicDoor, version: str) -> None:
    """The pictures of the specific set, by their nearest names; the encoder is the tests' own (see `encoder`)."""
    encoder = door.encoder()
    entries = [{"id": f"Q{key}", "lemmas": [key], "gloss": key, "text": f"All about {key}."} for key in GOLD]
    base = door.knowledge_base("Small", entries, version)
    index = door.knowledge_index(base, encoder, "tests", "lemmas")
    door.link("specific", index, "lemma_t")


def check_links(door: PublicDoor) -> None:
    """People of two cohorts say how the entries of the last run fit."""
    run = Run.objects.filter(benchmark__slug=door.slug, task=Run.Task.LINKING).latest("pk")
    door.post(door.at(f"links/{run.pk}/action/"), {"do": "check"})
    campaign = door.open_campaign("link-check", {door.first: 1, door.second: 1})
    door.everybody_answers(campaign, lambda item, _user: {"link": "exact" if item.concept == "oni" else "wrong"})
