"""*Ask models*: several models under several conditions are looked at, started, paused and stopped together."""

from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.template.loader import render_to_string
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.models import Campaign
from benchmarks.models import Item
from benchmarks.recipes.contract import ModelCondition
from benchmarks.recipes.registry import recipe
from people.models import Rater, User
from predictions.models import Call, Endpoint, PlanSet, Run
from predictions.prompts import registry
from predictions.services.endpoints import endpoints
from predictions.services.runs import answer_runs
from tests.module_world import built_once
from tests.personas import World
from tests.predictions.model_server import Server
from tests.predictions.plan_set_helpers import (
    FIRST,
    SECOND,
    act_on,
    form_data,
    path,
    press,
    runs_of,
    seen_in,
    start_set,
    use_conditions,
)
from tests.predictions.request_helpers import Plainly, a_campaign, an_endpoint, drive_run, states, use
from tests.predictions.scripted_replies import BAD_REQUEST

pytestmark = pytest.mark.django_db
PRICES = {"*": {"request": "0.1"}}


@pytest.fixture
def endpoint(world: World, scripted_server: Server) -> Endpoint:
    return an_endpoint(world, scripted_server.base_url, PRICES)


@built_once
def opened(world: World) -> Campaign:
    return a_campaign(world, 4)


@pytest.fixture
def campaign(opened: Campaign, monkeypatch: Any) -> Campaign:
    use_conditions(monkeypatch)
    return opened


def text_of(reply: Any) -> str:
    return str(reply.content.decode())


def test_a_name_that_the_endpoint_did_not_list_is_marked_before_the_start(
    world: World, campaign: Campaign, endpoint: Endpoint, scripted_server: Server
) -> None:
    rows = ((endpoint, "A", [FIRST]), (endpoint, "Aa", [FIRST]))
    page = text_of(press(world, "look", form_data(*rows)))
    assert "Not on the endpoint" not in page, "nobody has asked for its models yet"
    scripted_server.script.models = ["A"]
    endpoints.check(endpoint, world.team_admin, timezone.now())
    page = text_of(press(world, "look", form_data(*rows)))
    assert page.count("Not on the endpoint") == 1 and '<option value="A">' in page
    assert page.split("Not on the endpoint")[0].rsplit('<bdi dir="ltr">', 1)[1].startswith("Aa<")


def test_models_and_conditions_are_looked_at_then_started_as_one_set(
    world: World, campaign: Campaign, endpoint: Endpoint, scripted_server: Server
) -> None:
    rows = ((endpoint, "A", [FIRST, SECOND]), (endpoint, "B", [FIRST]))
    page = text_of(press(world, "look", form_data(*rows)))
    assert "Start 3 runs" in page and "$1.20" in page, "4 items x 3 runs at 0.1"
    assert not Run.objects.exists() and not Rater.objects.filter(kind="model").exists()
    plan_set = start_set(world, *rows, budget="2")
    runs = runs_of(plan_set)
    assert [(run.rater.name, run.rater.setting) for run in runs] == [("A", FIRST), ("A", SECOND), ("B", FIRST)]
    assert (plan_set.budget, plan_set.seed) == (2, 3) and {run.seed for run in runs} == {3}
    assert {run.budget for run in runs} == {None}, "the budget is the set's"
    assert scripted_server.counts()["total"] == 0
    for run in runs:
        assert drive_run(run).state == "done"
    shown = text_of(world.client(world.mara).get(f"/b/{world.benchmark.slug}/predictions/plans/{plan_set.pk}/"))
    assert "<b>12</b> of 12 calls answered" in shown and "Every run has ended." in shown and "$1.20" in shown
    assert shown.count('<bdi dir="ltr">$0.4000</bdi>') == 3, "what each run cost"
    overview = text_of(world.client(world.mara).get(f"/b/{world.benchmark.slug}/"))
    assert f'href="{path(world)}"' in overview
    listed = text_of(world.client(world.mara).get(f"/b/{world.benchmark.slug}/predictions/"))
    assert f"Plan set {plan_set.pk}" in listed and path(world) in listed


