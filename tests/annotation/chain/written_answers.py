"""Many answers to one stage, as submits would leave them, written in bulk: each author has items of their own."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from django.db.models import F
from django.utils import timezone

from annotation.models import Annotation, Assignment, Campaign, Participation, Slot
from annotation.services.campaigns import lifecycle
from annotation.services.queue import recount
from benchmarks.models import Stage
from people.models import Cohort, Rater
from tests.annotation.chain.factories import items


def write_answers(
    stage: Stage, cohort: Cohort, sizes: Mapping[Rater, int], at: datetime | None = None
) -> tuple[Campaign, list[Annotation]]:
    """So many answers of each author, waiting since an hour ago; the campaign and the answers in the order of ids."""
    items(stage, sum(sizes.values()))
    campaign = lifecycle.create(stage, "Round", None, {cohort: 1}, seed=1)
    lifecycle.open_campaign(campaign, None, timezone.now())
    campaign.refresh_from_db()
    at = at or timezone.now() - timedelta(hours=1)
    row = campaign.cohorts.get()
    slots = iter(row.slots.order_by("position"))
    assignments = []
    for author, size in sizes.items():
        participation = Participation.objects.create(cohort=row, rater=author, last_seen_at=at)
        for _number, slot in zip(range(size), slots, strict=False):
            assignment = Assignment(
                campaign=campaign, participation=participation, slot=slot, unit_id=slot.unit_id, rater=author,
                state="submitted", in_hand=False, reserved_at=at, shown_at=at, changed_at=at,
            )  # fmt: skip
            assignments.append(assignment)
    Assignment.objects.bulk_create(assignments)
    answers = Annotation.objects.bulk_create(
        Annotation(
            assignment=assignment, rater=assignment.rater, version=1, client_key=f"written-{assignment.pk}",
            answers={"question": f"Question {assignment.pk}?", "answer": "Tea"},
            sheet_version=campaign.sheet_version, cohort=cohort, language="en", shown_at=at, submitted_at=at,
        )
        for assignment in assignments
    )  # fmt: skip
    Slot.objects.filter(cohort=row).update(submitted=F("wanted"))
    recount.repair()
    return campaign, answers
