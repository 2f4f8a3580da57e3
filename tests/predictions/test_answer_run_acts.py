"""What people do with a run: pause it, go on, stop it, ask again, pay more, take it back, read it again."""

import json
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from annotation.models import Annotation, Campaign, Rating, Slot, Tally
from annotation.services.answers import exclusions
from annotation.services.campaigns import lifecycle
from annotation.services.files import answer_files
from annotation.services.queue import recount
from benchmarks.models import ItemImage
from jobs.models import Event, Job
from jobs.services import lifecycle as jobs
from jobs.services import runner
from predictions.models import Attempt, Prices, Reply, Run
from predictions.pages.runs import calls_page, kept_replies
from predictions.prompts.contract import ParsedReply
from predictions.queries.exports import call_lines
from predictions.queries.progress import attempts_of, progress_of
from predictions.services.runs import answer_runs, plans
from predictions.services.runs.answer_runs import RunRefused
from predictions.services.runs.engine import executor, retries
from tests.personas import draw_image
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
PRICES = {"*": {"in": "1", "out": "2", "request": "0.01"}}


@pytest.fixture
def plain(monkeypatch):
    prompt = Plainly()
    use(monkeypatch, prompt)
    monkeypatch.setattr(retries, "BACKOFF", 0.02)
    return prompt


@pytest.fixture
def endpoint(world, scripted_server):
    return an_endpoint(world, scripted_server.base_url, PRICES)


@pytest.fixture
def plan(world, plain, endpoint):
    return lambda items=3, **more: a_plan(a_campaign(world, items), endpoint, plain, **more)


def now():
    return timezone.now()


def act_between(monkeypatch, act):
    """Do something once, when the driver looks round the first time after something was asked."""
    look, done = executor.RunExecutor._check_run_state, []

    def looking(self):
        if not done and self.has_sent:
            done.append(act())
        look(self)

    monkeypatch.setattr(executor, "LOOK", 0.0)
    monkeypatch.setattr(executor.RunExecutor, "_check_run_state", looking)


class TestPause:
    def test_what_is_being_asked_is_kept_and_the_rest_waits(self, world, plan, scripted_server, monkeypatch):
        run = start_run(world, plan(40))
        act_between(monkeypatch, lambda: answer_runs.pause(run, world.mara, now()))
        drive_run(run)
        counts = states(run)
        assert (run.state, run.stopped_because, run.job.state) == ("paused", "person", "cancelled")
        assert counts["pending"] >= 20 and "running" not in counts
        assert counts.get("answered", 0) == scripted_server.counts()["total"] == Reply.objects.count()
        answer_runs.resume(run, world.mara, now())
        drive_run(run)
        assert run.state == "done" and states(run) == {"answered": 40}
        assert scripted_server.counts()["total"] == 40, "nothing is asked twice"
        verbs = list(Event.objects.filter(target=f"run:{run.pk}").order_by("pk").values_list("verb", flat=True))
        assert verbs == ["run.opened", "run.paused", "run.resumed", "run.done"]

    def test_who_stops_its_job_pauses_it_and_going_on_there_goes_on(self, world, plan, monkeypatch):
        run = start_run(world, plan(40))
        act_between(monkeypatch, lambda: jobs.request_cancel(run.job, world.mara))
        drive_run(run)
        assert (run.state, run.stopped_because, run.job.state) == ("paused", "person", "cancelled")
        jobs.resume(run.job, world.mara)
        drive_run(run)
        assert run.state == "done" and states(run) == {"answered": 40}

    def test_an_older_job_of_the_run_asks_nothing(self, world, plan, scripted_server):
        run = start_run(world, plan())
        older = run.job
        answer_runs.pause(run, world.mara, now())
        answer_runs.resume(run, world.mara, now())
        Job.objects.filter(pk=older.pk).update(state="queued", cancel_asked=False)
        runner.run(older.pk)
        assert scripted_server.counts()["total"] == 0 and states(run) == {"pending": 3}

    def test_what_is_over_is_neither_paused_nor_gone_on_with(self, world, plan):
        run = drive_run(start_run(world, plan()))
        for act in (answer_runs.pause, answer_runs.resume, answer_runs.stop):
            with pytest.raises(RunRefused):
                act(run, world.mara, now())

    def test_a_run_without_a_job_can_be_resumed(self, world, plan):
        run = start_run(world, plan())
        Job.objects.filter(pk=run.job_id).update(state="failed", finished_at=now())
        assert progress_of(run).stalled
        answer_runs.resume(run, world.mara, now())
        run.refresh_from_db()
        assert not progress_of(run).stalled
        assert drive_run(run).state == "done"

    def test_others_get_their_turn_after_a_slice(self, world, plan, monkeypatch, scripted_server):
        monkeypatch.setattr(executor, "SLICE", 0.0)
        monkeypatch.setattr(executor, "LOOK", 0.0)
        Job.objects.create(kind="another", title="Another", scope="x:1")
        run = start_run(world, plan(30))
        runner.run(run.job_id)
        job = Job.objects.get(pk=run.job_id)
        assert (job.state, job.given_back) == ("queued", 1) and states(run)["pending"] > 0
        drive_run(run)
        assert states(run) == {"answered": 30} and scripted_server.counts()["total"] == 30


