"""Submit, skip, undo, reopen, report: what a person does with what they have in hand."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from operator import add
from typing import Any

from django.conf import settings
from django.db import IntegrityError
from django.utils import timezone

from annotation.displays.shown_item import build_shown
from annotation.models import Annotation, Assignment, Draft, Participation, Review
from annotation.queries import assignments
from annotation.queries.gate import SHUTS_OUT, Gate, check_gate
from annotation.queries.progress import Progress
from annotation.queries.resolutions import settles_disputes
from annotation.services.answers import usual_submit
from annotation.services.answers.annotation_writing import (
    Advance,
    Destination,
    restore,
    retract,
    write,
    write_and_advance,
)
from annotation.services.answers.inclusion import recompute_counted
from annotation.services.answers.locked_state import LockedState, lock_and_check, lock_assignment, seconds_in_pack
from annotation.services.answers.uploads import uploads_for_sheet
from annotation.services.derivation import outbox
from annotation.services.queue import slots
from annotation.services.queue.claim import LockedParticipation
from annotation.services.queue.leases import release
from annotation.services.queue.locks import lock_participation
from annotation.services.queue.next_work import Work, claim_current_and_next, get_or_claim_work, held_work
from annotation.services.queue.units import retire_if_skipped
from annotation.services.review import resolutions
from annotation.services.sheets import rule_versions
from annotation.services.sheets.sheet_versions import sheet_of
from annotation.services.transactions import in_transaction
from annotation.sheets.opening_log import merge_openings
from annotation.sheets.sheet import ParsedSheet
from jobs.models import record
from jobs.models.events import event_params
from people.models import Rater

State = Assignment.State
ANSWERED = (State.SUBMITTED, State.RETURNED, State.ACCEPTED, State.REJECTED)
DECIDED = (State.ACCEPTED, State.REJECTED)
OWN = (State.SUBMITTED, State.RETURNED)  # still the author's to change
MOST_TIME = timedelta(hours=1)
EVENT = "answer.submitted"
FIRST_DRAFT = 1000  # times the version of the answer: the number of the draft with which its change begins
NO_NEXT = Work(None, None, None)
MAY_BE_LOCKED = ("all_done", "for_others", "all_reserved", "cohort_full", "nothing_yet")
OF_FILES = "file:"  # so begin the keys of answers that came in a file, by which they are found again

# Why an answer is kept and does not count. Late work is never refused, but these have no say in the numbers.
KEPT_ONLY = {
    "campaign_closed": "closed",
    "excluded": "excluded",
    "no_consent": "no_consent",
    "not_a_member": "not_a_member",
}


@dataclass(frozen=True)
class Submission:
    """What the page sends. `client_key` is made once for each filled sheet: sending it again is harmless."""

    raw: Mapping[str, Any]
    client_key: str
    shown_at: datetime | None = None
    active_seconds: float | None = None
    language: str = "en"
    confirmed: tuple[str, ...] = ()
    trace: Mapping[str, Any] = field(default_factory=dict)
    draft_version: int | None = None
    """The number of the draft on the page that sends it; None where there is no page."""
    from_pack: bool = False
    """Given on a device without a line, perhaps long before it is sent. No next sheet is wanted."""


@dataclass(frozen=True)
class SubmitResult:
    """`changed`: it took the place of an earlier answer of the same person. `progress`: the cohort's by its tallies."""

    annotation: Annotation
    work: Work
    repeated: bool
    changed: bool = False
    progress: Progress | None = None


class InvalidAnswers(Exception):
    """The sheet did not take the answers; `parsed` says which, and why."""

    def __init__(self, parsed: ParsedSheet) -> None:
        super().__init__("answers refused")
        self.parsed = parsed


class AlreadyAnswered(Exception):
    """There is an answer, sent from elsewhere, and it was not opened for a change."""


class AssignmentStateError(Exception):
    """What was asked for cannot be done in this state; `reason` says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def submit(which: Assignment | int, rater: Rater, submission: Submission, at: datetime) -> SubmitResult:
    """Keep a person's answers, whatever has become of their place, and give them what comes next."""
    assignment = own_assignment(which, rater)
    if submission.client_key.startswith(OF_FILES):
        raise AssignmentStateError("not_your_key")
    parsed, submission = _parse(assignment, submission, at)
    if submission.from_pack and submission.active_seconds is not None:
        submission = replace(submission, active_seconds=min(submission.active_seconds, MOST_TIME.total_seconds()))
    try:
        done = _submit_usual(assignment, parsed, submission, at) or _submit(assignment, parsed, submission, at)
    except IntegrityError:
        # The same key arrived at the same moment by another way, and won: now it is found.
        done = _submit(assignment, parsed, submission, at)
    return replace(done, work=_claim_waiting(done.work, assignment, rater, at))


