"""What holds whoever does what meanwhile: a budget, an endpoint that is taken away, a run that is withdrawn."""

import threading
import time
from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import OperationalError, connection
from django.urls import reverse
from django.utils import timezone

from annotation.models import Annotation
from jobs.models import Job
from jobs.services import job_context, runner
from jobs.services import lifecycle as jobs
from predictions.models import Call, Endpoint, Run
from predictions.queries.progress import attempts_of
from predictions.services.endpoints import endpoints
from predictions.services.runs import answer_runs
from predictions.services.runs.answer_runs import RunRefused
from predictions.services.runs.engine import claim, context, executor, request, retries
from tests.predictions import model_server
from tests.predictions.knowledge.samples import a_linking
from tests.predictions.model_server import Rule
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
PRICES = {"*": {"request": "0.1"}}


@pytest.fixture
def endpoint(world, scripted_server):
    return an_endpoint(world, scripted_server.base_url, PRICES)


@pytest.fixture
def opening(world, monkeypatch, endpoint):
    def opening(items, **more):
        prompt = Plainly()
        use(monkeypatch, prompt)
        return start_run(world, a_plan(a_campaign(world, items), endpoint, prompt, **more))

    return opening


def current_time():
    return timezone.now()


def claim_two_calls(run, sent):
    """Two calls, by a driver that is no more, and whose time is over in a moment; so many of them went out."""
    soon = current_time() - claim.LEASE + timedelta(seconds=2)
    found = claim.claim_calls(run.pk, run.job_id, "0:1", 2, soon)
    assert len(found) == 2 and len(claim.mark_dispatched([one.id for one in found[:sent]], "0:1", soon)) == sent


def lose_connection(*args):
    raise OperationalError("the server closed the connection")


def act_between(monkeypatch, act, when=lambda: True):
    """Do something once, when the driver looks round."""
    look, done = executor.RunExecutor._check_run_state, []

    def looking(self):
        if not done and when():
            done.append(act())
        look(self)

    monkeypatch.setattr(executor, "LOOK", 0.0)
    monkeypatch.setattr(executor.RunExecutor, "_check_run_state", looking)


class TestEndpoint:
    def test_what_is_retired_is_asked_nothing_more(self, world, opening, endpoint, monkeypatch, scripted_server):
        run = opening(40)
        act_between(monkeypatch, lambda: endpoints.retire(endpoint, world.mara, current_time()))
        drive_run(run)
        assert (run.state, run.stopped_because) == ("paused", "retired")
        assert scripted_server.counts()["total"] <= 8 and states(run)["pending"] >= 32

    def test_a_key_that_is_taken_away_is_sent_no_more(self, world, opening, endpoint, monkeypatch, scripted_server):
        monkeypatch.setattr(endpoints, "_secret_of", lambda one: "sk-old" if one.secret_set_at else "")
        Endpoint.objects.filter(pk=endpoint.pk).update(secret_set_at=current_time())
        run = opening(40)
        asked = lambda: scripted_server.counts()["total"] > 0  # noqa: E731
        act_between(monkeypatch, lambda: endpoints.set_secret(endpoint, "", world.mara, current_time()), asked)
        drive_run(run)
        sent = [one.headers.get("authorization") for one in scripted_server.script.asked]
        assert run.state == "done" and len(sent) == 40
        assert 0 < sent.count("Bearer sk-old") <= 16 and set(sent) == {"Bearer sk-old", None}


