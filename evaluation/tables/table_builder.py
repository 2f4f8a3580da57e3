"""A table from the benchmark to its forms: what page, file, REST and command line all call."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, tzinfo
from typing import Any, NoReturn
from urllib.parse import urlencode

from django.db.models import Max, QuerySet
from django.utils.translation import get_language

from annotation.models import Annotation, Rating
from annotation.queries.answers import watermark
from benchmarks.models import Benchmark, LabelSet
from evaluation.queries.observations import Observations, RawAnswer
from evaluation.selections.catalogue import Catalogue, catalogue_of
from evaluation.selections.selection import Params, SelectionError
from evaluation.services import snapshots
from evaluation.tables.registry import tables_of
from evaluation.tables.sources import COLLECTION, SOURCES, Usable, every
from evaluation.tables.spec import TableSpec
from evaluation.tables.table import MissingData, Table
from evaluation.tables.table_formats import to_json
from evaluation.tables.table_inputs import EVERYBODY, NARROWING, InvalidOption, TableInputs, invalid_option
from evaluation.tables.table_report import Data
from people.models import Rater
from predictions.models import Run
from predictions.queries.results import state_of

AT_ONCE = 5.0  # seconds: what took longer when it was last made is not made while a page waits


def build_or_load(benchmark: Benchmark, spec: TableSpec, params: Params, at: datetime, zone: tzinfo = UTC) -> Data:
    """Large data is kept as it was last made, and says so. `fresh=1` in the address makes it anew, once in a while and
    one at a time; what took longer than AT_ONCE is left to a worker, and `asked` says so.

    Raises MissingData, InvalidOption and SelectionError.
    """
    catalogue = catalogue_of(benchmark)
    report, key = report_of(spec), _key(benchmark, spec, params, zone)

    def compute() -> Data:
        return to_json(build_table(benchmark, spec, params, at, catalogue, zone), catalogue)

    look = snapshots.get_or_compute(benchmark, report, key, compute, at)
    asked = False
    if params.getlist("fresh") == ["1"] and snapshots.needs_recompute(look, at):
        if look.seconds > AT_ONCE:
            asked = request_refresh(benchmark, spec, params, at, zone)
        elif found := snapshots.compute_if_unlocked(benchmark, report, key, compute, at):
            look = snapshots.report_state(found)
    return {**look.data, "stored": look.stored, "newer": look.newer, "changed": look.changed, "asked": asked}


def request_refresh(benchmark: Benchmark, spec: TableSpec, params: Params, at: datetime, zone: tzinfo = UTC) -> bool:
    """Have a kept table made anew by a worker. False where none is kept: it is made at every look."""
    key, query = _key(benchmark, spec, params, zone), _query(spec, params)
    language = get_language() or "en"
    return snapshots.request_recompute(benchmark, report_of(spec), key, query, str(zone), at, language)


def version_of(benchmark: Benchmark, spec: TableSpec, params: Params, zone: tzinfo = UTC) -> list[object]:
    """The same list means the same table: of the selection, the watermark, names, and what is kept."""
    key = _key(benchmark, spec, params, zone)
    names = catalogue_of(benchmark).names
    return [key, watermark(benchmark), names, snapshots.stored_at(benchmark, report_of(spec), key)]


def _query(spec: TableSpec, params: Params) -> str:
    return urlencode([(name, value) for name in names_of(spec) for value in params.getlist(name)])


def report_of(spec: TableSpec) -> str:
    """What a kept table is called among the reports."""
    return f"table {spec.key}"[:60]


def recompute(benchmark: Benchmark, report: str, params: Params, at: datetime, zone: tzinfo) -> bool:
    """Make a kept table anew, for a worker. False where another is at it, or where it can no longer be made."""
    spec = next((one for one in tables_of(benchmark) if report_of(one) == report), None)
    if spec is None:
        return False
    catalogue = catalogue_of(benchmark)

    def compute() -> Data:
        return to_json(build_table(benchmark, spec, params, at, catalogue, zone), catalogue)

    try:
        key = _key(benchmark, spec, params, zone)
        return snapshots.compute_if_unlocked(benchmark, report, key, compute, at) is not None
    except (MissingData, InvalidOption, SelectionError):
        return False


def _key(benchmark: Benchmark, spec: TableSpec, params: Params, zone: tzinfo) -> str:
    """SHA-256 of everything that was chosen, of the runs that stand, and of what the team says of models, cultures and
    campaigns: with other ones it is another table, and made at once."""
    asked = [(name, sorted(map(str, params.getlist(name)))) for name in names_of(spec)]
    if any(params.getlist("since") + params.getlist("until")):
        asked.append(("zone", [str(zone)]))
    more = spec.state(benchmark) if spec.state else ()
    state = [state_of(benchmark), _team_state(benchmark), *more]
    chosen = [benchmark.pk, spec.key, get_language(), asked, *state, snapshots.CODE]
    return hashlib.sha256(json.dumps(chosen, sort_keys=True).encode()).hexdigest()


def _team_state(benchmark: Benchmark) -> list[Any]:
    """What rows, columns and the sentences below a table are made of besides answers and runs: details of models, also
    of those whose answers came in a file; label sets, of which no version changes; names."""
    models = Rater.objects.filter(team=benchmark.team_id, kind=Rater.Kind.MODEL).order_by("pk")
    sets = LabelSet.objects.filter(team=benchmark.team_id).aggregate(newest=Max("pk"))
    catalogue = catalogue_of(benchmark)
    stages = [(stage.name, [campaign.name for campaign in stage.campaigns]) for stage in catalogue.stages]
    cohorts = [(pk, cohort.label, cohort.name) for pk, cohort in catalogue.cohorts.items()]
    return [list(models.values_list("pk", "name", "about")), sets["newest"], benchmark.name, stages, cohorts]


def build_table(
    benchmark: Benchmark,
    spec: TableSpec,
    params: Params,
    at: datetime,
    catalogue: Catalogue | None = None,
    zone: tzinfo = UTC,
) -> Table:
    """One door for page, file, REST and command line: so all have the same numbers. `zone`: of who reads.

    Raises MissingData, InvalidOption and SelectionError.
    """
    spec = spec.within(benchmark)
    inputs = TableInputs(
        heading=spec.heading,
        benchmark=benchmark,
        catalogue=catalogue or catalogue_of(benchmark),
        params=params,
        chosen={option.key: _value(option, params.getlist(option.key)) for option in spec.options},
        at=at,
        watermark=watermark(benchmark),
        zone=zone,
    )
    try:
        return spec.build(inputs)
    except MissingData as missing:
        missing.action = missing.action or inputs.action_for(missing)
        raise


def _value(option: Any, given: list[Any]) -> str:
    values = [str(one) for one in given if one]
    if not values:
        return str(option.default)
    if len(values) > 1 or values[0] not in option.values:
        raise invalid_option(option.key, ", ".join(values), list(option.values))
    return values[0]


def names_of(spec: TableSpec) -> list[str]:
    """What of an address changes the table: its options, and who is counted."""
    return [*(option.key for option in spec.options), *spec.parameters, *SOURCES, *NARROWING]


def missing_data(catalogue: Catalogue, spec: TableSpec, params: Params, at: datetime) -> MissingData | None:
    """What is missing: of the first thing the table reads, then of all it requires besides. Nothing is
    computed."""
    chosen = {option.key: option.default_in(catalogue.benchmark) for option in spec.options}
    probe = _DataProbe(spec.heading, catalogue.benchmark, catalogue, params, chosen, at, watermark=0)
    try:
        with suppress(_DataFound, SelectionError):
            spec.build(probe)
        with suppress(SelectionError):
            for check in spec.requirements:
                check(probe)
    except MissingData as missing:
        missing.action = missing.action or probe.action_for(missing)
        return missing
    return None


class _DataFound(Exception):
    """The first thing the table asks for is there."""


class _DataProbe(TableInputs):
    """Looks whether there is anything of what a table asks for first, and goes no further."""

    def observed(self, stage: str, field_key: str, raters: tuple[str, ...] = EVERYBODY) -> Observations:
        found = self.selection(stage, field_key, raters)
        self.used_selections.append(found)
        rows = Rating.objects.filter(campaign__in=found.campaigns, field=found.field, live=True)
        self._stop(rows.filter(rater__kind__in=raters), stage, raters)

    def answers(self, stage: str, field_key: str, raters: tuple[str, ...] = EVERYBODY) -> Iterator[RawAnswer]:
        found = self.selection(stage, field_key, raters)
        self.used_selections.append(found)
        rows = Annotation.objects.filter(assignment__campaign__in=found.campaigns, live=True)
        self._stop(rows.filter(rater__kind__in=raters), stage, raters)

    def runs(self, task: str, usable: Usable = every, option: str = COLLECTION) -> list[Run]:
        if found := super().runs(task, usable, option):
            raise _DataFound
        return found  # the table says what is missing

    def _stop(self, rows: QuerySet[Any], stage: str, raters: tuple[str, ...]) -> NoReturn:
        if rows.exists():
            raise _DataFound
        raise self.no_ratings(stage, raters)