def _claim_waiting(work: Work, assignment: Assignment, rater: Rater, at: datetime) -> Work:
    """Holding a slot, a claim must not wait for others' slots. Now it may: before "nothing" is said, it does."""
    if work.no_work is None or work.no_work.reason not in MAY_BE_LOCKED:
        return work
    return get_or_claim_work(rater, _participation(assignment).cohort, at)


def own_assignment(assignment: Assignment | int, rater: Rater) -> Assignment:
    """The person's assignment; one that `access.assignment_for` has just read is not read again."""
    if isinstance(assignment, Assignment):
        own = assignment if assignment.rater_id == rater.pk and assignment.participation_id else None
    else:
        own = assignments.load_own_assignment(assignment, rater.user_id)
    if own is None:
        raise AssignmentStateError("not_yours")
    return own


def _participation(assignment: Assignment) -> Participation:
    assert assignment.participation is not None
    return assignment.participation


def _parse(assignment: Assignment, submission: Submission, at: datetime) -> tuple[ParsedSheet, Submission]:
    sheet = sheet_of(assignment.campaign.sheet_version)
    shown = build_shown(assignment.unit, _participation(assignment).cohort.cohort, uploads_for_sheet(assignment))
    confirmed = sheet.unconfirmed(submission.raw, shown, submission.confirmed)
    shown_at = min(submission.shown_at or assignment.shown_at or assignment.reserved_at, at)
    return sheet.parse(submission.raw, shown, confirmed), replace(submission, confirmed=confirmed, shown_at=shown_at)


def _submit_usual(
    assignment: Assignment, parsed: ParsedSheet, submission: Submission, at: datetime
) -> SubmitResult | None:
    """The same as `_submit` where nothing is unusual, in one function of the database. None: it is, nothing changed."""
    if not parsed.ok or submission.from_pack or not usual_submit.may_be_usual(assignment):
        return None
    annotation = _annotation(assignment, parsed, submission, at)
    place, start = _participation(assignment).cohort, _earliest_start(submission, at)
    event = _event(assignment, EVENT)
    progress = usual_submit.submit_usual(annotation, assignment, parsed.codes, start, event)
    if progress is None:
        return None
    work = held_work(_participation(assignment).pk, place)
    if work.current is None:  # taken in another window since
        work = get_or_claim_work(assignment.rater, place, at)
    return SubmitResult(annotation, work, repeated=False, progress=progress)


@in_transaction
def _submit(assignment: Assignment, parsed: ParsedSheet, submission: Submission, at: datetime) -> SubmitResult:
    seat = lock_participation(_participation(assignment).pk, at)
    start = _earliest_start(submission, at)
    place = _participation(assignment).cohort
    before, allowed = lock_and_check(assignment, seat, submission.client_key, start, at, submission.active_seconds)
    if before.same_key is not None:
        same = Annotation.objects.get(pk=before.same_key)
        if same.assignment_id != assignment.pk:
            raise AlreadyAnswered
        work = NO_NEXT if submission.from_pack else claim_current_and_next(seat, at, wait=False, place=place)
        changed = same.version > 1 and _superseded(assignment, same.version) is not None
        return SubmitResult(same, work, repeated=True, changed=changed)
    if before.state in ANSWERED and not (before.has_draft and _is_change(before, submission)):
        raise AlreadyAnswered
    if before.state in DECIDED:
        raise AssignmentStateError("decided")
    stored = _store(assignment, seat, before, allowed, parsed, submission, at)
    if before.has_draft:
        Draft.objects.filter(assignment_id=assignment.pk).delete()
    work = NO_NEXT
    if not submission.from_pack:
        work = claim_current_and_next(seat, at, wait=False, place=place, allowed=allowed, reserved=stored.reserved)
    _schedule_derivation(assignment, before)
    progress = slots.update_tally_and_record(
        _event(assignment, EVENT, counted=stored.annotation.counted, version=stored.annotation.version),
        seat.cohort_id,
        assignment.pk,
        wanted=stored.wanted,
        submitted=stored.submitted,
        skipped=-1 if before.state == State.SKIPPED else 0,
    )
    changed = before.live_annotation is not None
    return SubmitResult(stored.annotation, work, repeated=False, changed=changed, progress=progress)


