"""The people of a benchmark with their numbers, stored where there are many answers, and how the page loads them."""

import hashlib
import json
from dataclasses import asdict, dataclass
from datetime import datetime, tzinfo
from typing import Any
from urllib.parse import urlencode

from django.http import QueryDict

from benchmarks.models import Benchmark
from evaluation.metrics.estimate import Estimate
from evaluation.queries.raters import RaterCounts, RaterRow, cohorts_of, rater_counts, rater_rows
from evaluation.reports.people import CohortNumbers, cohort_selection, numbers
from evaluation.selections.catalogue import Catalogue, catalogue_of
from evaluation.services import snapshots
from evaluation.services.snapshots import ReportState
from jobs.formats.numbers import parse_int
from people.models import Cohort

REPORT = "people"
PAGE = 100  # people of a page, each of whom is compared with the others of the cohort
_NAMES = ("cohort", "stage", "field", "page")  # parameters that change what is computed


@dataclass(frozen=True)
class PeoplePage:
    """`rows`: all people, of whom `shown`, from the place `start`, are on the page. `numbers`: of the cohort, and of
    those shown against it; None where no cohort is chosen, or nothing can be measured."""

    rows: list[RaterRow]
    start: int
    shown: list[RaterRow]
    numbers: CohortNumbers | None
    state: ReportState


def load_people(benchmark: Benchmark, params: QueryDict, cohort: Cohort | None, at: datetime) -> PeoplePage | None:
    """Computed for each request where that is quick; else as it was stored. None: there is no such page."""
    chosen = params.copy()
    chosen["cohort"] = str(cohort.pk) if cohort else ""
    query = urlencode([(name, chosen[name]) for name in _NAMES if chosen.get(name)])
    key = _key(benchmark, cohort, params)
    state = snapshots.load_and_renew(
        benchmark, REPORT, key, lambda: _compute(benchmark, params, cohort, at), at, query
    )  # fmt: skip
    rows = rater_rows(benchmark, [RaterCounts(**counts) for counts in state.data["counts"]], at)
    start = _start(params)
    shown = rows[start : start + PAGE]
    if start < 0 or (start and not shown):
        return None
    if cohort is None:
        return PeoplePage(rows, start, shown, None, state)
    of = {row.rater.pk for row in shown}
    catalogue = catalogue_of(benchmark)
    if of <= set(state.data["of"]):
        return PeoplePage(rows, start, shown, _numbers_from(state.data["numbers"], catalogue, cohort, params), state)
    return PeoplePage(rows, start, shown, numbers(catalogue, cohort, params, of), state)  # somebody moved to this page


def recompute(benchmark: Benchmark, params: QueryDict, _zone: tzinfo, at: datetime) -> bool:
    """Compute and store it, for a worker. False where another worker is at it, or the cohort is not asked any more."""
    asked = params.get("cohort", "")
    cohort = next((cohort for cohort in cohorts_of(benchmark) if str(cohort.pk) == asked), None)
    if asked and cohort is None:
        return False
    key = _key(benchmark, cohort, params)

    def compute() -> Any:
        return _compute(benchmark, params, cohort, at)

    return snapshots.compute_if_unlocked(benchmark, REPORT, key, compute, at) is not None


def _compute(benchmark: Benchmark, params: QueryDict, cohort: Cohort | None, at: datetime) -> dict[str, Any]:
    counts = rater_counts(benchmark, cohort.pk if cohort else None)
    start = _start(params)
    of = [row.rater.pk for row in rater_rows(benchmark, counts, at)[start : start + PAGE]] if start >= 0 else []
    of_cohort = numbers(catalogue_of(benchmark), cohort, params, set(of)) if cohort and of else None
    return {"counts": [asdict(line) for line in counts], "of": of, "numbers": of_cohort and _numbers_data(of_cohort)}


def _start(params: QueryDict) -> int:
    """The place of the first person of the page; below 0 where the parameter names no page."""
    return (parse_int(params.get("page", "1"), maximum=99_999) - 1) * PAGE


def _key(benchmark: Benchmark, cohort: Cohort | None, params: QueryDict) -> str:
    """SHA-256 of everything that was chosen; the selection names the campaigns and conditions that count today."""
    selection = cohort and cohort_selection(catalogue_of(benchmark), cohort, params)
    chosen = [benchmark.pk, REPORT, snapshots.CODE, cohort and cohort.pk, params.get("page", "1")]
    chosen.append(selection.to_json() if selection else None)
    return hashlib.sha256(json.dumps(chosen, sort_keys=True).encode()).hexdigest()


def _numbers_data(of_cohort: CohortNumbers) -> dict[str, Any]:
    by_rater = {"rest": of_cohort.rest, "drift": of_cohort.drift}
    lists = {
        name: [[rater, estimate.to_json()] for rater, estimate in estimates.items()]
        for name, estimates in by_rater.items()
    }
    return {"together": of_cohort.together.to_json(), **lists}


def _numbers_from(data: Any, catalogue: Catalogue, cohort: Cohort, params: QueryDict) -> CohortNumbers | None:
    selection = cohort_selection(catalogue, cohort, params)
    if data is None or selection is None:
        return None
    rest, drift = (
        {rater: Estimate.from_json(estimate) for rater, estimate in data[name]} for name in ("rest", "drift")
    )  # fmt: skip
    return CohortNumbers(selection, Estimate.from_json(data["together"]), rest, drift)
