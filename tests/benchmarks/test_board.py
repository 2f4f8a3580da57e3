"""The board of the overview: what is done of what is wanted, what waits for whom, and what is stuck and why."""

import re
from datetime import datetime, timedelta
from itertools import product

import pytest
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django.utils.formats import date_format

from annotation.models import (
    Assignment,
    Campaign,
    CampaignCohort,
    ItemContributor,
    Participation,
    ProblemReport,
    Slot,
)
from annotation.queries import board_counts
from annotation.queries.exhausted_cohorts import exhausted_cohorts
from annotation.services.campaigns import lifecycle
from annotation.services.campaigns.chain_opening import StageOpening, open_chain
from annotation.services.queue.next_work import no_work_reason
from benchmarks.models import BenchmarkCondition, FormerJudge, Item, Stage
from benchmarks.pages.board import board_of
from people.models import Cohort, CohortMember, Rater, User
from predictions.models import Call, Run
from tests.chains.link_client import text_of
from tests.personas import World, make_cohort
from tests.samples import assign, rater

pytestmark = pytest.mark.django_db
ROW = re.compile(r"<tr[^>]*>(.*?)</tr>", re.DOTALL)
CELL = re.compile(r'<td role="cell" data-l="[^"]*" data-stage="([^"]+)">(.*?)</td>', re.DOTALL)
HEAD = re.compile(r'<th scope="row"[^>]*><bdi>(.*?)</bdi>', re.DOTALL)


def page_of(world: World, user: User | None = None) -> str:
    reply = world.client(user or world.mara).get(f"/b/{world.benchmark.slug}/")
    assert reply.status_code == 200
    return reply.content.decode()


def board(world: World, user: User | None = None) -> dict[str, dict[str, str]]:
    """Text of each cell by the row's name and the stage's key; under "end" when it is done."""
    rows = {}
    for row in ROW.findall(page_of(world, user)):
        if head := HEAD.search(row):
            cells = {key: text_of(cell) for key, cell in CELL.findall(row)}
            cells["end"] = text_of(row.rpartition('class="end"')[2].partition(">")[2])
            rows[text_of(head[1])] = cells
    return rows


def open_first(world: World, *cohorts: Cohort, target: int = 1) -> Campaign:
    campaign = lifecycle.create(world.stage, "Round 1", world.mara, dict.fromkeys(cohorts or [world.egypt], target))
    lifecycle.open_campaign(campaign, world.mara, timezone.now())
    return campaign


def answer(world: World, row: CampaignCohort, person: User, slot: Slot) -> None:
    """One answer, counted where the queue counts it."""
    assign(row, person, slot, code="3")
    row.tallies.filter(shard=0).update(submitted=Slot.objects.filter(cohort=row, submitted=1).count())


def long_ago(campaign: Campaign) -> None:
    moment = timezone.now() - timedelta(days=6, hours=1)
    Campaign.objects.filter(pk=campaign.pk).update(opened_at=moment)
    Participation.objects.filter(cohort__campaign=campaign).update(last_seen_at=moment)


def test_a_cell_shows_done_of_wanted_and_leaves_out_withdrawn_items(world: World) -> None:
    world.add_items(4)
    campaign = open_first(world, world.egypt, world.brazil)
    row = campaign.cohorts.get(cohort=world.egypt)
    for slot in row.slots.order_by("pk")[:2]:
        answer(world, row, world.nour, slot)
    rows = board(world)
    key = world.stage.key
    assert rows["Egypt"][key].startswith("2 of 4") and rows["Brazil"][key].startswith("0 of 4")
    assert rows["All cohorts"][key].startswith("2 of 8")
    answered = Slot.objects.filter(cohort=row, submitted=1).first()
    assert answered is not None
    Item.objects.filter(pk=answered.unit.item_id).update(withdrawn_at=timezone.now())
    assert board(world)["Egypt"][key].startswith("1 of 3"), "an answer about a withdrawn item is no progress"


