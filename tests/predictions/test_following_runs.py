"""A run that follows asks about each item that comes later, once, within its budget; before there is any item, too."""

from typing import Any

import pytest
from django.utils import timezone

from annotation.models import Campaign
from annotation.services.campaigns import lifecycle
from benchmarks.models import Item
from benchmarks.recipes.contract import ModelCondition
from benchmarks.services import item_changes
from jobs.models import Job
from predictions.models import Endpoint, Run
from predictions.services.runs import answer_runs, following
from predictions.tasks import follow_new_items
from tests.personas import World
from tests.predictions.model_server import Server
from tests.predictions.plan_set_helpers import FIRST, act_on, form_data, press, runs_of, start_set, use_conditions
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
JUDGE = "judge"


@pytest.fixture
def endpoint(world: World, scripted_server: Server) -> Endpoint:
    return an_endpoint(world, scripted_server.base_url, {"*": {"request": "0.1"}})


@pytest.fixture
def run(world: World, endpoint: Endpoint, monkeypatch: Any) -> Run:
    prompt = Plainly()
    use(monkeypatch, prompt)
    return drive_run(start_run(world, a_plan(a_campaign(world, 2), endpoint, prompt, follows=True)))


def page_of(world: World, run: Run) -> str:
    address = f"/b/{world.benchmark.slug}/predictions/run/{run.pk}/"
    return str(world.client(world.mara).get(address).content.decode())


def press_on(world: World, run: Run, do: str) -> str:
    address = f"/b/{world.benchmark.slug}/predictions/run/{run.pk}/action/"
    return str(world.client(world.mara).post(address, {"do": do}, follow=True).content.decode())


def test_items_that_come_later_are_asked_once(world: World, run: Run, scripted_server: Server) -> None:
    assert run.state == "done" and "Waiting for items" in page_of(world, run)
    world.add_items(3)
    assert follow_new_items() == 3
    assert follow_new_items() == 0, "never twice"
    assert states(drive_run(run)) == {"answered": 5} and scripted_server.counts()["repeated"] == 0
    assert run.state == "done"


def test_an_item_that_is_withdrawn_and_restored_causes_no_request(
    world: World, run: Run, scripted_server: Server
) -> None:
    Item.objects.filter(pk=world.items[0].pk).update(withdrawn_at=timezone.now())
    assert follow_new_items() == 0
    Item.objects.filter(pk=world.items[0].pk).update(withdrawn_at=None)
    assert follow_new_items() == 0 and scripted_server.counts()["total"] == 2


def test_following_is_switched_off_and_on_at_the_page(world: World, run: Run) -> None:
    assert "follows new items" in page_of(world, run)
    off = press_on(world, run, "follow_no_more")
    assert "follows no new items any more" in off and 'value="follow"' in off
    world.add_items(1)
    assert follow_new_items() == 0 and run.calls.count() == 2
    assert "The run follows new items" in press_on(world, run, "follow")
    assert run.calls.count() == 3, "what came meanwhile is asked"


def test_a_run_that_does_not_run_gets_the_calls_and_waits(world: World, run: Run, endpoint: Endpoint) -> None:
    world.add_items(1)
    follow_new_items()
    answer_runs.pause(run, world.mara, timezone.now())
    world.add_items(1)
    job = Run.objects.get(pk=run.pk).job_id
    assert follow_new_items() == 1
    paused = Run.objects.get(pk=run.pk)
    assert (paused.state, paused.job_id) == ("paused", job) and states(run)["pending"] == 2
    answer_runs.resume(run, world.mara, timezone.now())
    assert states(drive_run(run)) == {"answered": 4}


