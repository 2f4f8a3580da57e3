"""What a file may say of people who are here: each stays one rater, and what was decided of an answer holds."""

import json
from typing import Any

import pytest
from django.utils import timezone

from annotation.models import Annotation, Assignment, Campaign, Rating
from annotation.pages.home import answers_today
from annotation.queries import review_queue
from annotation.services.campaigns import lifecycle
from annotation.services.files import withdrawals
from annotation.services.review import reviews
from benchmarks.models import Stage
from people.models import Rater
from people.services.raters import rater_of
from tests.annotation.files.test_answer_files import counted_ratings, export_zip, import_answers, rows_of
from tests.evaluation.data import NOON, an_open_campaign, give_ratings, of_condition, table
from tests.importing import outcomes
from tests.module_world import built_once
from tests.personas import World


@built_once
def campaign(world: World) -> Campaign:
    world.add_items(8)
    campaign = an_open_campaign(world)
    table(campaign, world.egypt, of_condition(world.items, "natural"), {world.nour: "1234", world.tarek: "12.5"})
    return campaign


def name_of(world: World, user: Any) -> str:
    return world.benchmark.pseudonym(rater_of(user).pk)


def test_an_export_into_its_own_campaign_adds_nobody(world: World, campaign: Campaign) -> None:
    before, raters = counted_ratings(campaign), Rater.objects.count()
    job = import_answers(campaign, export_zip(world, campaign, "jsonl"))
    assert set(outcomes(job).values()) == {("unchanged", "")}
    assert counted_ratings(campaign) == before and Rater.objects.count() == raters


def test_a_row_says_nothing_in_the_place_of_who_was_given_the_item(world: World, campaign: Campaign) -> None:
    item, free = of_condition(world.items, "natural")[2], of_condition(world.items, "generated")[0]
    rows = [
        {"item": item.key, "rater": name_of(world, world.nour), "answers": {"relevance": "5"}},
        {"item": item.key, "rater": name_of(world, world.tarek), "answers": {"relevance": "5"}},  # was not given it
        {"item": free.key, "rater": name_of(world, world.nour), "answers": {"relevance": "5"}},
    ]
    job = import_answers(campaign, rows_of(world, *rows), "a.jsonl")
    assert outcomes(job) == {1: ("error", "already_there"), 2: ("created", ""), 3: ("created", "")}
    assert "already has this item in the campaign" in job.rows.get(number=1).message
    assert Annotation.objects.get(assignment__unit__item=item, rater=rater_of(world.nour)).answers["relevance"] == "3"
    assert Annotation.objects.filter(assignment__unit__item=free).get().rater == rater_of(world.nour)


def test_a_rater_of_a_file_comes_back_as_the_same(world: World, campaign: Campaign) -> None:
    import_answers(campaign, rows_of(world, {"rater": "Ana"}), "a.jsonl")
    [ana] = Rater.objects.filter(name="Ana")
    again = an_open_campaign(world, name="Empty")
    import_answers(again, export_zip(world, campaign, "csv"))
    assert counted_ratings(again) == counted_ratings(campaign)
    assert Annotation.objects.filter(assignment__campaign=again, rater=ana).count() == 1


def test_a_name_that_only_looks_like_a_pseudonym_is_a_rater_of_the_file(world: World, campaign: Campaign) -> None:
    other = world.other_benchmark.pseudonym(rater_of(world.nour).pk)
    import_answers(campaign, rows_of(world, {"rater": other}), "a.jsonl")
    assert Rater.objects.get(name=other).user is None


def test_imported_answers_are_not_in_the_persons_history(world: World, campaign: Campaign) -> None:
    """It is theirs in the numbers; to their own days and their history it never happened here."""
    again = an_open_campaign(world, name="Came in a file")
    import_answers(again, rows_of(world, {"rater": name_of(world, world.nour)}), "a.jsonl")
    imported = Assignment.objects.get(campaign=again)
    assert imported.rater.user == world.nour
    nour = world.client(world.nour)
    history = nour.get("/work/history/").content.decode()
    assert history.count("Round one") >= 4 and "Came in a file" not in history
    own = Assignment.objects.filter(campaign=campaign, rater=imported.rater).latest("pk")
    assert nour.get(f"/assignments/{own.pk}/picture").status_code == 200
    assert nour.get(f"/assignments/{imported.pk}/picture").status_code == 404
    assert nour.post(f"/assignments/{imported.pk}/change").status_code == 404
    assert answers_today(world.nour, timezone.now()) == []