def test_a_cohort_without_a_share_of_the_answers_is_not_without_items(world: World) -> None:
    """One answer to one item is wanted of both cohorts together."""
    Stage.objects.filter(pk=world.stage.pk).update(target_in_all=True, has_target=False)
    world.stage.refresh_from_db()
    world.add_items(1)
    open_first(world, world.egypt, world.brazil)
    rows, key = board(world), world.stage.key
    assert sorted([rows["Egypt"][key], rows["Brazil"][key]]) == ["0 of 1", "Other cohorts answer its items"]
    Item.objects.update(withdrawn_at=timezone.now())
    assert "Other cohorts" not in "".join(board(world)[name][key] for name in ("Egypt", "Brazil"))


def test_items_of_a_culture_whose_cohort_is_not_asked_are_named(world: World) -> None:
    """Two countries have captions, of which one is asked; a third one has none."""
    Stage.objects.filter(pk=world.stage.pk).update(own_items_only=True, has_target=False)
    world.stage.refresh_from_db()
    world.add_items(4)
    of_stage = list(world.stage.items.order_by("pk"))
    for item, origin in zip(of_stage, ["Egypt"] * (len(of_stage) - 3) + ["Brazil", "Peru", "Peru"], strict=True):
        Item.objects.filter(pk=item.pk).update(origin=origin)
    key, text = world.stage.key, "3 items of Brazil, Peru are in no open cohort"
    assert "no open cohort" not in page_of(world), "nobody is asked yet"
    open_first(world)
    rows = board(world)
    assert text in rows["All cohorts"][key] and text not in rows["Egypt"][key]
    open_first(world, world.brazil)
    page = page_of(world)
    assert "2 items of Peru are in no open cohort" in board(world)["All cohorts"][key]
    assert f"/items/?stage={key}&amp;origin=Peru" in page
    Item.objects.filter(origin="Peru").update(intake="dropped")
    assert "no open cohort" not in page_of(world)


def test_what_waits_for_review_is_counted_and_leads_to_the_queue(world: World) -> None:
    world.add_items(3)
    Stage.objects.filter(pk=world.stage.pk).update(acceptance="by_review")
    campaign = open_first(world)
    row = campaign.cohorts.get()
    for slot in row.slots.all():
        answer(world, row, world.nour, slot)
    first, second, _third = Assignment.objects.order_by("pk")
    Assignment.objects.filter(pk=first.pk).update(state="accepted")
    Assignment.objects.filter(pk=second.pk).update(state="returned")
    text = board(world)["Egypt"][world.stage.key]
    assert "3 of 3" in text and "1 accepted" in text
    assert "1 waits for review" in text and "1 returned to its author" in text and "Stuck" not in text
    queue = f'/review/?stage={world.stage.pk}&amp;cohort={world.egypt.pk}"'
    assert queue in page_of(world, world.reviewer) and queue not in page_of(world, world.team_admin)
    Assignment.objects.filter(state="submitted").update(changed_at=timezone.now() - timedelta(days=6, hours=1))
    assert "Stuck: no review for 6 days" in board(world)["Egypt"][world.stage.key]
    reply = world.client(world.mara).get(f"/b/{world.benchmark.slug}/items/?cohort={world.egypt.pk}.accepted")
    assert first.unit.item.key in reply.content.decode() and second.unit.item.key not in reply.content.decode()


def test_a_cell_is_stuck_for_the_first_reason_that_holds(world: World) -> None:
    world.add_items(1)
    campaign = open_first(world, target=3)

    def text() -> str:
        return board(world)["Egypt"][world.stage.key]

    assert "Stuck: 3 people wanted, 2 joined" in text()
    CohortMember.objects.filter(cohort=world.egypt).update(left_at=timezone.now())
    assert "Stuck: nobody has joined" in text()
    CohortMember.objects.filter(cohort=world.egypt).update(left_at=None)
    world.add_annotators(world.egypt, 1)
    assert "Stuck" not in text(), "work has only just begun"
    long_ago(campaign)
    assert "Stuck: no answer for 6 days" in text()
    lifecycle.pause(campaign, world.mara)
    assert "Stuck: paused" in text()
    lifecycle.close(campaign, world.mara, timezone.now())
    assert "Stuck: closed, 3 missing" in text()


