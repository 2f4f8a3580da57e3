"""ValueGround filled by its pages: pairs reviewed on the sheet and by judges, choices and alignment of models."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from annotation.models import Campaign
from benchmarks.models import Item
from people.models import User
from tests import pictures as draw
from tests.filling.public_client import PublicDoor, Row
from tests.personas import World

SOURCES, QUESTIONS = ("gemini", "gpt"), ("Q1", "Q2", "Q3", "Q4")
OPTIONS = {"1": "Very", "2": "Rather", "3": "Not very", "4": "Not at all"}
SURVEY = {
    "Q1": {"Egypt": {"1": 70, "2": 20, "3": 10}, "Brazil": {"1": 50, "2": 40, "3": 10}},
    "Q2": {"Egypt": {"3": 60, "4": 40}, "Brazil": {"1": 20, "2": 40, "3": 40}},
    "Q3": {"Egypt": {"1": 30, "4": 60}, "Brazil": {"1": 80, "4": 15}},
    "Q4": {"Egypt": {"2": 60, "3": 20}, "Brazil": {"3": 70, "4": 30}},
}
RUBRIC = ("match_a", "match_b", "pair_match", "no_cue")


def fill(world: World) -> PublicDoor:
    door = PublicDoor(world, "valueground")
    for seed, stage in enumerate(("pair-review", "choice", "alignment")):
        rows = pairs(stage)
        names = [str(row["file"]) for row in rows]
        pictures = {name: draw.png(40, 30, seed=5000 + 100 * seed + n) for n, name in enumerate(names)}
        door.import_items(stage, rows, pictures)
    review(door)
    choices(door, "First round", 0)
    align(door)
    return door


def fill_again(door: PublicDoor) -> None:
    """Models choose once more, in a second campaign."""
    choices(door, "Second round", 1)


def pairs(stage: str) -> list[Row]:
    rows: list[Row] = []
    for number, question in enumerate(QUESTIONS):
        for source in SOURCES:
            about: dict[str, Any] = {"text": f"{question}?", "option_a": "Very", "option_b": "Not at all"}
            if stage == "choice":
                about |= {"options": json.dumps(OPTIONS), "survey": json.dumps(SURVEY[question])}
            if stage == "pair-review":
                about |= {"cost": str(0.01 * (number + 1)), "backbone": source, "configuration": "planner"}
            common = {"key": f"{question}-{source}", "concept": question, "condition": source}
            rows.append({**common, "role": "a", "file": f"{stage}/{question}/{source}/a.png", **about})
            rows.append({**common, "role": "b", "file": f"{stage}/{question}/{source}/b.png"})
    return rows


def review(door: PublicDoor) -> None:
    campaign = door.open_campaign("pair-review", {door.first: 2, door.second: 2})
    door.everybody_answers(campaign, lambda item, user: points(item.pk + len(user.name)))
    for place, judge in enumerate(("Judge A", "Judge B")):
        rows = [{"item": one.key, "answers": points(one.pk + place)} for one in items_of(campaign)]
        door.model_answers(campaign, judge, rows, "main", family="Tests")


def points(number: int) -> Mapping[str, str]:
    """Points of a sheet, not the same for every number."""
    tops = {"match_a": 3, "match_b": 3, "pair_match": 3, "no_cue": 2}
    return {name: str((number + place) % tops[name]) for place, name in enumerate(RUBRIC)}


def items_of(campaign: Campaign) -> Sequence[Item]:
    return list(Item.objects.filter(stage=campaign.stage).order_by("pk"))


def choices(door: PublicDoor, name: str, shift: int) -> None:
    campaign = door.open_campaign("choice", {door.first: 2, door.second: 2}, name)
    if not shift:  # the second campaign is answered by models alone
        door.everybody_answers(campaign, choose)
    for place, model in enumerate(("Alpha", "Beta", "Gamma")):
        for setting in ("main", "text_only"):
            rows = [
                {"item": item.key, "target": target, "answers": {"choice": "ab"[(n + place * k + shift) % 2]}}
                for n, item in enumerate(items_of(campaign))
                for k, target in enumerate(("Egypt", "Brazil"))
                if setting == "main" or item.condition == SOURCES[1]
            ]
            door.model_answers(campaign, model, rows, setting, family="Tests")


def choose(item: Item, user: User) -> Mapping[str, str]:
    return {"choice": "ab"[(item.pk + len(user.name)) % 2]}


def align(door: PublicDoor) -> None:
    campaign = door.open_campaign("alignment", {door.first: 2, door.second: 2})
    codes = ("aligned", "aligned", "swapped", "both_a")
    door.everybody_answers(campaign, lambda item, _user: {"alignment": codes[item.pk % 4]})
    for place, model in enumerate(("Alpha", "Beta", "Gamma")):
        rows = [
            {"item": one.key, "answers": {"alignment": codes[(n + place) % 4]}}
            for n, one in enumerate(items_of(campaign))
        ]
        door.model_answers(campaign, model, rows, "alignment", family="Tests")
