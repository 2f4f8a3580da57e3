"""Places whose time is over go back. The draft stays, and the answer can still be sent."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet

from annotation.models import Assignment, Tally
from annotation.services.queue import slots
from annotation.services.queue.locks import lock_participation
from annotation.services.transactions import in_transaction


def release_expired(at: datetime, limit: int = 500) -> int:
    """Release up to `limit` places, one small transaction for each person who holds some."""
    expired = Assignment.objects.filter(
        state=Assignment.State.RESERVED, lease_until__lte=at, participation__isnull=False
    )
    holders = expired.order_by("lease_until").values_list("participation_id", flat=True)[:limit]
    return sum(_release(holder, at) for holder in dict.fromkeys(pk for pk in holders if pk is not None))


@in_transaction
def _release(participation_id: int, at: datetime) -> int:
    lock_participation(participation_id)
    return release(participation_id, at, expired=True)


@dataclass(frozen=True)
class Freed:
    """A place that was given back, and what that changes in the tally of its campaign cohort."""

    cohort: int
    shard: int
    wanted: int
    submitted: int


def release(participation_id: int, at: datetime, *, expired: bool = False, ahead_only: bool = False) -> int:
    """Give back what a person holds. Needs the lock of their Participation."""
    rows = Assignment.objects.filter(participation_id=participation_id, state=Assignment.State.RESERVED)
    if expired:
        rows = rows.filter(lease_until__lte=at)
    if ahead_only:
        rows = rows.filter(in_hand=False, packed=False)
    return release_rows(rows, at)


def release_rows(rows: QuerySet[Assignment], at: datetime) -> int:
    """Give these reserved assignments back, with their tallies. Needs the locks of their participations."""
    released, freed = free_places(rows, at)
    for place in sorted(freed, key=lambda place: place.shard):
        if place.wanted or place.submitted:
            slots.update_tally(place.cohort, place.shard, wanted=place.wanted, submitted=place.submitted)
    return released


def free_places(reserved: QuerySet[Assignment], at: datetime) -> tuple[int, list[Freed]]:
    """Give these assignments back: how many, and the places that became free. Writes no tally: the caller does, last.

    Needs the locks of their participations.
    """
    reserved_rows = list(reserved.order_by("slot_id").values_list("pk", "slot_id", "participation__cohort_id"))
    ids = [pk for pk, _slot, _cohort in reserved_rows]
    Assignment.objects.filter(pk__in=ids).update(
        state=Assignment.State.RELEASED, packed=False, lease_until=None, changed_at=at
    )
    freed = [
        Freed(cohort, pk % Tally.SHARDS, *slots.release_places(slot, reserved=-1))
        for pk, slot, cohort in reserved_rows
        if slot is not None and cohort is not None
    ]
    return len(reserved_rows), freed