class TestStop:
    def test_what_was_answered_stays_and_the_rest_says_why(self, world, plan, monkeypatch):
        run = start_run(world, plan(40))
        act_between(monkeypatch, lambda: answer_runs.stop(run, world.mara, now()))
        drive_run(run)
        counts = states(run)
        assert run.state == "cancelled" and set(counts) == {"answered", "failed"} and sum(counts.values()) == 40
        assert set(run.calls.filter(state="failed").values_list("reason", flat=True)) == {"stopped"}
        assert Annotation.objects.filter(rater=run.rater, counted=True).count() == counts["answered"]


class TestRetry:
    def test_what_failed_is_asked_again_with_as_many_tries(self, world, plan, scripted_server):
        scripted_server.rules(Rule(model_server.STUMBLES))
        run = drive_run(start_run(world, plan(1)))
        assert states(run) == {"failed": 1} and scripted_server.counts()["total"] == 5
        scripted_server.rules(Rule(model_server.STUMBLES, numbers=(6, 7, 8)))
        assert answer_runs.retry_failed(run, world.mara, now()) == 1
        drive_run(run)
        [call] = run.calls.all()
        assert (call.state, call.attempts_made) == ("answered", 9)
        assert [one.number for one in attempts_of(call)] == list(range(1, 10))

    def test_unreadable_reply_is_requested_again_without_the_cache(self, world, plan, scripted_server):
        scripted_server.rules(Rule(model_server.PROSE, numbers=(1,)))
        run = drive_run(start_run(world, plan(2)))
        assert states(run) == {"unparseable": 1, "answered": 1}
        assert answer_runs.retry_failed(run, world.mara, now()) == 0, "only those that failed"
        assert answer_runs.retry_failed(run, world.mara, now(), ["unparseable", "answered"]) == 1
        drive_run(run)
        assert states(run) == {"answered": 2} and scripted_server.counts()["total"] == 3
        assert Reply.objects.count() == 3 and Reply.objects.filter(number=2).count() == 1
        assert progress_of(run).cached == 0


