"""The same action on many items, as a job: in steps, with progress, cancelled between steps, and undone as a whole.

Each item is changed by the service that changes it alone, so that every rule and every event is the same. What was
changed is kept in ItemChange; undo is a job of the same kind that reads it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext, pgettext_lazy

from annotation.models import Campaign, ItemChange, Slot
from annotation.services.queue import units
from annotation.services.revisions import item_withdrawals
from annotation.services.revisions.item_withdrawals import WithdrawalRefused
from annotation.services.transactions import in_transaction
from benchmarks.models import Benchmark, Item
from benchmarks.queries.asked_items import asked_items, has_lost_choice
from benchmarks.queries.item_selection import ItemSelection
from benchmarks.rules.filters import FilterState
from benchmarks.services.intake import by_hand
from jobs.models import Job, JobRow
from jobs.services import lifecycle as jobs
from jobs.services.job_context import JobContext, JobFailed, TimeSlice
from jobs.services.kinds import JobKind, NextLink
from people.models import User

KIND = "item_action"
STEP = 50
AT_ONCE = 100
"""Up to so many selected items are changed in the request itself."""


class ItemRefused(Exception):
    """The item was not changed; `reason` is a code of REASONS."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


REASONS: Mapping[str, Any] = {
    "withdrawn": gettext_lazy("It is withdrawn."),
    "in_use": gettext_lazy("It is in use already."),
    "returned": gettext_lazy("It was returned with a comment. Undo the return instead."),
    "source": gettext_lazy("It was withdrawn with its source, and returns with it."),
    "not_asked": gettext_lazy("No campaign under way asks for it, or it comes first already."),
    "asked_by_none": gettext_lazy("No campaign under way asks for it."),
    "changed": gettext_lazy("Somebody changed it in the meantime."),
}
LIVE = (Campaign.State.OPEN, Campaign.State.PAUSED)


@dataclass(frozen=True)
class Performer:
    """Who does it, when, and why."""

    user: User
    at: datetime
    reason: str = ""


@dataclass(frozen=True)
class ItemAction:
    """`perform` changes one item and returns what undo needs; `undo` takes that. Both raise ItemRefused."""

    key: str
    label: Any
    done: Callable[[int], str]
    perform: Callable[[Item, Performer], dict[str, Any]]
    undo: Callable[[Item, Mapping[str, Any], Performer], None]
    needs_reason: bool = False


def _withdraw(item: Item, performer: Performer) -> dict[str, Any]:
    try:
        item_withdrawals.withdraw(item, performer.user, performer.at)
    except WithdrawalRefused as error:
        raise ItemRefused(error.reason) from error
    return {}


def _restore(item: Item, performer: Performer) -> dict[str, Any]:
    try:
        item_withdrawals.restore(item, performer.user)
    except WithdrawalRefused as error:
        raise ItemRefused(error.reason) from error
    return {}


def _decide(state: FilterState) -> Callable[[Item, Performer], dict[str, Any]]:
    def perform(item: Item, performer: Performer) -> dict[str, Any]:
        if item.withdrawn_at is not None:
            raise ItemRefused("withdrawn")
        earlier = by_hand.stored_decision(item)
        by_hand.decide(item, state, performer.reason, performer.user, performer.at)
        return {"earlier": earlier, "decided_at": performer.at.isoformat()}

    return perform


def _undo_decision(item: Item, before: Mapping[str, Any], performer: Performer) -> None:
    if by_hand.stored_decision(item).get("at") != before["decided_at"]:
        raise ItemRefused("changed")
    by_hand.restore_decision(item, before["earlier"], performer.user)


def _slots(item: Item, *, urgent: bool) -> dict[Campaign, list[int]]:
    """The item's slots with that flag, by campaign under way."""
    rows = Slot.objects.filter(unit__item=item, urgent=urgent, open=True, cohort__campaign__state__in=LIVE)
    by_campaign: dict[Campaign, list[int]] = {}
    for slot in rows.select_related("cohort__campaign__stage__benchmark").order_by("cohort__campaign", "pk"):
        by_campaign.setdefault(slot.cohort.campaign, []).append(slot.pk)
    return by_campaign


def _put_first(item: Item, performer: Performer) -> dict[str, Any]:
    changed: list[int] = []
    for campaign, slots in _slots(item, urgent=False).items():
        units.prioritise(campaign, slots, performer.user)
        changed += slots
    if not changed:
        raise ItemRefused("not_asked")
    return {"slots": changed}


