"""A number with its interval and what it rests on, or the reason there is none."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any

Extra = int | float | str | bool | None

REASONS: dict[str, str] = {
    # why there is no value
    "no_ratings": "There are no ratings yet.",
    "free_text": "Free text has no agreement by default.",
    "not_comparable": "Everybody's answer is of its own kind; answers to this question are not compared.",
    "own_culture": "Each cohort is asked about its own culture, so that their answers are not compared.",
    "cohort_not_asked": "The stage does not ask this cohort, or the cohort is not chosen.",
    "too_few_raters": "Fewer than two raters have rated.",
    "no_pairable_units": "No unit has been rated by two raters.",
    "one_unit": "Only one unit has been rated twice; chance-corrected agreement needs two.",
    "no_variation": "All ratings are the same, so agreement beyond chance has no meaning.",
    "no_pairs": "No two raters share enough units.",
    "no_pairs_joined": "Nobody put two pictures into one group.",
    "constant_ratings": "In every pair of raters, one of them gave the same rating throughout.",
    "one_of_many": "Fewer than two of the numbers to be averaged have a value.",
    "nothing_counted": "There is nothing here to count.",
    "too_few_answers": "No question here has three answers of people that were judged.",
    "too_few_points": "Fewer than three units have both numbers.",
    "too_few_cohorts": "Nothing here has both numbers for three cohorts.",
    "constant_side": "One of the two sides is the same throughout, so there is nothing to go together.",
    "errors_cancel": "The errors cancel each other so far that no number of independent judges matches them.",
    "no_gold_asked": "No gold label has a score here, so nothing right could be found.",
    "never_correct": "No trial was won by the correct candidate, so there is nothing to divide by.",
    "no_relevant": "It is not known which entries are right for these queries.",
    "list_too_short": "A list has fewer places than the number asks for.",
    "unknown_labels": "Something among the first places has no such label.",
    "one_cluster": "There is only one cluster, or nothing shares its cluster with another.",
    "too_few_for_halves": "Each half of the answers needs five units that somebody else has rated too.",
    "no_order_in_time": "The answers in the middle have the same time, so neither half is the earlier one.",
    "judges_as_good_as_people": "The judges' errors vary no more than the people's own noise.",
    "zero_below": "The number it is set against is 0.",
    # why there is a value but no interval
    "not_asked": "No interval was asked for.",
    "too_few_raters_for_interval": "With fewer than three raters, the spread between raters cannot be estimated.",
    "too_few_units_for_interval": "With fewer than three units, the spread between units cannot be estimated.",
    "too_few_clusters_for_interval": "With fewer than three clusters, the spread between them cannot be estimated.",
    "too_few_points_for_interval": "With three points, the spread of a correlation cannot be estimated.",
    "too_wide": "So few units or raters that an interval would span the whole scale.",
    "no_spread": "There is no spread: without any one of the units, raters or clusters the value is the same.",
    "unstable": "Without one of the units, raters or clusters, the value cannot be computed.",
    "errors_may_cancel": "Within the interval of their correlation, the errors may cancel each other entirely.",
    "out_of_range": "The value lies outside its scale, as an estimate of few data may; it has no interval.",
    "not_smooth": "A largest, smallest or middle value has no honest interval from so few raters.",
    "one_image_suffices": "A single image suffices to reach a label, so leaving out images says little of the share.",
    "too_large_for_interval": "So many vectors that computing the interval would take minutes.",
    "no_value": "There is no value to put an interval around.",
}

NOT_ASKED = "Nobody was asked about this label."  # "not_asked" as the reason of a value; of an interval it is as above


@dataclass(frozen=True, slots=True)
class Estimate:
    """One number of a report.

    ``value`` is None exactly when ``reason`` (a code from REASONS) says why; ``low`` and ``high`` are None together,
    and then
    ``interval_reason`` says why. ``level`` is the confidence of the interval and ``resampled`` the population it
    speaks of ("units and raters", "units", ...). ``missing_share`` is the part of the units x raters table without a
    rating.
    NaN and infinity are refused here, so nothing downstream has to think of them.
    """

    value: float | None
    low: float | None
    high: float | None
    level: float
    resampled: str
    method: str
    n_units: int
    n_raters: int
    n_ratings: int
    missing_share: float | None
    reason: str | None = None
    interval_reason: str | None = None
    extras: Mapping[str, Extra] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "extras", MappingProxyType(dict(self.extras)))
        self._refuse_nonfinite()
        for code in (self.reason, self.interval_reason):
            if code is not None and code not in REASONS:
                raise ValueError(f"unknown reason {code!r}; add it to REASONS with its text. Known: {sorted(REASONS)}")
        if (self.value is None) == (self.reason is None):
            raise ValueError(
                f"an estimate has either a value or a reason, got value={self.value!r}, reason={self.reason!r}"
            )
        if (self.low is None) != (self.high is None):
            raise ValueError(f"an interval has two ends or none, got low={self.low!r}, high={self.high!r}")
        if (self.low is None) == (self.interval_reason is None):
            raise ValueError(f"an estimate has either an interval or an interval_reason, got {self.interval_reason!r}")
        if self.value is None and self.low is not None:
            raise ValueError("an interval needs a value")
        if self.low is not None and self.high is not None and self.low > self.high:
            raise ValueError(f"the interval is upside down: low={self.low!r}, high={self.high!r}")
        if not 0 < self.level < 1:
            raise ValueError(f"level must lie between 0 and 1, got {self.level!r}")

    def _refuse_nonfinite(self) -> None:
        named = {name: getattr(self, name) for name in ("value", "low", "high", "level", "missing_share")}
        for name, number in {**named, **self.extras}.items():
            if isinstance(number, float) and not math.isfinite(number):
                raise ValueError(f"{name} must be a finite number or None, got {number!r}")

    @classmethod
    def of(
        cls,
        value: float,
        *,
        interval: tuple[float, float] | None = None,
        interval_reason: str | None = None,
        method: str,
        n_units: int,
        n_raters: int,
        n_ratings: int,
        level: float = 0.95,
        resampled: str = "nothing",
        missing_share: float | None = None,
        extras: Mapping[str, Extra] | None = None,
    ) -> Estimate:
        """An estimate that has a value; without ``interval`` it needs an ``interval_reason`` (default "not_asked")."""
        if interval is None and interval_reason is None:
            interval_reason = "not_asked"
        low, high = interval if interval is not None else (None, None)
        return cls(
            value=value,
            low=low,
            high=high,
            level=level,
            resampled=resampled,
            method=method,
            n_units=n_units,
            n_raters=n_raters,
            n_ratings=n_ratings,
            missing_share=missing_share,
            interval_reason=interval_reason,
            extras=extras or {},
        )

    @classmethod
    def of_count(cls, n: int) -> Estimate:
        """How many there are; exact, so without an interval."""
        return cls.of(float(n), method="count", n_units=n, n_raters=0, n_ratings=n)

    @classmethod
    def undefined(
        cls,
        *,
        reason: str,
        method: str,
        n_units: int = 0,
        n_raters: int = 0,
        n_ratings: int = 0,
        level: float = 0.95,
        resampled: str = "nothing",
        missing_share: float | None = None,
        extras: Mapping[str, Extra] | None = None,
    ) -> Estimate:
        """An estimate without a value, and the code of the reason."""
        return cls(
            value=None,
            low=None,
            high=None,
            level=level,
            resampled=resampled,
            method=method,
            n_units=n_units,
            n_raters=n_raters,
            n_ratings=n_ratings,
            missing_share=missing_share,
            reason=reason,
            interval_reason="no_value",
            extras=extras or {},
        )

    @property
    def reason_text(self) -> str | None:
        """The reason in words (English; pages translate by its code)."""
        return NOT_ASKED if self.reason == "not_asked" else None if self.reason is None else REASONS[self.reason]

    @property
    def interval_reason_text(self) -> str | None:
        return None if self.interval_reason is None else REASONS[self.interval_reason]

    def to_json(self) -> dict[str, Any]:
        """A plain dict of JSON types only."""
        return {
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "level": self.level,
            "resampled": self.resampled,
            "method": self.method,
            "n_units": self.n_units,
            "n_raters": self.n_raters,
            "n_ratings": self.n_ratings,
            "missing_share": self.missing_share,
            "reason": self.reason,
            "reason_text": self.reason_text,
            "interval_reason": self.interval_reason,
            "interval_reason_text": self.interval_reason_text,
            "extras": dict(self.extras),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Estimate:
        """The estimate that `to_json` wrote."""
        return cls(**{field.name: data[field.name] for field in fields(cls)})