class TestBudget:
    def test_it_is_never_exceeded_whatever_is_in_flight(self, world, plan, endpoint, scripted_server):
        endpoint.most_in_flight = 16
        endpoint.save()
        scripted_server.set(delay=0.05)
        run = drive_run(start_run(world, plan(60, budget=Decimal("0.255"))))
        counts = states(run)
        spent = sum(one.cost for one in Attempt.objects.all())
        assert (run.state, run.stopped_because) == ("paused", "budget")
        assert set(counts) == {"answered", "over_budget"} and scripted_server.counts()["total"] == counts["answered"]
        assert Decimal("0.24") < spent <= Decimal("0.255"), "no call is left out that there was money for"
        assert progress_of(run).ended == counts["answered"], "what waits for money has not ended"
        with pytest.raises(RunRefused, match="Raise it to go on"):
            answer_runs.resume(run, world.mara, now())
        with pytest.raises(RunRefused, match="Give more than that"):
            answer_runs.raise_budget(run, Decimal("0.2"), world.mara, now())
        answer_runs.raise_budget(run, Decimal(10), world.mara, now())
        drive_run(run)
        assert run.state == "done" and states(run) == {"answered": 60} and scripted_server.counts()["total"] == 60

    def test_a_run_is_not_done_while_calls_wait_for_money(self, world, plan):
        run = drive_run(start_run(world, plan(3, budget=Decimal("0.001"))))
        assert states(run) == {"over_budget": 3} and (run.state, run.stopped_because) == ("paused", "budget")
        jobs.resume(Job.objects.get(pk=run.job_id), world.mara)
        drive_run(run)
        assert (run.state, run.stopped_because) == ("paused", "budget")

    def test_a_price_that_is_gone_keeps_no_budget(self, world, plan, endpoint, scripted_server):
        run = start_run(world, plan(3, budget=Decimal(1)))
        endpoint.prices.create(number=2, table={})
        drive_run(run)
        assert (run.state, run.stopped_because) == ("paused", "price") and scripted_server.counts()["total"] == 0
        with pytest.raises(RunRefused, match="a budget cannot be checked"):
            answer_runs.raise_budget(run, Decimal(2), world.mara, now())

    def test_what_nobody_told_the_price_of_counts_at_its_dearest(self, world, plan, scripted_server):
        scripted_server.rules(Rule(model_server.CUTS_BEFORE))
        run = drive_run(start_run(world, plan(30, budget=Decimal("0.045"))))
        assert (run.state, run.stopped_because) == ("paused", "budget")
        assert scripted_server.counts()["total"] <= 4 and Decimal("0.03") < run.unaccounted <= Decimal("0.045")
        found = progress_of(run)
        assert (found.cost, found.unaccounted) == (0, run.unaccounted)


class TestCache:
    def test_the_same_again_costs_nothing_and_anything_else_is_asked(self, world, monkeypatch, plain, scripted_server):
        prompt = Plainly(needs_images=True, key="seeing")
        use(monkeypatch, prompt, plain)
        campaign = a_campaign(world, 1, images=True)
        endpoint = an_endpoint(world, scripted_server.base_url, PRICES, offers=["images"])

        def ask(setting, asking=prompt, **more):
            before = scripted_server.counts()["total"]
            run = drive_run(start_run(world, a_plan(campaign, endpoint, asking, setting=setting, **more)))
            assert set(states(run)) == {"answered"}
            return scripted_server.counts()["total"] - before

        assert ask("first") == 1
        assert ask("the same") == 0
        assert ask("another model", model="scripted-2") == 1
        assert ask("more repeats", repeats=3) == 2, "the first of them is there"
        assert ask("another decoding", decoding=plans.Decoding(temperature=0.5)) == 1
        assert ask("anew", fresh=True) == 1
        later = Plainly(needs_images=True, key="seeing", version="2")
        use(monkeypatch, later)
        assert ask("another version", later) == 1
        use(monkeypatch, prompt)
        draw_image(campaign.stage.items.get(), 321, 240)
        assert ask("another picture") == 1
        assert ItemImage.objects.count() == 1

    def test_a_kept_reply_is_marked_and_counted(self, world, plan, plain, endpoint, scripted_server):
        first = drive_run(start_run(world, plan(3)))
        second = start_run(world, a_plan(first.campaign, endpoint, plain, setting="again"))
        drive_run(second)
        found = progress_of(second)
        assert (found.cached, found.cost, found.ended) == (3, 0, 3) and not Attempt.objects.filter(call__run=second)
        assert Annotation.objects.filter(rater=second.rater, counted=True).count() == 3

    def test_two_units_that_are_asked_the_same_are_asked_once(self, world, monkeypatch, scripted_server, endpoint):
        @dataclass(frozen=True)
        class Blind(Plainly):
            def ask(self, scene, seed):
                return super().ask(type(scene)(item="any", questions=scene.questions), seed)

        prompt = Blind(key="blind")
        use(monkeypatch, prompt)
        run = drive_run(start_run(world, a_plan(a_campaign(world, 9), endpoint, prompt)))
        assert states(run) == {"answered": 9} and scripted_server.counts()["total"] == 1
        assert run.calls.filter(cached=True).count() == 8

    def test_answered_part_is_not_requested_again(self, world, monkeypatch, scripted_server, endpoint):
        prompt = Plainly(parts=3, key="parts")
        use(monkeypatch, prompt)
        monkeypatch.setattr(retries, "BACKOFF", 0.02)
        scripted_server.rules(Rule(model_server.STUMBLES, numbers=(2, 4)))
        run = drive_run(start_run(world, a_plan(a_campaign(world, 1), endpoint, prompt)))
        [call] = run.calls.all()
        assert (call.state, len(call.replies), call.attempts_made) == ("answered", 3, 5)
        assert scripted_server.counts()["total"] == 5
        assert [(one.part, one.outcome) for one in attempts_of(call)] == [
            (0, "reply"), (1, "transient"), (1, "reply"), (2, "transient"), (2, "reply"),
        ]  # fmt: skip
        assert [one.body["text"] for one in kept_replies(call)] == ["3"] * 3


