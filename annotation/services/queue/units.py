"""Single units of a campaign: brought to the front of the queue, retired by skips, brought back."""

from collections.abc import Mapping, Sequence
from typing import Any

from annotation.models import Assignment, Campaign, CampaignCohort, Slot
from annotation.services.derivation import outbox
from annotation.services.queue import slots
from annotation.services.queue.locks import lock_all_participations
from annotation.services.transactions import in_transaction
from jobs.models import record
from jobs.queries.statements import fetch
from people.models import User

NAMED = 100  # of the slots that an event names

SKIPPED = "SELECT count(DISTINCT rater_id) FROM annotation_assignment WHERE slot_id = %s AND state = 'skipped'"


@in_transaction
def prioritise(campaign: Campaign, slot_ids: Sequence[int], actor: User | None, *, urgent: bool = True) -> int:
    """Hand these slots out before all others, or in their turn again. Says how many that changed."""
    locked = _lock_slots_of(campaign, slot_ids)
    changed = slots.prioritise([slot.pk for slot in locked], urgent=urgent)
    if changed:
        verb = "units.brought_forward" if urgent else "units.put_in_line"
        _event(campaign, actor, verb, slots=[slot.pk for slot in locked[:NAMED]], n=changed)
    return changed


@in_transaction
def put_last(campaign: Campaign, slot_ids: Sequence[int], actor: User | None) -> dict[int, int]:
    """Hand these slots out after all others that are open now. The positions that those had that changed."""
    before = {slot.pk: slot.position for slot in _lock_slots_of(campaign, slot_ids)}
    moved = {pk: before[pk] for pk in slots.put_last(list(before))}
    if moved:
        _event(campaign, actor, "units.put_last", slots=sorted(moved)[:NAMED], n=len(moved))
    return moved


@in_transaction
def put_back(campaign: Campaign, positions: Mapping[int, int], actor: User | None) -> None:
    """Undo `put_last`: where they were, or behind those who are past it."""
    for cohort in (
        Slot.objects.filter(cohort__campaign=campaign, pk__in=positions)
        .order_by("cohort")
        .values_list("cohort", flat=True)
        .distinct()
    ):
        CampaignCohort.objects.select_for_update(no_key=True).get(pk=cohort)
        lock_all_participations(cohort)
    own = {slot.pk: positions[slot.pk] for slot in _lock_slots_of(campaign, list(positions))}
    slots.put_back(own)
    if own:
        _event(campaign, actor, "units.put_in_line", slots=sorted(own)[:NAMED], n=len(own))


@in_transaction
def unretire(campaign: Campaign, slot_ids: Sequence[int], actor: User | None) -> int:
    """Ask again for what was retired: as many skips as before retire it anew. Says how many came back."""
    locked = [slot for slot in _lock_slots_of(campaign, slot_ids) if slot.retired]
    for cohort in sorted({slot.cohort_id for slot in locked}):
        theirs = [slot.pk for slot in locked if slot.cohort_id == cohort]
        wanted, submitted = slots.retire(theirs, retired=False)
        slots.update_tally(cohort, 0, wanted=wanted, submitted=submitted)
    if locked:
        outbox.mark_slots_due([slot.pk for slot in locked])
        _event(campaign, actor, "units.brought_back", slots=[slot.pk for slot in locked[:NAMED]], n=len(locked))
    return len(locked)


def _lock_slots_of(campaign: Campaign, slot_ids: Sequence[int]) -> list[Slot]:
    """Those of them that are this campaign's, locked and read anew."""
    own = Slot.objects.filter(cohort__campaign=campaign, pk__in=slot_ids)
    slots.lock_slots(list(own.values_list("pk", flat=True)))
    return list(own.order_by("pk"))


def retire_if_skipped(assignment: Assignment) -> tuple[int, int]:
    """Take a unit that enough people of one cohort skipped out of their queue: `wanted` and `submitted` change.

    Called when this assignment has just become skipped, in its transaction. Everybody who skips takes the slot's lock
    before they count, so one of them is the last. A slot that was brought back waits for as many skips again.
    """
    enough, slot = assignment.campaign.stage.retire_after_skips, assignment.slot_id
    if not enough or slot is None:
        return 0, 0
    slots.lock_slots([slot])
    [(skips,)] = fetch(SKIPPED, [slot])
    if skips % enough or Slot.objects.filter(pk=slot, retired=True).exists():
        return 0, 0
    _event(assignment.campaign, assignment.rater.user, "unit.retired", slot=slot, skips=skips)
    outbox.mark_slots_due([slot])  # it waits for no more answers
    return slots.retire([slot])


def unretire_if_skip_undone(assignment: Assignment) -> tuple[int, int]:
    """The skip that retired its unit is taken back, in this transaction and not yet: the unit is asked for again."""
    enough, slot = assignment.campaign.stage.retire_after_skips, assignment.slot_id
    if not enough or slot is None or not Slot.objects.filter(pk=slot, retired=True).exists():
        return 0, 0
    [(skips,)] = fetch(SKIPPED, [slot])
    if skips % enough:
        return 0, 0
    _event(assignment.campaign, assignment.rater.user, "units.brought_back", slots=[slot], n=1)
    outbox.mark_slots_due([slot])
    return slots.retire([slot], retired=False)


def _event(campaign: Campaign, actor: User | None, verb: str, **data: Any) -> None:
    record(actor, verb, scope=campaign.stage.benchmark.scope, target=f"campaign:{campaign.pk}", **data)