class TestNobodyLeft:
    """Both people of Egypt wrote or answered what is left: more time brings no answer."""

    @pytest.fixture
    def campaign(self, world: World) -> Campaign:
        world.add_items(3)
        Stage.objects.filter(pk=world.stage.pk).update(staffing="not_own")
        world.stage.refresh_from_db()
        return open_first(world)

    def text(self, world: World) -> str:
        return board(world)["Egypt"][world.stage.key]

    def own(self, person: User, *items: Item) -> None:
        for item in items:
            ItemContributor.objects.create(item=item, rater=rater(person), own=True)

    def test_all_that_is_left_is_their_own(self, world: World, campaign: Campaign) -> None:
        row = campaign.cohorts.get()
        self.own(world.nour, *world.items)
        self.own(world.tarek, *world.items[1:])
        assert "Stuck" not in self.text(world), "one item may still be answered"
        answer(world, row, world.tarek, row.slots.get(unit__item=world.items[0]))
        assert "1 of 3 Stuck: 2 missing, and nobody left may answer. People had a part in them." in self.text(world)
        rows = board(world)
        assert rows["Egypt"]["end"] == rows["All cohorts"]["end"] == "Stuck"
        assert 'class="cell hole"' in page_of(world)
        world.add_annotators(world.egypt, 1)
        assert "Stuck" not in self.text(world), "a newcomer may"

    def test_what_somebody_holds_is_not_stuck(self, world: World, campaign: Campaign) -> None:
        row = campaign.cohorts.get()
        first, *others = world.items
        self.own(world.nour, *world.items)
        self.own(world.tarek, *others)
        slot = row.slots.get(unit__item=first)
        work = assign(row, world.tarek, slot)
        assert "Stuck" not in self.text(world)
        Slot.objects.filter(pk=slot.pk).update(reserved=0)
        Assignment.objects.filter(pk=work.pk).update(state="skipped", skip_reason="unknown", lease_until=None)
        assert "3 missing, and nobody left may answer. People answered or skipped them, or had a part" in self.text(
            world
        )
        Assignment.objects.filter(pk=work.pk).update(state="released", skip_reason="")
        assert "Stuck" not in self.text(world), "who gave it back may take it again"

    def test_a_part_in_the_references_shuts_nobody_out_where_only_own_answers_do(
        self, world: World, campaign: Campaign
    ) -> None:
        for person in (world.nour, world.tarek):
            self.own(person, *world.items)
        ItemContributor.objects.filter(rater=rater(world.tarek)).update(own=False)
        assert "Stuck" not in self.text(world)
        Stage.objects.filter(pk=world.stage.pk).update(staffing="others")
        assert "Stuck: 3 missing, and nobody left may answer. People had a part in them." in self.text(world)
        assert "The cohort has 2 people: invite more." in self.text(world)
        Stage.objects.filter(pk=world.stage.pk).update(staffing="contributors")
        assert "Stuck" not in self.text(world)
        ItemContributor.objects.all().delete()
        assert "Only people who had a part in the items may." in self.text(world)

    @pytest.mark.parametrize("staffing", ["anyone", "others", "not_own", "contributors"])
    def test_nobody_is_left_exactly_where_the_queue_has_no_work(
        self, world: World, campaign: Campaign, staffing: str
    ) -> None:
        """Whatever people had a part in and judged before."""
        Stage.objects.filter(pk=world.stage.pk).update(staffing=staffing)
        row = CampaignCohort.objects.select_related("campaign__stage").get(campaign=campaign)
        first, second = rater(world.nour), rater(world.tarek)
        parts = [{}, {first: True}, {first: False}, {first: True, second: False}, {first: False, second: False}]
        stuck = set()
        for part, judges in product(parts, ([], [world.tarek], [world.nour, world.tarek])):
            ItemContributor.objects.all().delete()
            FormerJudge.objects.all().delete()
            ItemContributor.objects.bulk_create(
                ItemContributor(item=item, rater=person, own=is_own)
                for item, (person, is_own) in product(world.items, part.items())
            )
            FormerJudge.objects.bulk_create(
                FormerJudge(item=item, user=judge) for item, judge in product(world.items, judges)
            )
            reasons = [no_work_reason(person, row, timezone.now()) for person in (first, second)]
            assert (row.pk in exhausted_cohorts([row.pk])) == all(reasons), (part, judges)
            stuck.add(all(reasons))
        assert stuck == {True, False}

    def test_everybody_has_answered_or_reached_the_limit(self, world: World, campaign: Campaign) -> None:
        row = campaign.cohorts.get()
        row.slots.update(wanted=2)
        for person in (world.nour, world.tarek):
            for slot in row.slots.all():
                assign(row, person, slot, code="3")
        row.slots.update(submitted=1)
        row.tallies.filter(shard=0).update(wanted=6, submitted=3)
        assert "3 missing, and nobody left may answer. Everybody has answered or skipped them." in self.text(world)
        CampaignCohort.objects.filter(pk=row.pk).update(most_per_person=1)
        newcomer = world.add_annotators(world.egypt, 1)[0]
        assert "Stuck" not in self.text(world)
        assign(row, newcomer, row.slots.order_by("pk")[0], code="3")
        row.slots.update(submitted=1)
        assert "missing, and nobody left may answer." in self.text(world)
        assert "People reached their limit, or are excluded." in self.text(world)


