"""The models report as JSON and back, so that it can be stored, and how pages, files and REST load it."""

from dataclasses import asdict
from datetime import datetime, tzinfo
from typing import Any
from urllib.parse import urlencode

from django.http import QueryDict

from benchmarks.models import Benchmark
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.self_agreement import SelfAgreement
from evaluation.queries.call_statistics import MissingAnswers
from evaluation.queries.observations import ObservedRater, observed_raters
from evaluation.reports.comparison_filters import page_options
from evaluation.reports.models_report import ModelRow, ModelsReport, check_options, models_report
from evaluation.reports.report_requests import MODELS_OPTIONS, selection_with_models
from evaluation.selections.catalogue import Catalogue, catalogue_of
from evaluation.selections.selection import Selection, SelectionError
from evaluation.services import snapshots
from evaluation.services.snapshots import ReportState
from predictions.models import Run
from predictions.queries.code_mass import CodeMass

REPORT = "models"
_COUNTS = ("statistic", "truth", "n_things", "n_tied", "n_tests", "n_untested", "too_many")
_ESTIMATES = ("answered", "asked", "overall", "image_wise")


def load_models(
    catalogue: Catalogue, params: QueryDict, zone: tzinfo, at: datetime
) -> tuple[ModelsReport, ReportState]:  # fmt: skip
    """Computed for each request where that is quick; else as it was stored. Raises SelectionError."""
    benchmark = catalogue.benchmark
    selection, options = _requested(catalogue, params, zone)
    reports: list[ModelsReport] = []

    def compute() -> Any:
        reports.append(_compute(catalogue, selection, options, at))
        return to_data(reports[0])

    query = urlencode([*selection.to_params(), *options.items()])
    key = _key(benchmark, selection, options)
    state = snapshots.load_and_renew(benchmark, REPORT, key, compute, at, query, selection.zone)
    if reports and not state.stored:
        return reports[0], state
    return from_data(state.data, catalogue, selection, state), state


def models_for(catalogue: Catalogue, params: QueryDict, zone: tzinfo, at: datetime) -> ModelsReport:
    """Raises SelectionError."""
    return load_models(catalogue, params, zone, at)[0]


def recompute(benchmark: Benchmark, params: QueryDict, zone: tzinfo, at: datetime) -> bool:
    """Compute and store it, for a worker. False where another worker is at it, or the parameters hold no longer."""
    catalogue = catalogue_of(benchmark)
    if not catalogue.stages:
        return False
    try:
        selection, options = _requested(catalogue, params, zone)
        key = _key(benchmark, selection, options)

        def compute() -> Any:
            return to_data(_compute(catalogue, selection, options, at))

        return snapshots.compute_if_unlocked(benchmark, REPORT, key, compute, at) is not None
    except SelectionError:
        return False


def _requested(catalogue: Catalogue, params: QueryDict, zone: tzinfo) -> tuple[Selection, dict[str, str]]:
    return selection_with_models(catalogue, params, zone), page_options(params, MODELS_OPTIONS)


def _compute(catalogue: Catalogue, selection: Selection, options: dict[str, str], at: datetime) -> ModelsReport:
    report = models_report(catalogue, selection, options, at)
    check_options(report, options)
    return report


def _key(benchmark: Benchmark, selection: Selection, options: dict[str, str]) -> str:
    """Also of the runs that ended: a request without a readable answer changes no answer, so that only the run's end
    says that there are more of them."""
    runs = Run.objects.filter(campaign__in=selection.campaigns, withdrawn_at=None).exclude(state=Run.State.RUNNING)
    ended = sorted(runs.values_list("pk", flat=True))
    return snapshots.key_of(benchmark, f"{REPORT} {sorted(options.items())} {ended}", selection)


def to_data(report: ModelsReport) -> dict[str, Any]:
    """What `from_data` reads, of JSON types only."""
    counts = {name: getattr(report, name) for name in _COUNTS}
    rows = [_row_data(row) for row in report.lines]
    return counts | {"statistics": list(report.statistics), "truths": list(report.truths), "rows": rows}


def _row_data(row: ModelRow) -> dict[str, Any]:
    estimates = {name: getattr(row, name) for name in _ESTIMATES}
    again = row.again
    return {name: estimate and estimate.to_json() for name, estimate in estimates.items()} | {
        "rater": row.rater.pk,
        "by_cohort": [estimate.to_json() for estimate in row.by_cohort],
        "band": row.band and [int(place) for place in row.band],
        "ways": dict(row.ways),
        "covered": row.covered and asdict(row.covered),
        "left_out": asdict(row.left_out),
        "again": again and {"same": again.same.to_json(), "alpha": again.alpha.to_json(), "repeats": again.repeats},
        "samples": [dict(sample) for sample in row.samples],
        "incomplete": row.incomplete,
    }


def from_data(data: Any, catalogue: Catalogue, selection: Selection, state: ReportState) -> ModelsReport:
    """The report that `to_data` wrote, with the names that its models have today."""
    raters = observed_raters(catalogue.benchmark, [row["rater"] for row in data["rows"]])
    by_pk = {rater.pk: rater for rater in raters}
    return ModelsReport(
        catalogue=catalogue,
        selection=selection,
        statistics=tuple(data["statistics"]),
        truths=tuple(data["truths"]),
        cohorts=tuple(catalogue.cohorts[pk] for pk in selection.cohorts),
        lines=tuple(_row_from(row, by_pk[row["rater"]]) for row in data["rows"]),
        watermark=state.watermark,
        computed_at=state.computed_at,
        **{name: data[name] for name in _COUNTS},
    )


def _row_from(row: Any, rater: ObservedRater) -> ModelRow:
    again = row["again"]
    if again:
        same, alpha = (Estimate.from_json(again[name]) for name in ("same", "alpha"))
        again = SelfAgreement(same, alpha, again["repeats"])
    return ModelRow(
        rater=rater,
        by_cohort=tuple(Estimate.from_json(estimate) for estimate in row["by_cohort"]),
        band=row["band"] and tuple(row["band"]),
        ways=row["ways"],
        covered=row["covered"] and CodeMass(**row["covered"]),
        left_out=MissingAnswers(**row["left_out"]),
        again=again,
        samples=tuple(row["samples"]),
        incomplete=row["incomplete"],
        **{name: row[name] and Estimate.from_json(row[name]) for name in _ESTIMATES},
    )
