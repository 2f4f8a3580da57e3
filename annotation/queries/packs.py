"""Which campaigns offer an offline pack, and what people have with them. See docs/explanation/offline-pack.md."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from django.db.models import Count, Max, QuerySet

from annotation.models import Assignment, Campaign, CampaignCohort
from annotation.services.sheets.sheet_versions import sheet_of
from benchmarks.models import Stage
from benchmarks.rules.derivations.registry import KINDS
from people.models import Rater

PackRefusal = Literal["pack_off", "pack_disputes", "pack_follows", "pack_own", "pack_cells", "pack_uploads"]


@dataclass(frozen=True)
class PackCount:
    """How many places of a cohort are on devices, and when the last of them comes back."""

    n: int = 0
    until: datetime | None = None


def pack_refusal(campaign: Campaign) -> PackRefusal | None:
    """Why nobody may take a pack here: what sheets show, or who gets them, changes while people work."""
    stage = campaign.stage
    if not campaign.pack_hours:
        return "pack_off"
    kind = KINDS.get(str((stage.derivation or {}).get("kind")))
    if kind is not None and kind.linked:
        return "pack_disputes"
    if kind is not None and kind.versions:
        return "pack_follows"
    if stage.staffing == Stage.Staffing.CONTRIBUTORS:
        return "pack_own"
    if (stage.coverage or {}).get("stop_when_full"):
        return "pack_cells"
    if any(field.spec.takes_uploads for field in sheet_of(campaign.sheet_version).fields):
        return "pack_uploads"
    return None


def packs_of(rater: Rater, places: Iterable[CampaignCohort]) -> dict[int, PackCount]:
    """What a person has on a device, by campaign cohort."""
    return _counts(_packed().filter(participation__rater=rater, participation__cohort__in=list(places)))


def packs_in(campaigns: Iterable[Campaign]) -> dict[int, PackCount]:
    """How many places of campaigns are on devices, by campaign cohort."""
    return _counts(_packed().filter(participation__cohort__campaign__in=list(campaigns)))


def _packed() -> QuerySet[Assignment]:
    return Assignment.objects.filter(state=Assignment.State.RESERVED, packed=True)


def _counts(rows: QuerySet[Assignment]) -> dict[int, PackCount]:
    counted = rows.values("participation__cohort").annotate(n=Count("pk"), until=Max("lease_until"))
    return {row["participation__cohort"]: PackCount(row["n"], row["until"]) for row in counted}
