"""Workers that build pairs are killed again and again; every request is asked once, but for those in flight."""

import json

import pytest

from papers.valueground.builder.models import Build, BuildStep
from predictions.models import Attempt
from tests.killed_workers import finish_despite_kills
from tests.papers.valueground.builder.build_script import CONTRAST, verdict
from tests.papers.valueground.builder.builder_scene import BuilderScene
from tests.personas import World
from tests.predictions.model_server import Server


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_twenty_builds_survive_ten_kills_without_asking_twice(world: World, scripted_server: Server) -> None:
    scene = BuilderScene(world, scripted_server, questions=20)
    scene.answer(critic=[verdict("revise_edits", b=CONTRAST), verdict()])
    plan = scene.plan(base_seed=5)
    assert plan.job_id is not None
    finish_despite_kills(
        plan.job_id,
        kills=10,
        requests=lambda: scene.server.counts()["total"],
        gap=(5, 30),
        prepare=lambda: Build.objects.update(not_before=None),
    )
    assert set(Build.objects.values_list("state", flat=True)) == {"accepted"}
    scene.check_costs()
    lost = Attempt.objects.filter(outcome="lost").count()
    requests = [json.dumps([asked.path, asked.body], sort_keys=True) for asked in scene.server.asked]
    assert len(requests) - len(set(requests)) <= lost <= 10 * 16
    assert sum(build.unaccounted for build in Build.objects.all()) > 0
    assert BuildStep.objects.exclude(state="done").count() == 0 and len(scene.items()) == 20
