"""How many answers there are of those wanted: every page says the same, and leaves out what nobody can use any more."""

import re

import pytest
from django.test import Client
from django.utils import timezone

from annotation.models import Assignment, Campaign, Slot
from annotation.queries import review_batches, review_list, review_queue
from annotation.queries.board_counts import chain_counts
from annotation.queries.progress import Progress, progress_of, usable_progress
from annotation.queries.reviewer_pace import present_wait
from annotation.queries.second_reviews import waiting_seconds
from annotation.services.campaigns import lifecycle
from annotation.services.queue import recount
from annotation.services.review import batches, reviews, second_draws
from annotation.services.review.batches import SampleSize
from benchmarks.models import Benchmark, Item, Stage
from people.services.raters import rater_of
from tests.annotation.chain.factories import QUESTION, a_stage
from tests.annotation.chain.written_answers import write_answers
from tests.benchmarks.test_board import answer, board
from tests.chains.link_client import text_of
from tests.module_world import built_once
from tests.personas import World

pytestmark = pytest.mark.django_db
COUNT = re.compile(r"(\d+) of (\d+)")


@built_once
def campaign(world: World) -> Campaign:
    """Egypt has answered three of five items."""
    Benchmark.objects.filter(pk=world.benchmark.pk).update(is_public=True)
    world.add_items(5)
    campaign = lifecycle.create(world.stage, "Round 1", world.mara, {world.egypt: 1})
    lifecycle.open_campaign(campaign, world.mara, timezone.now())
    row = campaign.cohorts.get()
    for slot in row.slots.order_by("pk")[:3]:
        answer(world, row, world.nour, slot)
    return campaign


def shown(world: World, campaign: Campaign) -> dict[str, tuple[str, ...]]:
    """Given and wanted, as each page says it first."""
    pages = {
        "home": (world.client(world.tarek), "/work/"),
        "sheet": (world.client(world.tarek), f"/work/{campaign.pk}/"),
        "list": (world.client(world.mara), "/benchmarks/"),
        "public page": (Client(), f"/public/{world.benchmark.slug}/"),
        "campaigns": (world.client(world.mara), f"/b/{world.benchmark.slug}/campaigns/"),
        "campaign": (world.client(world.mara), f"/b/{world.benchmark.slug}/campaigns/{campaign.pk}/"),
        "cohort": (world.client(world.manager), f"/cohorts/{world.egypt.pk}/"),
    }
    texts = {name: text_of(client.get(url).content.decode()) for name, (client, url) in pages.items()}
    texts["board"] = board(world)["Egypt"][world.stage.key]
    found = {name: COUNT.search(text) for name, text in texts.items()}
    return {name: match.groups() if match else (texts[name],) for name, match in found.items()}


def answered(campaign: Campaign, n: int) -> list[int]:
    slots = Slot.objects.filter(cohort__campaign=campaign, submitted=1).order_by("pk")[:n]
    return [slot.unit.item_id for slot in slots.select_related("unit")]


def test_every_page_leaves_out_withdrawn_and_dropped_items(world: World, campaign: Campaign) -> None:
    assert set(shown(world, campaign).values()) == {("3", "5")}
    withdrawn, dropped = answered(campaign, 2)
    Item.objects.filter(pk=withdrawn).update(withdrawn_at=timezone.now())
    Item.objects.filter(pk=dropped).update(intake=Item.Intake.DROPPED)
    counts = shown(world, campaign)
    assert set(counts.values()) == {("1", "3")}, counts
    Item.objects.filter(pk=withdrawn).update(withdrawn_at=None)
    assert set(shown(world, campaign).values()) == {("2", "4")}, "a restored item counts again"


