"""A study to draw: two cohorts, answers over three weeks, models beside the people. Same seed, same answers."""

import random
from datetime import timedelta

from annotation.models import Campaign
from people.models import Cohort, User
from tests.evaluation.data import NOON, an_open_campaign, give
from tests.evaluation.tabled import model, say
from tests.personas import World


def near(truth: float, spread: float, chance: random.Random) -> str:
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
            codes = {item: near(truth[item, cohort.label], 0.8, chance) for item in things}
            give(campaign, cohort, user, codes, at=NOON + timedelta(weeks=place % 3))
    for number, name in enumerate(models):
        said = {key: near(true, 0.6 + number, chance) for key, true in truth.items()}
        say(campaign, model(world.team, name), said)
    return campaign


def members(world: World, cohort: Cohort, known: list[User], people: int) -> list[User]:
    return (known + (world.add_annotators(cohort, people - len(known)) if people > len(known) else []))[:people]
