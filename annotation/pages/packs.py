"""What pages say of offline packs."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.utils.translation import gettext_lazy as _

from annotation.models import Assignment, Campaign, CampaignCohort
from annotation.pages.sheet_view import build_sheet_view, build_work_page, instructions_of, reasons_of
from annotation.pages.status_text import NOTHING, NoWorkText, format_moment, no_work_text, time_zone_for
from annotation.queries.packs import PackCount, packs_in
from annotation.services.queue.next_work import Work
from annotation.services.queue.packs import PACK_SIZE, pack_refusal
from people.models import User

REFUSALS: dict[str, Any] = {
    "pack_off": _("You cannot take items of this campaign with you."),
    "pack_disputes": _("You cannot take these items with you: they show answers that change."),
    "pack_follows": _("You cannot take these items with you: they follow other people's answers."),
    "pack_own": _("You cannot take these items with you: they are corrections of your own work."),
    "pack_cells": _("You cannot take these items with you: the work stops as soon as enough answers arrive."),
    "pack_uploads": _("You cannot take these items with you: a picture can only be sent with a connection."),
    "pack_few_open": _("Too few items are open to take some with you."),
}
DONE = (
    _("Nothing is left that you took with you."),
    _("Answers that wait on this device are sent when you are online."),
)
SAID = frozenset(REFUSALS) - {"pack_off", "pack_few_open"}
"""Reasons that the work page says before anybody asks."""


@dataclass(frozen=True)
class PackOffer:
    """What the work page offers for a campaign: `words` says why nothing; `n` items are with the person already."""

    n: int = 0
    ends: str = ""
    words: str = ""
    most: int = PACK_SIZE
    hours: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to offer and nothing to say."""
        return not (self.n or self.words or self.hours)


def offer_for(user: User, place: CampaignCohort, pack: PackCount, *, is_open: bool) -> PackOffer:
    """`pack`: what they have already. `is_open`: there is work for this person."""
    if pack.n and pack.until is not None:
        return PackOffer(pack.n, end_text(pack.until, user, place), hours=place.campaign.pack_hours)
    refusal = pack_refusal(place.campaign)
    if not is_open:
        return PackOffer()
    if refusal is not None:
        return PackOffer(words=str(REFUSALS[refusal]) if refusal in SAID else "")
    return PackOffer(hours=place.campaign.pack_hours)


def no_pack_text(campaign: Campaign) -> str:
    """Why a campaign offers no pack, whatever its hours are; empty where it could."""
    refusal = pack_refusal(campaign)
    return str(REFUSALS[refusal]) if refusal in SAID else ""


def refusal_text(reason: str, until: datetime | None, user: User, place: CampaignCohort) -> str:
    """Why no pack was taken, in a sentence or two."""
    if reason not in NOTHING:
        return str(REFUSALS[reason])
    why = no_work_text(reason, until, time_zone_for(user, place.cohort))
    return f"{why.title} {why.advice}"


def end_text(until: datetime, user: User, place: CampaignCohort) -> str:
    return format_moment(until, time_zone_for(user, place.cohort))


def pack_page(user: User, place: CampaignCohort, pack: Sequence[Assignment], at: datetime) -> dict[str, Any]:
    """The context of a pack's page: the first sheet is in hand, the others follow."""
    first = pack[0] if pack else None
    until = first.lease_until if first else None
    work_page = build_work_page(user, place, Work(first, None, None), at)
    end = replace(work_page, hand=None, nothing=NoWorkText("in_pack", str(DONE[0]), str(DONE[1]), retry=False))
    return {
        "work_page": work_page if first else end,
        "end": end,
        "later": [build_sheet_view(assignment, at) for assignment in pack[1:]],
        "until": until,
        "ends": end_text(until, user, place) if until else "",
        "instructions": instructions_of(place),
        "reasons": reasons_of(place),
    }


@dataclass(frozen=True)
class CohortPacks:
    cohort_name: str
    n: int
    until: datetime | None


def packs_on_devices(campaigns: Iterable[Campaign]) -> list[CohortPacks]:
    """Which cohorts of campaigns have places on devices."""
    counts = packs_in(campaigns)
    if not counts:
        return []
    rows = CampaignCohort.objects.filter(pk__in=counts).select_related("cohort").order_by("cohort__label", "pk")
    return [CohortPacks(row.cohort.name, counts[row.pk].n, counts[row.pk].until) for row in rows]
