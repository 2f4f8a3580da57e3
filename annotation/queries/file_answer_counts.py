"""Answers that came in a file. They take no place in a campaign, so its tallies and its coverage do not know them."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Count, Q

from annotation.models import Annotation
from people.models import Rater


@dataclass(frozen=True)
class FileAnswerCounts:
    """Answers that stand and count, by who gave them."""

    people: int = 0
    models: int = 0


def count_file_answers(campaigns: Iterable[int]) -> dict[int, FileAnswerCounts]:
    """By campaign; one query. Campaigns without any are not in it."""
    rows = Annotation.objects.filter(
        assignment__campaign__in=list(campaigns), assignment__participation=None, live=True, counted=True
    )
    model = Q(rater__kind=Rater.Kind.MODEL)
    counts = rows.order_by().values_list("assignment__campaign")
    counted = counts.annotate(people=Count("pk", filter=~model), models=Count("pk", filter=model))
    return {campaign: FileAnswerCounts(people, models) for campaign, people, models in counted}
