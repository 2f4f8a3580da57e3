"""A second thought: a skip taken back, and what two windows wrote for one sheet."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings

from annotation.models import Assignment, Draft
from annotation.services import slots
from annotation.services.allocation import Work, lock_seat
from annotation.services.answers import Unclaimable, own, reopen, with_hand
from annotation.services.before import before_of
from annotation.services.gate import SHUTS_OUT, Gate, gate
from annotation.services.leases import release
from annotation.services.slots import Seat
from annotation.services.transactions import in_transaction
from annotation.services.units import unretire_if_taken_back
from jobs.models import record
from people.models import Rater

State = Assignment.State


@in_transaction
def undo_skip(which: Assignment | int, rater: Rater, at: datetime) -> Work:
    """Take back a skip of the last seconds: the sheet is in hand again with its draft.

    It has its place again where that is still free and the person might be given new work; else it is answered late.
    """
    assignment = own(which, rater)
    assert assignment.participation_id is not None
    seat = lock_seat(assignment.participation_id, at)
    if before_of(assignment).state != State.SKIPPED:
        raise Unclaimable("not_skipped")
    skipped_at = Assignment.objects.values_list("changed_at", flat=True).get(pk=assignment.pk)
    if at - skipped_at > timedelta(seconds=settings.UNDO_SECONDS):
        raise Unclaimable("too_late")
    allowed = gate(seat.cohort_id, seat.rater_id, at)
    if allowed.refused in SHUTS_OUT:
        raise Unclaimable(str(allowed.refused))
    wanted, submitted = _in_hand_again(assignment, seat, allowed, at)
    scope = f"benchmark:{assignment.campaign.stage.benchmark_id}"
    record(assignment.rater.user, "assignment.skip_undone", scope=scope, target=f"assignment:{assignment.pk}")
    slots.tally(seat.cohort_id, assignment.pk, wanted=wanted, submitted=submitted, skipped=-1)
    return with_hand(assignment, seat)


def _in_hand_again(assignment: Assignment, seat: Seat, allowed: Gate, at: datetime) -> tuple[int, int]:
    """The one that came instead waits behind it, as far as there is room. Says what changes in the tally."""
    slot, mine = assignment.slot_id, Assignment.objects.filter(participation_id=seat.id, state=State.RESERVED)
    held = mine.values_list("slot_id", flat=True)
    slots.lock([one for one in (slot, *held) if one is not None])
    tight = allowed.room is not None and allowed.room <= 1
    release(seat.id, at, ahead_only=not tight)
    mine.update(in_hand=False)
    wanted, submitted = unretire_if_taken_back(assignment)
    free = allowed.refused is None and slot is not None
    more = slots.shift(slot, reserved=1, if_open=True) if free and slot is not None else None
    taken = more is not None or slot is None
    lease = at + timedelta(minutes=assignment.campaign.lease_minutes) if taken else None
    state = State.RESERVED if taken else State.RELEASED
    changed = {"state": state, "in_hand": taken, "lease_until": lease, "changed_at": at}
    Assignment.objects.filter(pk=assignment.pk).update(**changed, skip_reason="", skip_note="")
    return wanted + (more or 0), submitted


@in_transaction
def written_beside(
    which: Assignment | int, rater: Rater, raw: Mapping[str, Any], trace: Mapping[str, Any], at: datetime
) -> Work:
    """Another window answered this sheet: that answer stays, and what was written here is a change of it, begun.

    Raises Unclaimable where the answer is no longer its author's to change.
    """
    work = reopen(which, rater, at)
    assert work.hand is not None
    draft = Draft.objects.get(assignment_id=work.hand.pk)
    draft.answers, draft.trace, draft.saved_at, draft.version = dict(raw), dict(trace), at, draft.version + 1
    draft.save()
    work.hand.draft = draft
    return work
