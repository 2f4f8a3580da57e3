"""What people have on devices, in offline packs. See docs/explanation/offline-pack.md."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Max, QuerySet

from annotation.models import Assignment, Campaign, CampaignCohort
from jobs.queries.statements import fetch
from people.models import Rater

RESERVED = """SELECT count(*), count(*) FILTER (WHERE packed) FROM annotation_assignment
WHERE participation_id = %s AND state = 'reserved'"""


def reserved_places(participation_id: int) -> tuple[int, int]:
    """How many places a person holds in a campaign, and how many of them are in a pack."""
    [(reserved, packed)] = fetch(RESERVED, [participation_id])
    return int(reserved), int(packed)


@dataclass(frozen=True)
class PackCount:
    """How many places of a cohort are on devices, and when the last of them comes back."""

    n: int = 0
    until: datetime | None = None


def packs_of(rater: Rater, places: Iterable[CampaignCohort]) -> dict[int, PackCount]:
    """What a person has on a device, by campaign cohort."""
    return _counts(_packed().filter(participation__rater=rater, participation__cohort__in=list(places)))


def packs_in(campaigns: Iterable[Campaign]) -> dict[int, PackCount]:
    """How many places of campaigns are on devices, by campaign cohort."""
    return _counts(_packed().filter(participation__cohort__campaign__in=campaigns))


def _packed() -> QuerySet[Assignment]:
    return Assignment.objects.filter(state=Assignment.State.RESERVED, packed=True)


def _counts(rows: QuerySet[Assignment]) -> dict[int, PackCount]:
    counted = rows.values("participation__cohort").annotate(n=Count("pk"), until=Max("lease_until"))
    return {row["participation__cohort"]: PackCount(row["n"], row["until"]) for row in counted}
