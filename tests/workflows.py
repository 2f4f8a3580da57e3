"""The world with a campaign of every stage of every recipe, made as the demo makes them: open, and begun by others."""

from collections.abc import Callable
from datetime import datetime, timedelta

from django.utils import timezone

import annotation.services.deriving as deriving
from annotation.models import Campaign, Upload
from annotation.services import campaigns
from benchmarks.models import Benchmark, Image, Role
from benchmarks.services.benchmarks import create_from_recipe
from benchmarks.services.images import store_image
from config import demo_workflows as workflows
from people.models import User
from people.services.raters import rater_of
from tests.personas import World

CONCEPTS = ("dance", "drinks", "festival", "clothing", "lunch", "farming", "transport")
NATURAL = "natural"
Draw = Callable[[tuple[str, str, str], int], bytes]


def every_workflow(world: World, draw: Draw) -> dict[str, Campaign]:
    """By the key of the stage. Nour found pictures of her own, which only she may box."""
    now = timezone.now()
    stuff = stuff_of(world, now - timedelta(hours=1), draw)  # what the others still had in hand is free again
    workflows.load(stuff)
    rate(world, stuff)
    made = {one.stage.key: one for one in Campaign.objects.select_related("stage__benchmark").order_by("pk")}
    for benchmark in Benchmark.objects.filter(team=world.team):
        for user, role in ((world.owner, Role.Name.OWNER), (world.reviewer, Role.Name.REVIEWER)):
            Role.objects.get_or_create(benchmark=benchmark, user=user, defaults={"name": role})
    find(made["finding"], world.nour, stuff, now)
    return made


def stuff_of(world: World, now: datetime, draw: Draw) -> workflows.Stuff:
    cohorts = {"Egypt": world.egypt, "Brazil": world.brazil}
    pictures: dict[tuple[str, str, str], Image] = {}
    for number, (concept, label) in enumerate((concept, label) for concept in CONCEPTS for label in cohorts):
        data = draw((concept, label, NATURAL), number)
        pictures[concept, label, NATURAL] = store_image(world.team, data, name=f"{concept}.jpg")[0]
    raters = {
        label: [rater_of(user) for user in world.add_annotators(cohort, 2, prefix=f"simulated-{label.lower()}")]
        for label, cohort in cohorts.items()
    }
    return workflows.Stuff(world.team, world.owner, cohorts, raters, pictures, now)


def rate(world: World, stuff: workflows.Stuff) -> None:
    """CAIRE's own stage, which the demo has with far more pictures."""
    stage = create_from_recipe(world.team, "caire-universal", "CAIRE", "caire", world.owner).stages.get(key="relevance")
    for concept in CONCEPTS:
        for label in stuff.cohorts:
            workflows._item(stuff, stage, concept, label, "natural")
    made = campaigns.create(stage, "Relevance", world.owner, dict.fromkeys(stuff.cohorts.values(), 3), seed=1)
    campaigns.open_campaign(made, world.owner, stuff.now)


def find(campaign: Campaign, finder: User, stuff: workflows.Stuff, at: datetime) -> None:
    rater = rater_of(finder)
    for concept in ("lunch", "farming"):
        hand = workflows._hand(campaign, rater, "Egypt", at)
        image = stuff.picture(concept, "Egypt")
        Upload.objects.create(assignment=hand, image=image, at=at)
        picture = {"sha": image.sha256, "kind": "file", "licence": "own", "source": ""}
        workflows._give(campaign, rater, "Egypt", at, {"picture": picture, "prevalent": "yes"})
    deriving.work_off(at)
