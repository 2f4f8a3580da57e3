"""What one design of simulated studies gave: how often the interval held the truth, how wide it was, and the band that
was asked for before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.metrics.counts import Floats
from evaluation.metrics.estimate import Estimate

Study = Callable[[np.random.Generator], Estimate]


@dataclass(frozen=True)
class Design:
    """`study` draws one study and estimates; `truth` is what its population has. `band`: least and most share of the
    intervals that may hold it. `bias`: how far the mean value may lie from the truth (None: not asked)."""

    name: str
    study: Study
    truth: float
    band: tuple[float, float]
    bias: float | None = None


@dataclass(frozen=True, eq=False)
class Outcome:
    """Of n studies: values (n,), NaN where undefined; ends (n, 2), NaN where there is no interval."""

    design: Design
    values: Floats
    ends: Floats

    @property
    def coverage(self) -> float:
        """Of the intervals there are."""
        there = np.isfinite(self.ends[:, 0])
        held = (self.ends[there, 0] <= self.design.truth) & (self.design.truth <= self.ends[there, 1])
        return float(held.mean()) if there.any() else float("nan")

    @property
    def error(self) -> float:
        """Standard error of the coverage."""
        n = int(np.isfinite(self.ends[:, 0]).sum())
        return float(np.sqrt(self.coverage * (1 - self.coverage) / n)) if n else float("nan")

    @property
    def width(self) -> float:
        return float(np.nanmean(self.ends[:, 1] - self.ends[:, 0]))

    @property
    def without(self) -> float:
        """Share of the studies without an interval."""
        return float(np.isnan(self.ends[:, 0]).mean())

    @property
    def mean(self) -> float:
        return float(np.nanmean(self.values))

    @property
    def fits(self) -> bool:
        low, high = self.design.band
        near = self.design.bias is None or abs(self.mean - self.design.truth) <= self.design.bias
        return low <= self.coverage <= high and near

    def line(self) -> str:
        low, high = self.design.band
        words = "" if self.fits else "   OUTSIDE"
        return (
            f"{self.design.name:<46}{self.design.truth:>7.3f}{self.mean:>8.3f}{100 * self.coverage:>9.1f} %"
            f"{100 * self.error:>6.1f}{self.width:>8.3f}{100 * self.without:>8.1f} %"
            f"   {100 * low:g} to {100 * high:g} %{words}"
        )


HEAD = f"{'':<46}{'truth':>7}{'mean':>8}{'coverage':>11}{'s.e.':>6}{'width':>8}{'none':>10}   asked"


def run(design: Design, studies: int, seed: Sequence[int]) -> Outcome:
    """Every study has a generator of its own, by the number of the study after `seed`."""
    values, ends = np.full(studies, np.nan), np.full((studies, 2), np.nan)
    for number in range(studies):
        estimate = design.study(np.random.default_rng([*seed, number]))
        if estimate.value is not None:
            values[number] = estimate.value
        if estimate.low is not None and estimate.high is not None:
            ends[number] = estimate.low, estimate.high
    return Outcome(design, values, ends)


def report(title: str, designs: Sequence[Design], studies: int, seed: Sequence[int]) -> list[Outcome]:
    """Prints a row for each design as it is done."""
    print(f"\n{title}; {studies} studies a row\n{HEAD}", flush=True)
    outcomes = []
    for number, design in enumerate(designs):
        outcomes.append(run(design, studies, [*seed, number]))
        print(outcomes[-1].line(), flush=True)
    return outcomes
