"""A second thought: a skip taken back, and what two windows wrote for one sheet."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings

from annotation.models import Annotation, Assignment, Draft
from annotation.queries.gate import SHUTS_OUT, Gate, check_gate
from annotation.services.answers.locked_state import lock_assignment
from annotation.services.answers.submit import AssignmentStateError, own_assignment, reopen, work_showing
from annotation.services.queue import slots
from annotation.services.queue.claim import LockedParticipation
from annotation.services.queue.leases import release
from annotation.services.queue.locks import lock_participation
from annotation.services.queue.next_work import Work
from annotation.services.queue.units import unretire_if_skip_undone
from annotation.services.transactions import in_transaction
from jobs.models import record
from people.models import Rater

State = Assignment.State


@in_transaction
def undo_skip(which: Assignment | int, rater: Rater, at: datetime) -> Work:
    """Take back a skip of the last seconds: the sheet is in hand again with its draft.

    It has its place again where that is still free and the person might be given new work; else it is answered late.
    """
    assignment = own_assignment(which, rater)
    assert assignment.participation_id is not None
    seat = lock_participation(assignment.participation_id, at)
    if lock_assignment(assignment).state != State.SKIPPED:
        raise AssignmentStateError("not_skipped")
    skipped_at = Assignment.objects.values_list("changed_at", flat=True).get(pk=assignment.pk)
    if at - skipped_at > timedelta(seconds=settings.UNDO_SECONDS):
        raise AssignmentStateError("too_late")
    allowed = check_gate(seat.cohort_id, seat.rater_id, at)
    if allowed.refused in SHUTS_OUT:
        raise AssignmentStateError(str(allowed.refused))
    wanted, submitted = _make_current(assignment, seat, allowed, at)
    scope = f"benchmark:{assignment.campaign.stage.benchmark_id}"
    record(assignment.rater.user, "assignment.skip_undone", scope=scope, target=f"assignment:{assignment.pk}")
    slots.update_tally(seat.cohort_id, assignment.pk, wanted=wanted, submitted=submitted, skipped=-1)
    return work_showing(assignment, seat)


def _make_current(assignment: Assignment, seat: LockedParticipation, allowed: Gate, at: datetime) -> tuple[int, int]:
    """The one that came instead waits behind it, as far as there is room. Says what changes in the tally."""
    slot = assignment.slot_id
    mine = Assignment.objects.filter(participation_id=seat.id, state=State.RESERVED, packed=False)
    reserved_slots = mine.values_list("slot_id", flat=True)
    slots.lock_slots([slot_id for slot_id in (slot, *reserved_slots) if slot_id is not None])
    tight = allowed.remaining is not None and allowed.remaining <= 1
    release(seat.id, at, ahead_only=not tight)
    mine.update(in_hand=False)
    wanted, submitted = unretire_if_skip_undone(assignment)
    free = allowed.refused is None and slot is not None
    more = slots.adjust_counters(slot, reserved=1, if_open=True) if free and slot is not None else None
    taken = more is not None or slot is None
    lease = at + timedelta(minutes=assignment.campaign.lease_minutes) if taken else None
    state = State.RESERVED if taken else State.RELEASED
    changed = {"state": state, "in_hand": taken, "packed": False, "lease_until": lease, "changed_at": at}
    Assignment.objects.filter(pk=assignment.pk).update(**changed, skip_reason="", skip_note="")
    return wanted + (more or 0), submitted


def is_taken_back(assignment: Assignment, version: int | None) -> bool:
    """Whether what the strip offered has been undone: this version of the answer, or the skip (0)."""
    if version == 0:
        return Assignment.objects.filter(pk=assignment.pk, state=State.RESERVED).exists()
    answers = Annotation.objects.filter(assignment=assignment).order_by("-version")
    return answers.values_list("version", "uncounted_because").first() == (version, "undone")


@in_transaction
def save_conflicting_answer(
    which: Assignment | int, rater: Rater, raw: Mapping[str, Any], trace: Mapping[str, Any], at: datetime
) -> Work:
    """Another window answered this sheet: that answer stays, and what was written here is a change of it, begun.

    Raises AssignmentStateError where the answer is no longer its author's to change.
    """
    work = reopen(which, rater, at)
    assert work.current is not None
    draft = Draft.objects.get(assignment_id=work.current.pk)
    if draft.answers == dict(raw):  # sent again
        work.current.draft = draft
        return work
    draft.answers, draft.trace, draft.saved_at, draft.version = dict(raw), dict(trace), at, draft.version + 1
    draft.save()
    work.current.draft = draft
    return work