def test_a_row_with_a_stuck_cell_or_waiting_answers_is_not_complete(world: World) -> None:
    world.add_items(2)
    Stage.objects.filter(pk=world.stage.pk).update(acceptance="by_review")
    campaign = open_first(world)
    row = campaign.cohorts.get()
    for slot in row.slots.all():
        answer(world, row, world.nour, slot)
    rows = board(world)
    assert "2 of 2" in rows["Egypt"][world.stage.key] and "Complete" not in rows["Egypt"][world.stage.key]
    assert rows["Egypt"]["end"] == rows["All cohorts"]["end"] == "No forecast", "a reviewer decides first"
    Assignment.objects.update(changed_at=timezone.now() - timedelta(days=6, hours=1))
    rows = board(world)
    assert "Stuck: no review for 6 days" in rows["Egypt"][world.stage.key]
    assert rows["Egypt"]["end"] == rows["All cohorts"]["end"] == "Stuck"
    Assignment.objects.update(state="accepted")
    rows = board(world)
    assert "Complete" in rows["Egypt"][world.stage.key]
    assert rows["Egypt"]["end"] == rows["All cohorts"]["end"] == "Complete"


def test_a_row_is_not_complete_while_a_judging_stage_has_no_items(world: World) -> None:
    world.add_items(1)
    first = world.stage
    params = {"field": "relevance", "runs": {"settings": [""]}}
    judge = Stage.objects.create(
        benchmark=world.benchmark, key="judge", name="Judge", display="candidate", position=1, sheet=first.sheet,
        derivation={"kind": "verdicts", "from": [first.key], "of": "results", "params": params},
    )  # fmt: skip
    openings = [StageOpening(stage.pk, {world.egypt.pk: 1}) for stage in (first, judge)]
    open_chain(world.benchmark, openings, world.mara, timezone.now())
    row = CampaignCohort.objects.get(campaign__stage=first)
    answer(world, row, world.nour, row.slots.get())
    rows = board(world)
    assert "Complete" in rows["Egypt"][first.key], "this stage is"
    assert rows["Egypt"]["end"] == rows["All cohorts"]["end"] == "“Judge” has no items yet"
    assert sums(world)["Complete by"] == "“Judge” has no items yet"
    Stage.objects.filter(pk=judge.pk).update(derivation={})
    assert board(world)["Egypt"]["end"] == "“Judge” has no items yet", "nothing was imported"
    Stage.objects.filter(pk=judge.pk).update(derivation={"kind": "promote", "from": [first.key]})
    assert board(world)["Egypt"]["end"] == "Complete", "what follows may have no items for good"
    Stage.objects.filter(pk=judge.pk).update(derivation={})
    lifecycle.close(judge.campaigns.get(), world.mara, timezone.now())
    assert board(world)["Egypt"]["end"] == "Complete", "nobody is asked there any more"


def test_a_stage_that_is_open_for_models_only_has_no_cells_of_people(world: World) -> None:
    world.add_items(2)
    open_chain(world.benchmark, [StageOpening(world.stage.pk, {world.egypt.pk: 0})], world.mara, timezone.now())
    assert board(world).get("Egypt", {}).get(world.stage.key, "") == ""
    campaigns = world.client(world.mara).get(f"/b/{world.benchmark.slug}/campaigns/").content.decode()
    for text in (text_of(page_of(world)), text_of(campaigns)):
        assert "Paused" not in text and "0 of" not in text
    assert "Open for models and imports" in campaigns