def _is_change(before: LockedState, submission: Submission) -> bool:
    """Whether the page showed the answer that this one is to replace: its draft began with that answer. Else it is an
    earlier window, or a request that is sent again since the first reply, with both answers, was lost."""
    if submission.draft_version is None or before.live_annotation is None:
        return True
    version = Annotation.objects.values_list("version", flat=True).get(pk=before.live_annotation)
    return submission.draft_version >= FIRST_DRAFT * version


@dataclass(frozen=True)
class StoredAnswer:
    """`wanted`, `submitted`: what changes in the tally. `reserved`: as for `claim_current_and_next`."""

    annotation: Annotation
    wanted: int
    submitted: int
    reserved: frozenset[bool] | None = None


def _store(
    assignment: Assignment, seat: LockedParticipation, before: LockedState, allowed: Gate, parsed: ParsedSheet,
    submission: Submission, at: datetime,
) -> StoredAnswer:  # fmt: skip
    barred = _not_counted_reason(allowed, before, parsed)
    destination = Destination(assignment.campaign_id, assignment.unit_id)
    annotation = _annotation(assignment, parsed, submission, at)
    annotation.version, annotation.instruction_version_id = before.version + 1, before.instructions
    annotation.active_seconds = seconds_in_pack(annotation) if submission.from_pack else before.active_seconds
    advance = None if barred else _advance(assignment, seat, before, allowed, at)
    if advance is not None:
        wanted, reserved = write_and_advance(annotation, parsed.codes, destination, advance)
        return StoredAnswer(annotation, wanted, 1, reserved)
    counted, wanted, submitted = _reserve_place(assignment, before, barred, allowed)
    annotation.counted, annotation.uncounted_because = counted, "" if counted else barred or "surplus"
    annotation.at_submit = KEPT_ONLY.get(allowed.kept_only or "", "")
    if before.live_annotation is not None:
        retract(before.live_annotation, "superseded")
    return StoredAnswer(write(annotation, parsed.codes, destination), wanted, submitted)


def _advance(
    assignment: Assignment, seat: LockedParticipation, before: LockedState, allowed: Gate, at: datetime
) -> Advance | None:
    """How the usual first answer, in the place that is held, uses it; None where anything is otherwise.

    Where a limit is kept, the next claim has to count this answer first.
    """
    usual = before.state == State.RESERVED and before.live_annotation is None
    if not usual or assignment.slot_id is None or allowed.refused is not None or allowed.remaining is not None:
        return None
    return Advance(assignment.slot_id, seat.id, at + timedelta(minutes=allowed.lease_minutes))


def _not_counted_reason(allowed: Gate, before: LockedState, parsed: ParsedSheet) -> str:
    """Why the answer will not count whatever its place; empty if nothing speaks against it.

    A first answer is kept all the same. A change is refused, for it would take an answer out of the numbers; so is a
    sheet with mistakes, for it cannot be shown again.
    """
    refused = "excluded" if before.excluded else allowed.kept_only or ""
    shut = refused in KEPT_ONLY
    if shut and (not parsed.ok or (before.live_annotation is not None and refused != "excluded")):
        raise AssignmentStateError(refused)
    if not parsed.ok:
        raise InvalidAnswers(parsed)
    return KEPT_ONLY.get(refused, "")


def _reserve_place(assignment: Assignment, before: LockedState, barred: str, allowed: Gate) -> tuple[bool, int, int]:
    """Whether the answer counts, and what that changes in `wanted` and `submitted` of the tally.

    Without a place in hand it takes a free one, but only where the person could be given new work: otherwise limits
    and pauses would not bind whoever skips first and answers later.
    """
    slot = assignment.slot_id
    if slot is None:
        return not barred, 0, 0
    if before.state == State.RESERVED:
        if barred:
            return False, *slots.release_places(slot, reserved=-1)
        return True, slots.adjust_counters(slot, reserved=-1, submitted=1) or 0, 1
    if before.live_counted:
        return True, 0, 0
    room = allowed.refused is None and (allowed.remaining is None or allowed.remaining > before.reserved)
    if barred or before.waits or not room or slots.adjust_counters(slot, submitted=1, if_open=True) is None:
        return False, 0, 0
    return True, 0, 1


def _annotation(assignment: Assignment, parsed: ParsedSheet, submission: Submission, at: datetime) -> Annotation:
    """An answer that counts, without what is read under the lock: its number, instructions and plausible seconds."""
    draft: Draft | None = getattr(assignment, "draft", None)
    return Annotation(
        assignment_id=assignment.pk,
        rater_id=assignment.rater_id,
        client_key=submission.client_key,
        answers=parsed.answers,
        sheet_version_id=assignment.campaign.sheet_version_id,
        rule_version=rule_versions.acceptance_stamp(assignment.campaign),
        cohort_id=_participation(assignment).cohort.cohort_id,
        language=submission.language,
        shown_at=submission.shown_at or at,
        submitted_at=at,
        active_seconds=submission.active_seconds,
        confirmed=list(submission.confirmed),
        trace=merge_openings(draft.trace if draft else {}, submission.trace),
    )


