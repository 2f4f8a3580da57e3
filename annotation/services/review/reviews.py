"""People decide on the answers of others, where a stage is accepted by review. See docs/explanation/acceptance.md.

Everything here is done under the locks of the answer's author, so that a correction and a decision cannot cross.
"""

from datetime import datetime
from typing import Any

from django.utils import timezone

from annotation.models import Annotation, Assignment, Campaign, ItemContributor, Review, SecondReview
from annotation.queries.resolutions import settles_disputes
from annotation.services.answers.inclusion import recompute_counted
from annotation.services.derivation import outbox
from annotation.services.queue.locks import lock_participation
from annotation.services.review import decision_listeners, resolutions
from annotation.services.review.second_draws import draw_second
from annotation.services.transactions import in_transaction
from benchmarks.models import FormerJudge, Stage
from jobs.models import record
from people.models import Rater, User

State = Assignment.State
Decision = Review.Decision
BECOMES = {Decision.ACCEPT: State.ACCEPTED, Decision.RETURN: State.RETURNED, Decision.REJECT: State.REJECTED}
VERBS = {Decision.ACCEPT: "answer.accepted", Decision.RETURN: "answer.returned", Decision.REJECT: "answer.rejected"}
# Offered where a stage names no reasons of its own; annotation.pages.review_reasons has their words.
REASONS = ("rules", "unclear", "mistake", "other")
MOST_COMMENT = 2000


class ReviewRefused(Exception):
    """Nothing was decided; `reason` says why.

    own: the reviewer's own work, or work on something they had a part in. decided: another reviewer was first. newer:
    its author sent a new version. gone: it was taken back, or does not count. closed: nobody can correct it any more.
    no_reason: a return and a rejection say why. not_yours: only its reviewer, and those who run the benchmark, undo.
    judged: the reviewer decided on an earlier revision of the item. checked: a second reviewer has decided on it since.
    first: of two or three decisions a person makes one. settled: a third person has decided after the second.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def reasons_of(stage: Stage) -> list[str]:
    return [str(row["code"]) for row in stage.review_reasons] or list(REASONS)


@in_transaction
def decide(
    annotation_id: int, reviewer: User, decision: str, at: datetime, *, reason: str = "", comment: str = ""
) -> Review:
    """Accept an answer, return it to its author, or reject it. An answer already returned can still be rejected."""
    answer = lock_answer(annotation_id)
    assignment, stage = answer.assignment, answer.assignment.campaign.stage
    check_reviewer(answer, reviewer)
    earlier = Review.objects.filter(annotation=answer, undone_at=None).first()
    giving_up = earlier is not None and earlier.decision == Decision.RETURN and decision == Decision.REJECT
    if earlier is not None and not giving_up:
        raise ReviewRefused("decided")
    if earlier is not None and _waits_for_third(earlier):
        raise ReviewRefused("checked")
    if not answer.live:
        raise ReviewRefused("newer" if answer.uncounted_because == "superseded" else "gone")
    if not answer.counted or assignment.state not in (State.SUBMITTED, State.RETURNED):
        raise ReviewRefused("gone")
    if decision == Decision.RETURN and assignment.campaign.state == Campaign.State.CLOSED:
        raise ReviewRefused("closed")
    if decision != Decision.ACCEPT and reason not in reasons_of(stage):
        raise ReviewRefused("no_reason")
    if earlier is not None:
        Review.objects.filter(pk=earlier.pk).update(undone_at=at)
    review = Review.objects.create(
        annotation=answer,
        reviewer=reviewer,
        decision=decision,
        reason="" if decision == Decision.ACCEPT else reason,
        comment=comment.strip()[:MOST_COMMENT],
        at=at,
    )
    if not giving_up:
        draw_second(review, stage)
    set_state(assignment, BECOMES[Decision(decision)], at)
    if decision == Decision.REJECT:
        recompute_counted([answer.pk])
    schedule_derivation(answer, reviewer, VERBS[Decision(decision)], review)
    return review


def _waits_for_third(first: Review) -> bool:
    """Whether a second reviewer decided otherwise, and nobody has settled it."""
    seconds = SecondReview.objects.filter(first=first, final=None).exclude(decision="")
    return seconds.exclude(decision=first.decision).exists()


@in_transaction
def undo(review_id: int, user: User, at: datetime, *, runs: bool = False) -> Review:
    """Take a decision back: the answer waits again. By its reviewer, or by somebody who `runs` the benchmark; never
    by its author, nor by those who had a part in what it is about."""
    review = Review.objects.get(pk=review_id)
    answer = lock_answer(review.annotation_id)
    review.refresh_from_db()
    if review.reviewer_id != user.pk and not runs:
        raise ReviewRefused("not_yours")
    check_reviewer(answer, user)
    if review.undone_at is not None:
        raise ReviewRefused("gone")
    if not answer.live:
        raise ReviewRefused("newer")
    if not runs and SecondReview.objects.filter(first=review).exclude(decision="").exists():
        raise ReviewRefused("checked")
    review.undone_at = at
    review.save(update_fields=["undone_at"])
    set_state(answer.assignment, State.SUBMITTED, answer.submitted_at)
    if review.decision == Decision.REJECT:
        recompute_counted([answer.pk])
    schedule_derivation(answer, user, "answer.review_undone", review)
    return review


def lock_answer(annotation_id: int) -> Annotation:
    """Under the locks of its author: participation, then assignment. What was read before may be old."""
    rows = Annotation.objects.select_related("assignment__campaign__stage", "assignment__unit", "rater")
    answer = rows.get(pk=annotation_id)
    if answer.assignment.participation_id is not None:
        lock_participation(answer.assignment.participation_id)
    locked = Assignment.objects.select_for_update(no_key=True).get(pk=answer.assignment_id)
    answer.refresh_from_db(fields=["live", "counted", "uncounted_because"])
    answer.assignment.state = locked.state
    return answer


def check_reviewer(answer: Annotation, reviewer: User) -> None:
    """Whoever decides comes from outside: the annotator's part in the item ends where the reviewer's begins."""
    item = answer.assignment.unit.item_id
    part = ItemContributor.objects.filter(item=item, rater__user=reviewer)
    if answer.rater.user_id == reviewer.pk or part.exists():
        raise ReviewRefused("own")
    if FormerJudge.objects.filter(item=item, user=reviewer).exists():
        raise ReviewRefused("judged")
    by_review = answer.assignment.campaign.stage.acceptance == Stage.Acceptance.BY_REVIEW
    if not by_review or answer.rater.kind != Rater.Kind.PERSON:
        raise ReviewRefused("gone")


def set_state(assignment: Assignment, state: str, at: datetime) -> None:
    Assignment.objects.filter(pk=assignment.pk).update(state=state, changed_at=at)


def schedule_derivation(answer: Annotation, actor: User | None, verb: str, review: Review) -> None:
    stage = answer.assignment.campaign.stage
    if settles_disputes(stage):
        resolutions.settle(stage, [answer.assignment.unit.item_id], timezone.now())
    outbox.mark_items_due([answer.assignment.unit.item_id])
    decision_listeners.notify(stage.pk)
    data: dict[str, Any] = {"review": review.pk, "version": answer.version, "reason": review.reason}
    scope, target = f"benchmark:{stage.benchmark_id}", f"assignment:{answer.assignment_id}"
    record(actor, verb, scope=scope, target=target, **data)
