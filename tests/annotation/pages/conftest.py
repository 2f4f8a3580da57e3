"""A campaign that is open to two cohorts, with pictures."""

from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from annotation.models import Assignment, Campaign
from annotation.services.campaigns import lifecycle
from tests.personas import World


@pytest.fixture(autouse=True)
def media(settings: Any, tmp_path: Path) -> None:
    settings.STORAGES = {
        **settings.STORAGES,
        "default": {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": tmp_path}},
    }


@pytest.fixture
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
