"""Offline packs: several places at once, for one person, who answers them on a device without a line.

A pack is reserved by the claim of the queue, place by place, and its places come back by the same sweep as all others.
See docs/explanation/offline-pack.md.
"""

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Literal

from annotation.models import Assignment, Campaign, CampaignCohort
from annotation.queries import assignments
from annotation.queries.gate import SHUTS_OUT, Gate, Reason, check_gate
from annotation.queries.packs import reserved_places
from annotation.services.queue.claim import LockedParticipation, claim
from annotation.services.queue.leases import release_rows
from annotation.services.queue.locks import lock_campaign_of, lock_participation_of
from annotation.services.sheets.sheet_versions import sheet_of
from annotation.services.transactions import in_transaction
from benchmarks.models import Stage
from benchmarks.rules.derivations.registry import KINDS
from jobs.models import record
from jobs.queries.statements import fetch
from people.models import Rater

PackRefusal = Literal["pack_off", "pack_disputes", "pack_follows", "pack_own", "pack_cells", "pack_uploads"]

PACK_SIZE = 20
SHARE = 3  # a pack takes at most one in so many of the places that are open for the cohort

# Two packs of a cohort are taken one after the other, so that each sees what the other left. The row comes before the
# participation, as in lock_all_participations.
LOCK_COHORT = "SELECT id FROM annotation_campaigncohort WHERE id = %s FOR NO KEY UPDATE"
# Places that are open for a cohort. No more slots are looked at than a pack can need.
OPEN_PLACES = """
SELECT coalesce(sum(wanted - reserved - submitted), 0) FROM (
  SELECT wanted, reserved, submitted FROM annotation_slot WHERE cohort_id = %(cohort)s AND open
  ORDER BY position LIMIT %(most)s) open
"""


class PackRefused(Exception):
    """No pack can be taken; `reason` says why, `until` when that may change."""

    def __init__(self, reason: Reason | PackRefusal | str, until: datetime | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.until = until


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


@in_transaction
def take_pack(rater: Rater, place: CampaignCohort, at: datetime) -> list[Assignment]:
    """Reserve up to `PACK_SIZE` places for a person. Whoever has a pack already gets that one: asking twice is asking
    once. Raises PackRefused.
    """
    refusal = pack_refusal(place.campaign)
    if refusal is not None:
        if pack := pack_of(rater, place, at):
            return pack
        raise PackRefused(refusal)
    lock_campaign_of(place.pk)  # a first visit would lock it after the cohort
    fetch(LOCK_COHORT, [place.pk])
    seat = lock_participation_of(rater.pk, place.pk, at)
    allowed = check_gate(seat.cohort_id, seat.rater_id, at)
    if allowed.refused in SHUTS_OUT:
        raise PackRefused(str(allowed.refused))
    pack = assignments.packed_assignments(seat.id, place)
    if pack:
        return pack
    if allowed.refused is not None:
        raise PackRefused(allowed.refused, allowed.until)
    until = at + timedelta(hours=place.campaign.pack_hours)
    taken = _claim(replace(seat, staffing=allowed.staffing), _largest_pack(seat, allowed), until, at)
    if not taken:
        raise PackRefused("pack_few_open")
    _record(place, rater, "pack.taken", taken)
    return assignments.packed_assignments(seat.id, place)


def _largest_pack(seat: LockedParticipation, allowed: Gate) -> int:
    """A third of what is open for the cohort, and no more than the person may still be given."""
    [(open_places,)] = fetch(OPEN_PLACES, {"cohort": seat.cohort_id, "most": PACK_SIZE * SHARE})
    most = min(PACK_SIZE, int(open_places) // SHARE)
    if allowed.remaining is None:
        return most
    reserved, _packed = reserved_places(seat.id)
    return max(0, min(most, allowed.remaining - reserved))


def _claim(seat: LockedParticipation, most: int, until: datetime, at: datetime) -> int:
    """Take up to so many places; returns how many. Slots that others hold locked are left to them."""
    for taken in range(most):
        if claim(seat, in_hand=False, lease_until=until, at=at, packed=True) is None:
            return taken
    return most


@in_transaction
def give_back(rater: Rater, place: CampaignCohort, at: datetime, only: Collection[int] | None = None) -> int:
    """Give back a person's pack, or `only` these assignments of it: how many. What is no place of it is left alone."""
    seat = lock_participation_of(rater.pk, place.pk, at)
    rows = Assignment.objects.filter(participation_id=seat.id, state=Assignment.State.RESERVED, packed=True)
    released = release_rows(rows if only is None else rows.filter(pk__in=only), at)
    if released:
        _record(place, rater, "pack.given_back", released)
    return released


def pack_of(rater: Rater, place: CampaignCohort, at: datetime) -> list[Assignment]:
    """What a person has in a pack, if they may see it now. Takes no place and no lock."""
    if check_gate(place.pk, rater.pk, at).refused in SHUTS_OUT:
        return []
    rows = Assignment.objects.filter(participation__rater=rater, participation__cohort=place, packed=True)
    seats = rows.filter(state=Assignment.State.RESERVED).values_list("participation_id", flat=True)[:1]
    return assignments.packed_assignments(seats[0], place) if seats else []


def _record(place: CampaignCohort, rater: Rater, verb: str, count: int) -> None:
    scope = f"benchmark:{place.campaign.stage.benchmark_id}"
    record(rater.user, verb, scope=scope, target=f"campaign:{place.campaign_id}", count=count)
