"""One name and setting stand for one model, wherever it is asked: two would be one in all numbers."""

from typing import Any

import pytest

from predictions.services.runs.answer_runs import RunRefused
from tests.personas import World
from tests.predictions.request_helpers import Plainly, a_campaign, a_plan, an_endpoint, start_run, use

pytestmark = pytest.mark.django_db


def test_another_model_takes_no_name_that_stands_for_one(world: World, monkeypatch: Any) -> None:
    plain = Plainly()
    use(monkeypatch, plain)
    endpoint = an_endpoint(world, "http://127.0.0.1:9/v1")
    first, second = (a_plan(a_campaign(world, 1), endpoint, plain, name="Judge one") for _campaign in range(2))
    start_run(world, first)
    for told in ({"model": "another"}, {"revision": "2"}):
        with pytest.raises(RunRefused, match="is already the model scripted"):
            start_run(world, a_plan(second.campaign, endpoint, plain, name="Judge one", **told))
    start_run(world, a_plan(second.campaign, endpoint, plain, name="Judge one", model="another", setting="two"))
    start_run(world, second)  # the same model may be asked about another campaign
