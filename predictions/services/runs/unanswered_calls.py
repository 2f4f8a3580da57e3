"""Calls that ended without an answer, for stages that list them.

See annotation.services.derivation.unanswered_calls.
"""

from collections.abc import Collection, Iterable

from annotation.services.derivation import outbox
from annotation.services.derivation.unanswered_calls import UnansweredCall
from benchmarks.models import Stage
from predictions.models import Call, Run

State = Call.State
WITHOUT = (State.NO_RESPONSE, State.REFUSED, State.UNPARSEABLE, State.OUT_OF_RANGE)
"""States of a call that was put to the model and has no answer. What was not sent, or failed on the way, is none."""


def find_unanswered(stage: Stage, item_ids: Collection[int]) -> list[UnansweredCall]:
    """Of these items, in runs that are not withdrawn. One query."""
    rows = Call.objects.filter(
        run__campaign__stage=stage, run__task=Run.Task.ANSWERS, run__withdrawn_at=None, item__in=item_ids,
        state__in=WITHOUT, unit__isnull=False,
    )  # fmt: skip
    return [
        UnansweredCall(call.unit, call.run.rater, call.run_id, call.repeat, call.ended_at or call.run.created_at)
        for call in rows.select_related("unit", "run__rater").order_by("pk")
        if call.unit is not None
    ]


def mark_due(calls: Iterable[int]) -> None:
    """These calls have ended, or were read again: the worker looks at what is made of their items."""
    ids = list(calls)
    if ids:
        outbox.mark_items_due(set(Call.objects.filter(pk__in=ids).order_by().values_list("item", flat=True)))


def mark_run_due(run: Run) -> None:
    """The run counts no longer, or again. What has an answer is noted with the answer."""
    rows = Call.objects.filter(run=run, state__in=WITHOUT)
    outbox.mark_items_due(set(rows.order_by().values_list("item", flat=True)))
