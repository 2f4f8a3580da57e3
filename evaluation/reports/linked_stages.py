"""Answers of linked stages side by side: a box with the box that another person drew in a later stage.

Which stages are linked, and by which measure they are compared, says the stage that settles their disagreements.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.queries.resolutions import resolved_answers, settles_disputes
from annotation.services.derivation.accepted_results import results_of
from benchmarks.models import Benchmark, Stage
from benchmarks.rules.derivations import Derivation, DerivationError
from benchmarks.rules.derivations.disagree import Comparison, compare, disputed_field, stages_of
from evaluation.metrics import resampling
from evaluation.rendering.html import page_table
from evaluation.rendering.number_format import format_number
from evaluation.rendering.report import Cell, Report, ReportColumn, Row, number

SHOWN = 50
NAMES: Mapping[str, Any] = {
    "iou": gettext_lazy("overlap (IoU)"),
    "share": gettext_lazy("share of the commonest answer"),
    "f1": gettext_lazy("F1 of the groupings"),
    "range": gettext_lazy("distance of the answers"),
}


@dataclass(frozen=True)
class Measured:
    """Answers that can be compared."""

    compared: Comparison
    value: float

    @property
    def cohort(self) -> str:
        return self.compared.item.origin or self.compared.target


@dataclass(frozen=True)
class LinkedRow:
    """An item with the answers of all linked stages. `beyond`: so far apart that somebody decides; `settled`: did."""

    item: int
    text: str
    cohort: str
    value: str
    beyond: bool
    settled: bool


@dataclass(frozen=True)
class LinkedStages:
    """`table`: the mean by cohort. `rows`: those that agree least, at most SHOWN of `total`."""

    names: Sequence[str]
    measure: str
    table: Mapping[str, Any]
    rows: Sequence[LinkedRow]
    total: int


def linked_stages(benchmark: Benchmark, stage_key: str) -> LinkedStages | None:
    """None where the stage is linked to no other, and where no item has all its answers yet."""
    stages = {stage.key: stage for stage in benchmark.stages.select_related("benchmark")}
    derivation = next((d for stage in stages.values() if (d := _link(stage)) and stage_key in d.sources), None)
    if derivation is None:
        return None
    results = [result for key in derivation.sources if key in stages for result in results_of(stages[key], linked=True)]
    every = compare(results, derivation.params)
    compared = [Measured(row, row.measured) for row in every if row.measured is not None]
    if not compared:
        return None
    names = [stages[key].name for key in stages_of(derivation.params)]
    measure = str(NAMES[derivation.params["measure"]])
    rows = _rows(benchmark, compared, derivation)
    return LinkedStages(names, measure, _table(compared, derivation), rows, len(compared))


def _link(stage: Stage) -> Derivation | None:
    """The comparison of several stages by which this one gets its items."""
    try:
        derivation = Derivation.from_json(stage.derivation) if settles_disputes(stage) else None
    except DerivationError:
        return None
    return derivation if derivation is not None and len(derivation.sources) > 1 else None


def _table(compared: Sequence[Measured], derivation: Derivation) -> Mapping[str, Any]:
    by_cohort: dict[str, list[float]] = defaultdict(list)
    for row in compared:
        by_cohort[row.cohort].append(row.value)
    rows = [Row(cohort, (_mean_cell(values, derivation),)) for cohort, values in sorted(by_cohort.items())]
    if len(rows) > 1:
        rows.append(Row(_("Together"), (_mean_cell([row.value for row in compared], derivation),)))
    column = ReportColumn(_("Mean %(measure)s") % {"measure": NAMES[derivation.params["measure"]]}, shape="short")
    return page_table(Report(_("Cohort"), (column,), tuple(rows)), "by-cohort", _("Agreement of the linked stages"))


def _mean_cell(values: Sequence[float], derivation: Derivation) -> Cell:
    scale = None if derivation.params["measure"] == "range" else resampling.LOGIT
    return number(resampling.mean(values, np.arange(len(values)), scale=scale, n_raters=2))


def _rows(benchmark: Benchmark, compared: Sequence[Measured], derivation: Derivation) -> list[LinkedRow]:
    """What agrees least comes first."""
    sign = -1 if derivation.params["measure"] == "range" else 1
    settled = resolved_answers(benchmark, *disputed_field(derivation.params))
    ordered = sorted(compared, key=lambda row: (sign * row.value, row.compared.item.key))[:SHOWN]
    return [_row(row, derivation, row.compared.item.id in settled) for row in ordered]


def _row(row: Measured, derivation: Derivation, settled: bool) -> LinkedRow:
    item, beyond = row.compared.item, row.compared.is_disputed(derivation.params)
    text = item.text or item.concept or item.key
    return LinkedRow(item.id, text, row.cohort, format_number(row.value), beyond, settled)