def test_a_stage_that_asks_nobody_is_a_line_and_no_card(world: World) -> None:
    world.add_items(1)
    asking = world.stage
    Stage.objects.create(
        benchmark=world.benchmark, key="collected", name="Collected", display="words", position=9, target_answers=0,
        sheet=asking.sheet,
    )  # fmt: skip
    cards, _sign, lines = page_of(world).partition('id="collecting"')
    assert f'id="stage-{asking.pk}"' in cards and "Collected</bdi></h2>" not in cards
    assert "Collected</bdi></b>" in lines and 'import/?stage=collected"' in lines
    assert "Import items" not in page_of(world, world.reviewer)


def test_a_model_has_a_row_with_what_it_answered_and_what_was_lost(world: World) -> None:
    world.add_items(4)
    campaign = open_first(world)
    model = Rater.objects.create(kind="model", team=world.team, name="Model", setting="main")
    run = Run.objects.create(
        benchmark=world.benchmark, rater=model, campaign=campaign, task=Run.Task.ANSWERS, complete=True
    )
    states = (("answered", ""), ("answered", ""), ("unparseable", "no_answer"), ("refused", "declined"))
    for item, (state, reason) in zip(world.items, states, strict=True):
        Call.objects.create(run=run, item=item, state=state, reason=reason)
    text = board(world)["Model"][world.stage.key]
    assert text == "2 of 4 1 unreadable 1 refused"
    world.items[0].withdrawn_at = timezone.now()
    world.items[0].save()
    assert board(world)["Model"][world.stage.key].startswith("1 of 3")
    assert f"/predictions/run/{run.pk}/" in page_of(world)
    assert f"/predictions/run/{run.pk}/" not in page_of(world, world.reviewer), "runs are for those who work on it"
    Run.objects.filter(pk=run.pk).update(withdrawn_at=timezone.now())
    assert "Model" not in board(world)


def test_a_way_of_asking_has_its_name_and_what_was_not_asked_did_not_fail(world: World) -> None:
    world.add_items(3)
    campaign = open_first(world)
    name = {"en": "From the picture"}
    BenchmarkCondition.objects.create(
        benchmark=world.benchmark, key="seen", name=name, stage=world.stage.key, prompt="sheet", setting="vlm"
    )
    model = Rater.objects.create(kind="model", team=world.team, name="Model", setting="vlm")
    run = Run.objects.create(benchmark=world.benchmark, rater=model, campaign=campaign, task=Run.Task.ANSWERS)
    states = (("answered", "", 1), ("failed", "is_an_example", 0), ("failed", "connection", 1))
    for item, (state, reason, attempts) in zip(world.items, states, strict=True):
        Call.objects.create(run=run, item=item, state=state, reason=reason, attempts_made=attempts)
    assert board(world)["Model"][world.stage.key] == "1 of 3 1 failed 1 not asked"
    assert "From the picture" in page_of(world)


def test_a_forecast_needs_three_days_of_work(world: World) -> None:
    world.add_items(8)
    campaign = open_first(world)
    row = campaign.cohorts.get()
    for day, slot in enumerate(row.slots.order_by("pk")[:3], start=1):
        answer(world, row, world.nour, slot)
        assert board(world)["Egypt"]["end"] == "No forecast"
        moment = timezone.now() - timedelta(days=day)
        Assignment.objects.get(slot=slot).annotations.update(submitted_at=moment)
    cells = board(world)["Egypt"]
    assert "1 a day, until" in cells[world.stage.key] and cells["end"] not in ("", "No forecast", "Complete")


def sums(world: World) -> dict[str, str]:
    """Text of each figure above the board by its title."""
    rows = re.findall(r"<dt>(.*?)</dt>(.*?)</div>", page_of(world).partition('class="sums"')[2].partition("</dl>")[0])
    return {title: text_of(text) for title, text in rows}


