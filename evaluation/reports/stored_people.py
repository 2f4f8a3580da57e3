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
from evaluation.rendering.sorting import PARAM, SortOrder, sort_rows
from evaluation.reports.people import CohortNumbers, cohort_selection, numbers
from evaluation.reports.people_order import Key, order_keys, people_order
from evaluation.selections.catalogue import Catalogue, catalogue_of
from evaluation.services import snapshots
from evaluation.services.snapshots import ReportState
from jobs.formats.numbers import parse_int
from people.models import Cohort

REPORT = "people"
PAGE = 100  # people of a page
_NAMES = ("cohort", "stage", "field")  # parameters that change what is computed; order and page are not among them


@dataclass(frozen=True)
class PeoplePage:
    """`rows`: all people by `order`, of whom `shown`, from the place `start`, are on the page. `numbers`: of the
    cohort, and of everybody against it; None where no cohort is chosen, or nothing can be measured. `keys`: what the
    rows can be sorted by."""

    rows: list[RaterRow]
    start: int
    shown: list[RaterRow]
    numbers: CohortNumbers | None
    state: ReportState
    order: SortOrder
    keys: dict[str, Key]


def load_people(
    benchmark: Benchmark, params: QueryDict, cohort: Cohort | None, at: datetime, *, works: bool
) -> PeoplePage | None:
    """Computed for each request where that is quick; else as it was stored. None: there is no such page.

    What is stored has everybody, so that another order or page of it is the same work, however many answers there are.
    `works`: whether the reader works on the benchmark, and may sort by what only these see.
    """
    chosen = params.copy()
    chosen["cohort"] = str(cohort.pk) if cohort else ""
    query = urlencode([(name, chosen[name]) for name in _NAMES if chosen.get(name)])
    computed: list[_Computed] = []

    def compute() -> Any:
        computed.append(_compute(benchmark, params, cohort))
        return _to_data(computed[0])

    state = snapshots.load_and_renew(benchmark, REPORT, _key(benchmark, cohort, params), compute, at, query)
    counts, of_cohort = computed[0] if computed else _from_data(state.data, benchmark, cohort, params)
    keys = order_keys(of_cohort, in_cohort=cohort is not None, works=works)
    order = people_order(params.get(PARAM, ""), keys)
    rows = sort_rows(rater_rows(benchmark, counts, at), keys[order.key], order)
    start = (parse_int(params.get("page", "1"), maximum=99_999) - 1) * PAGE
    shown = rows[start : start + PAGE] if start >= 0 else []
    if start and not shown:
        return None
    return PeoplePage(rows, start, shown, of_cohort, state, order, keys)


def recompute(benchmark: Benchmark, params: QueryDict, _zone: tzinfo, at: datetime) -> bool:
    """Compute and store it, for a worker. False where another worker is at it, or the cohort is not asked any more."""
    asked = params.get("cohort", "")
    cohort = next((cohort for cohort in cohorts_of(benchmark) if str(cohort.pk) == asked), None)
    if asked and cohort is None:
        return False
    key = _key(benchmark, cohort, params)

    def compute() -> Any:
        return _to_data(_compute(benchmark, params, cohort))

    return snapshots.compute_if_unlocked(benchmark, REPORT, key, compute, at) is not None


_Computed = tuple[list[RaterCounts], CohortNumbers | None]


def _compute(benchmark: Benchmark, params: QueryDict, cohort: Cohort | None) -> _Computed:
    """Counts of all people, and the numbers of the cohort."""
    counts = rater_counts(benchmark, cohort.pk if cohort else None)
    return counts, numbers(catalogue_of(benchmark), cohort, params) if cohort else None


def _key(benchmark: Benchmark, cohort: Cohort | None, params: QueryDict) -> str:
    """SHA-256 of everything that was chosen; the selection names the campaigns and conditions that count today."""
    selection = cohort and cohort_selection(catalogue_of(benchmark), cohort, params)
    chosen = [benchmark.pk, REPORT, snapshots.CODE, cohort and cohort.pk]
    chosen.append(selection.to_json() if selection else None)
    return hashlib.sha256(json.dumps(chosen, sort_keys=True).encode()).hexdigest()


def _to_data(computed: _Computed) -> dict[str, Any]:
    counts, of_cohort = computed
    return {"counts": [asdict(line) for line in counts], "numbers": of_cohort and _numbers_data(of_cohort)}


def _numbers_data(of_cohort: CohortNumbers) -> dict[str, Any]:
    by_rater = {"rest": of_cohort.rest, "drift": of_cohort.drift}
    lists = {
        name: [[rater, estimate.to_json()] for rater, estimate in estimates.items()]
        for name, estimates in by_rater.items()
    }
    return {"together": of_cohort.together.to_json(), **lists}


def _from_data(data: Any, benchmark: Benchmark, cohort: Cohort | None, params: QueryDict) -> _Computed:
    counts = [RaterCounts(**counts) for counts in data["counts"]]
    return counts, _stored_numbers(data, catalogue_of(benchmark), cohort, params) if cohort else None


def _stored_numbers(data: Any, catalogue: Catalogue, cohort: Cohort, params: QueryDict) -> CohortNumbers | None:
    selection = cohort_selection(catalogue, cohort, params)
    if data["numbers"] is None or selection is None:
        return None
    rest, drift = (
        {rater: Estimate.from_json(estimate) for rater, estimate in data["numbers"][name]} for name in ("rest", "drift")
    )  # fmt: skip
    return CohortNumbers(selection, Estimate.from_json(data["numbers"]["together"]), rest, drift)
