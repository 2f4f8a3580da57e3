"""People decide on the answers of others; authors see it and correct; every version and decision stays."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.models import Annotation, Assignment, Campaign, ItemContributor, Rating, Review, Slot
from annotation.queries import review_queue
from annotation.services.answers import exclusions, submit
from annotation.services.campaigns import lifecycle
from annotation.services.queue import leases, recount
from annotation.services.review import reviews
from annotation.services.review.reviews import ReviewRefused
from benchmarks.models import Benchmark, Stage
from people.models import Cohort, Rater, User
from tests.annotation.chain.factories import (
    answer,
    claim_sheet,
    create_open_campaign,
    create_question_stages,
    live_items,
    process_derivations,
)
from tests.annotation.queue.factories import a_person
from tests.module_world import built_once

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def counters_stay_true(db: None) -> Any:
    yield
    assert list(recount.iter_differences()) == []


class Scene:
    """Questions that a reviewer decides on, before others answer them."""

    def __init__(self, pictures: int = 1, target: int = 1) -> None:
        self.ask, self.reply, self.cohort = create_question_stages("by_review", pictures)
        self.campaign = create_open_campaign(self.ask, self.cohort, target=target)
        self.writer = a_person(self.cohort)
        self.reviewer = a_user("reviewer")

    def written(self, question: str = "What is it", writer: Rater | None = None) -> Annotation:
        return answer(claim_sheet(writer or self.writer, self.campaign, self.cohort), question=question, answer="Tea")

    def decide(self, annotation: Annotation, decision: str, **more: Any) -> Review:
        if decision != "accept":
            more = {"reason": "unclear"} | more
        return reviews.decide(annotation.pk, self.reviewer, decision, timezone.now(), **more)

    def state(self, given: Annotation) -> str:
        return Assignment.objects.get(pk=given.assignment_id).state

    @property
    def benchmark(self) -> Benchmark:
        return self.ask.benchmark


def a_user(name: str) -> User:
    return User.objects.create(email=f"{name}@example.org", name=name.title())


@built_once
def scene() -> Scene:
    return Scene()


def refused(deed: Any) -> str:
    with pytest.raises(ReviewRefused) as error:
        deed()
    return error.value.reason


def test_only_what_a_reviewer_accepted_goes_on(scene: Scene) -> None:
    annotation = scene.written()
    process_derivations()
    assert live_items(scene.reply) == [] and scene.state(annotation) == "submitted"
    scene.decide(annotation, "accept")
    process_derivations()
    assert [item.text for item in live_items(scene.reply)] == ["What is it"] and scene.state(annotation) == "accepted"


def test_returned_corrected_accepted_with_all_versions_and_decisions_kept(scene: Scene) -> None:
    first = scene.written()
    scene.decide(first, "return", comment="No question mark.")
    assert scene.state(first) == "returned"
    submit.reopen(first.assignment_id, scene.writer, timezone.now())
    assert Review.objects.get().seen_at is not None
    second = answer(first.assignment, question="What is it?", answer="Tea")
    assert (scene.state(second), second.version) == ("submitted", 2)
    assert list(review_queue.waiting_answers(scene.benchmark, scene.reviewer)) == [second]
    scene.decide(second, "accept")
    process_derivations()
    assert [item.text for item in live_items(scene.reply)] == ["What is it?"]
    kept = Review.objects.filter(annotation__assignment=first.assignment_id).order_by("at")
    assert [(one.annotation.version, one.decision) for one in kept] == [(1, "return"), (2, "accept")]


def test_a_return_keeps_the_moment_at_which_its_author_first_saw_it(scene: Scene) -> None:
    written = scene.written()
    scene.decide(written, "return")
    first = timezone.now()
    for minutes in (0, 5):
        submit.reopen(written.assignment_id, scene.writer, first + timedelta(minutes=minutes))
    assert Review.objects.get().seen_at == first


def test_a_returned_answer_keeps_its_place_and_counts_until_it_is_replaced(scene: Scene) -> None:
    annotation = scene.written()
    scene.decide(annotation, "return")
    annotation.refresh_from_db()
    assert annotation.counted and Slot.objects.get().submitted == 1
    assert claim_sheet(a_person(scene.cohort), scene.campaign, scene.cohort) is None


def test_rejecting_opens_the_place_for_somebody_else(scene: Scene) -> None:
    annotation = scene.written()
    scene.decide(annotation, "reject")
    annotation.refresh_from_db()
    assert (annotation.counted, annotation.uncounted_because, scene.state(annotation)) == (
        False,
        "rejected",
        "rejected",
    )
    assert claim_sheet(scene.writer, scene.campaign, scene.cohort) is None
    assert claim_sheet(a_person(scene.cohort), scene.campaign, scene.cohort) is not None


def test_rejecting_counts_the_oldest_answer_that_waited_for_a_place(scene: Scene) -> None:
    late = a_person(scene.cohort)
    assignment = claim_sheet(late, scene.campaign, scene.cohort, timezone.now() - timedelta(hours=2))
    leases.release_expired(timezone.now())
    annotation = scene.written()
    waiting = answer(assignment, question="Mine?", answer="Tea")
    assert not waiting.counted and list(review_queue.waiting_answers(scene.benchmark, scene.reviewer)) == [annotation]
    scene.decide(annotation, "reject")
    waiting.refresh_from_db()
    assert waiting.counted and list(review_queue.waiting_answers(scene.benchmark, scene.reviewer)) == [waiting]


def test_an_answer_can_be_changed_until_it_is_decided_on_and_not_after(scene: Scene) -> None:
    annotation = scene.written()
    submit.reopen(annotation.assignment_id, scene.writer, timezone.now())
    scene.decide(annotation, "accept")
    with pytest.raises(submit.AssignmentStateError, match="decided"):
        answer(annotation.assignment, question="Another?", answer="Tea")
    with pytest.raises(submit.AssignmentStateError):
        submit.undo(annotation.assignment_id, scene.writer, timezone.now())


def test_a_decision_on_a_version_that_was_replaced_is_refused(scene: Scene) -> None:
    annotation = scene.written()
    submit.reopen(annotation.assignment_id, scene.writer, timezone.now())
    newer = answer(annotation.assignment, question="What is it?", answer="Tea")
    assert refused(lambda: scene.decide(annotation, "accept")) == "newer"
    assert scene.decide(newer, "accept")


def test_nobody_decides_on_their_own_work_nor_on_what_they_had_a_part_in(scene: Scene) -> None:
    annotation, part, other = scene.written(), a_person(scene.cohort), a_person(scene.cohort)
    item = annotation.assignment.unit.item
    ItemContributor.objects.create(item=item, rater=part)
    for person in (scene.writer, part):
        assert person.user and not review_queue.waiting_answers(scene.benchmark, person.user).exists()
        scene.reviewer = person.user
        assert refused(lambda: scene.decide(annotation, "accept")) == "own"
    assert other.user and list(review_queue.waiting_answers(scene.benchmark, other.user)) == [annotation]
    scene.reviewer = other.user
    assert scene.decide(annotation, "accept")


def test_two_reviewers_decide_once(scene: Scene) -> None:
    annotation = scene.written()
    scene.decide(annotation, "accept")
    scene.reviewer = a_user("second")
    assert refused(lambda: scene.decide(annotation, "return")) == "decided"
    with pytest.raises(IntegrityError), transaction.atomic():  # and the database holds it, too
        Review.objects.create(annotation=annotation, reviewer=scene.reviewer, decision="accept", at=timezone.now())


@pytest.mark.parametrize("decision", ["return", "reject"])
def test_a_return_and_a_rejection_say_why(scene: Scene, decision: str) -> None:
    annotation = scene.written()
    assert refused(lambda: scene.decide(annotation, decision, reason="")) == "no_reason"
    assert refused(lambda: scene.decide(annotation, decision, reason="made_up")) == "no_reason"
    assert scene.decide(annotation, decision, reason="other")


def test_a_decision_keeps_its_comment_cut_and_an_acceptance_names_no_reason(scene: Scene) -> None:
    review = scene.decide(scene.written(), "accept", reason="unclear", comment=f"  {'x' * 3000}")
    review.refresh_from_db()
    assert review.reason == "" and review.comment == "x" * reviews.MOST_COMMENT


def test_a_decision_on_an_answer_that_its_author_took_back_says_that_it_is_gone(scene: Scene) -> None:
    annotation = scene.written()
    submit.undo(annotation.assignment_id, scene.writer, timezone.now())
    assert refused(lambda: scene.decide(annotation, "accept")) == "gone"


def test_an_answer_whose_decision_was_undone_waits_where_it_was_in_the_queue() -> None:
    scene = Scene(pictures=2)
    first, second = scene.written(), scene.written()
    review = scene.decide(first, "accept")
    reviews.undo(review.pk, scene.reviewer, timezone.now())
    assert list(review_queue.waiting_answers(scene.benchmark, scene.reviewer)) == [first, second]
    first.refresh_from_db()
    assert Assignment.objects.get(pk=first.assignment_id).changed_at == first.submitted_at


def test_a_stage_has_reasons_of_its_own(scene: Scene) -> None:
    Stage.objects.filter(pk=scene.ask.pk).update(review_reasons=[{"code": "stereotype", "label": {"en": "Stereotype"}}])
    given = scene.written()
    assert refused(lambda: scene.decide(given, "reject", reason="unclear")) == "no_reason"
    assert scene.decide(given, "reject", reason="stereotype")


@pytest.mark.parametrize("decision", ["accept", "return", "reject"])
def test_taking_a_decision_back_lets_the_answer_wait_again(scene: Scene, decision: str) -> None:
    annotation = scene.written()
    made = scene.decide(annotation, decision)
    process_derivations()
    reviews.undo(made.pk, scene.reviewer, timezone.now())
    process_derivations()
    annotation.refresh_from_db()
    assert annotation.counted and scene.state(annotation) == "submitted" and live_items(scene.reply) == []
    assert list(review_queue.waiting_answers(scene.benchmark, scene.reviewer)) == [annotation]
    assert scene.decide(annotation, "accept")


def test_only_the_reviewer_and_those_who_run_the_benchmark_take_it_back(scene: Scene) -> None:
    review = scene.decide(scene.written(), "accept")
    other = a_user("second")
    assert refused(lambda: reviews.undo(review.pk, other, timezone.now())) == "not_yours"
    assert reviews.undo(review.pk, other, timezone.now(), runs=True)
    assert refused(lambda: reviews.undo(review.pk, scene.reviewer, timezone.now())) == "gone"


def test_a_rejection_taken_back_when_its_place_is_gone_waits_as_surplus(scene: Scene) -> None:
    annotation = scene.written()
    made = scene.decide(annotation, "reject")
    scene.written("Mine?", a_person(scene.cohort))
    reviews.undo(made.pk, scene.reviewer, timezone.now())
    annotation.refresh_from_db()
    assert (annotation.counted, annotation.uncounted_because) == (False, "surplus")
    assert not Rating.objects.filter(annotation=annotation, counted=True).exists()


def test_a_return_is_not_taken_back_once_it_was_corrected(scene: Scene) -> None:
    annotation = scene.written()
    review = scene.decide(annotation, "return")
    submit.reopen(annotation.assignment_id, scene.writer, timezone.now())
    answer(annotation.assignment, question="What is it?", answer="Tea")
    assert refused(lambda: reviews.undo(review.pk, scene.reviewer, timezone.now())) == "newer"


def test_an_undone_correction_is_again_a_returned_answer(scene: Scene) -> None:
    annotation = scene.written()
    scene.decide(annotation, "return")
    submit.reopen(annotation.assignment_id, scene.writer, timezone.now())
    answer(annotation.assignment, question="What is it?", answer="Tea")
    submit.undo(annotation.assignment_id, scene.writer, timezone.now())
    annotation.refresh_from_db()
    assert annotation.live and annotation.counted and scene.state(annotation) == "returned"
    assert answer(annotation.assignment, question="What is this?", answer="Tea").version == 3


def test_an_undone_change_of_an_answer_whose_return_was_undone_waits_for_a_decision(scene: Scene) -> None:
    annotation = scene.written()
    reviews.undo(scene.decide(annotation, "return").pk, scene.reviewer, timezone.now())
    submit.reopen(annotation.assignment_id, scene.writer, timezone.now())
    answer(annotation.assignment, question="What is it?", answer="Tea")
    submit.undo(annotation.assignment_id, scene.writer, timezone.now())
    assert scene.state(annotation) == "submitted" and scene.decide(annotation, "accept")


def test_a_returned_answer_whose_author_never_comes_back_can_be_rejected(scene: Scene) -> None:
    annotation = scene.written()
    scene.decide(annotation, "return")
    assert refused(lambda: scene.decide(annotation, "accept")) == "decided"
    scene.decide(annotation, "reject")
    assert scene.state(annotation) == "rejected"
    assert claim_sheet(a_person(scene.cohort), scene.campaign, scene.cohort) is not None
    assert Review.objects.filter(annotation=annotation).count() == 2


def test_after_the_close_there_is_accepting_and_rejecting_but_no_way_back_to_the_author(scene: Scene) -> None:
    annotation = scene.written()
    lifecycle.close(scene.campaign, None, timezone.now())
    assert refused(lambda: scene.decide(annotation, "return")) == "closed"
    assert scene.decide(annotation, "accept")


def test_an_excluded_persons_answers_do_not_wait_and_their_rejection_taken_back_stays_out() -> None:
    scene = Scene(pictures=2)
    first, second = scene.written("One?"), scene.written("Two?")
    review = scene.decide(first, "reject")
    exclusions.exclude(scene.benchmark, scene.writer, "copied", scene.reviewer, timezone.now())
    assert not review_queue.waiting_answers(scene.benchmark, scene.reviewer).exists()
    assert refused(lambda: scene.decide(second, "accept")) == "gone"
    reviews.undo(review.pk, scene.reviewer, timezone.now())
    first.refresh_from_db()
    assert (first.counted, first.uncounted_because) == (False, "excluded")


def test_the_longest_waiting_come_first_and_later_ones_come_round() -> None:
    scene = Scene(pictures=3)
    annotations = [scene.written(f"{n}?") for n in range(3)]
    assert list(review_queue.waiting_answers(scene.benchmark, scene.reviewer)) == annotations
    after = [review_queue.next_after(scene.benchmark, scene.reviewer, one.pk) for one in annotations]
    assert after == [annotations[1].pk, annotations[2].pk, annotations[0].pk]


def test_a_batch_says_how_far_it_is() -> None:
    scene = Scene(pictures=4)
    given = [scene.written(f"{n}?") for n in range(4)]
    for one, decision in zip(given, ("accept", "return", "reject"), strict=False):
        scene.decide(one, decision)
    found = review_queue.review_counts([scene.ask])[scene.ask.pk]
    assert (found.waiting, found.returned, found.accepted, found.rejected, found.percent) == (1, 1, 1, 1, 50.0)


def test_a_models_answer_waits_for_nobody_and_is_nobodys_to_correct(scene: Scene) -> None:
    annotation = scene.written()
    assert review_queue.waiting_answers(scene.benchmark, scene.reviewer).exists() and review_queue.review_counts(
        [scene.ask]
    )
    Rater.objects.filter(pk=annotation.rater_id).update(kind="model", user=None, name="M", team=scene.benchmark.team)
    assert not review_queue.waiting_answers(scene.benchmark, scene.reviewer).exists()
    assert review_queue.review_counts([scene.ask]) == {}
    assert refused(lambda: scene.decide(annotation, "return")) == "gone"


def test_answers_of_other_stages_are_not_there_to_review() -> None:
    ask, _reply, cohort = create_question_stages()
    campaign: Campaign = create_open_campaign(ask, cohort)
    annotation = answer(claim_sheet(a_person(cohort), campaign, cohort), question="?", answer="a")
    reviewer, place = a_user("reviewer"), cohort
    assert isinstance(place, Cohort) and not review_queue.waiting_answers(ask.benchmark, reviewer).exists()
    assert refused(lambda: reviews.decide(annotation.pk, reviewer, "accept", timezone.now())) == "gone"
