"""A reply that never ends is kept by its beginning, and the attempt says so."""

import pytest

from predictions.models import Attempt, Reply
from predictions.requests import serialization
from tests.personas import World
from tests.predictions.model_server import Act, Rule, Server
from tests.predictions.request_helpers import (
    Plainly,
    a_campaign,
    a_plan,
    an_endpoint,
    drive_run,
    start_run,
    states,
    use,
)

pytestmark = pytest.mark.django_db


def test_its_beginning_is_read_and_kept(world: World, scripted_server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serialization, "LONGEST", 1000)
    monkeypatch.setattr("predictions.services.runs.engine.settle.LONGEST", 1000)
    scripted_server.rules(Rule(Act(text="4" * 1500), numbers=(1,)))
    use(monkeypatch, prompt := Plainly())
    run = drive_run(
        start_run(world, a_plan(a_campaign(world, 2), an_endpoint(world, scripted_server.base_url), prompt))
    )
    assert sorted(len(one.body["text"]) for one in Reply.objects.all()) == [1, 1000]
    [attempt] = Attempt.objects.exclude(error="").values_list("error", "outcome")
    assert attempt == ("The reply had 1500 characters. The first 1000 were read and kept.", "reply")
    assert states(run) == {"out_of_range": 1, "answered": 1}
