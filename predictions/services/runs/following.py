"""Runs that follow: they ask about items that come to their stage later, as soon as these are there.

A following run is done when every item is asked, and starts again when another one comes. It asks about each item and
target once, whether the item was withdrawn and restored meanwhile or not.
"""

from collections.abc import Sequence
from datetime import datetime

from django.db import connection, transaction
from django.db.models import Exists, OuterRef
from django.utils.translation import gettext as _

from annotation.models import Campaign
from jobs.connections.broker import dispatch
from people.models import User
from predictions.models import Call, PlanSet, Run
from predictions.services.runs import answer_runs
from predictions.services.runs.answer_runs import RunRefused
from predictions.services.runs.unit_selection import (
    ItemTarget,
    UnitKey,
    count_new_units,
    items_of,
    later_spots,
    make_calls,
)

TASK = "predictions.follow_new_items"
State = Run.State
ENDED = (State.DONE, State.FAILED)


def follow_new_items() -> int:
    """Let every following run ask about what came; return how many calls are new."""
    rows = Run.objects.filter(follows=True, withdrawn_at=None, campaign__state__in=("open", "paused"))
    rows = rows.exclude(state=State.CANCELLED).select_related("campaign__stage__benchmark__team").order_by("pk")
    return sum(follow(run) for run in rows)


def follow(run: Run) -> int:
    """Add the calls that are missing and go on with the run; return how many calls are new.

    A run that is paused stays so: the new calls wait with the others.
    """
    if not has_new_items(run) and not count_new_units(run):
        return 0
    with transaction.atomic():
        locked_run = answer_runs.lock_run(run)
        if not locked_run.follows or locked_run.withdrawn_at or locked_run.state == State.CANCELLED:
            return 0
        n = make_calls(locked_run, _not_asked(locked_run))
        if n:
            answer_runs.record_event(locked_run, None, "run.followed", calls=n)
            if locked_run.state in ENDED and _may_start(locked_run):
                answer_runs.start_job(locked_run, None)
    return n


def has_new_items(run: Run) -> bool:
    """Whether there is an item that the run has no call for."""
    if run.campaign is None:
        return False
    calls = Call.objects.filter(run=run, item=OuterRef("pk"))
    return bool(items_of(run.campaign, run.selection).filter(~Exists(calls)).exists())


def _not_asked(run: Run) -> list[ItemTarget]:
    asked: set[UnitKey] = set(
        Call.objects.filter(run=run, repeat=0).values_list("item", "unit__target", "unit__label_set")
    )
    return [spot for spot in later_spots(run) if spot.unit not in asked]


def _may_start(run: Run) -> bool:
    return run.plan_set is None or run.plan_set.state == PlanSet.State.RUNNING


def set_follows(run: Run, follows: bool, actor: User, at: datetime) -> None:
    """Switch it on, and ask about what came since; or off: what waits already is still asked. Raises RunRefused."""
    with transaction.atomic():
        locked_run = answer_runs.lock_run(run)
        if follows and (locked_run.state == State.CANCELLED or locked_run.withdrawn_at or not locked_run.endpoint_id):
            raise RunRefused(_("A run that was stopped, withdrawn or imported follows no items."))
        if follows and (locked_run.campaign is None or locked_run.campaign.state == Campaign.State.CLOSED):
            raise RunRefused(_("The campaign is closed, so no answer would count. Copy the campaign to continue."))
        if locked_run.follows == follows:
            return
        Run.objects.filter(pk=run.pk).update(follows=follows)
        answer_runs.record_event(locked_run, actor, "run.follows" if follows else "run.follows_no_more")
    run.follows = follows
    if follows:
        follow(run)


def items_arrived(stage_id: int, item_ids: Sequence[int]) -> None:
    """Send the worker to the runs that follow the stage, when this transaction commits."""
    following = Run.objects.filter(campaign__stage=stage_id, follows=True, withdrawn_at=None)
    if (
        all(hook[1] is not _send for hook in connection.run_on_commit)
        and following.exclude(state=State.CANCELLED).exists()
    ):
        transaction.on_commit(_send, robust=True)


def _send() -> None:
    """Without a broker, the beat comes round."""
    dispatch(TASK)
