"""What a list of people can be sorted by. The list is no ranking: it opens in the order of names."""

from collections.abc import Callable, Mapping
from typing import Any

from evaluation.metrics.estimate import Estimate
from evaluation.queries.raters import RaterRow
from evaluation.rendering.sorting import NAME, SortOrder, parse_order
from evaluation.reports.people import CohortNumbers

Key = Callable[[RaterRow], Any]

_KEYS: dict[str, Key] = {
    NAME: lambda row: (row.is_model, row.pseudonym),
    "cohort": lambda row: (row.is_model, row.cohort.name if row.cohort else "", row.pseudonym),
    "done": lambda row: row.done,
    "counted": lambda row: row.counted,
    "seconds": lambda row: row.median_seconds,
    "skipped": lambda row: None if row.from_file else row.skipped_share,
    "seen": lambda row: row.seen_at,
}
FROM_LOWEST = (NAME, "cohort")  # a first press on these sorts from A to Z


def order_keys(compared: CohortNumbers | None, *, in_cohort: bool, works: bool) -> dict[str, Key]:
    """By the parameter's value, what each row is sorted by. `works`: when somebody was last seen tells who they are,
    so that only those who see the moment can sort by it."""
    left_out = {*(["cohort"] if in_cohort else []), *([] if works else ["seen"])}
    keys = {name: key for name, key in _KEYS.items() if name not in left_out}
    if compared and compared.rest:
        keys |= {"agreement": _value_of(compared.rest), "change": _value_of(compared.drift)}
    return keys


def people_order(value: str, keys: Mapping[str, Key]) -> SortOrder:
    """By cohort, or by name where all are of one, if the address asks for nothing that is in `keys`."""
    return parse_order(value, keys, SortOrder("cohort" if "cohort" in keys else NAME))


def _value_of(estimates: Mapping[int, Estimate]) -> Key:
    """None where an estimate has no value, or there is none."""

    def value(row: RaterRow) -> float | None:
        estimate = estimates.get(row.rater.pk)
        return estimate.value if estimate else None

    return value
