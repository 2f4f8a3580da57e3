"""The maker of brought pictures: the person who found the picture gets the sheet back, with the comment."""

from datetime import datetime
from typing import Any

from django.utils.translation import gettext, gettext_lazy

from annotation.models import Annotation, Assignment, Campaign, ItemSource, Review
from annotation.services.derivation.accepted_results import picture_answers
from annotation.services.review.reviews import (
    MOST_COMMENT,
    VERBS,
    Decision,
    lock_answer,
    reasons_of,
    schedule_derivation,
    set_state,
)
from benchmarks.models import Item, ItemReturn, Stage
from people.models import Rater

OTHER = "other"


class FinderMaker:
    key = "finder"
    problems: dict[str, Any] = {
        "closed": gettext_lazy("The campaign of the picture's finder is closed, so the finder cannot correct it."),
    }

    def accepts(self, item: Item) -> bool:
        return brought_answer(item) is not None

    def start(self, item_return: ItemReturn, at: datetime) -> str:
        """Return the answer to its author, whatever the acceptance of its stage. Locks the author's participation."""
        brought = brought_answer(item_return.item)
        if brought is None:
            return ""  # corrected or taken back in the meantime: the derivation follows
        answer = lock_answer(brought.pk)
        assignment = answer.assignment
        if not answer.live or assignment.state == Assignment.State.RETURNED:
            return ""
        if assignment.campaign.state == Campaign.State.CLOSED:
            return "closed"
        Review.objects.filter(annotation=answer, undone_at=None).update(undone_at=at)
        review = Review.objects.create(
            annotation=answer, reviewer=item_return.by, decision=Decision.RETURN,
            reason=_reason(assignment.campaign.stage), comment=item_return.comment[:MOST_COMMENT], at=at,
        )  # fmt: skip
        set_state(assignment, Assignment.State.RETURNED, at)
        schedule_derivation(answer, item_return.by, VERBS[Decision.RETURN], review)
        return ""

    def waiting_text(self, item_return: ItemReturn) -> str:
        brought = brought_answer(item_return.item)
        if brought is None or not brought.live:
            return gettext("The finder has submitted a correction, which is not accepted yet.")
        if item_return.called_at is None or brought.assignment.state == Assignment.State.RETURNED:
            return gettext("The person who found the picture has the sheet again, with your comment.")
        return gettext("The finder has submitted the same picture again. Undo the return to use it.")

    def cancel(self, item_return: ItemReturn, at: datetime) -> None:
        """The answer is as it was before; one that its author has corrected since stays as it is."""
        brought = brought_answer(item_return.item)
        if brought is None or item_return.called_at is None:
            return
        answer = lock_answer(brought.pk)
        review = Review.objects.filter(
            annotation=answer, undone_at=None, decision=Decision.RETURN, at=item_return.called_at
        ).first()
        if review is None or not answer.live:
            return
        Review.objects.filter(pk=review.pk).update(undone_at=at)
        before = Review.objects.filter(annotation=answer, undone_at=review.at, decision=Decision.ACCEPT).first()
        if before is not None:
            Review.objects.filter(pk=before.pk).update(undone_at=None)
        state = Assignment.State.ACCEPTED if before is not None else Assignment.State.SUBMITTED
        set_state(answer.assignment, state, at)
        schedule_derivation(answer, item_return.by, "answer.review_undone", review)


def _reason(stage: Stage) -> str:
    codes = reasons_of(stage)
    return OTHER if OTHER in codes else codes[-1]


def brought_answer(item: Item) -> Annotation | None:
    """The answer of one person that brought the item's picture; none where several answers made the item."""
    links = ItemSource.objects.filter(item=item, annotation__rater__kind=Rater.Kind.PERSON)
    answers = [link.annotation for link in links.select_related("annotation__assignment")[:2]]
    if len(answers) != 1 or answers[0] is None:
        return None
    shas = set(item.images.values_list("image__sha256", flat=True))
    brought = any(str(picture["sha"]) in shas for picture in picture_answers(answers[0].answers).values())
    return answers[0] if brought else None
