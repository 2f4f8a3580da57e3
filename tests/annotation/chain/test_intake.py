"""What filters drop, or what waits for a fact, is derived into nothing; what they keep again comes back."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.utils import timezone

from annotation.models import Annotation, Due
from annotation.services.derivation.derived_counts import count_derived
from annotation.services.queue import recount
from benchmarks.models import FilterResult, Item, ItemFact, Stage
from benchmarks.rules.filters import FilterState
from benchmarks.services.intake import by_hand, filter_versions, judge_job
from jobs.services import runner
from people.models import User
from tests.annotation.chain.factories import (
    ANSWER,
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

pytestmark = pytest.mark.django_db
SCORE: dict[str, Any] = {"key": "score", "kind": "fact", "params": {"key": "clip_score", "least": 23}}
WORDS: dict[str, Any] = {"key": "words", "kind": "blocked_words", "params": {"words": ["logo"], "in": ["text"]}}


@pytest.fixture(autouse=True)
def counters_stay_true(db: None) -> Iterator[None]:
    yield
    assert list(recount.iter_differences()) == []


@pytest.fixture
def user(db: None) -> User:
    return User.objects.create(email="researcher@example.org", name="R")


def carry_out(stage: Stage, *definition: Any) -> None:
    job = filter_versions.set_filters(stage, definition, None)
    runner.run(job.pk if job else judge_job.start(stage, None).pk)
    process_derivations()


def candidates(*scores: float | None, of: str = "kept", **derivation: Any) -> tuple[Stage, Stage]:
    """A stage of candidates with these scores, and a stage that takes them."""
    benchmark = a_benchmark()
    first = a_stage(benchmark, "candidates", ANSWER)
    made = {"kind": "promote", "from": ["candidates"], "of": of, "params": {"text": "item.text"}, **derivation}
    later = a_stage(benchmark, "questions", ANSWER, derivation=made)
    for item, score in zip(items(first, len(scores)), scores, strict=True):
        if score is not None:
            ItemFact.objects.create(item=item, key="clip_score", value=score, source="clip")
    return first, later


def keys(stage: Stage) -> list[str]:
    return [item.key for item in live_items(stage)]


@pytest.mark.parametrize("of", ["items", "kept"])
def test_only_what_is_kept_goes_on(of: str) -> None:
    first, later = candidates(22, 23, None, 25, of=of)
    carry_out(first, SCORE)
    assert keys(later) == ["candidates-001", "candidates-003"]


def test_a_raised_limit_changes_exactly_the_items_between(user: User) -> None:
    first, later = candidates(22, 23, 24, 25)
    carry_out(first, SCORE)
    carry_out(first, {**SCORE, "params": {"key": "clip_score", "least": 25}})
    assert keys(later) == ["candidates-003"]
    carry_out(first, SCORE)
    assert keys(later) == ["candidates-001", "candidates-002", "candidates-003"]
    by_hand.decide(first.items.get(key="candidates-000"), FilterState.KEPT, "Fits", user, timezone.now())
    process_derivations()
    assert len(keys(later)) == 4 and later.items.count() == 4


def test_the_change_is_noted_in_its_own_transaction(user: User) -> None:
    first, later = candidates(30, 30)
    carry_out(first, SCORE)
    by_hand.decide(first.items.get(key="candidates-000"), FilterState.DROPPED, "No", user, timezone.now())
    assert Due.objects.filter(stage=first).exists(), "a worker that dies before the next step loses nothing"
    process_derivations()
    assert keys(later) == ["candidates-001"]


def test_answers_to_a_waiting_item_are_accepted_when_it_is_kept(user: User) -> None:
    ask, reply, cohort = create_question_stages()
    writer, campaign = a_person(cohort), create_open_campaign(ask, cohort)
    filter_versions.set_assign_waiting(ask, True, user)
    carry_out(ask, SCORE)
    annotation = answer(claim_sheet(writer, campaign, cohort), question="What?", answer="Tea")
    process_derivations()
    assert live_items(reply) == [] and Annotation.objects.filter(pk=annotation.pk, counted=True).exists()
    ItemFact.objects.create(item=annotation.assignment.unit.item, key="clip_score", value=30, source="clip")
    carry_out(ask, SCORE)
    assert [item.text for item in live_items(reply)] == ["What?"]


def test_kept_without_one_filter_is_drawn_for_its_calibration() -> None:
    first, later = candidates(10, 20, 30, None, kind="sample", without="score", params={"text": "item.text", "n": 9})
    first.items.filter(key="candidates-001").update(text="Logo")
    carry_out(first, WORDS, SCORE)
    assert keys(later) == ["candidates-000", "candidates-002", "candidates-003"]
    assert count_derived(later, later.derivation) == 3
    carry_out(first, SCORE)
    assert len(keys(later)) == 4, "results that changed no item's state are followed too"


def test_derived_items_are_judged_by_the_filters_of_their_own_stage() -> None:
    first, later = candidates(25, 25)
    first.items.filter(key="candidates-001").update(text="A logo")
    later.filters = [WORDS]
    later.save()
    carry_out(first, SCORE)
    assert dict(later.items.values_list("key", "intake")) == {"candidates-000": "kept", "candidates-001": "dropped"}
    assert FilterResult.objects.filter(item__stage=later).count() == 2


def test_a_derivation_without_a_filter_is_refused_where_it_cannot_be_followed() -> None:
    first, later = candidates(25, without="score")
    carry_out(first, SCORE)
    assert keys(later) == [] and Item.objects.filter(stage=later).count() == 0
    assert count_derived(later, later.derivation) is None


def test_a_cohort_of_a_later_stage_is_offered_no_dropped_source(user: User) -> None:
    first, later = candidates(30, 30)
    carry_out(first, SCORE)
    cohort = a_cohort(first.benchmark.team)
    campaign, person = create_open_campaign(later, cohort), a_person(cohort)
    by_hand.decide(first.items.get(key="candidates-000"), FilterState.DROPPED, "No", user, timezone.now())
    process_derivations()
    offered = claim_sheet(person, campaign, cohort)
    assert offered and offered.unit.item.key == "candidates-001"
    answer(offered, answer="Tea")
    assert claim_sheet(person, campaign, cohort) is None
