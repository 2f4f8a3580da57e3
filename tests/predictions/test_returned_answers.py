"""Which answers of a model count when they come back, and when its exclusion is lifted."""

from typing import Any

import pytest
from django.utils import timezone

from annotation.models import Annotation, Rating
from annotation.services.answers import exclusions, model_answers
from annotation.services.campaigns import lifecycle
from predictions.models import Run
from predictions.services.runs import answer_runs
from predictions.services.runs.engine import retries
from tests.personas import World
from tests.predictions.model_server import Server
from tests.predictions.request_helpers import Plainly, a_campaign, a_plan, an_endpoint, drive_run, start_run, use

pytestmark = pytest.mark.django_db


@pytest.fixture
def start(world: World, scripted_server: Server, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Start a run over two items."""
    prompt = Plainly()
    use(monkeypatch, prompt)
    monkeypatch.setattr(retries, "BACKOFF", 0.02)

    def start(**more: Any) -> Run:
        endpoint = an_endpoint(world, scripted_server.base_url)
        return start_run(world, a_plan(a_campaign(world, 2), endpoint, prompt, **more))

    return start


def test_answers_that_come_back_after_the_campaign_closed_do_not_count(world: World, start: Any) -> None:
    run = drive_run(start())
    answer_runs.withdraw(run, world.mara, timezone.now())
    lifecycle.close(run.campaign, world.mara, timezone.now())
    run.refresh_from_db()
    answer_runs.restore(run, world.mara, timezone.now())
    assert set(Annotation.objects.values_list("live", "counted", "uncounted_because", "at_submit")) == {
        (True, False, "closed", "closed")
    }
    assert set(Rating.objects.values_list("live", "counted")) == {(True, False)}


def test_answers_of_an_excluded_model_come_back_and_count_once_that_is_lifted(world: World, start: Any) -> None:
    run = drive_run(start(repeats=2))
    answer_runs.withdraw(run, world.mara, timezone.now())
    exclusions.exclude(world.benchmark, run.rater, "It saw the answers.", world.mara, timezone.now())
    run.refresh_from_db()
    answer_runs.restore(run, world.mara, timezone.now())
    rows = Annotation.objects.order_by("assignment__repeat", "pk")
    flags = rows.values_list("assignment__repeat", "live", "counted", "uncounted_because", "at_submit")
    assert set(flags) == {(0, True, False, "excluded", ""), (1, True, False, "excluded", "repeat")}
    exclusions.lift_exclusion(world.benchmark, run.rater, world.mara, timezone.now())
    assert set(flags.all()) == {(0, True, True, "", ""), (1, True, False, "repeat", "repeat")}


def test_an_answer_that_another_one_replaced_does_not_come_back(world: World, start: Any) -> None:
    run = drive_run(start())
    replaced, other = Annotation.objects.order_by("pk")
    assert run.campaign is not None and run.rater is not None
    destination = model_answers.AnswerDestination.of(run.campaign, run.rater)
    model_answers.withdraw(destination, [replaced.pk], timezone.now(), model_answers.SUPERSEDED)
    model_answers.withdraw(destination, [other.pk], timezone.now())
    assert model_answers.restore(destination, [replaced.pk, other.pk], timezone.now()) == 1
    flags = Annotation.objects.order_by("pk").values_list("live", "counted", "uncounted_because")
    assert list(flags) == [(False, False, "superseded"), (True, True, "")]


def test_repeats_of_an_excluded_model_stay_repeats_when_that_is_lifted(world: World, start: Any) -> None:
    run = start(repeats=2)
    exclusions.exclude(world.benchmark, run.rater, "It saw the answers.", world.mara, timezone.now())
    drive_run(run)
    rows = Annotation.objects.values_list("assignment__repeat", "counted", "uncounted_because", "at_submit")
    assert set(rows) == {(0, False, "excluded", ""), (1, False, "repeat", "repeat")}
    exclusions.lift_exclusion(world.benchmark, run.rater, world.mara, timezone.now())
    assert set(rows.all()) == {(0, True, "", ""), (1, False, "repeat", "repeat")}
