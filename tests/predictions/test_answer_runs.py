"""A run over a campaign: asked through the sheet people have, answered, counted; and what goes wrong on the way."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from annotation.models import Annotation, Rating
from jobs.models import Job
from jobs.services import lifecycle as jobs
from jobs.services import runner
from people.models import Rater
from predictions.models import Attempt, Call, Reply
from predictions.services.runs.answer_runs import RunRefused
from predictions.services.runs.engine import executor, request, retries
from tests.predictions import model_server
from tests.predictions.model_server import Act, Rule
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
PRICES = {"scripted": {"in": "1", "out": "2"}}


@pytest.fixture
def plain(monkeypatch):
    prompt = Plainly()
    use(monkeypatch, prompt)
    monkeypatch.setattr(retries, "BACKOFF", 0.02)
    return prompt


@pytest.fixture
def asked(world, plain, scripted_server):
    """Drive a run of so many units against a server that keeps to these rules."""

    def asked(items=1, *rules, **more):
        scripted_server.rules(*rules)
        endpoint = {name: more.pop(name) for name in ("timeout_seconds", "most_in_flight") if name in more}
        reached = an_endpoint(world, more.pop("base_url", scripted_server.base_url), PRICES, **endpoint)
        return drive_run(start_run(world, a_plan(a_campaign(world, items), reached, plain, **more)))

    return asked


def test_every_unit_is_asked_once_and_answered_through_the_sheet(asked, scripted_server):
    run = asked(5)
    assert (run.state, run.stopped_because, states(run)) == ("done", "", {"answered": 5})
    assert scripted_server.counts()["total"] == 5
    answers = Annotation.objects.filter(rater=run.rater)
    assert {one.answers["relevance"] for one in answers} == {"3"}
    assert all(one.live and one.counted and one.rule_version == "on_submit" for one in answers)
    assert {one.run for one in answers} == {run.pk}
    ratings = Rating.objects.filter(rater=run.rater).values_list("value", "cohort", "counted")
    assert list(ratings) == [(3.0, None, True)] * 5
    assert Attempt.objects.filter(call__run=run, outcome="reply", status=200).count() == Reply.objects.count() == 5
    told = Attempt.objects.values_list("tokens_in", "tokens_out")
    cost = sum((Decimal(into) + 2 * Decimal(out)) / 1_000_000 for into, out in told)
    assert sum(call.cost for call in run.calls.all()) == cost > 0
    assert {(call.how, call.cached, call.order[0]) for call in run.calls.all()} == {("text", False, "1")}


def test_repeats_are_kept_and_only_the_first_counts(asked, scripted_server):
    run = asked(2, repeats=3)
    assert scripted_server.counts()["total"] == 6 and states(run) == {"answered": 6}
    rows = Annotation.objects.filter(rater=run.rater).values_list("assignment__repeat", "counted", "uncounted_because")
    assert sorted(rows) == [(0, True, "")] * 2 + [(1, False, "repeat")] * 2 + [(2, False, "repeat")] * 2
    assert Annotation.objects.filter(rater=run.rater, live=True).count() == 6


READABLE = [
    (model_server.PROSE, "unparseable", "no_number"),
    (model_server.TWO_VERDICTS, "unparseable", "no_number"),
    (model_server.IMITATES_DELIMITER, "unparseable", "no_number"),
    (model_server.BROKEN_JSON, "unparseable", "no_number"),
    (model_server.EMPTY, "no_response", "empty"),
    (model_server.REFUSES, "refused", "said_no"),
    (model_server.FILTERED, "refused", "said_no"),
    (Act(text="11"), "out_of_range", "outside_scale"),
]


@pytest.mark.parametrize(("act", "state", "reason"), READABLE)
def test_a_reply_without_a_value_gives_none_and_is_kept(asked, scripted_server, act, state, reason):
    run = asked(1, Rule(act))
    [call] = run.calls.all()
    assert (run.state, call.state, call.reason) == ("failed", state, reason)
    assert call.annotation is None and not Annotation.objects.exists() and not Rating.objects.exists()
    assert Reply.objects.get(pk=call.replies[0]).body["text"] == (act.text or "")
    assert call.cost > 0, "it was paid for all the same"
    assert scripted_server.counts()["total"] == call.attempts_made == 1


TROUBLES = [
    (model_server.STUMBLES, "transient", 5),
    (model_server.CUTS_BEFORE, "connection", 5),
    (model_server.CUTS_MIDDLE, "connection", 5),
    (model_server.BAD_REQUEST, "permanent", 1),
]


@pytest.mark.parametrize(("act", "reason", "times"), TROUBLES)
def test_what_keeps_going_wrong_fails_after_so_many_times(asked, scripted_server, act, reason, times):
    run = asked(1, Rule(act))
    [call] = run.calls.all()
    assert (call.state, call.reason, call.attempts_made) == ("failed", reason, times)
    assert scripted_server.counts()["total"] == times
    assert list(call.attempts.order_by("number").values_list("number", "outcome")) == [
        (number, reason) for number in range(1, times + 1)
    ]
    assert not Annotation.objects.exists() and not Reply.objects.exists()


def test_who_waits_too_long_gives_up_and_counts_what_it_may_have_cost(asked, monkeypatch):
    monkeypatch.setattr(retries, "TRIES", 2)
    run = asked(1, Rule(Act(delay=3)), timeout_seconds=1)
    run.refresh_from_db()
    [call] = run.calls.all()
    assert (call.state, call.reason, call.cost) == ("failed", "timeout", 0)
    assert run.unaccounted > 0 and set(call.attempts.values_list("cost", flat=True)) == {None}


def test_troubles_pass(asked, scripted_server):
    run = asked(3, Rule(model_server.TOO_MANY, numbers=(1,)), Rule(model_server.STUMBLES, numbers=(2, 3)))
    assert states(run) == {"answered": 3} and scripted_server.counts()["total"] == 6
    assert Attempt.objects.filter(outcome="reply").count() == 3
    waited = Attempt.objects.filter(outcome="rate_limit").get()
    again = waited.call.attempts.get(outcome="reply")
    assert (again.at - waited.at).total_seconds() >= 1, "as long as the server said"


def test_who_is_told_to_wait_long_gives_the_worker_back(world, plain, scripted_server):
    scripted_server.rules(Rule(Act(status=429, headers={"Retry-After": "120"}, error="Slow down")))
    endpoint = an_endpoint(world, scripted_server.base_url)
    run = start_run(world, a_plan(a_campaign(world, 1), endpoint, plain))
    runner.run(run.job_id)
    job, [call] = Job.objects.get(pk=run.job_id), run.calls.all()
    assert (job.state, job.given_back, call.state) == ("queued", 1, "pending")
    assert min(job.lease_until, call.not_before) > timezone.now() + timedelta(seconds=100)
    assert runner.requeue_stalled(timezone.now() + timedelta(seconds=90)) == 0
    assert scripted_server.counts()["total"] == 1


def test_who_is_not_let_in_pauses_and_loses_nothing(asked, scripted_server):
    run = asked(30, Rule(model_server.UNAUTHORISED))
    assert (run.state, run.stopped_because) == ("paused", "not_allowed")
    assert states(run) == {"pending": 30} and scripted_server.counts()["total"] <= 4
    assert run.job.state == "failed" and "Authentication failed" in run.job.error


def test_failures_one_after_the_other_pause_the_run(asked, scripted_server):
    run = asked(60, Rule(model_server.BAD_REQUEST))
    assert (run.state, run.stopped_because) == ("paused", "failures")
    assert 10 <= states(run)["failed"] <= 13, "the ninth, and as many as are asked at once"
    assert run.calls.exclude(state="failed").count() == run.calls.filter(state="pending").count()


def test_many_that_fail_in_one_batch_are_the_last(world, plain, scripted_server, monkeypatch):
    monkeypatch.setattr(request, "WINDOW", 0.5)
    scripted_server.rules(Rule(model_server.BAD_REQUEST))
    reached = an_endpoint(world, scripted_server.base_url, most_in_flight=16)
    run = drive_run(start_run(world, a_plan(a_campaign(world, 60), reached, plain)))
    assert (run.state, run.stopped_because) == ("paused", "failures")
    assert states(run) == {"failed": 16, "pending": 44} and scripted_server.counts()["total"] == 16


def test_a_row_of_failures_goes_on_from_slice_to_slice(world, plain, scripted_server, monkeypatch):
    monkeypatch.setattr(executor, "SLICE", 0.0)
    monkeypatch.setattr(executor, "LOOK", 0.0)
    Job.objects.create(kind="another", title="Another", scope="x:1")
    scripted_server.rules(Rule(model_server.BAD_REQUEST))
    run = start_run(world, a_plan(a_campaign(world, 60), an_endpoint(world, scripted_server.base_url), plain))
    drive_run(run)
    assert Job.objects.get(pk=run.job_id).given_back > 1, "no slice saw ten of them"
    assert (run.state, run.stopped_because) == ("paused", "failures") and states(run)["failed"] <= 13
    scripted_server.rules(Rule(model_server.BAD_REQUEST, numbers=range(1, 20)))
    jobs.resume(Job.objects.get(pk=run.job_id), world.mara)
    drive_run(run)
    assert run.state == "done", "who goes on after a halt begins anew"


def test_faults_of_ours_pause_the_run_too(world, plain, scripted_server, monkeypatch):
    run = start_run(world, a_plan(a_campaign(world, 60), an_endpoint(world, scripted_server.base_url), plain))
    monkeypatch.setattr(Plainly, "ask", lambda *_: 1 / 0)
    drive_run(run)
    assert (run.state, run.stopped_because, states(run)) == ("paused", "failures", {"failed": 10, "pending": 50})
    assert set(run.calls.filter(state="failed").values_list("reason", flat=True)) == {"fault"}


def test_a_reply_between_them_breaks_the_row_of_failures(asked):
    run = asked(40, Rule(model_server.BAD_REQUEST, every=2))
    assert run.state == "done" and states(run) == {"failed": 20, "answered": 20}


def test_a_server_that_cannot_be_reached_pauses_the_run(asked):
    run = asked(40, base_url="http://127.0.0.1:9/v1")
    assert (run.state, run.stopped_because) == ("paused", "connection")
    assert states(run).get("pending", 0) >= 30, "they wait; they have not failed"


def test_what_a_unit_lacks_is_a_failure_without_a_request(asked, world, scripted_server, monkeypatch):
    monkeypatch.setattr("tests.personas.CONCEPTS", ("lacking", "wedding"))
    run = asked(4)
    assert states(run) == {"failed": 2, "answered": 2} and scripted_server.counts()["total"] == 2
    assert set(run.calls.filter(state="failed").values_list("reason", "attempts_made")) == {("no_article", 0)}


def test_a_picture_that_is_not_there_is_a_failure_without_a_request(world, monkeypatch, scripted_server):
    prompt = Plainly(needs_images=True)
    use(monkeypatch, prompt)
    campaign = a_campaign(world, 2)  # its one picture has no bytes
    endpoint = an_endpoint(world, scripted_server.base_url, offers=["images"])
    run = drive_run(start_run(world, a_plan(campaign, endpoint, prompt)))
    assert set(run.calls.values_list("state", "reason")) == {("failed", "no_image")}
    assert scripted_server.counts()["total"] == 0 and run.state == "failed"


def test_nobody_elses_replies_are_taken(world, plain, scripted_server, asked):
    first = asked(2)
    Reply.objects.update(team=world.other_team)
    second = drive_run(start_run(world, a_plan(first.campaign, first.endpoint, plain, setting="again")))
    assert states(second) == {"answered": 2} and scripted_server.counts()["total"] == 4
    assert Reply.objects.filter(team=world.other_team).count() == 2


class TestRefusals:
    def test_one_run_for_a_model_and_setting(self, world, plain, asked):
        run = asked(1)
        with pytest.raises(RunRefused, match="already has a run here"):
            start_run(world, a_plan(run.campaign, run.endpoint, plain))
        assert start_run(world, a_plan(run.campaign, run.endpoint, plain, setting="other")).rater.setting == "other"

    def test_endpoints_of_others_and_retired_ones(self, world, plain, scripted_server):
        campaign = a_campaign(world)
        endpoint = an_endpoint(world, scripted_server.base_url)
        endpoint.team = world.other_team
        endpoint.save()
        with pytest.raises(RunRefused, match="Choose another one"):
            start_run(world, a_plan(campaign, endpoint, plain))
        endpoint.team, endpoint.retired_at = world.team, timezone.now()
        endpoint.save()
        with pytest.raises(RunRefused, match="Choose another one"):
            start_run(world, a_plan(campaign, endpoint, plain))
        assert not Call.objects.exists() and not Rater.objects.filter(kind="model").exists()

    def test_a_budget_without_a_price_and_a_selection_of_nothing(self, world, plain, scripted_server):
        campaign = a_campaign(world)
        endpoint = an_endpoint(world, scripted_server.base_url, {"another": {"in": "1"}})
        with pytest.raises(RunRefused, match="a budget cannot be checked"):
            start_run(world, a_plan(campaign, endpoint, plain, budget=Decimal(1)))
        with pytest.raises(RunRefused, match="No items match"):
            start_run(world, a_plan(campaign, endpoint, plain, selection={"conditions": ["nowhere"]}))

    def test_closed_campaigns_and_drafts(self, world, plain, scripted_server):
        campaign = a_campaign(world)
        endpoint = an_endpoint(world, scripted_server.base_url)
        for state, words in (("draft", "draft"), ("closed", "closed")):
            campaign.state = state
            with pytest.raises(RunRefused, match=words):
                start_run(world, a_plan(campaign, endpoint, plain))
