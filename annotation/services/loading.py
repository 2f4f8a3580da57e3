"""Assignments as a sheet needs them. What those of one campaign's cohort share is read once, not joined to each."""

from collections.abc import Sequence

from django.db.models import Prefetch, Q, prefetch_related_objects

from annotation.models import Assignment, CampaignCohort
from benchmarks.models import ItemImage
from people.models import Rater

ROW = ("participation", "unit__item", "draft")
PLACE = ("cohort", "campaign__stage__benchmark", "campaign__sheet_version")


def place_of(cohort_id: int) -> CampaignCohort:
    """A campaign's cohort with the campaign, its stage, benchmark and sheet."""
    return CampaignCohort.objects.select_related(*PLACE).get(pk=cohort_id)


def assignments(which: Q, rater: Rater | None = None, place: CampaignCohort | None = None) -> list[Assignment]:
    """People's assignments with unit, item, pictures, draft, rater, and their place."""
    related = ROW if rater is not None else (*ROW, "rater__user")
    rows = list(Assignment.objects.filter(which, participation__isnull=False).select_related(*related))
    for row in rows:
        assert row.participation is not None
        if place is None or place.pk != row.participation.cohort_id:
            place = place_of(row.participation.cohort_id)
        row.participation.cohort, row.campaign = place, place.campaign
        if rater is not None:
            row.rater = rater
    add_pictures(rows)
    return rows


def add_pictures(rows: Sequence[Assignment]) -> None:
    if rows:
        images = Prefetch("unit__item__images", queryset=ItemImage.objects.select_related("image"))
        prefetch_related_objects(rows, images)
