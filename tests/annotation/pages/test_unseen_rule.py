"""Who answers sees neither a score nor the rule of acceptance: both would tell them which answers are wanted."""

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


@pytest.mark.parametrize("rule", [True, False])
@pytest.mark.parametrize("score", [True, False])
def test_a_sheet_says_nothing_of_its_score_and_its_rule(world: World, rule: bool, score: bool) -> None:
    page = sheet_page(world, rule=rule, score=score)
    assert 'name="a-good"' in page
    for trace in ("Points", "&quot;score&quot;", '"score"', "clauses", "accepts the item", "verdict"):
        assert trace not in page, trace