class TestWithdrawing:
    def test_withdrawn_answers_count_nowhere_and_come_back_as_they_were(self, world, plan, plain, endpoint):
        run = drive_run(start_run(world, plan(2, repeats=2)))
        flags = Annotation.objects.order_by("pk").values_list("pk", "live", "counted", "uncounted_because")
        before = list(flags)
        answer_runs.withdraw(run, world.mara, now())
        assert set(Annotation.objects.values_list("live", "counted", "uncounted_because")) == {
            (False, False, "withdrawn")
        }
        assert set(Rating.objects.values_list("live", "counted")) == {(False, False)}
        run.refresh_from_db()
        answer_runs.restore(run, world.mara, now())
        assert list(flags.all()) == before
        assert set(Rating.objects.values_list("live", "counted")) == {(True, True), (True, False)}

    def test_not_while_it_is_asked_and_not_back_into_anothers_place(self, world, plan, plain, endpoint):
        run = start_run(world, plan(2))
        with pytest.raises(RunRefused, match="Pause the run"):
            answer_runs.withdraw(run, world.mara, now())
        drive_run(run)
        answer_runs.withdraw(run, world.mara, now())
        newer = drive_run(start_run(world, a_plan(run.campaign, endpoint, plain)))
        run.refresh_from_db()
        with pytest.raises(RunRefused, match="other answers"):
            answer_runs.restore(run, world.mara, now())
        assert Annotation.objects.filter(live=True).count() == 2 and newer.rater == run.rater


class TestFiles:
    def brought(self, world, campaign, code):
        head = "item,target,rater,rater_kind,setting,field,code"
        rows = f"{head}\nitem-00000,Egypt,scripted,model,plain,relevance,{code}"
        job = answer_files.start(campaign, world.mara, SimpleUploadedFile("a.csv", rows.encode()))
        runner.run(job.pk)
        return job.rows.get()

    def test_a_run_is_refused_where_a_file_answered(self, world, plan, plain, endpoint):
        plan = plan(2)
        assert self.brought(world, plan.campaign, 4).outcome == "created"
        with pytest.raises(RunRefused, match="already has imported answers"):
            start_run(world, plan)
        assert not Run.objects.exists()

    def test_a_file_is_refused_where_a_run_answered(self, world, plan):
        run = drive_run(start_run(world, plan(2)))
        row = self.brought(world, run.campaign, 4)
        assert (row.outcome, row.reason) == ("error", "of_a_run") and "Withdraw that run" in row.message
        assert Annotation.objects.filter(live=True).count() == 2

    def test_file_imported_during_a_run_pauses_it(self, world, plan):
        run = start_run(world, plan(2))
        assert self.brought(world, run.campaign, 4).outcome == "created"
        drive_run(run)
        assert (run.state, run.stopped_because) == ("paused", "files")
        assert Annotation.objects.get().client_key.startswith("file:")


