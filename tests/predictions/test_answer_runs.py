"""A run over a campaign: asked through the sheet people have, answered, counted; and what goes wrong on the way."""

from decimal import Decimal

import pytest
from django.utils import timezone

from annotation.models import Annotation, Rating
from predictions.models import Attempt, Call, Reply
from predictions.services import answer_runs
from tests.predictions.asking import Plainly, a_campaign, a_plan, an_endpoint, driven, opened, states, use

pytestmark = pytest.mark.django_db(transaction=True)
PRICES = {"scripted": {"in": "1", "out": "2"}}


@pytest.fixture
def plain(monkeypatch):
    prompt = Plainly()
    use(monkeypatch, prompt)
    return prompt


def test_every_unit_is_asked_once_and_answered_through_the_sheet(world, plain, scripted_server):
    campaign = a_campaign(world, 5)
    run = opened(world, a_plan(campaign, an_endpoint(world, scripted_server.base_url, PRICES), plain))
    assert states(run) == {"pending": 5} and run.state == "running"
    driven(run)
    assert (run.state, run.stopped_because, states(run)) == ("done", "", {"answered": 5})
    assert scripted_server.counts()["total"] == 5
    answers = Annotation.objects.filter(rater=run.rater)
    assert {one.answers["relevance"] for one in answers} == {"3"}
    assert all(one.live and one.counted and one.rule_version == "on_submit" for one in answers)
    assert list(Rating.objects.filter(rater=run.rater).values_list("value", "cohort", "counted")) == [(3.0, None, True)] * 5
    assert Attempt.objects.filter(call__run=run, outcome="reply", status=200).count() == Reply.objects.count() == 5
    cost = sum(call.cost for call in run.calls.all())
    told = [(one.tokens_in, one.tokens_out) for one in Attempt.objects.all()]
    assert cost == sum((Decimal(into) + 2 * Decimal(out)) / 1_000_000 for into, out in told) > 0
