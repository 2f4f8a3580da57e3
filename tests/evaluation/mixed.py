"""A mixed sheet, composed and published, and answered by three people through the sheet's page."""

from collections.abc import Mapping
from typing import Any

from django.utils import timezone

from annotation.models import Assignment, Campaign
from annotation.services.campaigns import lifecycle
from annotation.services.sheets import stages
from people.models import User
from tests.annotators import current_sheet
from tests.personas import World

LEFT, RIGHT, ALL = ((0.0, 0.0, 0.5, 1.0),), ((0.5, 0.0, 1.0, 1.0),), ((0.0, 0.0, 1.0, 1.0),)
MOST = ((0.0, 0.0, 0.8, 1.0),)
FIELDS: list[dict[str, Any]] = [
    {
        "key": "fits", "kind": "rating", "label": {"en": "Does it fit {target}?", "ar": "هل يناسب {target}؟"},
        "config": {"level": "ordinal", "points": [{"code": c, "label": {"en": f"Point {c}"}} for c in "123"]},
    },
    {
        "key": "seen", "kind": "choice", "label": {"en": "What is in it?", "ar": "ماذا في الصورة؟"},
        "config": {"many": True, "options": [
            {"code": "food", "label": {"en": "Food", "ar": "طعام"}},
            {"code": "dress", "label": {"en": "Dress", "ar": "لباس"}},
            {"code": "rite", "label": {"en": "Rites", "ar": "طقوس"}},
        ]},
    },
    {"key": "main", "kind": "box", "label": {"en": "Draw a box round it", "ar": "ارسم مربعًا حوله"}, "config": {}},
    {"key": "name", "kind": "text", "label": {"en": "What is it called?", "ar": "ما اسمه؟"}, "config": {}},
    {
        "key": "why", "kind": "choice", "label": {"en": "Why does it not fit?", "ar": "لماذا لا يناسب؟"},
        "config": {"options": [{"code": c, "label": {"en": c.title()}} for c in ("place", "time")]},
        "show_if": {"field": "fits", "in": ["1"]},
    },
]  # fmt: skip
Answer = tuple[str, tuple[str, ...], tuple[tuple[float, ...], ...], str, str]  # in the order of FIELDS
# By item, of three people; the last item has an answer of the first of them alone.
ANSWERS: list[list[Answer | None]] = [
    [("1", ("food",), LEFT, "Pita", "place"), ("1", ("food",), LEFT, "pita ", "place"),
     ("1", ("food", "rite"), ALL, "PITA!", "time")],
    [("1", ("food", "dress"), LEFT, "Ful", "time"), ("1", ("dress",), MOST, "Beans", "time"),
     ("2", ("dress",), MOST, "ful", "")],
    [("3", ("dress",), RIGHT, "Robe", ""), ("3", ("dress",), RIGHT, "robe", ""),
     ("3", ("dress", "rite"), RIGHT, "Gown", "")],
    [("2", ("rite",), ALL, "Feast", ""), ("3", ("rite", "food"), MOST, "feast", ""), ("2", ("rite",), ALL, "Eid", "")],
    [("3", ("food",), LEFT, "Koshari", ""), ("3", ("food",), LEFT, "koshari", ""),
     ("1", ("food",), ALL, "Rice", "place")],
    [("3", ("food",), LEFT, "Tea", ""), None, None],
]  # fmt: skip


def rows_of(place: int) -> list[tuple[int, int, Any]]:
    """Item, person and answer to one question, where it was given."""
    return [
        (item, person, answer[place])
        for item, answers in enumerate(ANSWERS)
        for person, answer in enumerate(answers)
        if answer is not None and answer[place]
    ]


def mixed_sheet(world: World) -> Campaign:
    """The stage is composed as its page does it; Nour, Tarek and a third Egyptian answer on the sheet."""
    stage, now = world.stage, timezone.now()
    content = {**stages.content_of(stage), "sheet": {"fields": FIELDS}, "target_answers": 3}
    draft = stages.save_draft(stage, content, stages.revision(stage, None), world.mara, now)
    stages.publish(stage, stages.revision(stage, draft), world.mara, now)
    items = world.add_items(len(ANSWERS), images=True)
    stage.items.update(condition="natural")
    campaign = lifecycle.create(world.stage, "Mixed", world.owner, {world.egypt: 3})
    lifecycle.open_campaign(campaign, world.owner, now)
    people = [world.nour, world.tarek, *world.add_annotators(world.egypt, 1)]
    by_key = {item.key: answers for item, answers in zip(items, ANSWERS, strict=True)}
    for place, user in enumerate(people):
        answer_all(world, campaign, user, {key: answers[place] for key, answers in by_key.items()})
    return campaign


def answer_all(world: World, campaign: Campaign, user: User, answers: Mapping[str, Answer | None]) -> None:
    client = world.client(user)
    for _item in answers:
        hand = current_sheet(client.get(f"/work/{campaign.pk}/").content.decode())
        assert hand is not None
        answer = answers[Assignment.objects.get(pk=hand.assignment).unit.item.key]
        if answer is None:
            reply = client.post(f"/assignments/{hand.assignment}/skip", {"reason": "unknown"})
            assert reply.status_code in (200, 302)
            continue
        fits, seen, main, name, why = answer
        form = {
            "a-fits": fits, "a-seen": list(seen), "a-main": [str(100 * side) for box in main for side in box],
            "a-name": name, "a-why": why, "client_key": hand.key, "active_seconds": "3",
        }  # fmt: skip
        reply = client.post(f"/assignments/{hand.assignment}/submit", form, headers={"X-Requested-With": "emic"})
        assert reply.status_code == 200, reply.content.decode()[:2000]