def test_prices_and_what_a_sheet_shows_are_read_once_for_all_runs_that_are_looked_at(
    world: World, campaign: Campaign, endpoint: Endpoint
) -> None:
    data = form_data((endpoint, "A", [FIRST, SECOND]), (endpoint, "B", [FIRST, SECOND]), budget="1")
    with CaptureQueriesContext(connection) as queries:
        assert press(world, "look", data).status_code == 200
    statements = [query["sql"] for query in queries]
    assert sum('FROM "predictions_prices"' in sql for sql in statements) <= 3, "by the outlook once, and by the page"
    first_item = [sql for sql in statements if 'FROM "benchmarks_item" ' in sql and sql.endswith("LIMIT 1")]
    assert sum('"benchmarks_stage"' in sql for sql in first_item) == 1, first_item


def test_pressing_again_or_sending_the_form_again_opens_only_what_is_missing(
    world: World, campaign: Campaign, endpoint: Endpoint
) -> None:
    first = (endpoint, "A", [FIRST, SECOND])
    data = form_data(first)
    seen = seen_in(text_of(press(world, "look", data)))
    replies = [press(world, "start", data | {"seen": seen}) for _press in range(2)]
    plan_set = PlanSet.objects.get()
    assert {reply.url for reply in replies} == {f"/b/{world.benchmark.slug}/predictions/plans/{plan_set.pk}/"}
    look = text_of(press(world, "look", form_data(first, (endpoint, "B", [FIRST]))))
    assert "Start 1 run" in look and look.count("Exists already") == 2
    later = start_set(world, first, (endpoint, "B", [FIRST]))
    assert [run.rater.name for run in runs_of(later)] == ["B"] and Run.objects.count() == 3


def test_a_condition_of_other_options_says_that_it_was_not_asked(
    world: World, campaign: Campaign, endpoint: Endpoint, monkeypatch: Any
) -> None:
    scales = [ModelCondition(f"box_{scale}", {"en": scale}, "relevance", FIRST, options={"scale": scale})
              for scale in ("1000", "100")]  # fmt: skip
    use_conditions(monkeypatch, "relevance", *scales)
    run = runs_of(start_set(world, (endpoint, "A", ["box_1000"])))[0]
    look = text_of(press(world, "look", form_data((endpoint, "A", ["box_1000", "box_100"]))))
    assert look.count("Exists already") == 1 and look.count("Cannot start") == 1
    refusal = look.split("Cannot start")[1].split("</td>")[0]
    assert "This was not asked: the model" in refusal and "scale: 1000" in refusal
    assert f"/run/{run.pk}/" in refusal and Run.objects.count() == 1
    assert text_of(press(world, "look", form_data((endpoint, "B", ["box_100"])))).count("Cannot start") == 0


def test_a_kill_between_two_runs_opens_none_and_the_next_press_all(
    world: World, campaign: Campaign, endpoint: Endpoint, monkeypatch: Any
) -> None:
    make_calls, opened = answer_runs.make_calls, []

    def die_at_the_second(run: Run, spots: Any) -> int:
        opened.append(run)
        if len(opened) == 2:
            raise KeyboardInterrupt
        return make_calls(run, spots)

    row = (endpoint, "A", [FIRST, SECOND])
    with monkeypatch.context() as patch:
        patch.setattr(answer_runs, "make_calls", die_at_the_second)
        with pytest.raises(KeyboardInterrupt):
            start_set(world, row)
    assert not PlanSet.objects.exists() and not Run.objects.exists() and not Call.objects.exists()
    assert len(runs_of(start_set(world, row))) == 2


def test_what_cannot_be_asked_is_shown_with_the_reason_and_confirmed(
    world: World, campaign: Campaign, endpoint: Endpoint
) -> None:
    Item.objects.filter(pk=world.items[0].pk).update(concept="lacking")
    data = form_data((endpoint, "A", [FIRST]))
    page = text_of(press(world, "look", data))
    assert "1: The linking run has no article for this item." in page and 'name="confirmed" value="1"' in page
    look = {"seen": seen_in(page)}
    refused = press(world, "start", data | look)
    assert refused.status_code == 400 and "Confirm their number" in text_of(refused) and not Run.objects.exists()
    Item.objects.filter(pk=world.items[1].pk).update(concept="lacking")
    changed = press(world, "start", data | look | {"confirmed": "1"})
    assert changed.status_code == 400 and "changed since you looked" in text_of(changed)
    now = seen_in(text_of(changed))
    assert press(world, "start", data | {"seen": now, "confirmed": "2"}).status_code == 302
    assert Call.objects.count() == 4