def _earliest_start(submission: Submission, at: datetime) -> datetime:
    """When the person can have begun: when the sheet was shown, and no longer ago than an hour.

    Answers of a pack arrive together, so an hour before that says nothing of when they were given.
    """
    if submission.from_pack:
        return submission.shown_at or at
    return max(submission.shown_at or at, at - MOST_TIME)


def skip(
    which: Assignment | int, rater: Rater, reason: str, note: str, at: datetime, *, from_pack: bool = False
) -> Work:
    """Hand a unit on to somebody else, with one of the stage's reasons. The place goes to the end of the queue.

    `from_pack`: no next sheet is wanted.
    """
    assignment = own_assignment(which, rater)
    codes = [one["code"] for one in assignment.campaign.stage.skip_reasons]
    if reason not in codes:
        raise AssignmentStateError("no_such_reason")
    return _claim_waiting(_skip(assignment, reason, note[:300], at, from_pack), assignment, rater, at)


@in_transaction
def _skip(assignment: Assignment, reason: str, note: str, at: datetime, from_pack: bool) -> Work:
    seat = lock_participation(_participation(assignment).pk, at)
    before = lock_assignment(assignment)
    place = _participation(assignment).cohort
    if before.state == State.SKIPPED:
        return NO_NEXT if from_pack else claim_current_and_next(seat, at, wait=False, place=place)
    if before.state not in (State.RESERVED, State.RELEASED):
        raise AlreadyAnswered
    changed = {"state": State.SKIPPED, "in_hand": False, "lease_until": None, "changed_at": at}
    Assignment.objects.filter(pk=assignment.pk).update(**changed, skip_reason=reason, skip_note=note)
    was_reserved = before.state == State.RESERVED and assignment.slot_id is not None
    freed = slots.release_places(assignment.slot_id or 0, reserved=-1) if was_reserved else (0, 0)
    wanted, submitted = map(add, freed, retire_if_skipped(assignment))
    work = NO_NEXT if from_pack else claim_current_and_next(seat, at, wait=False, place=place)
    event = _event(assignment, "assignment.skipped", reason=reason)
    slots.update_tally_and_record(event, seat.cohort_id, assignment.pk, wanted=wanted, submitted=submitted, skipped=1)
    return work


@in_transaction
def undo(which: Assignment | int, rater: Rater, at: datetime, version: int | None = None) -> Work:
    """Take back what was just submitted: it is in hand again, as it was written. Its place stays taken.

    If it had taken the place of an earlier answer, that one is back, and counts as the later one did. `version` says
    which answer is meant: asked twice, or by a window that is behind, no other one is taken back.
    """
    assignment = own_assignment(which, rater)
    seat = lock_participation(_participation(assignment).pk, at)
    before, answer = _changeable_answer(assignment, seat, at, State.SUBMITTED)
    if at - answer.submitted_at > timedelta(seconds=settings.UNDO_SECONDS):
        raise AssignmentStateError("too_late")
    if version is not None and answer.version != version:
        raise AssignmentStateError("another_version")
    retract(answer.pk, "undone")
    _draft_from(assignment, answer, at)
    earlier = _superseded(assignment, answer.version)
    wanted = 0
    if earlier is not None:
        restore(earlier, answer)
        recompute_counted([earlier.pk])  # its own reasons hold again, such as a withdrawn consent
    elif before.live_counted and assignment.slot_id is not None:
        wanted = _make_current(assignment, seat, at)
    else:  # it never had a place: written again, it goes in as late work does
        Assignment.objects.filter(pk=assignment.pk).update(state=State.RELEASED, changed_at=at)
    _schedule_derivation(assignment, before)
    _record(assignment, "answer.undone", version=answer.version)
    fewer = before.live_counted and earlier is None
    slots.update_tally(seat.cohort_id, assignment.pk, wanted=wanted, submitted=-1 if fewer else 0)
    return work_showing(assignment, seat)


def _superseded(assignment: Assignment, version: int) -> Annotation | None:
    """The answer that this version took the place of."""
    rows = Annotation.objects.filter(assignment_id=assignment.pk, version__lt=version, live=False)
    return rows.filter(uncounted_because="superseded").order_by("-version").first()