class TestCounting:
    def test_a_campaign_that_closes_pauses_the_run_and_what_comes_late_does_not_count(self, world, plan, monkeypatch):
        run = start_run(world, plan(40))
        act_between(monkeypatch, lambda: lifecycle.close(run.campaign, world.mara, now()))
        drive_run(run)
        assert (run.state, run.stopped_because) == ("paused", "closed") and states(run)["pending"] > 0
        late = Annotation.objects.filter(counted=False)
        assert set(late.values_list("uncounted_because", flat=True)) <= {"closed"}
        with pytest.raises(RunRefused, match="closed"):
            start_run(world, a_plan(Campaign.objects.get(pk=run.campaign_id), run.endpoint, Plainly(), setting="x"))

    def test_an_excluded_model_is_asked_and_not_counted(self, world, plan):
        run = start_run(world, plan(2))
        exclusions.exclude(world.benchmark, run.rater, "It saw the answers.", world.mara, now())
        drive_run(run)
        assert set(Annotation.objects.values_list("live", "counted", "uncounted_because")) == {
            (True, False, "excluded")
        }
        assert set(Rating.objects.values_list("live", "counted")) == {(True, False)}
        exclusions.lift_exclusion(world.benchmark, run.rater, world.mara, now())
        assert set(Annotation.objects.values_list("counted", flat=True)) == {True}

    def test_answers_of_models_take_no_place_of_people(self, world, plan):
        before = set(Slot.objects.values_list("wanted", "reserved", "submitted"))
        changes = sum(Tally.objects.values_list("changes", flat=True))
        run = drive_run(start_run(world, plan(2)))
        assert run.state == "done" and not recount.find_differences()
        assert {(2, 0, 0)} == set(Slot.objects.values_list("wanted", "reserved", "submitted")) != before
        assert sum(Tally.objects.values_list("changes", flat=True)) > changes, "pages of numbers see that there is more"


class TestReading:
    def test_replies_are_read_again_and_no_model_is_asked(self, world, plan, monkeypatch, scripted_server):
        scripted_server.rules(Rule(model_server.PROSE, numbers=(1,)))
        run = drive_run(start_run(world, plan(3)))
        assert states(run) == {"unparseable": 1, "answered": 2}

        @dataclass(frozen=True)
        class Kinder(Plainly):
            def read(self, scene, asked, replies):
                return ParsedReply({"relevance": "5" if not replies[-1].text.isdigit() else replies[-1].text})

        use(monkeypatch, Kinder())
        asked = scripted_server.counts()["total"]
        runner.run(answer_runs.start_reparse(run, world.mara, now()).pk)
        assert states(run) == {"answered": 3} and scripted_server.counts()["total"] == asked
        assert sorted(Rating.objects.filter(counted=True).values_list("code", flat=True)) == ["3", "3", "5"]
        assert Annotation.objects.count() == 3, "what is read as before stands as it is"
        use(monkeypatch, Plainly())
        runner.run(answer_runs.start_reparse(run, world.mara, now()).pk)
        assert states(run) == {"unparseable": 1, "answered": 2}
        assert Rating.objects.filter(live=True).count() == 2
        assert Annotation.objects.filter(uncounted_because="superseded").count() == 1

    def test_answers_of_a_closed_campaign_stay_as_they_were_read(self, world, plan, monkeypatch, scripted_server):
        """What is read otherwise after the end would not count, and would take the place of what counts."""
        run = drive_run(start_run(world, plan(2)))
        before = sorted(Rating.objects.filter(counted=True, live=True).values_list("code", flat=True))

        @dataclass(frozen=True)
        class Other(Plainly):
            def read(self, scene, asked, replies):
                return ParsedReply({"relevance": "1"})

        use(monkeypatch, Other())
        job = answer_runs.start_reparse(run, world.mara, now())
        lifecycle.close(run.campaign, world.mara, now())
        runner.run(job.pk)
        job.refresh_from_db()
        assert job.state == "failed" and "takes no answers now" in job.error
        assert sorted(Rating.objects.filter(counted=True, live=True).values_list("code", flat=True)) == before
        with pytest.raises(RunRefused, match="closed"):
            answer_runs.start_reparse(run, world.mara, now())
        page = world.client(world.mara).get(f"/b/{world.benchmark.slug}/predictions/run/{run.pk}/").content.decode()
        assert "Withdraw the run" in page and "Parse replies again" not in page

    def test_a_changed_wording_does_not_read_what_another_asked(self, world, plan, monkeypatch):
        run = drive_run(start_run(world, plan(1)))
        use(monkeypatch, Plainly(version="2"))
        with pytest.raises(RunRefused, match="wording has changed"):
            answer_runs.start_reparse(run, world.mara, now())