def test_a_run_that_cannot_start_is_left_out_and_says_why(
    world: World, campaign: Campaign, endpoint: Endpoint, monkeypatch: Any
) -> None:
    use(monkeypatch, Plainly(key=SECOND, setting=SECOND, needs_images=True))
    Item.objects.update(concept="lacking")
    nothing = press(world, "look", form_data((endpoint, "A", [FIRST])))
    plan, _update, _form = text_of(nothing).partition("Update the preview")
    assert "None of the 4 items can be sent" in plan and "Start" not in plan
    alone = press(world, "start", form_data((endpoint, "A", [FIRST]), seen="x"))
    assert alone.status_code == 400 and "None of these runs can start" in text_of(alone)
    Item.objects.update(concept="")
    priceless = an_endpoint(world, "http://127.0.0.1:9/v1", name="No prices")
    rows = ((endpoint, "A", [FIRST]), (priceless, "B", [FIRST]))
    page = text_of(press(world, "look", form_data(*rows, budget="1")))
    assert "This model has no price" in page and "Start 1 run" in page
    assert [run.rater.name for run in runs_of(start_set(world, *rows, budget="1"))] == ["A"]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"m-0-model": ""}, "Name the model, as the endpoint calls it."),
        ({"m-0-conditions": []}, "Choose at least one condition for this model."),
        ({"m-0-conditions": ["other"]}, "Select a valid choice"),
        ({"m-0-endpoint": "0"}, "Select a valid choice"),
        ({"budget": "0"}, "greater than or equal to 0.0001"),
        ({"seed": "-1"}, "greater than or equal to 0"),
        ({"m-1-model": "A"}, "is asked twice under one condition"),
        ({"m-TOTAL_FORMS": "0"}, "Fill in at least one model."),
    ],
)
def test_a_form_that_cannot_be_read_says_what_is_wrong(
    world: World, campaign: Campaign, endpoint: Endpoint, change: dict[str, Any], text: str
) -> None:
    data = form_data((endpoint, "A", [FIRST]), (endpoint, "B", [FIRST])) | change
    reply = press(world, "start", data)
    assert reply.status_code == 400 and text in text_of(reply) and not Run.objects.exists()


def test_an_endpoint_of_another_team_is_no_choice(world: World, campaign: Campaign, endpoint: Endpoint) -> None:
    Endpoint.objects.filter(pk=endpoint.pk).update(team=world.other_team)
    own = an_endpoint(world, "http://127.0.0.1:9/v1", name="Own")
    assert press(world, "look", form_data((endpoint, "A", [FIRST]))).status_code == 400
    assert press(world, "look", form_data((own, "A", [FIRST]))).status_code == 200


def test_a_model_is_added_without_losing_what_was_typed(world: World, campaign: Campaign, endpoint: Endpoint) -> None:
    page = text_of(press(world, "add", form_data((endpoint, "A", [FIRST]))))
    assert 'name="m-1-model"' in page and 'value="A"' in page and "What will be asked" not in page
    assert f'<option value="{endpoint.pk}" selected>' in page.split('name="m-1-endpoint"')[1], "the only one"
    empty = {"m-TOTAL_FORMS": "3", "m-INITIAL_FORMS": "0", "seed": "0", "m-0-model": "A"}
    added = press(world, "add", empty)
    assert added.status_code == 200 and "msg err" not in text_of(added), "nobody has finished typing"
    assert press(world, "look", empty).status_code == 400, "looking checks it"
    whole = form_data((endpoint, "A", [FIRST])) | {"m-TOTAL_FORMS": "4"}
    whole |= {f"m-{row}-endpoint": endpoint.pk for row in (1, 2, 3)}
    assert press(world, "look", whole).status_code == 200, "rows without a model are left out, the added one, too"


def test_without_an_open_stage_or_an_endpoint_the_page_says_what_to_do(world: World) -> None:
    page = text_of(world.client(world.mara).get(path(world)))
    assert "No stage that models answer is open." in page and "/campaigns/" in page
    a_campaign(world)
    page = text_of(world.client(world.mara).get(path(world)))
    assert "The team has no endpoint yet." in page and f"/teams/{world.team.slug}/models/" in page


def test_without_a_recipe_each_open_stage_is_asked_as_its_sheet_is(world: World) -> None:
    campaign = a_campaign(world, 2, images=True)
    own = an_endpoint(world, "http://127.0.0.1:9/v1")
    refused = press(world, "look", form_data((own, "A", ["relevance"])))
    assert refused.status_code == 400 and "Models are asked about" in text_of(refused)
    [run] = runs_of(start_set(world, (own, "A", ["relevance"]), asked_about="cohorts"))
    assert (run.prompt, run.campaign, run.calls.count()) == ("sheet", campaign, 2)


