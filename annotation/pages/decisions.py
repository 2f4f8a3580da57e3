"""A decision of a reviewer, as pages show it to reviewers and to authors."""

from dataclasses import dataclass
from zoneinfo import ZoneInfo

from django.utils.translation import gettext as _

from annotation.models import Review
from annotation.pages.review_reasons import reason_label
from annotation.pages.status_text import format_moment
from benchmarks.models import Stage


@dataclass(frozen=True)
class DecisionView:
    """A decision, as its reviewer and the author read it. `automatic`: a filter decided, and not a person."""

    id: int
    style: str
    words: str
    reason: str
    comment: str
    reviewer: str
    when: str
    taken_back: bool
    automatic: bool = False


def decision_view(review: Review, stage: Stage, zone: ZoneInfo, language: str, *, named: bool = True) -> DecisionView:
    """`named`: reviewers see each other's names; authors do not."""
    looks = {Review.Decision.ACCEPT: "ok", Review.Decision.RETURN: "back", Review.Decision.REJECT: "no"}
    words = {
        Review.Decision.ACCEPT: _("Accepted"), Review.Decision.RETURN: _("Returned"),
        Review.Decision.REJECT: _("Rejected"),
    }  # fmt: skip
    decision = Review.Decision(review.decision)
    by_filter = review.reviewer_id is None and not review.reviewer_name
    return DecisionView(
        id=review.pk,
        style=looks[decision],
        words=words[decision],
        reason=reason_label(stage, review.reason, language) if review.reason and not by_filter else "",
        comment=review.comment,
        reviewer=_reviewer_name(review) if named else "",
        when=format_moment(review.at, zone),
        taken_back=review.undone_at is not None,
        automatic=by_filter,
    )


def _reviewer_name(review: Review) -> str:
    return review.reviewer.name if review.reviewer else review.reviewer_name or _("Filter")