def _make_current(assignment: Assignment, seat: LockedParticipation, at: datetime) -> int:
    """The one ahead is given back, the one in hand becomes the one ahead. Says what changes in `wanted`."""
    assert assignment.slot_id is not None
    reserved = Assignment.objects.filter(participation_id=seat.id, state=State.RESERVED, packed=False)
    reserved_slots = reserved.values_list("slot_id", flat=True)
    slots.lock_slots([assignment.slot_id, *(slot for slot in reserved_slots if slot is not None)])
    release(seat.id, at, ahead_only=True)
    reserved.update(in_hand=False)
    wanted = slots.adjust_counters(assignment.slot_id, reserved=1, submitted=-1) or 0
    lease = at + timedelta(minutes=assignment.campaign.lease_minutes)
    changed = {"state": State.RESERVED, "in_hand": True, "packed": False, "lease_until": lease, "changed_at": at}
    Assignment.objects.filter(pk=assignment.pk).update(**changed)
    return wanted


@in_transaction
def reopen(which: Assignment | int, rater: Rater, at: datetime) -> Work:
    """Open one's own answer for a change. It stays and counts until a new one is submitted in its place."""
    assignment = own_assignment(which, rater)
    seat = lock_participation(_participation(assignment).pk, at)
    before, answer = _changeable_answer(assignment, seat, at, *OWN)
    Review.objects.filter(annotation=answer, undone_at=None, seen_at=None).update(seen_at=at)
    if not before.has_draft:
        _draft_from(assignment, answer, at)
        _record(assignment, "answer.reopened", version=answer.version)
    return work_showing(assignment, seat)


@in_transaction
def cancel_change(which: Assignment | int, rater: Rater, at: datetime) -> None:
    """Leave an answer that was opened for a change as it is."""
    assignment = own_assignment(which, rater)
    lock_participation(_participation(assignment).pk, at)
    if lock_assignment(assignment).live_annotation is None:
        raise AssignmentStateError("not_submitted")
    if Draft.objects.filter(assignment_id=assignment.pk).delete()[0]:
        _record(assignment, "answer.left")


def _changeable_answer(
    assignment: Assignment, seat: LockedParticipation, at: datetime, *states: str
) -> tuple[LockedState, Annotation]:
    """The live answer, if it is still the person's to change."""
    before = lock_assignment(assignment)
    if before.state not in states or before.live_annotation is None:
        raise AssignmentStateError("not_submitted")
    refused = check_gate(seat.cohort_id, seat.rater_id, at).refused
    if refused in SHUTS_OUT:
        raise AssignmentStateError(str(refused))
    return before, Annotation.objects.get(pk=before.live_annotation)


def _draft_from(assignment: Assignment, answer: Annotation, at: datetime) -> None:
    """Its number is above any that an older page may still send."""
    number = FIRST_DRAFT * answer.version
    started = {"answers": answer.answers, "trace": answer.trace, "version": number, "saved_at": at}
    Draft.objects.update_or_create(assignment_id=assignment.pk, defaults=started)


def work_showing(assignment: Assignment, seat: LockedParticipation) -> Work:
    """The sheet to show now, whatever its state, and the one in hand or ahead behind it."""
    reloaded = assignments.load_own_assignment(assignment.pk, assignment.rater.user_id)
    assert reloaded is not None
    others = {
        row.in_hand: row
        for row in assignments.reserved_assignments(seat.id, _participation(reloaded).cohort)
        if row.pk != reloaded.pk
    }
    return Work(reloaded, others.get(True) or others.get(False), None)


def _schedule_derivation(assignment: Assignment, before: LockedState) -> None:
    """What follows from this answer is worked out afterwards."""
    stage = assignment.campaign.stage
    if settles_disputes(stage):
        resolutions.settle(stage, [assignment.unit.item_id], timezone.now())
    if before.matters:
        outbox.mark_items_due([assignment.unit.item_id])


def _record(assignment: Assignment, verb: str, **data: Any) -> None:
    scope, target = _place_of_event(assignment)
    record(assignment.rater.user, verb, scope=scope, target=target, **data)


def _event(assignment: Assignment, verb: str, **data: Any) -> dict[str, Any]:
    """The same, to be written with the tally."""
    scope, target = _place_of_event(assignment)
    return event_params(assignment.rater.user_id, verb, scope=scope, target=target, **data)


def _place_of_event(assignment: Assignment) -> tuple[str, str]:
    return f"benchmark:{assignment.campaign.stage.benchmark_id}", f"assignment:{assignment.pk}"