def test_all_runs_pause_resume_and_stop_together(world: World, campaign: Campaign, endpoint: Endpoint) -> None:
    plan_set = start_set(world, (endpoint, "A", [FIRST, SECOND]))
    assert "2 runs are pausing" in act_on(world, plan_set, "pause")
    assert {run.state for run in runs_of(plan_set)} == {"paused"}
    assert "is not running now" in act_on(world, plan_set, "pause")
    assert "2 runs go on" in act_on(world, plan_set, "resume")
    assert {run.state for run in runs_of(plan_set)} == {"running"}
    assert "2 runs were stopped" in act_on(world, plan_set, "stop")
    assert {run.state for run in runs_of(plan_set)} == {"cancelled"}
    assert "Plan a new one" in act_on(world, plan_set, "resume")
    assert (
        world.client(world.mara).post(path(world).replace("ask", f"plans/{plan_set.pk}/action"), {}).status_code == 400
    )


@pytest.mark.parametrize(("high", "text"), [("0", "$0<"), ("0.5", "$0–0.5000<")])
def test_a_cost_that_is_one_amount_is_written_once(high: str, text: str) -> None:
    page = render_to_string(
        "predictions/cost.html", {"estimate": {"dollars": (Decimal(0), Decimal(high))}, "no_input": "x"}
    )
    assert text in page


