"""The next action of a composed benchmark leads to asking models where a later stage judges their answers."""

from typing import Any

import pytest

from tests.benchmarks.test_next_actions import add_stage, open_first, shown, visit
from tests.personas import World

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("params", [{}, {"runs": {"settings": [""]}, "people": "leave_one_out"}])
def test_a_composed_stage_that_judges_models_leads_to_asking_them(world: World, params: dict[str, Any]) -> None:
    world.add_items(2)
    open_first(world)
    assert "No model was run here yet." not in shown(world, world.mara), "nothing says that models are to answer"
    judge = add_stage(world, "Judge")
    judge.display, judge.derivation = "candidate", judging(**params)
    judge.save()
    action = shown(world, world.mara)
    assert "No model was run here yet." in action and "Models are asked in “Relevance rating”." in action
    page = visit(world, world.mara)
    page.follow("Ask models")
    assert "No model was run here yet." not in shown(world, world.reviewer), "who may not run models is not asked to"
    judge.items.create(key="answer", text="Tea")
    assert "No model was run here yet." not in shown(world, world.mara), "there is something to judge: that is next"
    judge.items.all().delete()
    assert "No model was run here yet." in shown(world, world.mara)
    judge.derivation = judging(people="leave_one_out")
    judge.save()
    assert "No model was run here yet." not in shown(world, world.mara), "answers of people are enough"


def judging(**params: Any) -> dict[str, Any]:
    """The derivation of a stage that judges answers of the world's stage."""
    return {"kind": "verdicts", "from": ["relevance"], "of": "results", "params": {"field": "relevance", **params}}
