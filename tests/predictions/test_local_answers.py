"""Local models answer sheets like any other rater: an encoder by CAIRE's probes, a grounding model by a box."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from annotation.models import Annotation
from predictions.models import Call, Endpoint, Run
from predictions.prompts import registry
from tests.personas import World
from tests.predictions import tiny_transformers
from tests.predictions.request_helpers import a_plan, drive_run, start_run, states
from tests.predictions.test_vlm import units

pytestmark = pytest.mark.django_db(transaction=True)


def a_run(world: World, kind: str, campaign: Any, prompt: str, model: str) -> Run:
    endpoint = Endpoint.objects.create(team=world.team, kind=kind, name=f"Here: {kind}", most_in_flight=2)
    return drive_run(start_run(world, a_plan(campaign, endpoint, registry.prompt(prompt), model=model)))


def test_an_encoder_answers_caire_by_the_nearest_level(world: World, models_root: Path) -> None:
    campaign = units(world, "caire-universal", "relevance", 8, ("image",))
    run = a_run(world, "open_clip", campaign, "caire-probe", "local-dir:tiny")
    assert (run.state, states(run)) == ("done", {"answered": 8})
    for call in Call.objects.filter(run=run):
        cosines = call.notes["cosines"]
        assert len(cosines) == 5 and all(-1 <= one <= 1 for one in cosines.values())
        assert call.annotation and call.annotation.answers["relevance"] == max(cosines, key=cosines.get)
    assert len({tuple(np.round(list(call.notes["cosines"].values()), 4)) for call in run.calls.all()}) == 8


def test_a_grounding_model_answers_with_its_best_box(
    world: World, needs_models: None, settings: Any, tmp_path: Path
) -> None:
    settings.MODELS_ROOT = tmp_path
    tiny_transformers.grounding(tmp_path / "grounding")
    campaign = units(world, "globalrg-grounding", "verification", 4, ("image",))
    run = a_run(world, "grounding", campaign, "globalrg-detector", "local-dir:grounding")
    assert (run.state, states(run)) == ("done", {"answered": 4})
    assert Annotation.objects.filter(rater=run.rater).count() == 4


def test_a_model_that_is_not_there_stops_the_run_with_its_sentence(world: World, models_root: Path) -> None:
    campaign = units(world, "caire-universal", "relevance", 2, ("image",))
    run = a_run(world, "open_clip", campaign, "caire-probe", "local-dir:gone")
    assert "answered" not in states(run) and not Annotation.objects.filter(rater=run.rater).exists()
    attempts = [attempt for call in run.calls.all() for attempt in call.attempts.all()]
    assert attempts and all("no folder “gone”" in one.error for one in attempts)
