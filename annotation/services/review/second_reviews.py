"""The second, blind decision on an answer, and the third person's where the two differ.

A second decision changes nothing by itself: the answer keeps the state that the first gave it. Only a third decision
does, under the locks that a first decision takes.
"""

from datetime import datetime
from typing import Any

from annotation.models import Annotation, Campaign, Review, SecondReview
from annotation.services.answers.inclusion import recompute_counted
from annotation.services.review.reviews import (
    BECOMES,
    MOST_COMMENT,
    VERBS,
    ReviewRefused,
    check_reviewer,
    lock_answer,
    reasons_of,
    schedule_derivation,
    set_state,
)
from annotation.services.transactions import in_transaction
from jobs.models import record
from people.models import User

Decision = Review.Decision


def standing_decision(first: str, second: str = "", third: str = "") -> str:
    """Which of up to three decisions on one answer stands: the third person's, else the first.

    A second one checks the first. Where they agree it is the same, and where they differ the first stands until a
    third person has decided.

    >>> standing_decision("accept"), standing_decision("accept", "reject")
    ('accept', 'accept')
    >>> standing_decision("accept", "reject", "return")
    'return'
    """
    return third or first


def is_conflict(first: str, second: str, third: str = "") -> bool:
    """Whether a third person is to decide."""
    return bool(second) and second != first and not third


@in_transaction
def decide_second(
    second_id: int, reviewer: User, decision: str, at: datetime, *, reason: str = "", comment: str = ""
) -> SecondReview:
    """Write the second decision. Refused for whoever made the first one."""
    second, answer = _lock(second_id)
    check_reviewer(answer, reviewer)
    if second.first.reviewer_id == reviewer.pk:
        raise ReviewRefused("first")
    if second.decision:
        raise ReviewRefused("decided")
    _check_open(second, answer, decision, reason)
    second.reviewer, second.decision, second.at = reviewer, decision, at
    second.reason, second.comment = _texts(decision, reason, comment)
    second.save(update_fields=["reviewer", "decision", "at", "reason", "comment"])
    _record(answer, reviewer, "answer.second_review", second=second.pk, reason=second.reason)
    return second


@in_transaction
def undo_second(annotation_id: int, user: User, at: datetime, *, runs: bool = False) -> None:
    """Take the second decision on an answer back: it waits for a second one again. By its reviewer, or by somebody who
    `runs` the benchmark; never after a third person has decided."""
    second = SecondReview.objects.filter(first__annotation=annotation_id).exclude(decision="").order_by("-pk").first()
    if second is None:
        raise ReviewRefused("gone")
    second, answer = _lock(second.pk)
    if second.reviewer_id != user.pk and not runs:
        raise ReviewRefused("not_yours")
    check_reviewer(answer, user)
    if second.final_id is not None:
        raise ReviewRefused("settled")
    if not second.decision or second.first.undone_at is not None:
        raise ReviewRefused("gone")
    undone = second.decision
    second.reviewer, second.reviewer_name, second.decision, second.at = None, "", "", None
    second.reason, second.comment = "", ""
    second.save(update_fields=["reviewer", "reviewer_name", "decision", "at", "reason", "comment"])
    _record(answer, user, "answer.second_review_undone", second=second.pk, decision=undone, at=at.isoformat())


@in_transaction
def decide_conflict(
    second_id: int, reviewer: User, decision: str, at: datetime, *, reason: str = "", comment: str = ""
) -> Review:
    """Write the third person's decision: it stands, and the answer's state follows it."""
    second, answer = _lock(second_id)
    check_reviewer(answer, reviewer)
    if reviewer.pk in (second.first.reviewer_id, second.reviewer_id):
        raise ReviewRefused("first")
    if second.final_id is not None or not is_conflict(second.first.decision, second.decision):
        raise ReviewRefused("decided")
    _check_open(second, answer, decision, reason)
    Review.objects.filter(pk=second.first_id).update(undone_at=at)
    reason, comment = _texts(decision, reason, comment)
    final = Review.objects.create(
        annotation=answer, reviewer=reviewer, decision=decision, reason=reason, comment=comment, at=at
    )
    second.final = final
    second.save(update_fields=["final"])
    standing = Decision(standing_decision(second.first.decision, second.decision, decision))
    set_state(answer.assignment, BECOMES[standing], at)
    if Decision.REJECT in (second.first.decision, standing):
        recompute_counted([answer.pk])
    schedule_derivation(answer, reviewer, VERBS[standing], final)
    return final


def _lock(second_id: int) -> tuple[SecondReview, Annotation]:
    """Under the locks of the answer's author, as a first decision; read again after them. Its own lock comes last: a
    lower share takes away what nobody decided on."""
    annotation_id = SecondReview.objects.filter(pk=second_id).values_list("first__annotation", flat=True).first()
    if annotation_id is None:
        raise ReviewRefused("gone")
    answer = lock_answer(annotation_id)
    rows = SecondReview.objects.select_related("first").select_for_update(of=("self",), no_key=True)
    second = rows.filter(pk=second_id).first()
    if second is None:
        raise ReviewRefused("gone")
    return second, answer


def _check_open(second: SecondReview, answer: Annotation, decision: str, reason: str) -> None:
    if not answer.live:
        raise ReviewRefused("newer" if answer.uncounted_because == "superseded" else "gone")
    if second.first.undone_at is not None or not (answer.counted or answer.uncounted_because == "rejected"):
        raise ReviewRefused("gone")
    if decision == Decision.RETURN and answer.assignment.campaign.state == Campaign.State.CLOSED:
        raise ReviewRefused("closed")
    if decision != Decision.ACCEPT and reason not in reasons_of(answer.assignment.campaign.stage):
        raise ReviewRefused("no_reason")


def _texts(decision: str, reason: str, comment: str) -> tuple[str, str]:
    return "" if decision == Decision.ACCEPT else reason, comment.strip()[:MOST_COMMENT]


def _record(answer: Annotation, actor: User, verb: str, **data: Any) -> None:
    scope = f"benchmark:{answer.assignment.campaign.stage.benchmark_id}"
    record(actor, verb, scope=scope, target=f"assignment:{answer.assignment_id}", **data)


def decide_round(
    annotation_id: int, turn: str, reviewer: User, decision: str, at: datetime, *, reason: str = "", comment: str = ""
) -> None:
    """The second or the third decision (`turn`) on an answer, whichever a page offered."""
    seconds = SecondReview.objects.filter(first__annotation=annotation_id, first__undone_at=None)
    second = seconds.filter(final=None).first()
    if second is None:
        raise ReviewRefused("decided")
    write = decide_second if turn == "second" else decide_conflict
    write(second.pk, reviewer, decision, at, reason=reason, comment=comment)
