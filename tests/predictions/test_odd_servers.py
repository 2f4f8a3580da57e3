"""Servers that answer what nobody would think of: no run dies of it, and what was sent counts as paid for."""

import json
from decimal import Decimal

import pytest

from jobs.models import Job
from predictions.backends import failures, payloads
from predictions.models import Attempt, Reply
from predictions.services.runs.engine import retries, write
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
PRICES = {"*": {"in": "0", "out": "0", "request": "0.1"}}


@pytest.fixture
def asked(world, monkeypatch, scripted_server):
    """Drive a run of so many units against a server that keeps to these rules."""
    prompt = Plainly()
    use(monkeypatch, prompt)
    monkeypatch.setattr(retries, "BACKOFF", 0.02)

    def asked(items, *rules, prices=PRICES, **more):
        scripted_server.rules(*rules)
        endpoint = an_endpoint(world, scripted_server.base_url, prices)
        return drive_run(start_run(world, a_plan(a_campaign(world, items), endpoint, prompt, **more)))

    return asked


def reply_with_usage(usage):
    body = {"choices": [{"message": {"content": "3"}, "finish_reason": "stop"}], "usage": usage}
    return Act(raw=json.dumps(body))


def test_a_reply_that_breaks_our_own_code_counts_at_its_dearest(asked, scripted_server, monkeypatch):
    monkeypatch.setattr(payloads, "reply_of", lambda *_: 1 / 0)
    run = asked(20, budget=Decimal("0.55"))
    n = scripted_server.counts()["total"]
    assert n == 5 == Attempt.objects.count() and run.unaccounted == Decimal("0.5")
    assert set(Attempt.objects.values_list("outcome", "cost")) == {("transient", None)}
    assert states(run) == {"failed": 5, "over_budget": 15} and run.stopped_because == "budget"
    assert set(run.calls.filter(state="failed").values_list("reason", flat=True)) == {"fault"}


@pytest.mark.parametrize("code", ["\u00b2", "4" * 5000, "-404", "999"])
def test_a_code_that_is_no_status_is_a_stumble(asked, code):
    run = asked(1, Rule(Act(raw=json.dumps({"error": {"code": code}}))))
    assert set(Attempt.objects.values_list("outcome", flat=True)) == {"transient"}
    assert states(run) == {"failed": 1} and run.calls.get().reason == "transient"


@pytest.mark.parametrize("told", ["\u00b2", "9" * 5000, "1.", "-1", "Fri, 31 Dec 99999 23:59:59 GMT"])
def test_a_time_to_wait_that_is_none_is_none(told):
    found = failures.retry_after({"retry-after": told, "retry-after-ms": told})
    assert found is None or 0 <= found <= failures.LONGEST_WAIT


@pytest.mark.parametrize("value", [10**400, -(10**400), True], ids=["huge", "tiny", "truth"])
def test_a_likelihood_of_any_size_is_a_number(value):
    """And what no logarithm of a probability can be is no likelihood."""
    [token] = payloads.echoed_tokens({"choices": [{"logprobs": {"tokens": ["a"], "token_logprobs": [value]}}]})
    assert token.logprob == payloads.LOWEST


@pytest.mark.parametrize("odd", [True, 2**31 - 1, 10**30, -1, 1.5, "5"])
def test_a_number_of_tokens_that_is_none_is_unknown(asked, odd):
    run = asked(6, Rule(reply_with_usage({"prompt_tokens": odd, "completion_tokens": 1}), every=2))
    assert states(run) == {"answered": 6} and run.state == "done"
    assert set(Attempt.objects.values_list("tokens_in", flat=True)) > {None}


def test_the_dearest_price_fits_where_costs_are_kept(asked):
    run = asked(2, prices={"*": {"in": "1000000", "out": "1000000", "request": "1000000"}})
    assert states(run) == {"answered": 2} and run.state == "done"


def test_one_call_that_cannot_be_written_costs_the_others_nothing(asked, monkeypatch, scripted_server):
    save = write.save_attempts

    def keep(team, sent, prices):
        for one in sent:
            if "item-00003" in str(one.request):
                one.tokens_in = 2**40
        return save(team, sent, prices)

    monkeypatch.setattr(write, "save_attempts", keep)
    run = asked(8)
    assert run.state == "done" and states(run) == {"answered": 7, "failed": 1}
    assert run.calls.get(state="failed").item.key == "item-00003" and run.unaccounted == Decimal("0.1")
    assert scripted_server.counts()["total"] == 8 and Reply.objects.count() == 7
    assert Job.objects.get(pk=run.job_id).state == "done"