class TestExtending:
    def test_only_units_added_later_are_requested(self, world, plan, scripted_server):
        run = drive_run(start_run(world, plan(2)))
        assert answer_runs.extend(run, world.mara, now()) == 0
        world.add_items(3)
        assert answer_runs.extend(run, world.mara, now()) == 3
        drive_run(run)
        assert states(run) == {"answered": 5} and scripted_server.counts()["total"] == 5

    def test_a_sample_is_the_same_for_the_same_seed(self, world, plan):
        plan = plan(20, selection={"sample": 5})
        first = set(start_run(world, plan).calls.values_list("item", flat=True))
        assert len(first) == 5
        assert {plans.preview(plan, n).unit.item.pk for n in range(9)} == first


class TestLooking:
    def test_what_it_will_cost(self, world, plan, plain, endpoint, scripted_server):
        looked = answer_runs.estimate(plan(4, repeats=2))
        assert (looked.calls, looked.cached, looked.to_ask, looked.exact, looked.prices) == (8, 0, 8, True, 1)
        assert looked.dollars is not None and Decimal("0.08") < looked.dollars[0] < looked.dollars[1]
        assert 0 < looked.tokens_in[0] < looked.tokens_in[1] and looked.tokens_out == (8, 64)
        run = drive_run(start_run(world, a_plan(world.stage.campaigns.get(), endpoint, plain)))
        cost = progress_of(run).cost
        again = answer_runs.estimate(a_plan(run.campaign, endpoint, plain, repeats=2))
        assert (again.cached, again.to_ask) == (4, 4)
        assert looked.dollars[0] / 2 <= cost <= looked.dollars[1] / 2, "what it cost lies between"

    def test_an_unknown_price_is_unknown(self, world, plan, endpoint):
        endpoint.prices.all().delete()
        looked = answer_runs.estimate(plan(2))
        assert looked.dollars is None and looked.prices is None and looked.to_ask == 2

    @pytest.mark.parametrize("table", [None, {"*": {"in": "1"}}, {"*": {"out": "1", "request": "0.1"}}])
    def test_half_a_price_is_none_and_what_nobody_knows_is_not_0(self, world, plan, endpoint, table):
        endpoint.prices.all().delete()
        if table:
            Prices.objects.create(endpoint=endpoint, number=1, table=table)
        half = plan(2)
        assert answer_runs.estimate(half).dollars is None
        with pytest.raises(RunRefused, match="a budget cannot be checked"):
            start_run(world, replace(half, budget=Decimal(1)))
        run = drive_run(start_run(world, half))
        assert (progress_of(run).unpriced, progress_of(run).cost) == (2, 0)
        assert [json.loads(line)["cost"] for line in call_lines(run)] == [None, None]
        page = world.client(world.mara).get(f"/b/{world.benchmark.slug}/predictions/run/{run.pk}/").content.decode()
        assert "2 calls of unknown cost" in page and "$0" not in page and page.count("unknown") >= 4

    def test_a_cost_in_part_unknown_is_at_least_so_much(self, world, plan):
        run = drive_run(start_run(world, plan(2)))
        Attempt.objects.filter(call=run.calls.first()).update(cost=None)
        page = world.client(world.mara).get(f"/b/{world.benchmark.slug}/predictions/run/{run.pk}/").content.decode()
        assert "at least" in page and "1 call of unknown cost" in page

    def test_what_would_be_sent(self, world, plan):
        seen = answer_runs.preview(plan(2), 1)
        assert seen.total == 2 and seen.unit.item.key == "item-00001" and seen.way == "text" and not seen.missing_input
        assert "item-00001 for Egypt" in seen.asked.requests[0].messages[0].pieces[0].text

    def test_failures_are_listed_with_the_reply(self, world, plan, scripted_server):
        scripted_server.rules(Rule(Act(text="eleven"), numbers=(1,)))
        run = drive_run(start_run(world, plan(2)))
        page = calls_page(run, "unparseable", 0)
        [failed] = page.lines
        assert failed.text == "eleven" and failed.call.state == "unparseable" and page.further == 0
        assert not calls_page(run, "failed", 0).lines

    def test_how_far_it_is(self, world, plan):
        run = drive_run(start_run(world, plan(3)))
        found = progress_of(run, now() + timedelta(seconds=1))
        assert (found.total, found.ended, found.by_state, found.in_flight) == (3, 3, {"answered": 3}, 0)
        assert found.cost > 0 and found.tokens_out > 0 and found.seconds_left is None
