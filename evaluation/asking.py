"""How models came by their answers, what was left out, and what they said when they were asked again."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from django.db.models import Count, Q, QuerySet

from annotation.models import Rating
from evaluation.metrics.counts import Bools, Floats, Ints, Ratings
from evaluation.selection import Selection
from people.models import Rater
from predictions.models import Call, Run

State = Call.State
WITHOUT_VALUE = (State.UNPARSEABLE, State.OUT_OF_RANGE, State.NO_RESPONSE, State.REFUSED, State.FAILED)
"""How a call ends without an answer, in the order in which it is told."""
UNSENT = (
    Q(state=State.OVER_BUDGET)
    | Q(state=State.FAILED, reason="stopped")
    | Q(state=State.FAILED, attempts_made=0, replies=[], run__endpoint__isnull=False)
)
"""Calls that never went out: the run ended before them, or the unit lacked what the prompt shows. A model was not asked
what was not sent, so it has not failed there."""


@dataclass(frozen=True)
class Asked:
    """A model rater's calls. `ways`: answers by the way they came (Call.how; "" where a file does not say). `failed`:
    unit to the state its call ended in, without a value. `known`: whether it has calls at all: of answers that came in
    a file of ratings nobody knows what else was asked."""

    ways: Mapping[str, int] = field(default_factory=dict)
    failed: Mapping[int, str] = field(default_factory=dict)
    known: bool = False

    def lost(self, units: Ints, scores: Floats) -> Bools:
        """(n,) of things whose `units` are ids and `scores` what the model said, NaN for nothing: which it was asked
        about without a value coming of it."""
        failed = np.fromiter(self.failed, np.int64, len(self.failed))
        found: Bools = np.isnan(scores) & np.isin(units, failed)
        return found


@dataclass(frozen=True)
class LeftOut:
    """Of the things that people rated: how many calls ended without a value, by state; and, of an accuracy, what it
    would be were they all wrong or all right, but for the `n_undecided` for which no answer is the right one."""

    states: Mapping[str, int]
    worst: float | None = None
    best: float | None = None
    n_undecided: int = 0

    @property
    def n(self) -> int:
        return sum(self.states.values())

    def to_json(self) -> dict[str, Any]:
        ends = {"worst": self.worst, "best": self.best, "n_undecided": self.n_undecided}
        return {"n": self.n, "states": dict(self.states), **ends}


def asked(selection: Selection) -> dict[int, Asked]:
    """By the id of the rater; those of no run are not in it. Only first repeats: no other counts."""
    calls = _calls(selection)
    ways: dict[int, dict[str, int]] = defaultdict(dict)
    answered = calls.filter(state=State.ANSWERED).order_by().values_list("run__rater", "how").annotate(n=Count("pk"))
    for rater, how, n in answered:
        ways[rater][how] = n
    failed: dict[int, dict[int, str]] = defaultdict(dict)
    without = calls.filter(state__in=WITHOUT_VALUE, unit__isnull=False).exclude(UNSENT)
    for rater, unit, state in without.values_list("run__rater", "unit", "state").iterator(chunk_size=5000):
        failed[rater][unit] = state
    return {rater: Asked(ways.get(rater, {}), failed.get(rater, {}), True) for rater in {*ways, *failed}}


def _calls(selection: Selection) -> QuerySet[Call]:
    rows = Call.objects.filter(
        run__task=Run.Task.ANSWERS, run__withdrawn_at=None, run__campaign__in=selection.campaigns, repeat=0,
        item__condition__in=selection.conditions,
    )  # fmt: skip
    if selection.since:
        rows = rows.filter(ended_at__gte=selection.since)
    if selection.until:
        rows = rows.filter(ended_at__lt=selection.until)
    return rows.filter(item__concept__in=selection.concepts) if selection.concepts else rows


def left_out(of: Asked, units: Ints, scores: Floats, right: Floats | None = None) -> LeftOut:
    """Of things whose `units` (n,) are ids and `scores` (n,) what the model said, NaN for nothing. `right` (n,): the
    codes that count as right in an accuracy, NaN where none does: such a thing is left out all the same, and is in
    neither end."""
    gone = of.lost(units, scores)
    states = Counter(of.failed[int(unit)] for unit in units[gone])
    told = {str(state): states[state] for state in WITHOUT_VALUE if states[state]}
    if right is None or not told:
        return LeftOut(told)
    decided = np.isfinite(right)
    hits, n = int((scores == right)[decided].sum()), int((np.isfinite(scores) & decided).sum())
    lost = int((gone & decided).sum())
    undecided = int((gone & ~decided).sum())
    if not lost:
        return LeftOut(told, n_undecided=undecided)
    return LeftOut(told, hits / (n + lost), (hits + lost) / (n + lost), undecided)


def repeated(selection: Selection) -> dict[int, Ratings]:
    """What model raters said each time they were asked: by the id of the rater, units against repeats. Only of those
    that were asked again."""
    rows = Rating.objects.filter(
        campaign__in=selection.campaigns, field=selection.field, live=True, rater__kind=Rater.Kind.MODEL,
        unit__item__condition__in=selection.conditions,
    )  # fmt: skip
    if selection.concepts:
        rows = rows.filter(unit__item__concept__in=selection.concepts)
    again = rows.filter(annotation__assignment__repeat__gt=0, annotation__uncounted_because="repeat")
    raters = list(again.order_by().values_list("rater", flat=True).distinct())
    said: dict[int, list[tuple[int, int, Any]]] = defaultdict(list)
    names = ("rater", "unit", "annotation__assignment__repeat", "annotation__uncounted_because", "code", "value")
    if raters:
        for rater, unit, repeat, because, code, value in rows.filter(rater__in=raters).values_list(*names).iterator():
            if because in ("", "repeat"):
                said[rater].append((unit, repeat, code if selection.level == "nominal" else value))
    return {rater: Ratings.from_labels(_numbers(some)) for rater, some in said.items()}


def _numbers(rows: list[tuple[int, int, Any]]) -> list[tuple[int, int, float]]:
    codes = {code: float(place) for place, code in enumerate(sorted({v for _u, _r, v in rows if isinstance(v, str)}))}
    return [(unit, repeat, codes.get(v, v)) for unit, repeat, v in rows if v is not None]
