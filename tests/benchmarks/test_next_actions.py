"""The overview shows exactly one next action to each reader: one test for each state, in their order."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.models import Assignment, Campaign, ItemContributor, Slot
from annotation.services.campaigns import lifecycle
from annotation.services.campaigns.chain_opening import StageOpening, open_chain
from annotation.services.queue.slot_creation import create_missing_slots
from benchmarks.models import Benchmark, Item, ItemReturn, Stage
from benchmarks.pages import next_actions
from jobs.models import record
from people.models import Cohort, CohortMember, Rater, User
from people.services.raters import rater_of
from predictions.models import Call, Endpoint, PlanSet, Run
from tests.chains.link_client import LinkClient, text_of
from tests.personas import World, make_items
from tests.samples import assign

pytestmark = pytest.mark.django_db
NEXT = re.compile(r'<section class="next".*?</section>', re.DOTALL)


def visit(world: World, user: User, benchmark: Benchmark | None = None) -> LinkClient:
    return LinkClient(world.client(user), f"/b/{(benchmark or world.benchmark).slug}/")


def shown(world: World, user: User, benchmark: Benchmark | None = None) -> str:
    """The text of the one next action."""
    sections = NEXT.findall(visit(world, user, benchmark).page)
    assert len(sections) == 1
    assert sections[0].count("btn go") == 1, "one primary button"
    return text_of(sections[0])


def from_recipe(world: World, key: str, user: User | None = None) -> Benchmark:
    form = {"recipe": key, "name": key, "slug": key, "team": world.team.pk, "question": ""}
    assert world.client(user or world.mara).post("/benchmarks/new/", form).status_code == 302
    return Benchmark.objects.get(slug=key)


def open_first(world: World, *cohorts: Cohort, target: int = 1, stage: Stage | None = None) -> Campaign:
    campaign = lifecycle.create(
        stage or world.stage, "Round 1", world.mara, dict.fromkeys(cohorts or [world.egypt], target)
    )
    lifecycle.open_campaign(campaign, world.mara, timezone.now())
    return campaign


def test_a_blank_benchmark_is_led_to_its_stages_and_every_page_of_it_opens(world: World) -> None:
    form = {"recipe": "blank", "name": "Own", "slug": "own", "team": world.team.pk, "question": ""}
    assert world.client(world.mara).post("/benchmarks/new/", form).headers["Location"] == "/b/own/"
    own = Benchmark.objects.get(slug="own")
    assert not own.stages.exists()
    assert "No stage yet." in shown(world, world.mara, own) and "Add a stage" in shown(world, world.mara, own)
    links = set(re.findall(r'href="(/b/own/[^"?#]*)"', visit(world, world.mara, own).page))
    assert "/b/own/items/" in links and "/b/own/stages/" in links
    for path in sorted({*links, "/b/own/import/", "/b/own/cohorts/", "/b/own/chain/open/"}):
        assert world.client(world.mara).get(path).status_code in (200, 302), path
    world.client(world.mara).post("/b/own/stages/", {"name": "Topics", "like": ""})
    sentence = shown(world, world.mara, own)
    assert "“Topics” has no items yet." in sentence and "Add a stage" in sentence, "several are possible"


def add_stage(world: World, name: str) -> Stage:
    """One more stage, like the first."""
    like = world.stage
    return world.benchmark.stages.create(
        key="next", name=name, position=9, display=like.display, sheet=like.sheet, layout=like.layout
    )


def answer_all(world: World, campaign: Campaign, user: User) -> None:
    row = campaign.cohorts.get()
    for slot in Slot.objects.filter(cohort=row, submitted=0):
        assign(row, user, slot, code="3")
    n = Slot.objects.filter(cohort=row, submitted=1).count()
    row.tallies.filter(shard=0).update(submitted=n)


def test_no_items_leads_to_the_import(world: World) -> None:
    assert "“Relevance rating” has no items yet. Import pictures as a zip" in shown(world, world.mara)
    page = visit(world, world.mara)
    page.follow("Import items")
    assert "Import items" in page.page
    world.add_items(1)
    assert "has no items" not in shown(world, world.mara)
    world.items[0].withdrawn_at = timezone.now()
    world.items[0].save()
    assert "has no items yet" in shown(world, world.mara), "withdrawn items are none"


def test_a_stage_of_words_asks_for_words_and_not_for_pictures(world: World) -> None:
    benchmark = from_recipe(world, "globalrg-grounding")
    first = benchmark.stages.all()[0]
    assert first.pictures == "none"
    action = shown(world, world.mara, benchmark)
    assert f"“{first.name}” has no items yet. Import keywords or other texts. It needs no pictures." in action
    page = visit(world, world.mara, benchmark).page
    assert "No items yet. Import a list of words or texts." in text_of(page)


def test_candidates_that_wait_for_a_fact_lead_to_the_encoder(world: World) -> None:
    world.add_items(3)
    world.stage.items.filter(pk__in=[item.pk for item in world.items[:2]]).update(intake="waiting")
    assert "2 candidates wait for a fact." in shown(world, world.mara)
    assert "wait for a fact" not in shown(world, world.reviewer)
    page = visit(world, world.mara)
    page.follow("Compute facts")
    world.stage.items.update(intake="kept")
    assert "wait for a fact" not in shown(world, world.mara)


def test_no_cohort_leads_to_the_recipes_cohorts(world: World) -> None:
    benchmark = from_recipe(world, "culturalvqa", world.team_admin)
    make_items(benchmark.stages.all()[0], 1)
    assert "Nobody is asked yet." in shown(world, world.team_admin, benchmark), "the team has Brazil"
    Cohort.objects.filter(pk=world.brazil.pk).update(label="Elsewhere")
    action = shown(world, world.team_admin, benchmark)
    assert "No cohort yet. The recipe asks 11." in action and "Create cohorts" in action
    benchmark.roles.create(user=world.mara, name="researcher")
    assert "See who can create cohorts" in shown(world, world.mara, benchmark)
    visitor = visit(world, world.mara, benchmark)
    visitor.follow("See who can create cohorts")
    assert "These people can create the cohorts: Admin" in text_of(visitor.page)
    stage = benchmark.stages.get(key="questions")
    make_items(stage, 2)
    open_first(world, world.egypt, stage=stage)
    assert "No cohort" not in shown(world, world.team_admin, benchmark), "others are asked in place of the recipe's"


def test_a_team_without_any_cohort_is_led_to_one(world: World) -> None:
    world.other_cohort.members.all().delete()
    world.other_cohort.delete()
    make_items(world.other_benchmark.stages.get(), 1)
    assert "No cohort yet. A cohort is a group of people" in shown(world, world.rival, world.other_benchmark)


def test_nothing_open_leads_to_the_chain(world: World) -> None:
    world.add_items(2)
    lifecycle.create(world.stage, "A draft", world.mara, {world.egypt: 1})
    assert "Nobody is asked yet." in shown(world, world.mara)
    page = visit(world, world.mara)
    page.follow("Open the whole chain")
    assert page.path.endswith("/chain/open/")


def test_waiting_answers_lead_to_the_review_and_their_own_author_is_not_asked(world: World) -> None:
    world.add_items(3)
    Stage.objects.filter(pk=world.stage.pk).update(acceptance="by_review")
    campaign = open_first(world)
    row = campaign.cohorts.get()
    for slot in row.slots.all():
        assign(row, world.nour, slot, code="3")
    action = shown(world, world.reviewer)
    assert "3 answers wait for review." in action and "The oldest" not in action
    Assignment.objects.filter(pk=Assignment.objects.order_by("pk")[0].pk).update(
        changed_at=timezone.now() - timedelta(days=6, hours=1)
    )
    assert "The oldest waits for 6 days." in shown(world, world.reviewer)
    assert "wait for review" in shown(world, world.mara)
    assert "wait for review" not in shown(world, world.team_admin), "who may not review is not asked to"
    Rater.objects.filter(user=world.nour).update(user=world.reviewer)
    assert "wait for review" not in shown(world, world.reviewer), "nobody reviews their own answers"


def test_models_of_the_recipe_that_were_not_asked_lead_to_the_runs(world: World) -> None:
    benchmark = from_recipe(world, "caire-universal")
    stage = benchmark.stages.get(key="relevance")
    make_items(stage, 2)
    open_first(world, world.egypt, stage=stage)
    assert "No model was run here yet." in shown(world, world.mara, benchmark)
    model = Rater.objects.create(kind="model", team=world.team, name="Model", setting="main")
    run = Run.objects.create(
        benchmark=benchmark, rater=model, campaign=stage.campaigns.get(), task=Run.Task.ANSWERS, complete=True
    )
    assert "No model" not in shown(world, world.mara, benchmark)
    Run.objects.filter(pk=run.pk).update(withdrawn_at=timezone.now())
    assert "No model was run here yet." in shown(world, world.mara, benchmark)


def test_answers_without_a_judge_lead_to_the_judge(world: World) -> None:
    benchmark = from_recipe(world, "culturalvqa")
    lave = benchmark.stages.get(key="lave")
    items = make_items(lave, 1)
    items[0].text, items[0].context = "What is it?", {"candidate": "Tea", "references": ["Tea"]}
    items[0].save()
    campaign = open_first(world, world.egypt, stage=lave)
    assert "“LAVE” has answers that no model has judged." in shown(world, world.mara, benchmark)
    judge = Rater.objects.create(kind="model", team=world.team, name="Judge", setting="main")
    Run.objects.create(benchmark=benchmark, rater=judge, campaign=campaign, task=Run.Task.ANSWERS, complete=True)
    assert "no model has judged" not in shown(world, world.mara, benchmark)


def test_answers_lead_to_the_tables_and_the_last_one_to_the_export(world: World) -> None:
    world.add_items(2)
    campaign = open_first(world)
    row = campaign.cohorts.get()
    assign(row, world.nour, row.slots.order_by("pk")[0], code="4")
    row.tallies.filter(shard=0).update(submitted=1)
    for person in (world.mara, world.owner, world.reviewer, world.team_admin):
        action = shown(world, person)
        sentence = "View the tables of the answers so far. Answers of people: “Relevance rating” has 1 of 2."
        assert sentence in action, "a step, and what is still missing"
        assert "are ready" not in action
    answer_all(world, campaign, world.nour)
    assert "All wanted answers are there." in shown(world, world.mara)
    visitor = visit(world, world.mara)
    visitor.follow("Export")
    assert visitor.path.endswith("/export/")
    assert "The tables are ready." in shown(world, world.reviewer), "who may not export is led to the tables"


def test_each_number_of_the_sentence_stands_on_the_board(world: World) -> None:
    """One cohort has all its answers, the other not; an earlier round was closed before its end."""
    world.add_items(3)
    lifecycle.close(open_first(world), world.mara, timezone.now())
    campaign = open_first(world, world.egypt, world.brazil)
    egypt, brazil = campaign.cohorts.get(cohort=world.egypt), campaign.cohorts.get(cohort=world.brazil)
    for row, n in ((egypt, 3), (brazil, 1)):
        for slot in row.slots.order_by("pk")[:n]:
            assign(row, world.nour, slot, code="3")
        row.tallies.filter(shard=0).update(submitted=n)
    page = visit(world, world.mara).page
    all_cohorts = text_of(page.partition('<tr class="sum"')[2].partition("</tr>")[0])
    assert "4 of 9" in all_cohorts and "“Relevance rating” has 4 of 9." in shown(world, world.mara)
    lifecycle.close(campaign, world.mara, timezone.now())
    assert "All wanted answers are there." in shown(world, world.mara), "nothing more is wanted"


def model_run(world: World, campaign: Campaign, name: str, state: str, reason: str = "", **more: Any) -> Run:
    """A run with two calls, which have failed for the reason or wait."""
    fields = {"name": "Endpoint", "base_url": "http://localhost:1/v1"}
    endpoint, _new = Endpoint.objects.get_or_create(team=world.team, **fields)
    model = Rater.objects.create(kind="model", team=world.team, name=name, setting="main")
    run = Run.objects.create(
        benchmark=world.benchmark, rater=model, campaign=campaign, task=Run.Task.ANSWERS, endpoint=endpoint,
        state=state, **more,
    )  # fmt: skip
    for item in world.items[:2]:
        Call.objects.create(run=run, item=item, state="failed" if reason else "pending", reason=reason)
    return run


class TestStoppedRuns:
    def test_failed_runs_come_before_the_tables_with_the_reason_and_the_way_to_retry(self, world: World) -> None:
        world.add_items(2)
        campaign = open_first(world)
        answer_all(world, campaign, world.nour)
        plan_set = PlanSet.objects.create(benchmark=world.benchmark)
        runs = [
            model_run(world, campaign, name, "failed", reason, plan_set=plan_set)
            for name, reason in (("A", "connection"), ("B", "connection"), ("C", "timeout"))
        ]
        action = shown(world, world.mara)
        assert "3 runs of models failed. 2 of them: The connection failed each time." in action
        assert "are ready" not in action and "All wanted answers" not in action
        page = visit(world, world.mara)
        page.follow("View plan set")
        assert f"/plans/{plan_set.pk}/" in page.path and "Retry failed" in page.page
        ready = shown(world, world.reviewer)
        assert "are ready" not in ready and "3 runs of models are not over." in ready and "failed" not in ready
        Run.objects.filter(pk__in=[run.pk for run in runs[1:]]).update(withdrawn_at=timezone.now())
        assert "1 run of a model failed. The connection failed each time." in shown(world, world.mara)
        Run.objects.filter(pk=runs[0].pk).update(plan_set=None)
        page = visit(world, world.mara)
        page.follow("View run")
        assert f"/run/{runs[0].pk}/" in page.path and "Retry calls" in page.page
        Run.objects.update(state="done")
        action = shown(world, world.mara)
        assert "Models have answered, but 2 calls failed." in action and "Next: All wanted" not in action
        assert "The connection failed each time." in action, "of the run left"
        record(world.mara, "run.retried", scope=world.benchmark.scope, target=f"run:{runs[0].pk}", calls=2)
        assert "All wanted answers are there. 2 calls of models failed." in shown(world, world.mara), "once more"
        Call.objects.update(state="answered", reason="")
        assert "failed" not in shown(world, world.mara)
        assert "The tables are ready." in shown(world, world.reviewer)

    def test_paused_runs_say_why_and_lead_to_resume(self, world: World) -> None:
        world.add_items(2)
        campaign = open_first(world)
        answer_all(world, campaign, world.nour)
        run = model_run(world, campaign, "A", "paused", stopped_because="not_allowed")
        action = shown(world, world.mara)
        assert "1 run of a model is paused. Authentication failed. Check the API key" in action
        page = visit(world, world.mara)
        page.follow("View run")
        assert f"/run/{run.pk}/" in page.path and ">Resume</button>" in page.page
        model_run(world, campaign, "B", "failed", "connection")
        assert "1 run of a model failed." in shown(world, world.mara), "first what ended without an answer"
        Run.objects.update(state="draft", stopped_because="")
        assert "2 runs of models have not begun." in shown(world, world.mara)
        Run.objects.update(state="running")
        action = shown(world, world.mara)
        assert "so far. 2 runs of models are not over." in action and "All wanted answers" not in action
        lifecycle.close(campaign, world.mara, timezone.now())
        Run.objects.update(state="failed")
        assert "failed" not in shown(world, world.mara), "a closed campaign takes no answer"


def test_a_stage_with_items_and_no_answer_is_named_before_the_tables(world: World) -> None:
    world.add_items(1)
    first = open_first(world)
    later = add_stage(world, "Second look")
    make_items(later, 2)
    open_first(world, stage=later, target=2)
    answer_all(world, first, world.nour)
    action = shown(world, world.mara)
    assert "“Second look” has no answer yet; 4 are wanted." in action and "The tables are ready" not in action
    assert "“Second look” has 0 of 4." in shown(world, world.reviewer), "who does not plan work is led to the tables"


def test_what_was_returned_comes_before_the_export(world: World) -> None:
    world.add_items(2)
    answer_all(world, open_first(world), world.nour)
    ItemReturn.objects.create(item=world.items[0], comment="Too dark", maker="finder", at=timezone.now())
    assert "1 item was returned to who made it" in shown(world, world.mara)
    ItemReturn.objects.update(undone_at=timezone.now())
    assert "All wanted answers are there." in shown(world, world.mara)


def test_stages_that_were_never_opened_come_before_the_export(world: World) -> None:
    world.add_items(1)
    first = open_first(world)
    add_stage(world, "Second look")
    answer_all(world, first, world.nour)
    action = shown(world, world.mara)
    assert "All answers of the open stages are there. 1 stage is not open yet: “Second look”." in action
    page = visit(world, world.mara)
    page.follow("Open the whole chain")
    assert page.path.endswith("/chain/open/")


def test_a_stage_in_which_the_recipe_asks_nobody_is_owed_no_answer(world: World) -> None:
    """Benchmarks of an earlier version of the recipe have stages that ask people, who are optional now."""
    world.add_items(1)
    first = open_first(world)
    Benchmark.objects.filter(pk=world.benchmark.pk).update(recipe="valueground")
    later = add_stage(world, "Second look")
    make_items(later, 2)
    answer_all(world, first, world.nour)
    for key, text in (("pair-review", "1 stage is not open yet: “Second look”."), ("choice", "All wanted answers are")):
        Stage.objects.filter(pk=later.pk).update(key=key, target_answers=2)
        assert text in shown(world, world.mara)
    assert "Stuck" not in visit(world, world.mara).page


def test_answers_that_nobody_left_may_give_lead_to_the_export_of_what_is_there(world: World) -> None:
    world.add_items(3)
    Stage.objects.filter(pk=world.stage.pk).update(staffing="not_own")
    world.stage.refresh_from_db()
    row = open_first(world).cohorts.get()
    first, *others = world.items
    for person, items in ((world.nour, world.items), (world.tarek, others)):
        for item in items:
            ItemContributor.objects.create(item=item, rater=rater_of(person), own=True)
    assign(row, world.tarek, row.slots.get(unit__item=first), code="3")
    row.tallies.filter(shard=0).update(submitted=1)
    action = shown(world, world.mara)
    assert "Nobody left may give the answers that are missing: “Relevance rating” has 1 of 3." in action
    assert "so far. Answers of people" in shown(world, world.reviewer), "who may not export is told what is missing"
    page = visit(world, world.mara)
    page.follow("Export")
    assert page.path.endswith("/export/")
    world.add_annotators(world.egypt, 1)
    assert "so far. Answers of people: “Relevance rating” has 1 of 3." in shown(world, world.mara), "a newcomer may"


def test_the_export_names_cells_that_lack_items(world: World) -> None:
    world.add_items(2)
    Item.objects.filter(pk__in=[item.pk for item in world.items]).update(concept="bread")
    wanted = {"rows": "cohorts", "columns": "concepts", "names": ["bread", "tea"], "per_cell": 1}
    Stage.objects.filter(pk=world.stage.pk).update(coverage=wanted)
    answer_all(world, open_first(world), world.nour)
    action = shown(world, world.mara)
    assert "“Relevance rating” has what it wants in 1 of 4 cells. All answers that people were asked for are" in action
    assert "All wanted answers" not in action, "cells want more"
    page = visit(world, world.mara)
    page.follow("View the cells")
    assert page.path.endswith(f"/coverage/stages/{world.stage.pk}/")
    for state, button in (("paused", "View the cells"), ("closed", "Export")):
        Campaign.objects.update(state=state)
        action = shown(world, world.mara)
        assert "in 1 of 4 cells" in action and "All wanted answers" not in action
        assert action.index(button) == min(action.index(label) for label in ("View the cells", "Export"))
    Campaign.objects.update(state="open")
    Stage.objects.filter(pk=world.stage.pk).update(coverage={**wanted, "names": ["bread"]})
    assert "All wanted answers are there." in shown(world, world.mara), "the cohort that is not asked owes nothing"


def test_a_few_candidates_that_wait_hide_no_later_action(world: World) -> None:
    world.add_items(4)
    world.stage.items.update(intake="kept")
    world.stage.items.filter(pk=world.items[0].pk).update(intake="waiting")
    assert "Nobody is asked yet." in shown(world, world.mara)
    answer_all(world, open_first(world), world.nour)
    assert "All wanted answers are there." in shown(world, world.mara)


def test_progress_leaves_out_withdrawn_items_and_campaigns_for_models(world: World) -> None:
    world.add_items(3)
    row = open_first(world).cohorts.get()
    slots = list(row.slots.order_by("pk"))
    for slot in slots[:2]:
        assign(row, world.nour, slot, code="3")
    row.tallies.filter(shard=0).update(submitted=2)
    assert "“Relevance rating” has 2 of 3." in shown(world, world.mara)
    Item.objects.filter(pk=slots[0].unit.item_id).update(withdrawn_at=timezone.now())
    assert "“Relevance rating” has 1 of 2." in shown(world, world.mara)
    later = add_stage(world, "Next")
    make_items(later, 2)
    open_chain(world.benchmark, [StageOpening(later.pk, {world.egypt.pk: 0})], world.mara, timezone.now())
    create_missing_slots(later.campaigns.get())
    assert "“Relevance rating” has 1 of 2." in shown(world, world.mara)
    visited = world.client(world.nour).get(f"/work/{later.campaigns.get().pk}/")
    assert "This campaign is paused." in visited.content.decode()
    assert "“Relevance rating” has 1 of 2." in shown(world, world.mara), "a visit is no work"


def test_the_board_and_the_action_of_one_page_read_the_answers_once_and_the_next_page_reads_them_again(
    world: World,
) -> None:
    world.add_items(3)
    row = open_first(world).cohorts.get()
    for n, slot in enumerate(row.slots.order_by("pk")[:2], start=1):
        assign(row, world.nour, slot, code="3")
        row.tallies.filter(shard=0).update(submitted=n)
        with CaptureQueriesContext(connection) as queries:
            page = visit(world, world.mara).page
        read = [query["sql"] for query in queries if "annotation_tally" in query["sql"]]
        assert len(read) == 1
        assert f"“Relevance rating” has {n} of 3." in text_of(page), "the numbers of the action"
        done = re.findall(r'<b>(\d+)</b> <span class="n">(.*?)</span>', page)
        assert [number for number, wanted in done if "3" in wanted] == [str(n)] * 2, "of all cohorts, and of one"


def test_while_people_begin_there_is_nothing_to_do_but_invite(world: World) -> None:
    world.add_items(1)
    open_first(world)
    assert "People have the work on their pages." in shown(world, world.mara)
    CohortMember.objects.update(left_at=timezone.now())
    action = shown(world, world.mara)
    assert "Nobody has joined a cohort yet." in action and "View the cohorts" in action


def test_who_can_do_nothing_is_told_so(world: World) -> None:
    for person in (world.reviewer, world.site_admin):
        assert "Nothing waits for you here." in shown(world, person)


def test_the_first_state_wins_and_its_work_is_bounded(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    finders = {
        50: [lambda _benchmark, _user: next_actions.NextAction("later", "x", "/")],
        10: [lambda _benchmark, _user: None, lambda _benchmark, _user: next_actions.NextAction("sooner", "x", "/")],
    }
    with monkeypatch.context() as patch:
        patch.setattr(next_actions, "_FINDERS", finders)
        assert next_actions.next_action(world.benchmark, world.mara).text == "sooner"
    world.add_items(2)
    open_first(world)

    def count_queries() -> int:
        with CaptureQueriesContext(connection) as queries:
            next_actions.next_action(world.benchmark, world.mara)
        return len(queries)

    before = count_queries()
    world.add_items(40)
    for _number in range(3):
        open_first(world, world.egypt, world.brazil)
    assert count_queries() == before
