"""Several workers ask for one plan set at once: its budget holds for all of them, and a kill loses none of it."""

from decimal import Decimal
from typing import Any

import pytest

from predictions.models import Run
from predictions.services.runs.engine import shared_budget
from tests.personas import World
from tests.predictions.model_server import Server
from tests.predictions.plan_set_helpers import FIRST, SECOND, runs_of, start_set, use_conditions
from tests.predictions.request_helpers import a_campaign, an_endpoint, drive_run, states
from tests.predictions.test_answer_run_races import run_together

pytestmark = pytest.mark.django_db(transaction=True)
PRICES = {"*": {"request": "0.1"}}


def test_workers_at_once_send_no_more_than_one_budget_pays(
    world: World, scripted_server: Server, monkeypatch: Any
) -> None:
    use_conditions(monkeypatch)
    a_campaign(world, 12)
    endpoint = an_endpoint(world, scripted_server.base_url, PRICES, most_in_flight=8)
    plan_set = start_set(world, (endpoint, "A", [FIRST, SECOND]), (endpoint, "B", [FIRST]), budget="1.5")
    runs = runs_of(plan_set)
    threads, problems = run_together(*(lambda run=run: drive_run(run) for run in runs))
    for thread in threads:
        thread.join(60)
    assert not problems and scripted_server.counts()["total"] == 15, "not one more, and none left unused"
    for run in runs:
        run.refresh_from_db()
    assert {run.state for run in runs} <= {"paused", "done"} and sum(run.committed for run in runs) == Decimal("1.5")
    assert sum(states(run).get("answered", 0) for run in runs) == 15


def test_what_a_worker_committed_before_it_died_counts_until_the_run_goes_on(
    world: World, scripted_server: Server, monkeypatch: Any
) -> None:
    use_conditions(monkeypatch)
    a_campaign(world, 4)
    endpoint = an_endpoint(world, scripted_server.base_url, PRICES)
    plan_set = start_set(world, (endpoint, "A", [FIRST, SECOND]), budget="0.5")
    first, second = runs_of(plan_set)
    assert shared_budget.commit(first.pk, plan_set.pk, Decimal(0), Decimal("0.3")) == Decimal("0.3")
    assert shared_budget.commit(second.pk, plan_set.pk, Decimal(0), Decimal("0.4")) == Decimal("0.2")
    assert shared_budget.commit(second.pk, plan_set.pk, Decimal("0.2"), Decimal("0.1")) == Decimal("0.2")
    Run.objects.filter(pk=second.pk).update(committed=0)
    assert drive_run(second).stopped_because == "budget" and scripted_server.counts()["total"] == 2
    assert drive_run(first).state == "paused" and scripted_server.counts()["total"] == 5, "it sent nothing before"
