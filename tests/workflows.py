"""The world with a campaign of every stage of every recipe, open, and begun by others."""

from collections.abc import Callable
from datetime import timedelta

from django.core.files.base import File
from django.utils import timezone

import annotation.services.derivation.derived_items as deriving
from annotation.models import Campaign
from annotation.services.answers import uploads
from annotation.services.campaigns import lifecycle
from annotation.services.queue.leases import release_expired
from benchmarks.models import Benchmark, Item, Role
from benchmarks.rules.filters import FilterState
from benchmarks.services.benchmarks import create_from_recipe
from benchmarks.services.intake import by_hand
from demo import pictures
from demo.context import Demo, scene_row
from people.models import User
from people.services.raters import rater_of
from tests import opened_workflows
from tests.personas import World

CONCEPTS = ("dance", "drinks", "festival", "clothing", "lunch", "farming", "transport")


def every_workflow(world: World) -> dict[str, Campaign]:
    """By the key of the stage. Nour found pictures of her own, which only she may box."""
    campaigns = open_workflows(world, opened_workflows.load, lambda demo: rate(world, demo))
    find(campaigns["finding"], world.nour)
    return campaigns


def open_workflows(world: World, *loads: Callable[[Demo], None]) -> dict[str, Campaign]:
    """The campaigns that these make, by the key of the stage. Owner and reviewer have their roles in each benchmark."""
    demo = demo_of(world)
    for load in loads:
        load(demo)
    release_expired(timezone.now())
    for benchmark in Benchmark.objects.filter(team=world.team):
        for user, role in ((world.owner, Role.Name.OWNER), (world.reviewer, Role.Name.REVIEWER)):
            Role.objects.get_or_create(benchmark=benchmark, user=user, defaults={"name": role})
    return {one.stage.key: one for one in Campaign.objects.select_related("stage__benchmark").order_by("pk")}


def demo_of(world: World) -> Demo:
    cohorts = {"Egypt": world.egypt, "Brazil": world.brazil}
    raters = {
        label: [rater_of(user) for user in world.add_annotators(cohort, 2, prefix=f"simulated-{label.lower()}")]
        for label, cohort in cohorts.items()
    }
    return Demo(world.team, world.owner, [], [], cohorts, raters, timezone.now(), report=lambda _text: None)


def rate(world: World, demo: Demo) -> None:
    """CAIRE's own stage, which the demo has with far more pictures."""
    stage = create_from_recipe(world.team, "caire-universal", "CAIRE", "caire", world.owner).stages.get(key="relevance")
    rows = (scene_row(concept, label, condition="natural") for concept in CONCEPTS for label in demo.cohorts)
    demo.import_items(stage, rows)
    made = lifecycle.create(stage, "Relevance", world.owner, dict.fromkeys(demo.cohorts.values(), 3), seed=1)
    lifecycle.open_campaign(made, world.owner, demo.now - timedelta(hours=1))


def find(campaign: Campaign, finder: User) -> None:
    rater, at = rater_of(finder), timezone.now()
    for concept in ("lunch", "farming"):
        assignment = opened_workflows.current_item(campaign, rater, "Egypt", at)
        with pictures.scene(concept, "Egypt").path.open("rb") as file:
            image = uploads.store_upload(assignment, File(file), "found.webp", at)
        picture = {"sha": image.sha256, "kind": "file", "licence": "own", "source": ""}
        opened_workflows.submit(campaign, rater, "Egypt", at, {"picture": picture, "prevalent": "yes"})
    deriving.process_due(at)
    for item in Item.objects.filter(stage__key="boxes", intake="waiting"):
        by_hand.decide(item, FilterState.KEPT, "Enough things to see", finder, at)
    deriving.process_due(at)
