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
from evaluation.selections.selection import Selection
from people.models import Rater
from predictions.models import Call, Run
from predictions.models.calls import INCOMPLETE
from predictions.queries.code_mass import CodeMass, code_mass_by_rater

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
class CallStatistics:
    """A model rater's calls. `ways`: answers by the way they came (Call.how; "" where a file does not say). `failed`:
    unit to the state its call ended in, without a value. `known`: whether it has calls at all: of answers that came in
    a file of ratings nobody knows what else was asked. `covered`: how likely the codes were together, where answers
    came by log-probabilities. `samples`: the stored selection of each of its runs that asked a sample only.
    `incomplete`: answered calls without a readable answer to some question; where it is this one, the unit is in
    `failed`."""

    ways: Mapping[str, int] = field(default_factory=dict)
    failed: Mapping[int, str] = field(default_factory=dict)
    known: bool = False
    covered: CodeMass | None = None
    samples: tuple[Mapping[str, Any], ...] = ()
    incomplete: int = 0

    def failed_mask(self, units: Ints, scores: Floats) -> Bools:
        """(n,) of things whose `units` are ids and `scores` what the model said, NaN for nothing: which it was asked
        about without a value coming of it."""
        failed = np.fromiter(self.failed, np.int64, len(self.failed))
        found: Bools = np.isnan(scores) & np.isin(units, failed)
        return found


@dataclass(frozen=True)
class MissingAnswers:
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


def call_statistics(selection: Selection) -> dict[int, CallStatistics]:
    """By the id of the rater; those of no run are not in it. Only first repeats: no other counts."""
    calls = _calls(selection).filter(repeat=0)
    ways: dict[int, dict[str, int]] = defaultdict(dict)
    unreadable = Q(state=State.ANSWERED, **{f"notes__{INCOMPLETE}__has_key": selection.field})
    readable = calls.filter(state=State.ANSWERED).exclude(pk__in=calls.filter(unreadable).values("pk")).order_by()
    answered = readable.values_list("run__rater", "how").annotate(n=Count("pk"))
    for rater, how, n in answered:
        ways[rater][how] = n
    failed: dict[int, dict[int, str]] = defaultdict(dict)
    without = calls.filter(state__in=WITHOUT_VALUE, unit__isnull=False).exclude(UNSENT)
    for rater, unit, state in without.values_list("run__rater", "unit", "state").iterator(chunk_size=5000):
        failed[rater][unit] = state
    for rater, unit in calls.filter(unreadable, unit__isnull=False).values_list("run__rater", "unit"):
        failed[rater][unit] = State.UNPARSEABLE
    some = calls.filter(state=State.ANSWERED, reason=INCOMPLETE).order_by()
    incomplete = dict(some.values_list("run__rater").annotate(n=Count("pk")))
    covered = code_mass_by_rater(calls)
    samples: dict[int, list[Mapping[str, Any]]] = defaultdict(list)
    for run in sampled_runs(selection):
        samples[run.rater_id].append(run.selection)
    return {
        rater: CallStatistics(
            ways.get(rater, {}),
            failed.get(rater, {}),
            True,
            covered.get(rater),
            tuple(samples.get(rater, ())),
            incomplete.get(rater, 0),
        )
        for rater in {*ways, *failed}
    }


def sampled_runs(selection: Selection) -> QuerySet[Run]:
    """The runs over the selection's campaigns that asked a sample of their units and stored how it was drawn."""
    rows = Run.objects.filter(task=Run.Task.ANSWERS, withdrawn_at=None, campaign__in=selection.campaigns)
    return rows.filter(selection__has_key="strata").select_related("rater").order_by("rater__name", "pk")


def _calls(selection: Selection) -> QuerySet[Call]:
    rows = Call.objects.filter(
        run__task=Run.Task.ANSWERS, run__withdrawn_at=None, run__campaign__in=selection.campaigns,
        item__condition__in=selection.conditions, item__withdrawn_at=None,
    )  # fmt: skip
    if selection.since:
        rows = rows.filter(ended_at__gte=selection.since)
    if selection.until:
        rows = rows.filter(ended_at__lt=selection.until)
    return rows.filter(item__concept__in=selection.concepts) if selection.concepts else rows