class TestFailedRuns:
    def test_one_that_follows_is_named_first_with_its_reason_and_does_not_wait(
        self, world: World, campaign: Campaign, endpoint: Endpoint, scripted_server: Server
    ) -> None:
        scripted_server.answer_by(lambda received: BAD_REQUEST if received.body["model"] == "B" else None)
        plan_set = start_set(world, (endpoint, "A", [FIRST]), (endpoint, "B", [FIRST]))
        Run.objects.filter(plan_set=plan_set).update(follows=True)
        well, failed = [drive_run(run) for run in runs_of(plan_set)]
        assert (well.state, failed.state) == ("done", "failed")
        state, rows = self.parts_of(world, plan_set)
        assert state.index("1 run failed") < state.index("Waiting for items"), "the other one waits"
        reason = state[state.index(f'predictions/run/{failed.pk}/"') :]
        assert "The server rejected this request." in reason and f"predictions/run/{well.pk}/" not in state
        assert rows.count(">Waiting for items<") == rows.count(">Failed<") == 1
        listed = text_of(world.client(world.mara).get(f"/b/{world.benchmark.slug}/predictions/"))
        assert "1 run failed" in listed
        answer_runs.withdraw(failed, world.mara, timezone.now())
        assert "run failed" not in self.parts_of(world, plan_set)[0], "it counts no more"

    def test_a_set_of_failed_runs_only_neither_waits_nor_is_done(
        self, world: World, campaign: Campaign, endpoint: Endpoint, scripted_server: Server
    ) -> None:
        scripted_server.set(default=BAD_REQUEST)
        plan_set = start_set(world, (endpoint, "A", [FIRST, SECOND]))
        Run.objects.filter(plan_set=plan_set).update(follows=True)
        assert {drive_run(run).state for run in runs_of(plan_set)} == {"failed"}
        state, _rows = self.parts_of(world, plan_set)
        assert "2 runs failed" in state and "Waiting for items" not in state and ">Done<" not in state
        models = text_of(world.client(world.mara).get(f"/b/{world.benchmark.slug}/models/"))
        assert "People have rated none of its items" in models and "0 of 0" not in models

    def test_retry_asks_the_failed_calls_of_every_run_again_and_no_others(
        self, world: World, campaign: Campaign, endpoint: Endpoint, scripted_server: Server
    ) -> None:
        scripted_server.answer_by(lambda received: BAD_REQUEST if received.body["model"] == "B" else None)
        plan_set = start_set(world, (endpoint, "A", [FIRST]), (endpoint, "B", [FIRST, SECOND]))
        runs = runs_of(plan_set)
        assert [drive_run(run).state for run in runs] == ["done", "failed", "failed"]
        state, _rows = self.parts_of(world, plan_set)
        assert "<b>4</b> of 12 calls answered" in state and "8 ended without an answer" in state
        assert 'aria-valuenow="33"' in state, "the bar shows what the sentence says"
        scripted_server.answer_by(lambda _received: None)
        before = scripted_server.counts()["total"]
        assert "8 calls are asked again" in act_on(world, plan_set, "retry")
        assert [drive_run(run).state for run in runs[1:]] == ["done", "done"]
        assert scripted_server.counts()["total"] == before + 8, "the answered run is asked nothing"
        assert "A retry would not change any of these calls" in act_on(world, plan_set, "retry")
        page = text_of(world.client(world.mara).get(f"/b/{world.benchmark.slug}/predictions/plans/{plan_set.pk}/"))
        assert 'value="retry"' not in page and "<b>12</b> of 12 calls answered" in page

    def test_calls_that_failed_in_a_run_that_is_done_are_named_with_the_way_to_retry(
        self, world: World, campaign: Campaign, endpoint: Endpoint, scripted_server: Server
    ) -> None:
        def fail_next(n: int) -> None:
            failures = iter([BAD_REQUEST] * n)
            scripted_server.answer_by(lambda _received: next(failures, None))

        def overview(user: User) -> str:
            return text_of(world.client(user).get(f"/b/{world.benchmark.slug}/"))

        fail_next(2)
        plan_set = start_set(world, (endpoint, "A", [FIRST]))
        [run] = runs_of(plan_set)
        assert drive_run(run).state == "done"
        state, _rows = self.parts_of(world, plan_set)
        assert "2 calls failed" in state and "2 ended without an answer, 2 of them failed" in state
        assert "Every run has ended. “Retry failed” asks again what failed." in state
        assert "2 calls failed" in text_of(world.client(world.mara).get(f"/b/{world.benchmark.slug}/predictions/"))
        named = "Models have answered, but 2 calls failed."
        assert named in overview(world.mara) and f"plans/{plan_set.pk}/#retry" in overview(world.mara)
        assert "The server rejected this request." in overview(world.mara)
        assert named not in overview(world.reviewer), "who cannot retry is not asked to"
        fail_next(1)
        assert "2 calls are asked again" in act_on(world, plan_set, "retry")
        assert drive_run(run).state == "done" and "1 call failed" in self.parts_of(world, plan_set)[0]
        assert "Models have answered, but" not in overview(world.mara), "what failed twice holds up nothing else"
        fail_next(0)
        act_on(world, plan_set, "retry")
        drive_run(run)
        assert "failed" not in self.parts_of(world, plan_set)[0]

    def test_retry_leaves_what_a_person_paused_or_stopped(
        self, world: World, campaign: Campaign, endpoint: Endpoint, scripted_server: Server
    ) -> None:
        scripted_server.set(default=BAD_REQUEST)
        plan_set = start_set(world, (endpoint, "A", [FIRST, SECOND]))
        first, second = [drive_run(run) for run in runs_of(plan_set)]
        Run.objects.filter(pk=first.pk).update(state="paused", stopped_because="person")
        assert "4 calls are asked again" in act_on(world, plan_set, "retry")
        first.refresh_from_db()
        assert (first.state, states(first)) == ("paused", {"failed": 4})
        drive_run(second)
        PlanSet.objects.filter(pk=plan_set.pk).update(state="paused")
        assert "Resume it first" in act_on(world, plan_set, "retry") and states(second) == {"failed": 4}
        PlanSet.objects.filter(pk=plan_set.pk).update(state="cancelled")
        assert "Plan a new one" in act_on(world, plan_set, "retry") and states(second) == {"failed": 4}

    def test_variants_and_prompts_have_their_names_and_an_unknown_cost_its_reason(
        self, world: World, campaign: Campaign, endpoint: Endpoint, scripted_server: Server
    ) -> None:
        scripted_server.set(default=BAD_REQUEST)
        plan_set = start_set(world, (endpoint, "A", [FIRST]))
        [run] = runs_of(plan_set)
        drive_run(run)
        Run.objects.filter(pk=run.pk).update(unaccounted="0.2")
        page = text_of(world.client(world.mara).get(f"/b/{world.benchmark.slug}/predictions/plans/{plan_set.pk}/"))
        assert "<bdi>First</bdi>" in page and f"<bdi>{FIRST}</bdi>" not in page
        assert "Plainly, version 1" in page
        models = text_of(world.client(world.mara).get(f"/b/{world.benchmark.slug}/models/"))
        assert '<span class="chip hollow"><bdi>First</bdi></span>' in models
        calls = text_of(world.client(world.mara).get(f"/b/{world.benchmark.slug}/items/{world.items[0].pk}/"))
        assert "<bdi>A, First</bdi>" in calls
        assert "$0.2000 more at most, for requests that were sent and brought no reply" in page

    def parts_of(self, world: World, plan_set: PlanSet) -> tuple[str, str]:
        """What the page says of the set, and its table of runs."""
        page = text_of(world.client(world.mara).get(f"/b/{world.benchmark.slug}/predictions/plans/{plan_set.pk}/"))
        state, rows = page.split('id="progress"')[1].split("<table")
        return state, rows


