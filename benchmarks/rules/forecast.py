"""Ahead or behind, and when it will be complete. Pure.

What is expected by a day grows evenly from the first day to the last one. The forecast divides what is missing by the
median of the last seven full days; days before the first of them on which anything was done do not count, later ones
without work do. Its range divides by the second highest and the second lowest of seven days, of fewer days by the
highest and the lowest: these hold the median of such days with a probability of 0.75 (three days) to 0.97 (six).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from math import ceil
from statistics import median

DAYS = 7
LEAST_DAYS = 3  # of work, for a forecast


@dataclass(frozen=True)
class Plan:
    """By day `elapsed` of `days`, `expected` of what is wanted are due; `ahead` is negative when behind."""

    elapsed: int
    days: int
    expected: float
    ahead: float


@dataclass(frozen=True)
class Forecast:
    """`per_day`: the median, None without work. `on` is None where `reason` says why: complete, few_days or no_pace.
    `earliest`, `latest`: its range; without a `latest` where nothing was done on the slow day."""

    per_day: float | None
    days_of_work: int
    on: date | None
    reason: str = ""
    earliest: date | None = None
    latest: date | None = None


def plan(wanted: int, done: int, opens_on: date | None, closes_on: date | None, today: date) -> Plan | None:
    """wanted x elapsed days / days between the two; None without both dates, or if they are the wrong way round."""
    if opens_on is None or closes_on is None or closes_on <= opens_on:
        return None
    days = (closes_on - opens_on).days
    elapsed = min(days, max(0, (today - opens_on).days))
    expected = wanted * elapsed / days
    return Plan(elapsed, days, expected, done - expected)


def forecast(counts: Mapping[date, int], missing: int, today: date) -> Forecast:
    """When the rest will be done, from what was done on each day before today."""
    last = [counts.get(today - timedelta(days=back), 0) for back in range(DAYS, 0, -1)]
    begun = next((at for at, n in enumerate(last) if n), DAYS)
    days_of_work, per_day = sum(n > 0 for n in last), median(last[begun:]) if begun < DAYS else None
    if missing <= 0:
        return Forecast(per_day, days_of_work, None, "complete")
    if days_of_work < LEAST_DAYS or per_day is None:
        return Forecast(per_day, days_of_work, None, "few_days")
    if not per_day:
        return Forecast(per_day, days_of_work, None, "no_pace")
    in_order = sorted(last[begun:])
    edge = 1 if len(in_order) == DAYS else 0

    def at_pace(of_day: float) -> date | None:
        return today + timedelta(days=ceil(missing / of_day)) if of_day else None

    slow, fast = in_order[edge], in_order[-1 - edge]
    return Forecast(per_day, days_of_work, at_pace(per_day), "", at_pace(fast), at_pace(slow))