class TestAddress:
    def test_a_run_is_asked_of_one_server_to_its_last_call(self, world, opening, endpoint, scripted_server):
        scripted_server.rules(Rule(model_server.Act(status=400, error="no"), numbers=(1,)))
        run = drive_run(opening(2, budget=Decimal(1)))
        assert states(run) == {"failed": 1, "answered": 1}
        endpoints.change(endpoint, world.mara, current_time(), base_url="http://127.0.0.1:9/other/v1")
        world.add_items(3)
        for act in (
            lambda: answer_runs.retry_failed(run, world.mara, current_time()),
            lambda: answer_runs.raise_budget(run, Decimal(2), world.mara, current_time()),
            lambda: answer_runs.extend(run, world.mara, current_time()),
        ):
            with pytest.raises(RunRefused, match="another address"):
                act()
        page = world.client(world.mara).get(f"/b/{world.benchmark.slug}/predictions/run/{run.pk}/").content.decode()
        assert scripted_server.base_url in page and "/other/v1" not in page
        answer_runs.start_reparse(run, world.mara, current_time())
        endpoints.change(endpoint, world.mara, current_time(), base_url=scripted_server.base_url)
        assert answer_runs.retry_failed(run, world.mara, current_time()) == 1

    def test_a_paused_run_that_was_withdrawn_does_not_go_on_elsewhere(self, world, opening, endpoint):
        run = opening(2)
        answer_runs.pause(run, world.mara, current_time())
        answer_runs.withdraw(run, world.mara, current_time())
        endpoints.change(endpoint, world.mara, current_time(), base_url="http://127.0.0.1:9/other/v1")
        answer_runs.restore(run, world.mara, current_time())
        with pytest.raises(RunRefused, match="another address"):
            answer_runs.resume(run, world.mara, current_time())

    def test_a_job_that_begins_after_the_address_has_changed_asks_nothing(self, opening, endpoint, scripted_server):
        run = opening(2)
        Endpoint.objects.filter(pk=endpoint.pk).update(base_url=f"{scripted_server.base_url}/")
        drive_run(run)
        assert (run.state, run.stopped_because) == ("paused", "moved") and scripted_server.counts()["total"] == 0

    def test_a_run_is_asked_in_the_ways_that_were_offered_when_it_began(self, world, opening, endpoint):
        run = opening(2)
        endpoints.change(endpoint, world.mara, current_time(), offers=["logprobs", "images", "seed"], timeout_seconds=9)
        asked_with = context.build_run_context(Run.objects.get(pk=run.pk), current_time()).requester
        assert asked_with.identity.offers == ("images",) and asked_with.backend.wire.seconds == 9
        asked_with.backend.close()
        endpoint.refresh_from_db()
        assert endpoint.offers == ["images", "logprobs", "seed"], "what the page says of it now"

    def test_other_limits_hold_at_once(self, world, opening, endpoint, monkeypatch, scripted_server):
        run = opening(40)
        asked = lambda: scripted_server.counts()["total"] > 0  # noqa: E731
        act_between(
            monkeypatch, lambda: endpoints.change(endpoint, world.mara, current_time(), most_in_flight=1), asked
        )
        drive_run(run)
        assert states(run) == {"answered": 40} and Job.objects.get(pk=run.job_id).given_back == 1


class TestWithdrawn:
    def test_reading_a_withdrawn_run_again_brings_nothing_back(self, world, opening):
        run = drive_run(opening(3))
        job = answer_runs.start_reparse(run, world.mara, current_time())
        answer_runs.withdraw(run, world.mara, current_time())
        runner.run(job.pk)
        job.refresh_from_db()
        assert job.state == "cancelled" and not Annotation.objects.filter(live=True).exists()
        jobs.resume(job, world.mara)
        runner.run(job.pk)
        assert not Annotation.objects.filter(live=True).exists()
        answer_runs.restore(run, world.mara, current_time())
        jobs.resume(job, world.mara)
        runner.run(job.pk)
        assert Annotation.objects.filter(live=True, counted=True).count() == 3

    def test_call_requested_again_is_not_parsed_again(self, world, opening, scripted_server, monkeypatch):
        scripted_server.rules(Rule(model_server.PROSE))
        run = drive_run(opening(2))
        job = answer_runs.start_reparse(run, world.mara, current_time())
        check, looks = job_context.JobContext.check, []

        def checking(work):
            looks.append(check(work))
            if len(looks) == 2:  # the first is before the job begins
                assert answer_runs.retry_failed(run, world.mara, current_time(), ["unparseable"]) == 2

        monkeypatch.setattr(job_context.JobContext, "check", checking)
        runner.run(job.pk)
        assert states(run) == {"pending": 2}