def missing_answers(of: CallStatistics, units: Ints, scores: Floats, right: Floats | None = None) -> MissingAnswers:
    """Of things whose `units` (n,) are ids and `scores` (n,) what the model said, NaN for nothing. `right` (n,): the
    codes that count as right in an accuracy, NaN where none does: such a thing is left out all the same, and is in
    neither end."""
    gone = of.failed_mask(units, scores)
    states = Counter(of.failed[int(unit)] for unit in units[gone])
    states_without_value = {str(state): states[state] for state in WITHOUT_VALUE if states[state]}
    if right is None or not states_without_value:
        return MissingAnswers(states_without_value)
    decided = np.isfinite(right)
    hits, n = int((scores == right)[decided].sum()), int((np.isfinite(scores) & decided).sum())
    lost = int((gone & decided).sum())
    undecided = int((gone & ~decided).sum())
    if not lost:
        return MissingAnswers(states_without_value, n_undecided=undecided)
    return MissingAnswers(states_without_value, hits / (n + lost), (hits + lost) / (n + lost), undecided)


@dataclass(frozen=True)
class RepeatedAnswers:
    """What a model said each time it was asked: units against times. `lost` (units,): how often without a value."""

    ratings: Ratings
    lost: Ints


def repeated_answers(selection: Selection) -> dict[int, RepeatedAnswers]:
    """By the id of the rater; only of those that were asked again."""
    rows = Rating.objects.filter(
        campaign__in=selection.campaigns, field=selection.field, live=True, rater__kind=Rater.Kind.MODEL,
        unit__item__condition__in=selection.conditions, unit__item__withdrawn_at=None,
    )  # fmt: skip
    if selection.concepts:
        rows = rows.filter(unit__item__concept__in=selection.concepts)
    if selection.since:
        rows = rows.filter(annotation__submitted_at__gte=selection.since)
    if selection.until:
        rows = rows.filter(annotation__submitted_at__lt=selection.until)
    again = rows.filter(annotation__assignment__repeat__gt=0, annotation__uncounted_because="repeat")
    unreadable = Q(state=State.ANSWERED, **{f"notes__{INCOMPLETE}__has_key": selection.field})
    lost = _calls(selection).filter(Q(state__in=WITHOUT_VALUE) | unreadable, unit__isnull=False).exclude(UNSENT)
    raters = {*again.order_by().values_list("rater", flat=True).distinct()}
    raters |= {*lost.filter(repeat__gt=0).order_by().values_list("run__rater", flat=True).distinct()}
    if not raters:
        return {}
    rows_by_rater: dict[int, list[tuple[int, Time, Any]]] = {rater: [] for rater in raters}
    names = ("rater", "unit", "campaign", "annotation__assignment__repeat", "code", "value")
    counted = rows.filter(rater__in=raters, annotation__uncounted_because__in=["", "repeat"])
    for rater, unit, campaign, repeat, code, value in counted.values_list(*names).iterator():
        rows_by_rater[rater].append((unit, (campaign, repeat), code if selection.level == "nominal" else value))
    for rater, *call in lost.filter(run__rater__in=raters).values_list("run__rater", "unit", "run__campaign", "repeat"):
        rows_by_rater[rater].append((call[0], (call[1], call[2]), None))
    return {rater: _repeated_answers(some) for rater, some in rows_by_rater.items() if some}


Time = tuple[int, int]  # campaign and repeat: asked in two campaigns is asked twice


def _repeated_answers(rows: list[tuple[int, Time, Any]]) -> RepeatedAnswers:
    units = {unit: n for n, unit in enumerate(sorted({unit for unit, *_rest in rows}))}
    times = {time: n for n, time in enumerate(sorted({time for _unit, time, _value in rows}))}
    codes = {code: float(place) for place, code in enumerate(sorted({v for *_of, v in rows if isinstance(v, str)}))}
    coded = {(units[unit], times[time]): codes.get(v, v) for unit, time, v in rows if v is not None}
    without = {(units[unit], times[time]) for unit, time, v in rows if v is None} - coded.keys()
    unit, time = np.array(list(coded), np.int64).reshape(-1, 2).T
    lost = np.bincount(np.array([place for place, _time in without], np.int64), minlength=len(units))
    return RepeatedAnswers(
        Ratings(unit, time, np.array(list(coded.values()), np.float64), len(units), len(times)), lost
    )
