"""What was accepted is asked about in the next stage, as long as it is accepted."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from annotation.models import Annotation, Due, ItemContributor, ItemSource, Outcome, Slot
from annotation.services.answers import exclusions, submit
from annotation.services.campaigns import lifecycle
from annotation.services.derivation import derived_items, outbox
from annotation.services.queue import leases, recount, slot_creation
from annotation.services.queue.next_work import no_work_reason
from benchmarks.models import Item, Stage
from people.models import Cohort, User
from tests.annotation.chain.factories import (
    GOOD,
    RULE,
    a_benchmark,
    a_stage,
    answer,
    claim_sheet,
    create_open_campaign,
    create_question_stages,
    items,
    live_items,
    process_derivations,
)
from tests.annotation.queue.factories import a_cohort, a_person
from tests.personas import draw_image

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def counters_stay_true(db: None) -> Any:
    yield
    assert list(recount.iter_differences()) == []


def test_a_question_becomes_an_item_with_its_picture_and_its_author_as_contributor() -> None:
    ask, reply, cohort = create_question_stages()
    writer = a_person(cohort)
    annotation = answer(
        claim_sheet(writer, create_open_campaign(ask, cohort), cohort), question="What is it?", answer="Tea"
    )
    process_derivations()
    [item] = live_items(reply)
    assert (item.text, item.context) == ("What is it?", {"said": "Tea"})
    assert re.fullmatch("ask-000~[0-9a-f]{6}", item.key) and ask.benchmark.pseudonym(writer.pk) not in item.key
    assert ItemSource.objects.get(item=item).annotation == annotation
    assert [one.rater for one in ItemContributor.objects.filter(item=item)] == [writer]
    assert not Due.objects.exists()


def test_deriving_twice_changes_nothing() -> None:
    ask, reply, cohort = create_question_stages(pictures=3)
    campaign, writer = create_open_campaign(ask, cohort), a_person(cohort)
    for n in range(3):
        answer(claim_sheet(writer, campaign, cohort), question=f"{n}?", answer="a")
    process_derivations()
    before = list(Item.objects.filter(stage=reply).order_by("pk").values())
    derived_items.rederive_stage(reply)
    process_derivations()
    assert list(Item.objects.filter(stage=reply).order_by("pk").values()) == before and len(before) == 3


def test_items_of_two_stages_that_share_a_key_both_go_on_in_whatever_steps_they_come() -> None:
    benchmark = a_benchmark()
    first, second = a_stage(benchmark, "found", GOOD), a_stage(benchmark, "made", GOOD)
    derivation = {"kind": "promote", "from": ["found", "made"], "of": "items"}
    both = a_stage(benchmark, "both", GOOD, derivation=derivation)
    for stage in (first, second):
        outbox.mark_items_due([Item.objects.create(stage=stage, key="001", text=stage.key).pk])
        process_derivations()
    before = [(item.pk, item.text) for item in live_items(both)]
    assert [text for _pk, text in before] == ["found", "made"]
    derived_items.rederive_stage(both)
    process_derivations()
    assert [(item.pk, item.text) for item in live_items(both)] == before


def test_an_undone_answer_takes_its_item_away_and_the_same_answer_brings_it_back() -> None:
    ask, reply, cohort = create_question_stages()
    campaign, writer, other = create_open_campaign(ask, cohort), a_person(cohort), a_person(cohort)
    annotation = answer(claim_sheet(writer, campaign, cohort), question="What?", answer="Tea")
    process_derivations()
    replies = create_open_campaign(reply, cohort)
    [first] = live_items(reply)
    submit.undo(annotation.assignment_id, writer, timezone.now())
    process_derivations()
    assert live_items(reply) == [] and claim_sheet(other, replies, cohort) is None
    first.refresh_from_db()
    assert first.withdrawn_because == "source"
    answer(claim_sheet(writer, campaign, cohort), question="What?", answer="Tea")
    process_derivations()
    assert live_items(reply) == [first]
    assert (got := claim_sheet(other, replies, cohort)) and got.unit.item == first


def test_a_corrected_question_is_a_new_item_and_answers_to_the_old_one_are_kept() -> None:
    ask, reply, cohort = create_question_stages()
    campaign, writer, other = create_open_campaign(ask, cohort), a_person(cohort), a_person(cohort)
    annotation = answer(claim_sheet(writer, campaign, cohort), question="What is it", answer="Tea")
    process_derivations()
    replies = create_open_campaign(reply, cohort, target=2)
    old = answer(claim_sheet(other, replies, cohort), answer="Coffee")
    submit.reopen(annotation.assignment_id, writer, timezone.now())
    answer(annotation.assignment, question="What is it?", answer="Tea")
    process_derivations()
    first, second = Item.objects.filter(stage=reply).order_by("pk")
    assert first.withdrawn_because == "source" and second.withdrawn_at is None
    assert (second.key, second.text) == (f"{first.key}.v2", "What is it?")
    old.refresh_from_db()
    assert old.counted and old.answers == {"answer": "Coffee"}
    assert not Slot.objects.get(unit__item=first).open  # closed to a second person
    assert (new := claim_sheet(other, replies, cohort)) and new.unit.item == second


def test_a_correction_of_what_is_not_used_leaves_the_item_as_it_is() -> None:
    ask, reply, cohort = create_question_stages()
    reply.derivation = {"kind": "promote", "from": ["ask"], "params": {"text": "question"}}
    reply.save()
    writer = a_person(cohort)
    annotation = answer(claim_sheet(writer, create_open_campaign(ask, cohort), cohort), question="What?", answer="Tee")
    process_derivations()
    submit.reopen(annotation.assignment_id, writer, timezone.now())
    newer = answer(annotation.assignment, question="What?", answer="Tea")
    process_derivations()
    [item] = Item.objects.filter(stage=reply)
    assert item.withdrawn_at is None and [one.annotation for one in item.sources.all()] == [newer]


def test_what_an_excluded_person_wrote_goes_and_lifting_brings_it_back() -> None:
    ask, reply, cohort = create_question_stages()
    writer, actor = a_person(cohort), User.objects.create(email="boss@example.org", name="B")
    answer(claim_sheet(writer, create_open_campaign(ask, cohort), cohort), question="What?", answer="Tea")
    process_derivations()
    exclusions.exclude(ask.benchmark, writer, "copied", actor, timezone.now())
    process_derivations()
    assert live_items(reply) == []
    exclusions.lift_exclusion(ask.benchmark, writer, actor, timezone.now())
    process_derivations()
    assert [item.text for item in live_items(reply)] == ["What?"]


def test_a_surplus_answer_that_steps_in_is_asked_about() -> None:
    ask, reply, cohort = create_question_stages()
    campaign, first, late = create_open_campaign(ask, cohort), a_person(cohort), a_person(cohort)
    waiting, moment = claim_sheet(late, campaign, cohort, timezone.now() - timedelta(hours=2)), timezone.now()
    leases.release_expired(moment)
    answer(claim_sheet(first, campaign, cohort), question="First?", answer="a")
    assert not answer(waiting, question="Late?", answer="a").counted
    process_derivations()
    assert [item.text for item in live_items(reply)] == ["First?"]
    actor = User.objects.create(email="boss@example.org", name="B")
    exclusions.exclude(ask.benchmark, first, "copied", actor, moment)
    process_derivations()
    assert [item.text for item in live_items(reply)] == ["Late?"]


def test_contributors_of_all_ancestors_are_kept_over_two_steps() -> None:
    ask, reply, cohort = create_question_stages()
    params = {"text": "answer", "context": {"question": "item.text"}}
    check = a_stage(ask.benchmark, "check", GOOD, staffing="others",
                    derivation={"kind": "promote", "from": ["reply"], "params": params})  # fmt: skip
    author, replier, third = (a_person(cohort) for _ in range(3))
    answer(claim_sheet(author, create_open_campaign(ask, cohort), cohort), question="What?", answer="Tea")
    process_derivations()
    replies = create_open_campaign(reply, cohort)
    assert claim_sheet(author, replies, cohort) is None
    answer(claim_sheet(replier, replies, cohort), answer="Coffee")
    process_derivations()
    [item] = live_items(check)
    assert {one.rater for one in ItemContributor.objects.filter(item=item)} == {author, replier}
    checks = create_open_campaign(check, cohort)
    assert claim_sheet(author, checks, cohort) is None and claim_sheet(replier, checks, cohort) is None
    assert claim_sheet(third, checks, cohort) is not None


def test_a_box_is_drawn_by_its_finder_alone_and_checked_by_anybody_else() -> None:
    ask, reply, cohort = create_question_stages()
    reply.staffing = "contributors"
    reply.save()
    finder, other = a_person(cohort), a_person(cohort)
    replies = create_open_campaign(reply, cohort)  # opened before anything was found: it fills as things are
    assert claim_sheet(finder, replies, cohort) is None
    answer(claim_sheet(finder, create_open_campaign(ask, cohort), cohort), question="What?", answer="Tea")
    process_derivations()
    assert claim_sheet(other, replies, cohort) is None
    nothing = no_work_reason(other, replies.cohorts.get(), timezone.now())
    assert nothing and nothing.reason == "for_others", "they have answered nothing here"
    assert claim_sheet(finder, replies, cohort) is not None


def test_one_who_becomes_a_contributor_later_finds_the_slot_before_their_cursor() -> None:
    benchmark = a_benchmark()
    cohort = a_cohort(benchmark.team)
    rate = a_stage(benchmark, "rate", GOOD, acceptance="by_rule", acceptance_rule=RULE)
    again = a_stage(benchmark, "again", GOOD, staffing="contributors",
                    derivation={"kind": "promote", "from": ["rate"], "params": {}})  # fmt: skip
    items(rate, 1)
    ratings, people = create_open_campaign(rate, cohort), [a_person(cohort) for _ in range(2)]
    answer(claim_sheet(people[0], ratings, cohort), good="1")
    process_derivations()
    agains = create_open_campaign(again, cohort, target=2)
    assert claim_sheet(people[1], agains, cohort) is None  # and their cursor went past it
    lifecycle.change_target(ratings.cohorts.get(), 2, None)
    answer(claim_sheet(people[1], ratings, cohort), good="1")
    process_derivations()
    assert claim_sheet(people[1], agains, cohort) is not None


@pytest.mark.parametrize("at", ["judging", "upserting", "linking", "filling"])
def test_a_worker_killed_at_any_step_loses_nothing(at: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ask, reply, cohort = create_question_stages()
    writer, other = a_person(cohort), a_person(cohort)
    replies = create_open_campaign(reply, cohort)
    answer(claim_sheet(writer, create_open_campaign(ask, cohort), cohort), question="What?", answer="Tea")
    where = {"judging": "_next", "upserting": "_make", "linking": "_write_sources", "filling": "sync_campaign_slots"}[
        at
    ]

    def killed(*_args: Any, **_kwargs: Any) -> Any:
        raise SystemExit

    with monkeypatch.context() as broken:
        broken.setattr(derived_items, where, killed)
        with pytest.raises(SystemExit):
            process_derivations()
    process_derivations()
    slot_creation.create_missing_slots(replies)  # as the beat does, each minute
    [item] = live_items(reply)
    assert list(ItemContributor.objects.filter(item=item).values_list("rater", flat=True)) == [writer.pk]
    assert claim_sheet(other, replies, cohort) is not None and claim_sheet(writer, replies, cohort) is None


def a_rated(answers_wanted: int = 3, cohorts: int = 1) -> tuple[Stage, Stage, list[Cohort]]:
    benchmark = a_benchmark()
    rate = a_stage(benchmark, "rate", GOOD, acceptance="by_rule", acceptance_rule=RULE)
    kept = a_stage(benchmark, "kept", GOOD, derivation={"kind": "promote", "from": ["rate"], "params": {}})
    items(rate, 1)
    return rate, kept, [a_cohort(benchmark.team) for _ in range(cohorts)]


def test_a_rule_judges_a_unit_once_all_cohorts_have_given_what_was_asked() -> None:
    rate, next_stage, (one, two) = a_rated(cohorts=2)
    campaign = create_open_campaign(rate, one, two, target=2)
    annotations = [answer(claim_sheet(a_person(one), campaign, one), good="1") for _ in range(2)]
    answer(claim_sheet(a_person(two), campaign, two), good="0")
    process_derivations()
    assert not Outcome.objects.exists() and live_items(next_stage) == []
    answer(claim_sheet(a_person(two), campaign, two), good="1")
    process_derivations()
    outcome = Outcome.objects.get()
    assert (outcome.state, outcome.answers, outcome.failed) == ("accepted", 4, [])
    assert outcome.numbers["passed"] == 3 and outcome.rule_version.number == 1
    assert len(live_items(next_stage)) == 1 and annotations[0].rule_version == "by_rule 1"


def test_the_newest_campaign_that_judged_a_unit_decides() -> None:
    rate, next_stage, [cohort] = a_rated()
    for good, derived in (("1", 1), ("0", 0), ("1", 1)):
        campaign = create_open_campaign(rate, cohort, target=1)
        answer(claim_sheet(a_person(cohort), campaign, cohort), good=good)
        process_derivations()
        assert len(live_items(next_stage)) == derived
    assert list(Outcome.objects.order_by("campaign").values_list("state", flat=True)) == [
        "accepted", "rejected", "accepted",
    ]  # fmt: skip


def test_an_outcome_follows_its_answers_and_names_the_clause_that_failed() -> None:
    rate, next_stage, [cohort] = a_rated()
    campaign = create_open_campaign(rate, cohort, target=1)
    person = a_person(cohort)
    annotation = answer(claim_sheet(person, campaign, cohort), good="1")
    process_derivations()
    assert len(live_items(next_stage)) == 1
    submit.reopen(annotation.assignment_id, person, timezone.now())
    answer(annotation.assignment, good="0")
    process_derivations()
    outcome = Outcome.objects.get()
    assert (outcome.state, outcome.failed) == ("rejected", ["good"]) and live_items(next_stage) == []
    submit.undo(annotation.assignment_id, person, timezone.now())
    process_derivations()
    assert Outcome.objects.get().state == "accepted" and len(live_items(next_stage)) == 1
    actor = User.objects.create(email="boss@example.org", name="B")
    exclusions.exclude(rate.benchmark, person, "x", actor, timezone.now())
    process_derivations()
    assert not Outcome.objects.exists() and live_items(next_stage) == []


def test_more_answers_asked_for_means_not_judged_yet() -> None:
    rate, next_stage, [cohort] = a_rated()
    campaign = create_open_campaign(rate, cohort)
    answer(claim_sheet(a_person(cohort), campaign, cohort), good="1")
    process_derivations()
    lifecycle.change_target(campaign.cohorts.get(), 3, None)
    process_derivations()
    assert not Outcome.objects.exists() and live_items(next_stage) == []
    lifecycle.change_target(campaign.cohorts.get(), 1, None)
    process_derivations()
    assert len(live_items(next_stage)) == 1


def test_a_changed_rule_is_a_new_version_for_the_next_campaign_only() -> None:
    rate, _kept, [cohort] = a_rated()
    first = create_open_campaign(rate, cohort)
    rate.acceptance_rule = {**RULE, "over": "means"}
    rate.save()
    second = create_open_campaign(rate, cohort)
    assert (first.rule_version.number, second.rule_version.number) == (1, 2)
    assert create_open_campaign(rate, cohort).rule_version == second.rule_version


def test_a_rule_that_cannot_be_read_stops_the_opening() -> None:
    rate, _kept, [cohort] = a_rated()
    rate.acceptance_rule = {"clauses": []}
    rate.save()
    with pytest.raises(lifecycle.CampaignRefused):
        create_open_campaign(rate, cohort)


def test_a_source_withdrawn_by_hand_takes_along_what_was_made_of_it() -> None:
    ask, reply, cohort = create_question_stages()
    answer(claim_sheet(a_person(cohort), create_open_campaign(ask, cohort), cohort), question="What?", answer="Tea")
    process_derivations()
    ask.items.update(withdrawn_at=timezone.now(), withdrawn_because="")
    derived_items.mark_changed_items(timezone.now())
    process_derivations()
    assert live_items(reply) == []
    assert derived_items.mark_changed_items(timezone.now()) == 0  # and it is noticed once


def test_nothing_is_noted_where_nobody_waits_for_it() -> None:
    ask, reply, cohort = create_question_stages()
    reply.delete()
    answer(claim_sheet(a_person(cohort), create_open_campaign(ask, cohort), cohort), question="What?", answer="Tea")
    assert not Due.objects.exists() and Annotation.objects.exists()


def test_pictures_of_a_concept_become_a_contact_sheet_that_is_laid_out_once(settings: Any, tmp_path: Any) -> None:
    where = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": tmp_path}}
    settings.STORAGES = {**settings.STORAGES, "default": where}
    benchmark = a_benchmark()
    source_stage = a_stage(benchmark, "found", GOOD)
    clusters = {"kind": "cluster", "from": ["found"], "of": "items", "params": {}}
    sheets = a_stage(benchmark, "sheets", GOOD, derivation=clusters)
    for item in items(source_stage, 3, concept="train"):
        draw_image(item)
    derived_items.rederive_stage(sheets)
    process_derivations()
    [first] = live_items(sheets)
    assert first.key == "train" and sorted(first.context["pictures"]) == ["p001", "p002", "p003"]
    assert "groups" in first.context  # and being laid out makes it no other item
    derived_items.rederive_stage(sheets)
    process_derivations()
    assert live_items(sheets) == [first]
    draw_image(Item.objects.create(stage=source_stage, key="late", concept="train"))
    assert derived_items.mark_changed_items(timezone.now() - timedelta(minutes=10)) == 1
    process_derivations()
    [second] = live_items(sheets)
    assert second != first and len(second.context["pictures"]) == 4


def test_an_item_that_an_earlier_version_derived_keeps_its_key() -> None:
    ask, reply, cohort = create_question_stages()
    writer = a_person(cohort)
    answer(claim_sheet(writer, create_open_campaign(ask, cohort), cohort), question="What is it?", answer="Tea")
    process_derivations()
    [item] = live_items(reply)
    former = f"ask-000/{ask.benchmark.pseudonym(writer.pk)}"
    Item.objects.filter(pk=item.pk).update(key=former)
    derived_items.rederive_stage(reply)
    process_derivations()
    assert [(one.pk, one.key) for one in Item.objects.filter(stage=reply)] == [(item.pk, former)]
    Item.objects.filter(pk=item.pk).update(text="What was it?")
    derived_items.rederive_stage(reply)
    process_derivations()
    [made] = live_items(reply)
    assert made.pk != item.pk and "~" in made.key, "other content is another item"


def test_an_item_that_an_import_completed_is_derived_again() -> None:
    benchmark = a_benchmark()
    first = a_stage(benchmark, "first", GOOD)
    second = a_stage(benchmark, "second", GOOD, derivation={"kind": "promote", "from": ["first"], "of": "items"})
    [item] = items(first, 1)
    derived_items.mark_changed_items(timezone.now() - timedelta(hours=1))
    process_derivations()
    assert [one.text for one in live_items(second)] == [""]
    item.text, item.completed_at = "Filled in", timezone.now()
    item.save()
    Item.objects.filter(pk=item.pk).update(created_at=timezone.now() - timedelta(days=1))
    derived_items.mark_changed_items(timezone.now() - timedelta(hours=1))
    process_derivations()
    assert [one.text for one in live_items(second)] == ["Filled in"]
