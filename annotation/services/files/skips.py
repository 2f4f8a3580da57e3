"""Skips that a file names: cancelled or discarded answers of another tool."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from annotation.models import Assignment, Unit
from annotation.services.files.raters import raters_for
from annotation.services.files.rows import ImportTarget
from benchmarks.models import Item
from jobs.models import JobRow
from people.models import Cohort, Rater

IMPORTED = "imported"
Outcome = JobRow.Outcome


@dataclass(frozen=True)
class SkippedRow:
    """Who skipped what. `number` is the row's in the report."""

    number: int
    item: Item
    cohort: Cohort | None
    target: str
    rater: str
    at: datetime


def write_skips(place: ImportTarget, rows: Sequence[SkippedRow], now: datetime) -> list[str]:
    """The outcome of each. Needs a transaction that holds the team's row.

    Who has answered the item, or has it now, keeps that. A skip takes no place, as an imported answer takes none.
    """
    raters = raters_for(place.campaign, {(Rater.Kind.PERSON.value, row.rater, "") for row in rows})
    outcomes: list[str] = []
    for row in rows:
        unit, _new = Unit.objects.get_or_create(item=row.item, target=row.target, label_set=None)
        values = {
            "state": Assignment.State.SKIPPED, "in_hand": False, "reserved_at": row.at, "shown_at": row.at,
            "changed_at": now, "skip_reason": IMPORTED, "skip_note": place.key(row.number),
        }  # fmt: skip
        assignment, created = Assignment.objects.get_or_create(
            campaign=place.campaign, unit=unit, rater=raters[Rater.Kind.PERSON.value, row.rater, ""], repeat=0,
            defaults=values,
        )  # fmt: skip
        returned = not created and assignment.participation_id is None and not assignment.annotations.exists()
        if returned and assignment.state == Assignment.State.RELEASED:
            Assignment.objects.filter(pk=assignment.pk).update(**values)
            created = True
        outcomes.append(Outcome.CREATED if created else Outcome.UNCHANGED)
    return outcomes