def _undo_first(item: Item, before: Mapping[str, Any], performer: Performer) -> None:
    for campaign, slots in _slots(item, urgent=True).items():
        units.prioritise(campaign, [pk for pk in slots if pk in before["slots"]], performer.user, urgent=False)


def _put_last(item: Item, performer: Performer) -> dict[str, Any]:
    positions: dict[str, int] = {}
    urgent = [pk for slots in _slots(item, urgent=True).values() for pk in slots]
    for campaign, slots in [*_slots(item, urgent=True).items(), *_slots(item, urgent=False).items()]:
        positions |= {str(pk): at for pk, at in units.put_last(campaign, slots, performer.user).items()}
    if not positions:
        raise ItemRefused("asked_by_none")
    return {"positions": positions, "urgent": urgent}


def _undo_last(item: Item, before: Mapping[str, Any], performer: Performer) -> None:
    positions = {int(pk): at for pk, at in before["positions"].items()}
    for campaign, slots in _slots(item, urgent=False).items():
        units.put_back(campaign, {pk: positions[pk] for pk in slots if pk in positions}, performer.user)
        units.prioritise(campaign, [pk for pk in slots if pk in before["urgent"]], performer.user)


ACTIONS = {
    action.key: action
    for action in (
        ItemAction(
            "withdraw", pgettext_lazy("items", "Withdraw"),
            lambda n: ngettext("%(n)s item was withdrawn.", "%(n)s items were withdrawn.", n),
            _withdraw, lambda item, before, performer: _void(_restore(item, performer)),
        ),
        ItemAction(
            "restore", pgettext_lazy("items", "Restore"),
            lambda n: ngettext("%(n)s item was restored.", "%(n)s items were restored.", n),
            _restore, lambda item, before, performer: _void(_withdraw(item, performer)),
        ),
        ItemAction(
            "keep", gettext_lazy("Keep by hand"),
            lambda n: ngettext("%(n)s item is kept by hand.", "%(n)s items are kept by hand.", n),
            _decide(FilterState.KEPT), _undo_decision, needs_reason=True,
        ),
        ItemAction(
            "drop", gettext_lazy("Drop by hand"),
            lambda n: ngettext("%(n)s item is dropped by hand.", "%(n)s items are dropped by hand.", n),
            _decide(FilterState.DROPPED), _undo_decision, needs_reason=True,
        ),
        ItemAction(
            "first", gettext_lazy("Ask first"),
            lambda n: ngettext("%(n)s item is asked first.", "%(n)s items are asked first.", n),
            _put_first, _undo_first,
        ),
        ItemAction(
            "last", gettext_lazy("Ask last"),
            lambda n: ngettext("%(n)s item is asked last.", "%(n)s items are asked last.", n),
            _put_last, _undo_last,
        ),
    )
}  # fmt: skip


def _void(_value: dict[str, Any]) -> None:
    """The undo of an action that is itself an action."""


def start(
    benchmark: Benchmark, actor: User, action: ItemAction, *, ids: Sequence[int] | None = None,
    asked: Mapping[str, str] | None = None, reason: str = "",
) -> Job:  # fmt: skip
    """Queue an action on these items, or on all that match what is `asked` now; a few are left to the caller to run.

    Items that come later are not changed: the highest id of now is kept. So is whether the text is looked for in parts
    of words, which would change as fewer items are left.
    """
    last = Item.objects.filter(stage__benchmark=benchmark).order_by("-pk").values_list("pk", flat=True).first()
    selection = asked_items(benchmark, asked or {}) if ids is None else None
    params = {
        "benchmark": benchmark.pk, "action": action.key, "reason": reason, "last": last or 0,
        "ids": sorted(ids) if ids is not None else None, "asked": dict(asked or {}),
        "parts": selection.searches_parts if selection is not None and selection.text else None,
    }  # fmt: skip
    inline = ids is not None and len(ids) <= AT_ONCE
    title = _("%(action)s: items") % {"action": action.label}
    return jobs.start(KIND, title, scope=benchmark.scope, actor=actor, params=params, inline=inline)


