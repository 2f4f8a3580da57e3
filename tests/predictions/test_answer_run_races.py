"""Two at once, one that was thought dead, and a database that goes away: no call is asked twice, no reply is lost."""

import threading
from datetime import timedelta

import pytest
from django.db import OperationalError, connection
from django.utils import timezone

from jobs.models import Job
from jobs.services import runner
from predictions.models import Attempt, Reply
from predictions.services.runs import answer_runs
from predictions.services.runs.engine import claim, executor, write
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

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def opening(world, monkeypatch, scripted_server):
    def opening(items, **more):
        prompt = Plainly()
        use(monkeypatch, prompt)
        return start_run(
            world, a_plan(a_campaign(world, items), an_endpoint(world, scripted_server.base_url), prompt, **more)
        )

    return opening


def run_together(*acts):
    """Each in a thread with a connection of its own."""
    problems = []

    def doing(act):
        try:
            act()
        except Exception as problem:  # noqa: BLE001  (told by the test)
            problems.append(problem)
        finally:
            connection.close()

    threads = [threading.Thread(target=doing, args=(act,)) for act in acts]
    for thread in threads:
        thread.start()
    return threads, problems


def test_a_call_is_claimed_by_one(opening):
    run = opening(60)
    claimed = {"1:1": [], "1:2": [], "1:3": []}

    def claiming(holder):
        def act():
            while found := claim.claim_calls(run.pk, run.job_id, holder, 4, timezone.now()):
                claimed[holder] += [one.id for one in found]

        return act

    threads, problems = run_together(*map(claiming, claimed))
    for thread in threads:
        thread.join(30)
    every = [pk for mine in claimed.values() for pk in mine]
    assert not problems and len(every) == len(set(every)) == 60


def test_pausing_and_going_on_at_once_asks_nothing_twice(opening, world, scripted_server):
    scripted_server.set(delay=0.3)
    run = opening(24)
    [first], problems = run_together(lambda: runner.run(run.job_id))
    while scripted_server.counts()["total"] < 6:
        assert first.is_alive()
    answer_runs.pause(run, world.mara, timezone.now())
    answer_runs.resume(run, world.mara, timezone.now())
    drive_run(run)
    first.join(30)
    assert not problems and states(run) == {"answered": 24} and scripted_server.counts()["total"] == 24
    assert set(Job.objects.values_list("state", flat=True)) == {"cancelled", "done"}


def test_a_driver_that_was_thought_dead_writes_nothing(opening, monkeypatch):
    run = opening(20)
    look = executor.RunExecutor._check_run_state

    def taken_over(self):
        if self.work.job.attempts == 1:
            Job.objects.filter(pk=run.job_id).update(lease_until=timezone.now() - timedelta(minutes=1))
            assert runner.claim(run.job_id, timezone.now())
        look(self)

    monkeypatch.setattr(executor, "LOOK", 0.0)
    monkeypatch.setattr(executor.RunExecutor, "_check_run_state", taken_over)
    runner.run(run.job_id)
    kept = Attempt.objects.count()
    assert kept < 20 and Reply.objects.count() == kept
    Job.objects.filter(pk=run.job_id).update(state="queued")
    drive_run(run)
    assert run.state == "done" and states(run) == {"answered": 20}
    assert Attempt.objects.filter(outcome="reply").count() == Reply.objects.filter(number=1).count() == 20


def test_replies_during_a_database_outage_are_written_afterwards(opening, monkeypatch, scripted_server):
    run = opening(20)
    update, take, away = write.update_calls, claim.claim_calls, {"settle": 3, "claim": 2}

    def gone(name, do):
        def act(*args):
            if away[name]:
                away[name] -= 1
                raise OperationalError("the server closed the connection")
            return do(*args)

        return act

    monkeypatch.setattr(write, "update_calls", gone("settle", update))
    monkeypatch.setattr(claim, "claim_calls", gone("claim", take))
    drive_run(run)
    assert states(run) == {"answered": 20} and scripted_server.counts()["total"] == 20
    assert Attempt.objects.count() == Reply.objects.count() == 20 and away == {"settle": 0, "claim": 0}


def test_a_database_that_stays_away_leaves_the_job_to_the_next_worker(opening, monkeypatch):
    run = opening(4)
    monkeypatch.setattr(executor, "RECONNECT", 0.0)

    def gone(*args):
        raise OperationalError("the server closed the connection")

    with monkeypatch.context() as patched:
        patched.setattr(write, "update_calls", gone)
        with pytest.raises(OperationalError):
            runner.run(run.job_id)
    assert Job.objects.get(pk=run.job_id).state == "running"
    assert runner.requeue_stalled(timezone.now() + timedelta(minutes=2)) == 1
    drive_run(run)
    assert states(run) == {"answered": 4}
