"""Beside a score stands what the rule would say of these answers; without one a sheet says nothing of the rule."""

from typing import Any

import pytest
from django.utils import timezone

from annotation.services.campaigns import lifecycle
from tests.annotation.chain.factories import GOOD, RULE
from tests.personas import World

pytestmark = pytest.mark.django_db
SCORE = {"label": {"en": "Points"}, "expression": "good * 2", "decimals": 1}


def sheet_page(world: World, *, rule: bool, score: bool) -> str:
    stage = world.stage
    stage.sheet = {**GOOD, "score": SCORE} if score else GOOD
    more: dict[str, Any] = {"acceptance": "by_rule", "acceptance_rule": RULE} if rule else {}
    for name, value in more.items():
        setattr(stage, name, value)
    stage.save()
    world.add_items(1)
    made = lifecycle.create(stage, "Round", world.owner, {world.egypt: 1})
    lifecycle.open_campaign(made, world.owner, timezone.now())
    reply = world.client(world.nour).get(f"/work/{made.pk}/")
    assert reply.status_code == 200
    return reply.content.decode()


def test_without_a_score_the_rule_is_not_spoken_of(world: World) -> None:
    page = sheet_page(world, rule=True, score=False)
    assert 'name="a-good"' in page
    assert "data-readout" not in page and "data-verdict" not in page and "accepts the item" not in page


def test_score_is_shown_with_the_present_rule_result(world: World) -> None:
    page = sheet_page(world, rule=True, score=True)
    assert "data-score" in page and "data-verdict" in page and "rule 1 accepts the item" in page


def test_a_score_that_no_rule_reads_stands_alone(world: World) -> None:
    page = sheet_page(world, rule=False, score=True)
    assert "data-score" in page and "data-verdict" not in page and "accepts the item" not in page
