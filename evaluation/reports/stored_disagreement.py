"""The order of items by disagreement, stored where there are many answers, and how pages load it."""

from dataclasses import asdict
from datetime import datetime, tzinfo
from typing import Any
from urllib.parse import urlencode

from benchmarks.models import Benchmark
from evaluation.reports.disagreement import DisagreementOrder, disagreement_selection, order_units
from evaluation.selections.catalogue import catalogue_of
from evaluation.selections.selection import Params, Selection, SelectionError
from evaluation.services import snapshots
from evaluation.services.snapshots import ReportState

REPORT = "disagreement"


def load_order(
    benchmark: Benchmark, selection: Selection, least: int, at: datetime
) -> tuple[DisagreementOrder, ReportState]:  # fmt: skip
    """Computed for each request where that is quick; else as it was stored. `least`: raters an item must have."""
    orders: list[DisagreementOrder] = []

    def compute() -> Any:
        orders.append(order_units(selection, least))
        return asdict(orders[0])

    query = urlencode([*selection.to_params(), ("least", str(least))])
    key = _key(benchmark, selection, least)
    state = snapshots.load_and_renew(benchmark, REPORT, key, compute, at, query, selection.zone)
    return orders[0] if orders else DisagreementOrder(**state.data), state


def recompute(benchmark: Benchmark, params: Params, zone: tzinfo, at: datetime) -> bool:
    """Compute and store it, for a worker. False where another worker is at it, or the parameters hold no longer."""
    catalogue = catalogue_of(benchmark)
    if not catalogue.stages:
        return False
    try:
        selection, least = disagreement_selection(catalogue, params, zone)
    except SelectionError:
        return False
    key = _key(benchmark, selection, least)

    def compute() -> Any:
        return asdict(order_units(selection, least))

    return snapshots.compute_if_unlocked(benchmark, REPORT, key, compute, at) is not None


def _key(benchmark: Benchmark, selection: Selection, least: int) -> str:
    return snapshots.key_of(benchmark, f"{REPORT} {least}", selection)