class TestBudget:
    def test_a_run_without_one_that_gets_one_keeps_it(self, world, opening, endpoint, monkeypatch, scripted_server):
        endpoint.prices.all().delete()
        run = opening(40)

        def priced():
            endpoints.set_prices(endpoint, PRICES, world.mara, current_time())
            answer_runs.raise_budget(run, Decimal("0.5"), world.mara, current_time())

        act_between(monkeypatch, priced)
        drive_run(run)
        assert (run.state, run.stopped_because) == ("paused", "budget")
        assert scripted_server.counts()["total"] <= 8 + 5

    def test_no_more_are_claimed_than_were_asked_for_whatever_the_planner_believes(self, opening):
        """Of a table that it takes for empty it joins each row to the limited query anew."""
        run = opening(5)
        with connection.cursor() as cursor:
            cursor.execute("UPDATE pg_class SET relpages = 100, reltuples = 1 WHERE relname = 'predictions_call'")
        assert len(claim.claim_calls(run.pk, run.job_id, "0:1", 2, current_time())) == 2

    @pytest.mark.parametrize(("sent", "left"), [(0, 0), (1, 1), (2, 2)])
    def test_of_a_driver_that_is_no_more_what_went_out_is_counted(self, opening, sent, left):
        run = opening(3, budget=Decimal("0.3"))
        claim_two_calls(run, sent)
        drive_run(run)
        assert states(run) == {"answered": 3 - left, **({"over_budget": left} if left else {})}
        assert run.unaccounted == Decimal("0.1") * sent

    def test_a_request_that_was_lost_with_its_worker_is_shown_as_an_attempt(self, world, opening):
        run = opening(3, budget=Decimal(5))
        claim_two_calls(run, 1)
        drive_run(run)
        calls = list(run.calls.order_by("pk"))
        assert states(run) == {"answered": 3} and [call.attempts_made for call in calls] == [2, 1, 1]
        lost, reply = attempts_of(calls[0])
        assert (lost.number, lost.outcome, lost.seconds, lost.cost) == (1, "lost", None, None)
        assert (reply.number, reply.outcome, reply.cost) == (2, "reply", Decimal("0.1"))
        url = reverse("predictions:call", args=[world.benchmark.slug, run.pk, calls[0].pk])
        page = world.client(world.mara).get(url).content.decode()
        assert "Interrupted" in page and claim.LOST in page
        assert page.count("unknown") == 2, "its seconds and its cost"

    def test_a_request_that_was_lost_with_its_worker_takes_no_try(self, opening, monkeypatch, scripted_server):
        monkeypatch.setattr(retries, "TRIES", 2)
        monkeypatch.setattr(retries, "BACKOFF", 0.01)
        run = opening(2, budget=Decimal(5))
        claim_two_calls(run, 1)
        scripted_server.rules(Rule(model_server.STUMBLES))
        drive_run(run)
        calls = list(run.calls.order_by("pk"))
        assert states(run) == {"failed": 2} and [call.attempts_made for call in calls] == [3, 2]
        outcomes = [attempt.outcome for attempt in attempts_of(calls[0])]
        assert outcomes == ["lost", "transient", "transient"]

    def test_what_was_lost_is_counted_though_the_next_driver_is_lost_too(self, opening, monkeypatch):
        run = opening(3, budget=Decimal("0.3"))
        claim_two_calls(run, 1)
        with monkeypatch.context() as patched, pytest.raises(OperationalError):
            patched.setattr(executor, "RECONNECT", 0.0)
            patched.setattr(executor.RunExecutor, "_claim_calls", lose_connection)
            runner.run(run.job_id)
        runner.requeue_stalled(current_time() + timedelta(minutes=2))
        Call.objects.filter(run=run).update(lease_until=current_time() - timedelta(minutes=1))
        drive_run(run)
        assert run.unaccounted == Decimal("0.1") and states(run) == {"answered": 2, "over_budget": 1}

    def test_nothing_goes_out_before_it_is_written_down(self, opening, monkeypatch, scripted_server):
        monkeypatch.setattr(request, "PATIENCE", 0.3)
        run, goes_out, written = opening(12, budget=Decimal(5)), claim.mark_dispatched, []

        def going(ids, holder, at):
            assert scripted_server.counts()["total"] <= len(written)
            time.sleep(0.05)  # as long as a thread would need
            assert scripted_server.counts()["total"] <= len(written)
            done = goes_out(ids, holder, at) if at > again else set()
            written.extend(done)
            return done

        again = current_time() + timedelta(seconds=0.2)  # until then nothing can be written, and all of it waits again
        monkeypatch.setattr(claim, "mark_dispatched", going)
        drive_run(run)
        assert states(run) == {"answered": 12}
        assert scripted_server.counts()["total"] == 12 <= len(written), "a thread may have given up meanwhile"

    def test_a_run_waits_for_no_driver_that_is_no_more(self, opening):
        run = opening(3)
        claim_two_calls(run, 0)
        drive_run(run)
        assert states(run) == {"answered": 3}


