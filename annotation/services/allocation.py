"""Who works on what. See docs/explanation/queue.md.

Everything a person does in a campaign is in the order of their Participation's lock: two tabs get the same item.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Q

from annotation.models import Assignment, CampaignCohort, Participation
from annotation.services import slots
from annotation.services.gate import SHUTS_OUT, Reason, gate
from annotation.services.slots import Seat, fetch
from annotation.services.transactions import in_transaction
from people.models import Rater

SEEN_EVERY = timedelta(minutes=1)
RELATED = (
    "unit__item",
    "rater__user",
    "draft",
    "campaign__sheet_version",
    "campaign__stage__benchmark",
    "participation__cohort__cohort",
)


@dataclass(frozen=True)
class Nothing:
    """Why there is no work. `until`: when the first of the places that others hold comes back."""

    reason: Reason
    until: datetime | None = None


@dataclass(frozen=True)
class Work:
    hand: Assignment | None
    ahead: Assignment | None
    nothing: Nothing | None


def open_work(rater: Rater, campaign_cohort: CampaignCohort, at: datetime) -> Work:
    """What this person has in hand, taking a place for them if it is nothing. Asking twice is asking once."""
    work = _open_work(rater.pk, campaign_cohort.pk, at)
    late = work.nothing and work.nothing.until and work.nothing.until <= at
    if late:  # the task that gives expired places back has not come round yet
        from annotation.services.leases import release_expired

        release_expired(at)
        work = _open_work(rater.pk, campaign_cohort.pk, at)
    return work


@in_transaction
def _open_work(rater_id: int, cohort_id: int, at: datetime) -> Work:
    return work_for(seat_of(rater_id, cohort_id, at), at, wait=True)


def seat_of(rater_id: int, cohort_id: int, at: datetime) -> Seat:
    """Lock this person's Participation, making it at their first visit."""
    found = _lock(Q(rater_id=rater_id, cohort_id=cohort_id), at)
    if found is None:
        # Holds off a pause or a close, which would not see this new row and the place it takes.
        fetch(
            """SELECT 1 FROM annotation_campaigncohort cc JOIN annotation_campaign c ON c.id = cc.campaign_id
               WHERE cc.id = %s FOR SHARE""",
            [cohort_id],
        )
        Participation.objects.bulk_create(
            [Participation(rater_id=rater_id, cohort_id=cohort_id, last_seen_at=at)], ignore_conflicts=True
        )
        found = _lock(Q(rater_id=rater_id, cohort_id=cohort_id), at)
    assert found is not None
    return found


def lock_seat(participation_id: int, at: datetime | None = None) -> Seat:
    found = _lock(Q(pk=participation_id), at)
    assert found is not None
    return found


def _lock(which: Q, at: datetime | None) -> Seat | None:
    """The order of everything this person does. What is read before this lock may be old."""
    rows = Participation.objects.filter(which).select_for_update(of=("self",), no_key=True)
    row = rows.values_list("pk", "cohort__campaign_id", "cohort_id", "rater_id", "cursor", "last_seen_at").first()
    if row is None:
        return None
    if at is not None and row[5] < at - SEEN_EVERY:
        Participation.objects.filter(pk=row[0]).update(last_seen_at=at)
    return Seat(*row[:5])


def work_for(seat: Seat, at: datetime, *, wait: bool) -> Work:
    """One in hand, one ahead. Without `wait`, an empty answer may only mean that others held their slots locked."""
    allowed = gate(seat.cohort_id, seat.rater_id, at)
    lease = at + timedelta(minutes=allowed.lease_minutes)
    held = {in_hand: pk for pk, in_hand in _reserved(seat)}
    if allowed.refused:
        if allowed.refused in SHUTS_OUT or True not in held:
            return Work(None, None, Nothing(allowed.refused))
    elif True not in held:
        if False in held:
            _take_in_hand(held[False], lease, at)
            held = {True: held[False]}
        else:
            taken = slots.claim(seat, in_hand=True, lease_until=lease, at=at)
            if taken is None and wait:
                taken = slots.claim(seat, in_hand=True, lease_until=lease, at=at, wait=True)
            if taken is None:
                return Work(None, None, _why_nothing(seat))
    if not allowed.refused and False not in held:
        slots.claim(seat, in_hand=False, lease_until=lease, at=at)
    return _work(seat, at, lease)


def _reserved(seat: Seat) -> list[tuple[int, bool]]:
    rows = Assignment.objects.filter(participation_id=seat.id, state=Assignment.State.RESERVED)
    return list(rows.values_list("pk", "in_hand"))


def _take_in_hand(assignment_id: int, lease: datetime, at: datetime) -> None:
    Assignment.objects.filter(pk=assignment_id).update(in_hand=True, lease_until=lease, shown_at=at, changed_at=at)


def _work(seat: Seat, at: datetime, lease: datetime) -> Work:
    """Read both back with all that a sheet needs; a lease half gone is renewed, for the person is here."""
    rows = Assignment.objects.filter(participation_id=seat.id, state=Assignment.State.RESERVED)
    found = {row.in_hand: row for row in rows.select_related(*RELATED).prefetch_related("unit__item__images__image")}
    half = at + (lease - at) / 2
    old = [row for row in found.values() if row.lease_until is not None and row.lease_until < half]
    if old:
        Assignment.objects.filter(pk__in=[row.pk for row in old]).update(lease_until=lease)
    return Work(found.get(True), found.get(False), None)


def _why_nothing(seat: Seat) -> Nothing:
    """Told apart by what is true in this transaction: others' reservations first, for those may come back."""
    [(until,)] = fetch(
        f"""SELECT min(a.lease_until) FROM annotation_assignment a JOIN annotation_slot s ON s.id = a.slot_id
            WHERE a.state = 'reserved' AND s.cohort_id = %(cohort)s AND {slots.NOT_HAD}""",  # noqa: S608  (a constant)
        {"cohort": seat.cohort_id, "campaign": seat.campaign_id, "rater": seat.rater_id},
    )
    if until is not None:
        return Nothing("all_reserved", until)
    [(full,)] = fetch(
        "SELECT coalesce(sum(submitted) >= sum(wanted), false) FROM annotation_tally WHERE cohort_id = %s",
        [seat.cohort_id],
    )
    return Nothing("cohort_full" if full else "all_done")