def test_the_board_leaves_out_answers_of_files_to_dropped_items(world: World) -> None:
    stage = a_stage(world.benchmark, "ask", QUESTION)
    campaign, answers = write_answers(stage, world.egypt, {rater_of(world.nour): 3})
    Assignment.objects.filter(campaign=campaign).update(participation=None, slot=None)
    Slot.objects.filter(cohort__campaign=campaign).delete()
    recount.repair()

    def count() -> int:
        return chain_counts([stage], timezone.now()).totals[stage.pk].answered

    assert count() == 3
    Item.objects.filter(pk=answers[0].assignment.unit.item_id).update(intake=Item.Intake.DROPPED)
    assert count() == 2


def test_a_waiting_item_counts_where_the_stage_assigns_it(world: World, campaign: Campaign) -> None:
    Item.objects.filter(pk__in=answered(campaign, 1)).update(intake=Item.Intake.WAITING)
    assert set(shown(world, campaign).values()) == {("2", "4")}
    Stage.objects.filter(pk=world.stage.pk).update(assign_waiting=True)
    assert set(shown(world, campaign).values()) == {("3", "5")}


def test_the_sums_of_an_answer_are_corrected_alike(world: World, campaign: Campaign) -> None:
    row = campaign.cohorts.get()
    Item.objects.filter(pk__in=answered(campaign, 1)).update(withdrawn_at=timezone.now())
    assert usable_progress(row.pk, Progress(3, 5)) == progress_of([row.pk])[row.pk] == Progress(2, 4)


def waiting(world: World, stage: Stage) -> dict[str, object]:
    """How many answers wait for a decision, as each page counts them."""
    benchmark, reviewer, at = world.benchmark, world.reviewer, timezone.now()
    rows = review_list.matching_answers(benchmark, reviewer, review_list.ReviewFilter())
    return {
        "board": chain_counts([stage], at).totals[stage.pk].waiting,
        "home": review_queue.count_waiting_answers([benchmark], reviewer).get(benchmark.pk, (0, None))[0],
        "review": review_queue.waiting_answers(benchmark, reviewer).count(),
        "stage": review_queue.review_counts([stage])[stage.pk].waiting,
        "list": review_list.count_by_state(rows, benchmark, reviewer)["submitted"],
        "pace": present_wait(benchmark, at).n,
        "samples": sum(map(len, review_batches.waiting_by_author(stage, reviewer).values())),
    }


def test_every_page_counts_the_answers_alike_that_wait_for_a_reviewer(world: World) -> None:
    stage = a_stage(world.benchmark, "ask", QUESTION, acceptance="by_review")
    _campaign, _answers = write_answers(stage, world.egypt, {rater_of(world.nour): 9})
    assert set(waiting(world, stage).values()) == {9}
    batches.draw_samples(stage, world.reviewer, SampleSize(number=5), 0.2, 1, timezone.now())
    [batch] = stage.review_batches.all()
    sampled = batch.sample.order_by("annotation").values_list("annotation__assignment__unit__item", flat=True)
    Item.objects.filter(pk=sampled[0]).update(withdrawn_at=timezone.now())
    Item.objects.filter(pk=sampled[1]).update(intake=Item.Intake.DROPPED)
    counts = waiting(world, stage)
    assert set(counts.values()) == {7}, counts
    assert review_batches.sample_counts([batch.pk])[batch.pk].undecided == 3, "what nobody is shown holds up no sample"
    Item.objects.filter(pk=sampled[0]).update(withdrawn_at=None)
    assert set(waiting(world, stage).values()) == {8}, "a restored item's answer waits again"


def test_second_reviews_of_withdrawn_items_wait_for_nobody(world: World) -> None:
    stage = a_stage(world.benchmark, "ask", QUESTION, acceptance="by_review")
    _campaign, answers = write_answers(stage, world.egypt, {rater_of(world.nour): 2})
    second_draws.set_share(stage, 100, 1, world.owner, timezone.now())
    for answer_ in answers:
        reviews.decide(answer_.pk, world.reviewer, "accept", timezone.now())
    assert waiting_seconds(world.benchmark, world.mara).count() == 2
    Item.objects.filter(pk=answers[0].assignment.unit.item_id).update(withdrawn_at=timezone.now())
    assert waiting_seconds(world.benchmark, world.mara).count() == 1
