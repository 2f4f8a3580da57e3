"""Answers of linked stages side by side: a box with the box that another person drew in a later stage.

Which stages are linked, and by which measure they are compared, says the stage that settles their disagreements. From
LIVE_LIMIT answers on the comparison is kept, as other reports are, and a worker makes it anew.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.queries.resolutions import resolved_answers, settles_disputes
from annotation.services.derivation.accepted_results import results_of
from benchmarks.models import Benchmark, Stage
from benchmarks.rules.derivations import Derivation, DerivationError
from benchmarks.rules.derivations.disagree import Comparison, compare, disputed_field, stages_of
from evaluation.metrics import resampling
from evaluation.metrics.estimate import Estimate
from evaluation.rendering.html import page_table
from evaluation.rendering.number_format import format_number
from evaluation.rendering.report import Report, ReportColumn, Row, number
from evaluation.reports.agreement_page import cached_state
from evaluation.services import snapshots

REPORT = "linked stages"
LIVE_LIMIT = 500  # answers of a benchmark: more are too many to read while a page waits
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
    """`table`: the mean by cohort. `rows`: those that agree least, at most SHOWN of `total`. `kept`: how old it is,
    where it is not read at each view."""

    names: Sequence[str]
    measure: str
    table: Mapping[str, Any]
    rows: Sequence[LinkedRow]
    total: int
    kept: str = ""


@dataclass(frozen=True)
class Link:
    """Stages whose answers one derivation compares; `key` is that of the stage which settles what differs."""

    key: str
    derivation: Derivation
    stages: Mapping[str, Stage]


def linked_stages(benchmark: Benchmark, stage_key: str, at: datetime, zone: ZoneInfo) -> LinkedStages | None:
    """None where the stage is linked to no other, and where no item has all its answers yet."""
    link = _link_of(benchmark, stage_key)
    if link is None:
        return None
    key = _snapshot_key(benchmark, link)
    state = snapshots.load_and_renew(
        benchmark, REPORT, key, lambda: _compare(benchmark, link), at, stage_key, threshold=LIVE_LIMIT
    )
    data = state.data
    if not data["total"]:
        return None
    names = [link.stages[key].name for key in stages_of(link.derivation.params)]
    measure = str(NAMES[link.derivation.params["measure"]])
    rows = [LinkedRow(**row) for row in data["rows"]]
    table = _table(data["cohorts"], measure)
    return LinkedStages(names, measure, table, rows, data["total"], cached_state(state, zone).get("kept", ""))


@dataclass(frozen=True)
class LinkedEstimates:
    """Agreement of linked stages: the mean of each cohort by its label, that of all under None.

    `key`: of the stage that settles what differs; `stages`: keys of the linked ones.
    """

    key: str
    stages: Sequence[str]
    measure: str
    by_cohort: Mapping[str | None, Estimate]


def linked_estimates(benchmark: Benchmark) -> list[LinkedEstimates]:
    """Of every link of the benchmark in which two answers can be compared. Reads all answers: for a worker."""
    stages = {stage.key: stage for stage in benchmark.stages.select_related("benchmark")}
    links = [Link(stage.key, derivation, stages) for stage in stages.values() if (derivation := _link(stage))]
    estimates = []
    for link in links:
        means = dict(_cohorts(_compared(link), link.derivation))
        if means:
            params = link.derivation.params
            by_cohort = {cohort: Estimate.from_json(mean) for cohort, mean in means.items()}
            estimates.append(LinkedEstimates(link.key, stages_of(params), str(params["measure"]), by_cohort))
    return estimates


def recompute(benchmark: Benchmark, stage_key: str, at: datetime) -> bool:
    """Make what is kept anew, for a worker. False where another is at it, or where the stages are linked no more."""
    link = _link_of(benchmark, stage_key)
    if link is None:
        return False
    key = _snapshot_key(benchmark, link)
    return snapshots.compute_if_unlocked(benchmark, REPORT, key, lambda: _compare(benchmark, link), at) is not None


def _snapshot_key(benchmark: Benchmark, link: Link) -> str:
    """SHA-256 of what is compared and how."""
    derivation = link.derivation
    chosen = [benchmark.pk, REPORT, snapshots.CODE, link.key, derivation.sources, dict(derivation.params)]
    return hashlib.sha256(json.dumps(chosen, sort_keys=True).encode()).hexdigest()


def _link_of(benchmark: Benchmark, stage_key: str) -> Link | None:
    stages = {stage.key: stage for stage in benchmark.stages.select_related("benchmark")}
    for stage in stages.values():
        derivation = _link(stage)
        if derivation and stage_key in derivation.sources:
            return Link(stage.key, derivation, stages)
    return None


def _compare(benchmark: Benchmark, link: Link) -> dict[str, Any]:
    """What is kept: an estimate for each cohort, and the items that agree least."""
    compared = _compared(link)
    rows = [asdict(row) for row in _rows(benchmark, compared, link.derivation)]
    return {"cohorts": _cohorts(compared, link.derivation), "rows": rows, "total": len(compared)}


def _compared(link: Link) -> list[Measured]:
    sources = [link.stages[key] for key in link.derivation.sources if key in link.stages]
    results = [result for stage in sources for result in results_of(stage, linked=True)]
    every = compare(results, link.derivation.params)
    return [Measured(row, row.measured) for row in every if row.measured is not None]


def _link(stage: Stage) -> Derivation | None:
    """The comparison of several stages by which this one gets its items."""
    try:
        derivation = Derivation.from_json(stage.derivation) if settles_disputes(stage) else None
    except DerivationError:
        return None
    return derivation if derivation is not None and len(derivation.sources) > 1 else None


def _cohorts(compared: Sequence[Measured], derivation: Derivation) -> list[list[Any]]:
    """The mean of each cohort; with more than one, that of all under None."""
    by_cohort: dict[str, list[float]] = defaultdict(list)
    for row in compared:
        by_cohort[row.cohort].append(row.value)
    means: list[list[Any]] = [[cohort, _mean(values, derivation)] for cohort, values in sorted(by_cohort.items())]
    if len(means) > 1:
        means.append([None, _mean([row.value for row in compared], derivation)])
    return means


def _mean(values: Sequence[float], derivation: Derivation) -> dict[str, Any]:
    is_distance = derivation.params["measure"] == "range"
    scale = resampling.NOT_NEGATIVE if is_distance else resampling.LOGIT
    return resampling.mean(values, np.arange(len(values)), scale=scale, n_raters=2).to_json()


def _table(cohorts: Sequence[Sequence[Any]], measure: str) -> Mapping[str, Any]:
    rows = [
        Row(_("Together") if cohort is None else cohort, (number(Estimate.from_json(mean)),))
        for cohort, mean in cohorts
    ]
    column = ReportColumn(_("Mean %(measure)s") % {"measure": measure}, shape="short")
    return page_table(Report(_("Cohort"), (column,), tuple(rows)), "by-cohort", _("Agreement of the linked stages"))


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
