"""A campaign of any sheet and display, with drawn pictures under the roles that the display needs."""

from typing import Any

from django.utils import timezone

from annotation.models import Campaign
from annotation.services.campaigns import lifecycle
from benchmarks.models import Item, Stage
from benchmarks.recipes.registry import recipe
from tests.browser.conftest import attach_all, drawings
from tests.personas import World


def apply_recipe_stage(stage: Stage, key: str, stage_key: str) -> None:
    """The world's stage as a recipe has it."""
    spec = next(one for one in recipe(key).stages if one.key == stage_key)
    stage.display, stage.sheet, stage.layout = spec.display, dict(spec.sheet), dict(spec.layout)
    stage.skip_reasons = [dict(one) for one in spec.skip_reasons]
    stage.acceptance, stage.acceptance_rule = spec.acceptance, dict(spec.acceptance_rule)
    stage.save()


def create_items(world: World, roles: tuple[str, ...], **item: Any) -> None:
    """Four items with the same words, each with its own pictures."""
    items = world.add_items(4)
    Item.objects.filter(pk__in=[one.pk for one in items]).update(**item)
    pictures = drawings(4 * len(roles))
    for number, role in enumerate(roles):
        attach_all(dict(zip(items, pictures[number :: len(roles)], strict=True)), role)


def create_open_campaign(world: World, **how: Any) -> Campaign:
    new_campaign = lifecycle.create(
        world.stage, "Pictures of Egypt", world.owner, {world.egypt: 2}, seed=5,
        instructions={"en": "Look first.", "ar": "انظر أولاً."}, **how,
    )  # fmt: skip
    lifecycle.open_campaign(new_campaign, world.owner, timezone.now())
    return new_campaign