def test_full_days_of_many_answers_are_read_once_a_day(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of few answers at each visit; of many for a while, and anew on the next day."""
    world.add_items(8)
    row, now = open_first(world).cohorts.get(), timezone.now()
    first, second, third = row.slots.order_by("pk")[:3]

    def answer_yesterday(slot: Slot) -> None:
        answer(world, row, world.nour, slot)
        Assignment.objects.get(slot=slot).annotations.update(submitted_at=now - timedelta(days=1))

    def days(at: datetime) -> int:
        counts = board_counts.chain_counts([world.stage], at)
        return sum(counts.cells[world.stage.pk, row.cohort_id].per_day.values())

    cache.clear()
    answer_yesterday(first)
    assert days(now) == 1
    answer_yesterday(second)
    assert days(now) == 2
    monkeypatch.setattr(board_counts, "MANY", 2)
    assert days(now) == 2
    answer_yesterday(third)
    assert days(now) == 2, "kept for a while"
    assert days(now + timedelta(days=1)) == 3, "another day"
    cache.clear()


def test_sums_show_answers_of_a_day_and_the_forecast_or_its_reason(world: World) -> None:
    world.add_items(8)
    assert sums(world) == {}, "nobody is asked yet"
    campaign = open_first(world)
    row = campaign.cohorts.get()
    assert sums(world) == {
        "Answers in the last 24 hours": "0 from 0 of 2 people",
        "Complete by": "No forecast: too few days of work 8 answers missing",
    }
    slots = list(row.slots.order_by("pk"))
    for day, slot in enumerate(slots[:4]):
        answer(world, row, world.nour, slot)
        moment = timezone.now() - timedelta(days=day)
        Assignment.objects.get(slot=slot).annotations.update(submitted_at=moment)
    assert sums(world)["Answers in the last 24 hours"] == "1 from 1 of 2 people"
    assert sums(world)["Complete by"].endswith("4 answers missing at the median of the last seven days")
    answer(world, row, world.nour, slots[4])  # two on the last full day: at that pace 3 need two days, else three
    Assignment.objects.get(slot=slots[4]).annotations.update(submitted_at=timezone.now() - timedelta(days=1))
    first, last = (date_format(timezone.now() + timedelta(days=n), "SHORT_DATE_FORMAT") for n in (2, 3))
    assert sums(world)["Complete by"].endswith(f"{first} to {last}, by the pace of single days")
    Item.objects.filter(pk=slots[0].unit.item_id).update(withdrawn_at=timezone.now())
    assert sums(world)["Answers in the last 24 hours"] == "0 from 0 of 2 people", "as the board counts"
    Campaign.objects.update(state="paused")
    assert sums(world)["Complete by"] == "No forecast: stuck Egypt 3 answers missing"


def test_reported_problems_stand_on_the_overview(world: World) -> None:
    world.add_items(3)
    campaign = open_first(world)
    world.client(world.nour).get(f"/work/{campaign.pk}/")
    work = Assignment.objects.filter(campaign=campaign, in_hand=True).get()
    ProblemReport.objects.create(assignment=work, rater=work.rater, text="upside down")
    assert "1 reported problem waits for an answer" in page_of(world)
    ProblemReport.objects.update(answered_at=timezone.now(), answered_by=world.mara, answer="Thank you")
    assert "waits for an answer" not in page_of(world)


def test_every_link_of_the_board_opens_for_those_who_see_it(world: World) -> None:
    world.add_items(2)
    Stage.objects.filter(pk=world.stage.pk).update(acceptance="by_review")
    row = open_first(world).cohorts.get()
    answer(world, row, world.nour, row.slots.order_by("pk")[0])
    Item.objects.filter(pk=world.items[1].pk).update(intake="waiting")
    for user in (world.mara, world.reviewer, world.team_admin):
        section = page_of(world, user).partition('aria-labelledby="chain"')[2].partition("</section>")[0]
        addresses = set(re.findall(r'href="([^"]+)"', section))
        assert addresses
        for address in addresses:
            reply = world.client(user).get(address.replace("&amp;", "&"), follow=True)
            assert reply.status_code == 200, (user.name, address)


def test_its_queries_do_not_grow_with_cohorts_items_and_campaigns(world: World) -> None:
    world.add_items(2)
    open_first(world)

    def count() -> int:
        with CaptureQueriesContext(connection) as queries:
            board_of(world.benchmark, world.mara, timezone.now())
        return len(queries)

    before = count()
    more = [make_cohort(world.team, f"Cohort {n}") for n in range(6)]
    world.add_items(20)
    for _number in range(3):
        open_first(world, world.egypt, *more)
    assert count() == before
    assert 'class="wrap cards board tight"' in page_of(world), "many cohorts are shown closer together"