def start_undo(benchmark: Benchmark, actor: User, job: Job) -> Job:
    """Undo what an action changed, also one that was cancelled half-way."""
    n = ItemChange.objects.filter(job=job, undone_at=None).count()
    params = {**job.params, "undo": job.pk}
    title = _("Undo of “%(title)s”") % {"title": job.title}
    return jobs.start(KIND, title, scope=benchmark.scope, actor=actor, params=params, inline=n <= AT_ONCE)


def run(work: JobContext) -> None:
    """Step by step; a step that is done twice finds nothing left to change."""
    benchmark = Benchmark.objects.get(pk=work.params["benchmark"])
    action = ACTIONS[work.params["action"]]
    if work.job.created_by is None:
        raise JobFailed(_("The person who started this is gone."))
    performer = Performer(work.job.created_by, timezone.now(), work.params.get("reason", ""))
    next_ids = _undo_ids if work.params.get("undo") else _item_ids
    if work.job.total is None:
        work.expect(_total(work, benchmark))
    time_slice = TimeSlice(work)
    while ids := next_ids(work, benchmark):
        _step(work, action, ids, performer)
        work.check()
        time_slice.is_over()


def _total(work: JobContext, benchmark: Benchmark) -> int:
    if work.params.get("undo"):
        return ItemChange.objects.filter(job=work.params["undo"], undone_at=None).count()
    if work.params["ids"] is not None:
        return len(work.params["ids"])
    selection = _asked(work, benchmark)
    return selection.rows().filter(pk__lte=work.params["last"]).count() if selection is not None else 0


def _asked(work: JobContext, benchmark: Benchmark) -> ItemSelection | None:
    """What is left of all that match. None where a choice is no longer on offer, for without it more items match."""
    asked = work.params["asked"]
    selection = asked_items(benchmark, asked)
    if selection is None or has_lost_choice(selection, asked):
        return None
    return replace(selection, parts=work.params.get("parts"))


def _item_ids(work: JobContext, benchmark: Benchmark) -> list[int]:
    """The next items by id, after the last one that was looked at."""
    after = work.cursor.get("after", 0)
    if work.params["ids"] is not None:
        return [pk for pk in work.params["ids"] if pk > after][:STEP]
    selection = _asked(work, benchmark)
    if selection is None:
        return []
    rows = selection.rows().filter(pk__gt=after, pk__lte=work.params["last"])
    return list(rows.order_by("pk").values_list("pk", flat=True)[:STEP])


def _undo_ids(work: JobContext, _benchmark: Benchmark) -> list[int]:
    rows = ItemChange.objects.filter(job=work.params["undo"], undone_at=None, item__gt=work.cursor.get("after", 0))
    return list(rows.order_by("item").values_list("item", flat=True)[:STEP])


@in_transaction
def _step(work: JobContext, action: ItemAction, ids: Sequence[int], performer: Performer) -> None:
    """One transaction: the changes, what undo needs, and the progress."""
    rows = []
    items = Item.objects.filter(pk__in=ids, stage__benchmark=work.params["benchmark"]).select_related(
        "stage__benchmark"
    )
    for number, item in enumerate(items.order_by("pk"), start=work.job.done + 1):
        row = JobRow(number=number, name=item.key[:300], outcome=JobRow.Outcome.UPDATED)
        try:
            _change(work, action, item, performer)
        except ItemRefused as error:
            row.outcome, row.reason, row.message = JobRow.Outcome.ERROR, error.reason, str(REASONS[error.reason])
        rows.append(row)
    work.step(done=work.job.done + len(ids), cursor={"after": ids[-1]}, rows=rows)


def _change(work: JobContext, action: ItemAction, item: Item, performer: Performer) -> None:
    if not work.params.get("undo"):
        before = action.perform(item, performer)
        ItemChange.objects.create(job=work.job, item=item, before=before, at=performer.at)
        return
    change = ItemChange.objects.select_for_update().get(job=work.params["undo"], item=item)
    action.undo(item, change.before, performer)
    change.undone_at = performer.at
    change.save(update_fields=["undone_at"])


def next_link(job: Job) -> NextLink | None:
    benchmark = Benchmark.objects.filter(pk=job.params.get("benchmark")).first()
    if benchmark is None:
        return None
    address = reverse("benchmarks:items", args=[benchmark.slug], query={**job.params.get("asked", {}), "done": job.pk})
    return NextLink(_("View items, or undo"), address)


BULK = JobKind(KIND, run, next_link)