def test_a_run_that_was_stopped_withdrawn_or_closed_follows_nothing(world: World, run: Run) -> None:
    answer_runs.withdraw(run, world.mara, timezone.now())
    world.add_items(1)
    assert follow_new_items() == 0
    answer_runs.restore(run, world.mara, timezone.now())
    assert follow_new_items() == 1
    answer_runs.stop(run, world.mara, timezone.now())
    world.add_items(1)
    assert follow_new_items() == 0 and not Run.objects.get(pk=run.pk).follows
    assert "follows no items" in press_on(world, run, "follow")
    Run.objects.filter(pk=run.pk).update(state="done", follows=True)
    lifecycle.close(Campaign.objects.get(), world.mara, timezone.now())
    assert follow_new_items() == 0


def test_the_worker_is_told_when_items_arrive_in_a_stage_that_is_followed(
    world: World, run: Run, monkeypatch: Any, django_capture_on_commit_callbacks: Any
) -> None:
    sent: list[str] = []
    monkeypatch.setattr(following, "dispatch", sent.append)
    with django_capture_on_commit_callbacks(execute=True):
        item_changes.notify_arrivals(world.stage.pk, [1])
        item_changes.notify_arrivals(world.stage.pk, [2])
    assert sent == [following.TASK], "once for each commit"
    Run.objects.update(follows=False)
    with django_capture_on_commit_callbacks(execute=True):
        item_changes.notify_arrivals(world.stage.pk, [1])
    assert len(sent) == 1


def test_two_workers_at_once_add_each_call_once(world: World, run: Run) -> None:
    world.add_items(2)
    first, second = Run.objects.get(pk=run.pk), Run.objects.get(pk=run.pk)
    assert (following.follow(first), following.follow(second)) == (2, 0)
    assert Job.objects.filter(kind=answer_runs.KIND, state="queued").count() == 1


def test_a_judge_starts_before_there_is_an_answer_and_another_run_does_not(
    world: World, endpoint: Endpoint, scripted_server: Server, monkeypatch: Any
) -> None:
    use(monkeypatch, Plainly(key=JUDGE, setting=JUDGE))
    use_conditions(monkeypatch, "relevance", ModelCondition(JUDGE, {"en": "Judge"}, "relevance", JUDGE, judge=True))
    campaign = lifecycle.create(world.stage, "Round 1", world.mara, {world.egypt: 2})
    lifecycle.open_campaign(campaign, world.mara, timezone.now(), may_be_empty=True)
    page = press(world, "look", form_data((endpoint, "J", [FIRST, JUDGE]), budget="0.3")).content.decode()
    assert "Start 1 run" in page and "follows new items" in page and "does not fit" in page
    plan_set = start_set(world, (endpoint, "J", [FIRST, JUDGE]), budget="0.3")
    [judge] = runs_of(plan_set)
    assert judge.follows and drive_run(judge).state == "done" and not judge.calls.exists()
    assert "No item has come yet." in page_of(world, judge)
    world.add_items(2)
    follow_new_items()
    assert states(drive_run(judge)) == {"answered": 2}
    world.add_items(2)
    follow_new_items()
    drive_run(judge)
    assert (judge.state, judge.stopped_because) == ("paused", "budget"), "the budget of the set holds"
    assert scripted_server.counts()["total"] == 3
    assert "1 run goes on" in act_on(world, plan_set, "budget", budget="0.9")
    assert states(drive_run(judge)) == {"answered": 4}


def test_a_set_that_is_paused_starts_no_run_for_new_items(world: World, endpoint: Endpoint, monkeypatch: Any) -> None:
    use_conditions(monkeypatch)
    a_campaign(world, 1)
    plan_set = start_set(world, (endpoint, "A", [FIRST]))
    [run] = [drive_run(run) for run in runs_of(plan_set)]
    following.set_follows(run, True, world.mara, timezone.now())
    act_on(world, plan_set, "pause")
    world.add_items(1)
    assert follow_new_items() == 1 and Run.objects.get(pk=run.pk).state == "done"
    act_on(world, plan_set, "resume")
    assert states(drive_run(run)) == {"answered": 2}
