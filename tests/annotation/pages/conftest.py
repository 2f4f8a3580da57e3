"""A campaign that is open to two cohorts, with pictures."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings
from django.test import override_settings
from django.utils import timezone

from annotation.models import Assignment, Campaign
from annotation.services.campaigns import lifecycle
from tests.module_world import built_once
from tests.personas import World


@pytest.fixture(scope="module", autouse=True)
def media(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    location = tmp_path_factory.mktemp("media")
    default = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": location}}
    with override_settings(STORAGES={**settings.STORAGES, "default": default}):
        yield


@built_once
def campaign(world: World) -> Campaign:
    world.add_items(6, images=True)
    new_campaign = lifecycle.create(
        world.stage,
        "Relevance, all pictures",
        world.owner,
        {world.egypt: 2, world.brazil: 1},
        summary="Say how much a picture has to do with {target}.",
        instructions={"en": "Look first, then rate.", "ar": "انظر أولاً، ثم قيّم."},
        seed=5,
    )
    lifecycle.open_campaign(new_campaign, world.owner, timezone.now())
    return new_campaign


def current_assignment(campaign: Campaign, user: Any) -> Assignment:
    return Assignment.objects.get(campaign=campaign, rater__user=user, state="reserved", in_hand=True)
