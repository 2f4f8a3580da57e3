"""A study to draw: two cohorts, answers over three weeks, models beside the people. Same seed, same answers."""

import random
from datetime import timedelta
from typing import Any

from annotation.models import Annotation, Assignment, Campaign, SheetVersion, Unit
from benchmarks.models import Item, Stage
from people.models import Cohort, Rater, User
from tests.evaluation.data import NOON, an_open_campaign, give_ratings
from tests.evaluation.sample_tables import model, store_answers
from tests.personas import World, draw_image


def read(world: World, address: str) -> str:
    """The whole page, which comes figure by figure."""
    reply = world.client(world.mara).get(address)
    assert reply.status_code == 200
    return b"".join(reply.streaming_content).decode()


def noisy_code(truth: float, spread: float, chance: random.Random) -> str:
    return str(min(max(round(truth + chance.gauss(0, spread)), 1), 5))


def study(
    world: World, *, people: int = 4, items: int = 12, models: tuple[str, ...] = ("Lens", "Quill 7B")
) -> Campaign:
    """`people` in each cohort, each in one of three weeks; every model scores every item for both cohorts."""
    chance = random.Random(11)
    things = world.add_items(items)
    campaign = an_open_campaign(world, target=people)
    truth = {(item, cohort.label): chance.uniform(1, 5) for item in things for cohort in (world.egypt, world.brazil)}
    for cohort, known in ((world.egypt, [world.nour, world.tarek]), (world.brazil, [world.bia, world.caio])):
        for place, user in enumerate(members(world, cohort, known, people)):
            codes = {item: noisy_code(truth[item, cohort.label], 0.8, chance) for item in things}
            give_ratings(campaign, cohort, user, codes, at=NOON + timedelta(weeks=place % 3))
    for number, name in enumerate(models):
        scores = {key: noisy_code(true, 0.6 + number, chance) for key, true in truth.items()}
        store_answers(campaign, model(world.team, name), scores)
    return campaign


def members(world: World, cohort: Cohort, known: list[User], people: int) -> list[User]:
    return (known + (world.add_annotators(cohort, people - len(known)) if people > len(known) else []))[:people]


def boxes(world: World) -> list[Item]:
    """Three pictures with a person's box; of a model the same box for the first, a shifted one for the second, and
    none for the third."""
    campaign, items = box_stage(world)
    nour = Rater.objects.get_or_create(user=world.nour, defaults={"kind": "person"})[0]
    lens = model(world.team, "Lens")
    for item in items:
        draw_box(campaign, item, nour, (0.0, 0.0, 0.5, 1.0), world.egypt)
    draw_box(campaign, items[0], lens, (0.0, 0.0, 0.5, 1.0))
    draw_box(campaign, items[1], lens, (0.25, 0.0, 0.75, 1.0))
    return items


def box_stage(world: World) -> tuple[Campaign, list[Item]]:
    field = {
        "key": "box",
        "kind": "box",
        "version": 1,
        "label": {"en": "Draw a box"},
        "help": {},
        "required": True,
        "config": {"least": 1, "most": 1},
    }
    stage = Stage.objects.create(
        benchmark=world.benchmark,
        key="boxes",
        name="Box drawing",
        display="image",
        sheet={"fields": [field]},
        skip_reasons=[],
        target_answers=1,
    )
    items = [Item.objects.create(stage=stage, key=f"drum-{n}", concept=f"drum {n}", origin="Egypt") for n in range(3)]
    for item in items:
        draw_image(item)
    sheet = SheetVersion.objects.create(stage=stage, major=1, minor=0, definition={"fields": [field]})
    campaign = Campaign.objects.create(stage=stage, name="Boxes", state="open", sheet_version=sheet, opened_at=NOON)
    campaign.cohorts.create(cohort=world.egypt, target_answers=1)
    return campaign, items


def draw_box(campaign: Campaign, item: Item, rater: Rater, corners: tuple[float, ...], cohort: Any = None) -> None:
    unit, _new = Unit.objects.get_or_create(item=item, target="")
    assignment = Assignment.objects.create(
        campaign=campaign, unit=unit, rater=rater, state="submitted", in_hand=False, reserved_at=NOON, shown_at=NOON,
        changed_at=NOON,
    )  # fmt: skip
    Annotation.objects.create(
        assignment=assignment, rater=rater, version=1, client_key=f"b-{assignment.pk}", cohort=cohort,
        answers={"box": [dict(zip(("x0", "y0", "x1", "y1"), corners, strict=True))]},
        sheet_version=campaign.sheet_version, language="en", shown_at=NOON, submitted_at=NOON,
    )  # fmt: skip
