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


class NoSuchPageError(Exception):
    """The address names a page on which nobody is. It is not stored."""


def load_people(benchmark: Benchmark, params: QueryDict, cohort: Cohort | None, at: datetime) -> PeoplePage | None:
    """Computed for each request where that is quick; else as it was stored. None: there is no such page."""
    chosen = params.copy()
    chosen["cohort"] = str(cohort.pk) if cohort else ""
    query = urlencode([(name, chosen[name]) for name in _NAMES if chosen.get(name)])
    computed: list[_Computed] = []

    def compute() -> Any:
        computed.append(_compute(benchmark, params, cohort, at))
        return _to_data(computed[0])

    try:
        state = snapshots.load_and_renew(benchmark, REPORT, _key(benchmark, cohort, params), compute, at, query)
        if computed:
            _counts, rows, shown, of_cohort = computed[0]
        else:
            rows = rater_rows(benchmark, [RaterCounts(**counts) for counts in state.data["counts"]], at)
            shown = _shown(rows, params)
            of_cohort = _stored_numbers(state.data, catalogue_of(benchmark), cohort, params, shown) if cohort else None
    except NoSuchPageError:
        return None
    return PeoplePage(rows, _start(params), shown, of_cohort, state)


def recompute(benchmark: Benchmark, params: QueryDict, _zone: tzinfo, at: datetime) -> bool:
    """Compute and store it, for a worker. False where another worker is at it, or the cohort is not asked any more."""
    asked = params.get("cohort", "")
    cohort = next((cohort for cohort in cohorts_of(benchmark) if str(cohort.pk) == asked), None)
    if asked and cohort is None:
        return False
    key = _key(benchmark, cohort, params)

    def compute() -> Any:
        return _to_data(_compute(benchmark, params, cohort, at))

    try:
        return snapshots.compute_if_unlocked(benchmark, REPORT, key, compute, at) is not None
    except NoSuchPageError:
        return False


_Computed = tuple[list[RaterCounts], list[RaterRow], list[RaterRow], CohortNumbers | None]


def _compute(benchmark: Benchmark, params: QueryDict, cohort: Cohort | None, at: datetime) -> _Computed:
    """Counts and rows of all people, the rows of the page, and the numbers of the cohort."""
    counts = rater_counts(benchmark, cohort.pk if cohort else None)
    rows = rater_rows(benchmark, counts, at)
    shown = _shown(rows, params)
    of = {row.rater.pk for row in shown}
    return counts, rows, shown, numbers(catalogue_of(benchmark), cohort, params, of) if cohort else None


def _to_data(computed: _Computed) -> dict[str, Any]:
    counts, _rows, shown, of_cohort = computed
    return {
        "counts": [asdict(line) for line in counts],
        "of": [row.rater.pk for row in shown],
        "numbers": of_cohort and _numbers_data(of_cohort),
    }


def _shown(rows: list[RaterRow], params: QueryDict) -> list[RaterRow]:
    """The rows of the page. Raises NoSuchPageError."""
    start = _start(params)
    shown = rows[start : start + PAGE] if start >= 0 else []
    if start and not shown:
        raise NoSuchPageError
    return shown


def _start(params: QueryDict) -> int:
    """The place of the first person of the page; below 0 where the parameter names no page."""
    return (parse_int(params.get("page", "1"), maximum=99_999) - 1) * PAGE


def _key(benchmark: Benchmark, cohort: Cohort | None, params: QueryDict) -> str:
    """SHA-256 of everything that was chosen; the selection names the campaigns and conditions that count today."""
    selection = cohort and cohort_selection(catalogue_of(benchmark), cohort, params)
    chosen = [benchmark.pk, REPORT, snapshots.CODE, cohort and cohort.pk, _start(params)]
    chosen.append(selection.to_json() if selection else None)
    return hashlib.sha256(json.dumps(chosen, sort_keys=True).encode()).hexdigest()


def _numbers_data(of_cohort: CohortNumbers) -> dict[str, Any]:
    by_rater = {"rest": of_cohort.rest, "drift": of_cohort.drift}
    lists = {
        name: [[rater, estimate.to_json()] for rater, estimate in estimates.items()]
        for name, estimates in by_rater.items()
    }
    return {"together": of_cohort.together.to_json(), **lists}


def _stored_numbers(
    data: Any, catalogue: Catalogue, cohort: Cohort, params: QueryDict, shown: list[RaterRow]
) -> CohortNumbers | None:  # fmt: skip
    of = {row.rater.pk for row in shown}
    if not of <= set(data["of"]):  # somebody has moved to this page since
        return numbers(catalogue, cohort, params, of)
    selection = cohort_selection(catalogue, cohort, params)
    if data["numbers"] is None or selection is None:
        return None
    rest, drift = (
        {rater: Estimate.from_json(estimate) for rater, estimate in data["numbers"][name]} for name in ("rest", "drift")
    )  # fmt: skip
    return CohortNumbers(selection, Estimate.from_json(data["numbers"]["together"]), rest, drift)
