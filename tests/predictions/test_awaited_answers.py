"""An open stage that judges answers and has no items: the overview says what it waits for, not that all is there."""

from typing import Any

import pytest
from django.utils import timezone

from annotation.models import Annotation
from annotation.services.campaigns import lifecycle
from annotation.services.files.campaigns import open_for_imports
from benchmarks.models import Benchmark, Stage
from evaluation.pages.next_actions import use_answers
from people.models import User
from predictions.models import Run
from predictions.pages.awaited_answers import await_judged_answers
from tests.annotation.chain.judged_scene import Scene
from tests.chains.link_client import text_of
from tests.personas import World

pytestmark = pytest.mark.django_db


def scene_of(benchmark: Benchmark | None = None, *, asks_people: bool, **params: Any) -> Scene:
    """Two questions, and an open stage that judges answers to them. Without people the questions are for models."""
    scene = Scene(questions=2, benchmark=benchmark, **params)
    if not asks_people:
        lifecycle.close(scene.replying, scene.boss, timezone.now())
        scene.replying = lifecycle.create(scene.reply, "For models", scene.boss, {scene.cohort: 1})
        open_for_imports(scene.replying, scene.boss, timezone.now())
    judging = lifecycle.create(scene.judge, "Judging", scene.boss, {scene.cohort: 1})
    lifecycle.open_campaign(judging, scene.boss, timezone.now(), may_be_empty=True)
    return scene


def judged_by(scene: Scene, name: str = "Wren", run: int = 1) -> None:
    scene.choose((scene.model_answers(name, run), run))


def test_stage_that_waits_for_references_of_nobody_says_what_to_change() -> None:
    scene = scene_of(asks_people=False, references="people")
    judged_by(scene)
    action = await_judged_answers(scene.ask.benchmark)
    assert not scene.judged() and action is not None
    assert action.text == "“Judge” has no items yet: 2 answers wait for answers of people."
    assert "nobody is asked in “Reply”" in action.detail and action.label == "Edit stage"
    assert action.url.endswith("?at=derivation.params.references#s-items")


def test_stage_that_waits_for_answers_of_people_says_how_many_a_question_needs() -> None:
    scene = scene_of(asks_people=True)
    judged_by(scene)
    action = await_judged_answers(scene.ask.benchmark)
    assert action is not None and "2 answers wait for answers of people" in action.text
    assert "Each question needs 3 answers of people" in action.detail and "stages" in action.url
    scene.people_answer()
    assert scene.judged() and await_judged_answers(scene.ask.benchmark) is None, "every answer has its item"


def test_stage_without_any_answer_asks_for_models() -> None:
    scene = scene_of(asks_people=True)
    action = await_judged_answers(scene.ask.benchmark)
    assert action is not None and action.text == "“Judge” has no items yet: no model has answered in “Reply”."
    assert action.label == "Ask models"


def test_closed_stages_and_those_of_wrong_answers_wait_for_nothing() -> None:
    scene = scene_of(asks_people=False, references="people")
    judged_by(scene)
    [campaign] = scene.judge.campaigns.all()
    lifecycle.close(campaign, scene.boss, timezone.now())
    assert await_judged_answers(scene.ask.benchmark) is None
    wrong = scene_of(asks_people=False, where={"measure": "equal", "at_most": 0})
    judged_by(wrong)
    assert await_judged_answers(wrong.ask.benchmark) is None, "right answers make no item"


def test_stage_that_asks_nobody_waits_for_no_answer_of_people() -> None:
    """The choices as they are when a stage is composed: items appear when a question has all its answers of people."""
    scene = scene_of(asks_people=False, references="none")
    judged_by(scene)
    assert not scene.judged(), "the stage wants answers of people, though its campaign takes none"
    Stage.objects.filter(pk=scene.reply.pk).update(target_answers=0)
    judged_by(scene, "Heron", 2)
    assert len(scene.judged()) == 4 and await_judged_answers(scene.ask.benchmark) is None


def test_overview_does_not_say_that_all_is_there_while_answers_wait(world: World) -> None:
    """Also the page itself, for the researcher who can change it."""
    scene = scene_of(world.benchmark, asks_people=False, references="people")
    judged_by(scene)
    owner: User = world.mara
    Run.objects.create(
        benchmark=world.benchmark, rater=model_of(world), task=Run.Task.ANSWERS, state=Run.State.DONE,
        campaign=scene.replying,
    )  # fmt: skip
    action = use_answers(world.benchmark, owner)
    assert action is not None and "2 answers wait for answers of people" in action.text
    page = text_of(world.client(owner).get(f"/b/{world.benchmark.slug}/").content.decode())
    assert "All wanted answers are there" not in page and "2 answers wait for answers of people" in page


def model_of(world: World) -> Any:
    return Annotation.objects.filter(rater__kind="model", rater__team=world.team).latest("pk").rater
