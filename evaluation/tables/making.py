"""A table from the benchmark to its forms: what page, file, REST and command line all call."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any, NoReturn

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from annotation.models import Annotation, Rating
from benchmarks.models import Benchmark
from evaluation.catalogue import Catalogue, catalogue_of
from evaluation.observations import Observed, Said
from evaluation.selection import Params, Selection, SelectionError
from evaluation.tables.given import EVERYBODY, Given, build
from evaluation.tables.renderings import Data, to_json
from evaluation.tables.spec import Missing, TableSpec, Words
from predictions.models import Run


def make(benchmark: Benchmark, spec: TableSpec, params: Params, at: datetime) -> Data:
    """Raises Missing, BadOption and SelectionError."""
    catalogue = catalogue_of(benchmark)
    return to_json(build(benchmark, spec, params, at, catalogue), catalogue)


def lacking(catalogue: Catalogue, spec: TableSpec, params: Params, at: datetime) -> Words:
    """What is missing for the first thing the table reads; empty where something is there. Nothing is computed."""
    chosen = {option.key: option.default for option in spec.options}
    try:
        spec.build(_Probe(spec, catalogue.benchmark, catalogue, params, chosen, at, mark=0))
    except Missing as missing:
        return missing.message
    except (_Enough, SelectionError):
        return ""
    return ""


class _Enough(Exception):
    """The first thing the table asks for is there."""


class _Probe(Given):
    """Looks whether there is anything of what a table asks for first, and goes no further."""

    def observed(self, stage: str, field_key: str, raters: tuple[str, ...] = EVERYBODY) -> Observed:
        found = self.selection(stage, field_key, raters)
        rows = Rating.objects.filter(campaign__in=found.campaigns, field=found.field, live=True)
        _stop(rows.filter(rater__kind__in=raters), found)

    def answers(self, stage: str, field_key: str, raters: tuple[str, ...] = EVERYBODY) -> Iterator[Said]:
        found = self.selection(stage, field_key, raters)
        rows = Annotation.objects.filter(assignment__campaign__in=found.campaigns, live=True)
        _stop(rows.filter(rater__kind__in=raters), found)

    def runs(self, task: str, query_set: str | None = None) -> list[Run]:
        super().runs(task, query_set)
        raise _Enough


def _stop(rows: QuerySet[Any], selection: Selection) -> NoReturn:
    if rows.exists():
        raise _Enough
    raise Missing(_("There are no ratings in the stage “%(stage)s” yet.") % {"stage": selection.stage})
