"""A stage that asks each cohort about its own culture, and one that judges its answers."""

from typing import Any

from annotation.models import Campaign
from benchmarks.models import Stage
from people.models import Cohort, User
from tests.annotation.chain.factories import (
    ANSWER,
    GOOD,
    a_stage,
    answer,
    claim_sheet,
    create_open_campaign,
    process_derivations,
)
from tests.personas import World, stand_in
from tests.samples import rater

WORDS: dict[str, Any] = {"display": "words", "pictures": "none"}
JUDGED = {"kind": "verdicts", "from": ["ask"], "params": {"field": "answer", "people": "leave_one_out", "least": 2}}


def people_of(world: World, cohort: Cohort) -> list[User]:
    return [world.nour, world.tarek] if cohort == world.egypt else [world.bia, world.caio]


def asking_stage(world: World) -> Stage:
    """Two questions, of which each cohort is to answer what holds in its own culture."""
    stage = a_stage(world.benchmark, "ask", ANSWER, has_target=True, **WORDS)
    stand_in([stage.items.create(key=key, text=f"What of the {key}?") for key in ("wedding", "market")])
    return stage


def judging_stage(world: World) -> Stage:
    return a_stage(
        world.benchmark, "judge", GOOD, derivation=JUDGED, display="candidate", pictures="none", staffing="not_own",
        own_items_only=True, layout={"culture": True, "references": True},
    )  # fmt: skip


def give_answers(world: World, ask: Stage) -> Campaign:
    """Two people of each cohort answer both questions with the name of their cohort: four answers about each."""
    campaign = create_open_campaign(ask, world.egypt, world.brazil, target=2)
    for cohort in (world.egypt, world.brazil):
        for user in people_of(world, cohort):
            while sheet := claim_sheet(rater(user), campaign, cohort):
                answer(sheet, answer=f"As in {cohort.label}")
    process_derivations()
    return campaign
