"""What a table is made from: the benchmark's answers and runs, each read once, and the options in force."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from typing import Any
from urllib.parse import urlencode

from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.readers import watermark
from benchmarks.models import Benchmark
from evaluation.catalogue import Catalogue, catalogue_of
from evaluation.metrics.intervals import Interval
from evaluation.observations import Observed, Said, answers, observe
from evaluation.selection import Params, Selection, select
from evaluation.tables.spec import Door, Missing, Row, Table, TableSpec, Words
from predictions.models import Run
from predictions.readers import runs_of

EVERYBODY = ("person", "model")
NARROWING = ("cohort", "condition", "concept", "counted", "repeats", "interval", "since", "until")


PREDICTIONS = Door("predictions:index", gettext_lazy("To the predictions"))


def _open_one(stage: str) -> Door:
    return Door("annotation:campaign_new", _("Open a campaign"), query=urlencode({"stage": stage}))


def _bring_answers(campaign: int, *, by_people: bool) -> Door:
    run = None if by_people else campaign
    return Door("annotation:answers_import", _("Import answers"), (campaign,), campaign=run)


@dataclass
class Given:
    """`params` is the address's query; `chosen` the options, each checked against the specification."""

    spec: TableSpec
    benchmark: Benchmark
    catalogue: Catalogue
    params: Params
    chosen: Mapping[str, str]
    at: datetime
    mark: int
    zone: tzinfo = UTC  # whose days the address's dates are
    used: list[Selection] = field(default_factory=list)
    used_runs: dict[int, Run] = field(default_factory=dict)
    _seen: dict[tuple[str, str, tuple[str, ...]], Observed] = field(default_factory=dict)

    def selection(self, stage: str, field_key: str, raters: tuple[str, ...] = EVERYBODY) -> Selection:
        """By the address's cohorts, conditions, dates and so on; the stage and the question are the table's own.

        Raises Missing when nobody has been asked yet, SelectionError when the address asks for what is not there.
        """
        entry = next((one for one in self.catalogue.stages if one.key == stage), None)
        if entry is None:
            raise self._not_opened(stage)
        query = QueryDict(mutable=True)
        for name in NARROWING:
            query.setlist(name, self.params.getlist(name))
        query["stage"] = stage
        if field_key not in {one.key for one in entry.current[0].sheet.fields}:
            text = _("The stage “%(stage)s” does not ask for “%(field)s”. Open a campaign whose sheet does.")
            raise Missing(text % {"stage": entry.name, "field": field_key}, _open_one(stage))
        return replace(select(self.catalogue, query, field=field_key, zone=self.zone), raters=raters)

    def observed(self, stage: str, field_key: str, raters: tuple[str, ...] = EVERYBODY) -> Observed:
        """Raises Missing without any rating."""
        key = (stage, field_key, raters)
        if key not in self._seen:
            selection = self.selection(stage, field_key, raters)
            self.used.append(selection)
            self._seen[key] = observe(selection)
        if not self._seen[key].n:
            raise self.no_ratings(stage, raters)
        return self._seen[key]

    def no_ratings(self, stage: str, raters: tuple[str, ...] = EVERYBODY) -> Missing:
        entry = next(one for one in self.catalogue.stages if one.key == stage)
        text = _("There are no ratings in the stage “%(stage)s” yet.") % {"stage": entry.name}
        return Missing(text, _bring_answers(entry.current[0].id, by_people="model" not in raters))

    def _not_opened(self, key: str) -> Missing:
        stage = self.benchmark.stages.filter(key=key).first()
        if stage is None:
            text = _("This benchmark has no stage “%(stage)s”. Add it under Stages.") % {"stage": key}
            return Missing(text, Door("annotation:stages", _("To the stages")))
        text = _("The stage “%(stage)s” has no campaign yet. Open one, or import answers into it.")
        return Missing(text % {"stage": stage.name}, _open_one(key))

    def door(self, missing: Missing) -> Door | None:
        """Where the last thing that was read came in."""
        if self.used_runs:
            return PREDICTIONS
        return _bring_answers(self.used[-1].campaigns[-1], by_people=missing.by_people) if self.used else None

    def answers(self, stage: str, field_key: str, raters: tuple[str, ...] = EVERYBODY) -> Iterator[Said]:
        selection = self.selection(stage, field_key, raters)
        self.used.append(selection)
        return answers(selection)

    def runs(self, task: str, query_set: str | None = None) -> list[Run]:
        """Raises Missing without any complete run."""
        found = runs_of(self.benchmark, task, query_set)
        if not found:
            raise Missing(_("There are no predictions of this kind yet."), PREDICTIONS)
        self.used_runs |= {run.pk: run for run in found}
        return found

    @property
    def interval(self) -> Interval:
        return self.used[-1].wanted_interval if self.used else Interval()

    def table(self, *, corner: Words, columns: list[Words], rows: list[Row], words: list[Words] | None = None) -> Table:
        """The table with what stands beside it: what was counted, and the options."""
        return Table(
            key=self.spec.key,
            number=self.spec.number,
            title=self.spec.title,
            corner=corner,
            columns=tuple(columns),
            rows=tuple(rows),
            words=(*(words or ()), *self._options()),
            counted=tuple(dict.fromkeys(self.used)),
            runs=tuple(self.used_runs.values()),
            chosen=dict(self.chosen),
            computed_at=self.at,
            watermark=self.mark,
        )

    def _options(self) -> Iterator[str]:
        for option in self.spec.options:
            yield f"{option.label}: {option.values[self.chosen[option.key]]}."


class BadOption(ValueError):
    """`name` has a value the table does not offer; `message` says which there are, in the reader's language."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name, self.message = name, message


def build(
    benchmark: Benchmark,
    spec: TableSpec,
    params: Params,
    at: datetime,
    catalogue: Catalogue | None = None,
    zone: tzinfo = UTC,
) -> Table:
    """One door for page, file, REST and command line: so all have the same numbers. `zone`: of who reads.

    Raises Missing, BadOption and SelectionError.
    """
    spec = spec.within(benchmark)
    given = Given(
        spec=spec,
        benchmark=benchmark,
        catalogue=catalogue or catalogue_of(benchmark),
        params=params,
        chosen={option.key: _value(option, params.getlist(option.key)) for option in spec.options},
        at=at,
        mark=watermark(benchmark),
        zone=zone,
    )
    try:
        return spec.build(given)
    except Missing as missing:
        missing.door = missing.door or given.door(missing)
        raise


def _value(option: Any, given: list[Any]) -> str:
    values = [str(one) for one in given if one]
    if not values:
        return str(option.default)
    if len(values) > 1 or values[0] not in option.values:
        text = _("“%(value)s” is not a value of “%(name)s” here. There are: %(known)s.")
        known = ", ".join(option.values)
        raise BadOption(option.key, text % {"value": ", ".join(values)[:60], "name": option.key, "known": known})
    return values[0]