@pytest.mark.django_db(transaction=True)
def test_pausing_and_going_on_at_once_keeps_the_budget(opening, world, scripted_server, monkeypatch):
    run = opening(40, budget=Decimal("1.0"))
    earlier, begun = run.job_id, threading.Event()
    begin, save = executor.RunExecutor._begin, executor.RunExecutor._save

    def beginning(self):
        begin(self)
        if self.work.job.pk != earlier:
            begun.set()

    def saving(self, batch):  # what the earlier driver's requests brought is kept when the later one has begun
        assert self.work.job.pk != earlier or begun.wait(60)
        return save(self, batch)

    monkeypatch.setattr(executor.RunExecutor, "_begin", beginning)
    monkeypatch.setattr(executor.RunExecutor, "_save", saving)

    def first():
        try:
            runner.run(run.job_id)
        finally:
            connection.close()

    thread = threading.Thread(target=first)
    thread.start()
    while scripted_server.counts()["total"] < 4:
        assert thread.is_alive()
    answer_runs.pause(run, world.mara, current_time())
    answer_runs.resume(run, world.mara, current_time())
    drive_run(run)
    thread.join(30)
    assert (run.state, run.stopped_because) == ("paused", "budget")
    assert scripted_server.counts()["total"] == 10 and sum(one.cost for one in Call.objects.all()) == 1


ODD_BUDGETS = ["99999999.99999", "1e999", "nan", "snan", "inf", "0.00001", "-1", "²"]


@pytest.mark.parametrize("budget", ODD_BUDGETS)
def test_an_odd_budget_is_a_sentence_and_never_an_error(world, opening, budget):
    run = drive_run(opening(1, budget=Decimal(1)))
    where = f"/b/{world.benchmark.slug}/predictions/run/{run.pk}/action/"
    assert world.client(world.mara).post(where, {"do": "budget", "budget": budget}).status_code == 302
    kept = Run.objects.get(pk=run.pk).budget
    assert kept == (Decimal("99999999.9999") if budget == ODD_BUDGETS[0] else 1)


@pytest.mark.parametrize("address", ["http://①.com/v1", "http://xn--/v1"])
def test_an_address_that_is_none_does_not_answer(world, address):
    endpoint = endpoints.create(world.team, world.mara, current_time(), kind="openai", name="Odd", base_url=address)
    assert not endpoints.check(endpoint, world.mara, current_time()).works


def test_a_model_of_an_odd_name_can_be_checked(world, endpoint):
    assert endpoints.check(endpoint, world.mara, current_time(), "a\0b").model == "ab"


def test_an_odd_number_in_the_address_of_links_is_none(world):
    """Superscripts are digits to Python, and no numbers."""
    world.add_items(1)
    run = a_linking(world)
    page = world.client(world.mara).get(f"/b/{world.benchmark.slug}/links/{run.pk}/", {"after": "²"})
    assert page.status_code == 200