class TestBudget:
    def test_one_budget_stops_all_runs_and_more_of_it_resumes_them(
        self, world: World, campaign: Campaign, endpoint: Endpoint, scripted_server: Server
    ) -> None:
        plan_set = start_set(world, (endpoint, "A", [FIRST, SECOND]), (endpoint, "B", [FIRST]), budget="0.6")
        runs = [drive_run(run) for run in runs_of(plan_set)]
        assert scripted_server.counts()["total"] == 6, "4 and 2; nothing is left for the third"
        assert [(run.state, run.stopped_because) for run in runs] == [("done", ""), *[("paused", "budget")] * 2]
        assert [run.committed for run in Run.objects.order_by("pk")] == [Decimal("0.4"), Decimal("0.2"), 0]
        page = text_of(world.client(world.mara).get(f"/b/{world.benchmark.slug}/predictions/plans/{plan_set.pk}/"))
        assert "The budget is spent." in page and "100 % spent" in page
        of_run = text_of(world.client(world.mara).get(f"/b/{world.benchmark.slug}/predictions/run/{runs[1].pk}/"))
        assert "Raise the budget of the plan set" in of_run and 'value="budget"' not in of_run
        with pytest.raises(answer_runs.RunRefused, match="no budget of its own"):
            answer_runs.raise_budget(runs[1], Decimal(9), world.mara, campaign.created_at)
        assert "Give more than that" in act_on(world, plan_set, "budget", budget="0.6")
        assert "as a number" in act_on(world, plan_set, "budget", budget="much")
        assert "2 runs go on" in act_on(world, plan_set, "budget", budget="1.2")
        assert [drive_run(run).state for run in runs[1:]] == ["done", "done"]
        assert scripted_server.counts()["total"] == 12

    def test_the_budget_raised_while_the_set_is_paused_sends_nothing(
        self, world: World, campaign: Campaign, endpoint: Endpoint, scripted_server: Server
    ) -> None:
        plan_set = start_set(world, (endpoint, "A", [FIRST]), budget="0.2")
        [run] = [drive_run(run) for run in runs_of(plan_set)]
        act_on(world, plan_set, "pause")
        assert "0 runs go on" in act_on(world, plan_set, "budget", budget="1")
        act_on(world, plan_set, "resume")
        assert drive_run(run).state == "done" and states(run) == {"answered": 4}


def test_conditions_of_recipes_name_prompts_and_stages_that_there_are(world: World) -> None:
    conditions = recipe("culturalvqa").model_conditions
    assert [one.key for one in conditions if one.stage == "answers"] == [
        "vlm", "vlm_few_shot", "llm_only", "llm_country", "llm_entities",
    ]  # fmt: skip
    assert [one.key for one in conditions if one.judge] == ["lave"]
    for condition in conditions:
        assert registry.prompt(condition.prompt).setting == condition.setting


def test_others_neither_see_nor_act(world: World, campaign: Campaign, endpoint: Endpoint) -> None:
    plan_set = start_set(world, (endpoint, "A", [FIRST]))
    page = f"/b/{world.benchmark.slug}/predictions/plans/{plan_set.pk}/"
    for user in (world.stranger, world.rival, world.nour, world.manager, world.reviewer):
        client = world.client(user)
        for address in (path(world), page, f"{page}live/"):
            assert client.get(address).status_code == 404, (user, address)
        for action in ("stop", "retry"):
            assert client.post(f"{page}action/", {"do": action}).status_code == 404
        assert client.post(path(world), form_data((endpoint, "Z", [FIRST]), do="look")).status_code == 404
    elsewhere = f"/b/{world.other_benchmark.slug}/predictions/plans/{plan_set.pk}/"
    assert world.client(world.rival).get(elsewhere).status_code == 404
    assert {run.state for run in runs_of(plan_set)} == {"running"}
