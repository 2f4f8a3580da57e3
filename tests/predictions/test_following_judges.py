"""A judge that follows reads each answer once, also when its model, its question or a reference goes and comes back."""

from typing import Any

import pytest
from django.utils import timezone

from annotation.models import Annotation
from annotation.services.answers import model_answers
from annotation.services.answers.model_answers import AnswerDestination
from annotation.services.campaigns import lifecycle
from benchmarks.models import Stage
from predictions.models import Run
from predictions.services.runs import answer_runs
from predictions.tasks import follow_new_items
from tests.annotation.chain.factories import create_open_campaign, live_items, process_derivations
from tests.annotation.chain.judged_scene import Scene
from tests.module_world import built_once
from tests.personas import World
from tests.predictions.model_server import Act, Server
from tests.predictions.request_helpers import Plainly, a_plan, an_endpoint, drive_run, start_run, use

pytestmark = pytest.mark.django_db


@built_once
def scene(world: World) -> Scene:
    Stage.objects.filter(benchmark=world.benchmark).delete()
    scene = Scene(questions=2, benchmark=world.benchmark, runs={"settings": ["vlm"]})
    scene.people_answer()
    return scene


@pytest.fixture
def judge(world: World, scene: Scene, scripted_server: Server, monkeypatch: Any) -> Run:
    """Started while there is nothing to judge."""
    prompt = Plainly()
    use(monkeypatch, prompt)
    scripted_server.answer_by(lambda asked: Act(text="1"))
    campaign = create_open_campaign(scene.judge, scene.cohort)
    endpoint = an_endpoint(world, scripted_server.base_url)
    return drive_run(start_run(world, a_plan(campaign, endpoint, prompt, model="judge", follows=True)))


def judge_new_items(judge: Run) -> int:
    """How many requests a worker cycle adds."""
    process_derivations()
    added = follow_new_items()
    drive_run(judge)
    return added


def verdicts() -> int:
    return Annotation.objects.filter(rater__name="judge", live=True, counted=True).count()


def test_what_goes_and_comes_back_is_judged_once(scene: Scene, judge: Run, scripted_server: Server) -> None:
    assert judge.state == "done" and not judge.calls.exists()
    rater = scene.model_answers("A", 7)
    assert judge_new_items(judge) == 2 and verdicts() == 2
    destination = AnswerDestination.of(scene.replying, rater)
    ids = list(Annotation.objects.filter(rater=rater).values_list("pk", flat=True))
    items = live_items(scene.judge)
    model_answers.withdraw(destination, ids, timezone.now())
    assert judge_new_items(judge) == 0 and live_items(scene.judge) == []
    model_answers.restore(destination, ids, timezone.now())
    assert judge_new_items(judge) == 0 and live_items(scene.judge) == items and verdicts() == 2
    assert scripted_server.counts()["total"] == 2


def test_a_reference_that_comes_is_judged_and_the_paused_run_says_how_many_wait(
    world: World, scene: Scene, judge: Run, scripted_server: Server
) -> None:
    scene.model_answers("A", 7)
    judge_new_items(judge)
    answer_runs.start_job(judge, world.mara)
    answer_runs.pause(Run.objects.get(pk=judge.pk), world.mara, timezone.now())
    lifecycle.change_target(scene.replying.cohorts.get(), 4, None)
    scene.people_answer(1)
    process_derivations()
    assert follow_new_items() == 2
    page = world.client(world.mara).get(f"/b/{world.benchmark.slug}/predictions/run/{judge.pk}/").content.decode()
    assert "2 items changed because a reference changed" in page and scripted_server.counts()["total"] == 2
    answer_runs.resume(judge, world.mara, timezone.now())
    drive_run(judge)
    assert scripted_server.counts()["total"] == 4, "the new versions, and nothing else"
