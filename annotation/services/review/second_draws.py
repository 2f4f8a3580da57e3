"""Which first decisions are drawn for a second, blind one. The same seed draws the same answers."""

import hashlib
from datetime import datetime
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from annotation.models import Review, SecondReview, SecondReviewShare
from annotation.queries.second_reviews import OF_CURRENT_ANSWERS
from annotation.services.transactions import in_transaction
from benchmarks.models import Stage
from jobs.models import record
from people.models import User

STEP = 500
WHOLE = 2**64


def is_drawn(seed: int, annotation_id: int, percent: float) -> bool:
    """A higher percentage draws what a lower one draws, and more."""
    digest = hashlib.sha256(f"{seed}:{annotation_id}".encode()).digest()
    return int.from_bytes(digest[:8]) < percent / 100 * WHOLE


def draw_second(review: Review, stage: Stage) -> None:
    """In the transaction that makes a first decision: draw it for a second one, or not."""
    share = SecondReviewShare.objects.filter(stage=stage).first()
    if share is not None and is_drawn(share.seed, review.annotation_id, share.percent):
        SecondReview.objects.create(first=review)


@in_transaction
def set_share(stage: Stage, percent: float, seed: int, user: User, at: datetime) -> int:
    """Set the share of a stage, and draw among the decisions that were made; how many wait for a second one now.

    The seed of a stage stays as it was set first, so that a higher share only adds. Second decisions that were made
    stay, whatever the share.
    """
    Stage.objects.select_for_update(no_key=True).get(pk=stage.pk)
    share = SecondReviewShare.objects.filter(stage=stage).first() or SecondReviewShare(stage=stage, seed=seed)
    share.percent, share.by, share.at = percent, user, at
    share.save()
    undecided = SecondReview.objects.filter(first__annotation__assignment__campaign__stage=stage, decision="")
    for pk, annotation_id in undecided.values_list("pk", "first__annotation").iterator(chunk_size=STEP):
        if not is_drawn(share.seed, annotation_id, percent):
            # Of one table, so that the database looks again at a row that somebody decided on meanwhile.
            SecondReview.objects.filter(pk=pk, decision="").delete()
    last = 0
    while step := list(_undrawn(stage).filter(pk__gt=last)[:STEP]):
        last = step[-1].pk
        SecondReview.objects.bulk_create(
            SecondReview(first=review) for review in step if is_drawn(share.seed, review.annotation_id, percent)
        )
    data: dict[str, Any] = {"percent": percent, "seed": share.seed}
    record(user, "review.second_share", scope=stage.benchmark.scope, target=f"stage:{stage.pk}", **data)
    return undecided.filter(OF_CURRENT_ANSWERS, first__undone_at=None).count()


def _undrawn(stage: Stage) -> QuerySet[Review]:
    """First decisions on current answers that stand, were made one by one and are not drawn. Not a rejection after a
    return: that judges the author's silence."""
    returned = Review.objects.filter(annotation=OuterRef("annotation"), decision=Review.Decision.RETURN)
    rows = Review.objects.filter(
        Q(annotation__counted=True) | Q(annotation__uncounted_because="rejected"),
        annotation__assignment__campaign__stage=stage, annotation__live=True, undone_at=None, batch=None, second=None,
        settled=None,
    )  # fmt: skip
    return rows.filter(~Exists(returned.exclude(undone_at=None))).order_by("pk")