@pytest.mark.parametrize(
    ("decision", "state"), [("reject", "rejected"), ("accept", "accepted"), ("return", "returned")]
)
def test_withdrawn_and_brought_back_an_answer_keeps_its_decision(
    world: World, campaign: Campaign, decision: str, state: str
) -> None:
    Stage.objects.filter(pk=world.stage.pk).update(acceptance="by_review")
    again = an_open_campaign(world, name="Empty")
    data = rows_of(world, {"rater": "r1"}, {"rater": "r2"})
    job = import_answers(again, data, "a.jsonl")
    decided, waits = Annotation.objects.filter(assignment__campaign=again).order_by("pk")
    review = reviews.decide(decided.pk, world.reviewer, decision, NOON, reason="mistake")
    withdrawals.withdraw(job, world.owner, NOON)
    import_answers(again, data, "a.jsonl")
    decided.refresh_from_db()
    counts = decision != "reject"
    assert (decided.live, decided.counted, decided.uncounted_because) == (True, counts, "" if counts else "rejected")
    assert Rating.objects.get(annotation=decided).counted == counts
    assert Assignment.objects.get(pk=decided.assignment_id).state == state
    waiting = review_queue.waiting_answers(world.benchmark, world.reviewer).filter(assignment__campaign=again)
    assert list(waiting) == [waits]
    reviews.undo(review.pk, world.reviewer, timezone.now())  # nobody is without a way on
    assert set(waiting.all()) == {decided, waits} and Rating.objects.get(annotation=decided).counted


def test_a_rejected_answer_of_a_file_waits_for_nobody(world: World, campaign: Campaign) -> None:
    Stage.objects.filter(pk=world.stage.pk).update(acceptance="by_review")
    again = an_open_campaign(world, name="Empty")
    refused = {"rater": "r1", "counted": False, "uncounted_because": "rejected"}
    import_answers(again, rows_of(world, refused, {"rater": "r2"}), "a.jsonl")
    waiting = review_queue.waiting_answers(world.benchmark, world.reviewer).filter(assignment__campaign=again)
    assert [one.rater.name for one in waiting] == ["r2"]
    batch = review_queue.review_counts([again.stage])[again.stage_id]
    assert (batch.waiting, batch.rejected) == (1 + 7, 1)  # 7: of the campaign before


def test_what_comes_into_a_closed_campaign_is_kept_and_does_not_count(world: World, campaign: Campaign) -> None:
    again = an_open_campaign(world, name="Empty")
    import_answers(again, rows_of(world, {"rater": "before"}), "a.jsonl")
    lifecycle.close(again, world.owner, NOON)
    import_answers(again, rows_of(world, {"rater": "after"}), "b.jsonl")
    states = {one.rater.name: (one.live, one.counted, one.uncounted_because)
            for one in Annotation.objects.filter(assignment__campaign=again)}  # fmt: skip
    assert states == {"before": (True, True, ""), "after": (True, False, "closed")}
    assert Rating.objects.filter(campaign=again, counted=True).count() == 1


def test_withdrawal_removes_only_answers_of_the_file(world: World, campaign: Campaign) -> None:
    """A page may send any key with its answer, also one that a file's would begin with."""
    job = import_answers(campaign, rows_of(world, {"rater": "r1"}), "a.jsonl")
    [own] = give_ratings(campaign, world.brazil, world.bia, {world.items[0]: "4"})
    imported = Annotation.objects.get(rater__name="r1")
    Annotation.objects.filter(pk=own.pk).update(client_key=imported.client_key[:-1] + "77")
    assert withdrawals.answers_of(job) == 1
    assert withdrawals.withdraw(job, world.owner, NOON) == 1
    own.refresh_from_db()
    imported.refresh_from_db()
    assert (own.live, imported.live) == (True, False)


def test_one_bad_row_leaves_the_others(world: World, campaign: Campaign) -> None:
    again = an_open_campaign(world, name="Empty")
    deep = b'{"item": "x", "answers": ' + b"[" * 600 + b"]" * 600 + b"}\n"
    job = import_answers(
        again, deep + rows_of(world, {"rater": "r\u0000 one"}) + json.dumps({"item": "\ud800"}).encode(), "a.jsonl"
    )
    assert outcomes(job) == {1: ("error", "unreadable"), 2: ("created", ""), 3: ("error", "not_utf8")}
    assert Rater.objects.filter(name="r one").exists()
