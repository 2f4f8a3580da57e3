"""First and second decisions on the same answers, as ratings of their reviewers."""

from collections.abc import Sequence

from django.db.models import Q

from annotation.models import Review, SecondReview
from benchmarks.models import Stage
from evaluation.metrics.counts import Ratings

CODES = {str(decision): float(code) for code, decision in enumerate(Review.Decision.values)}


def decision_ratings(stages: Sequence[Stage]) -> dict[int, Ratings]:
    """By stage: a unit is an answer, its two raters are the reviewers who decided on it without seeing each other.

    Left out: first decisions that were undone, and answers whose second decision is not made. A third decision is no
    rating: it was made with the other two in sight. A reviewer of an imported release has a name in place of an
    account. One query.
    """
    rows = SecondReview.objects.filter(first__annotation__assignment__campaign__stage__in=stages)
    rows = rows.filter(Q(first__undone_at=None) | Q(final__isnull=False)).exclude(decision="")
    pairs = rows.order_by("pk").values_list(
        "first__annotation__assignment__campaign__stage", "first__annotation",
        "first__reviewer", "first__reviewer_name", "first__decision", "reviewer", "reviewer_name", "decision",
    )  # fmt: skip
    by_stage: dict[int, list[tuple[int, int | str, float]]] = {stage.pk: [] for stage in stages}
    for stage, answer, first, first_name, first_decision, second, second_name, second_decision in pairs.iterator(
        chunk_size=5000
    ):
        by_stage[stage] += [
            (answer, first or first_name, CODES[first_decision]),
            (answer, second or second_name, CODES[second_decision]),
        ]
    return {stage: Ratings.from_labels(ratings) for stage, ratings in by_stage.items()}
