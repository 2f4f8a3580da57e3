"""How often the intervals contain the truth, by simulation. By hand: python tests/performance/coverage.py [--runs 400]

Raters and units are drawn from a population: score = unit effect + rater effect + noise, cut into five ordered codes
(or left continuous). The truth is alpha of one very large table of fresh units and raters. Printed: coverage of the
default interval (units and raters), of the units-only jackknife and of a bootstrap over units, each against the
population of units *and* raters.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from evaluation.metrics.agreement import Interval, alpha
from evaluation.metrics.correlation import mean_pairwise_pearson
from evaluation.metrics.counts import Ratings

SHAPES = [(200, 20, 0.0), (200, 20, 0.8), (50, 8, 0.0), (100, 8, 0.3), (100, 5, 0.0), (100, 3, 0.0), (1000, 30, 0.9)]


def draw(rng: np.random.Generator, units: int, raters: int, missing: float, codes: bool) -> Ratings:
    effect = rng.normal(size=(units, 1)) + 0.5 * rng.normal(size=(1, raters))
    score = effect + np.exp(0.3 * rng.normal(size=(1, raters))) * rng.normal(size=(units, raters))
    if codes:
        score = np.digitize(score, [-1.5, -0.5, 0.5, 1.5]).astype(float) + 1
    score[rng.random(score.shape) < missing] = np.nan
    return Ratings.from_matrix(score)


def covered(estimate: object, truth: float) -> float:
    low, high = estimate.low, estimate.high  # type: ignore[attr-defined]
    return float("nan") if low is None else float(low <= truth <= high)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--seed", type=int, default=20240229)
    args = parser.parse_args()
    rng = np.random.default_rng(args.seed)
    none = Interval("none")
    big = [draw(rng, 3000, 1500, 0.0, codes) for codes in (True, True, False)]
    truths = [
        alpha(big[0], "ordinal", interval=none).value,
        alpha(big[1], "nominal", interval=none).value,
        mean_pairwise_pearson(big[2], interval=none).value,
    ]
    print(f"{args.runs} runs a row, 95 % wanted (standard error {100 * np.sqrt(0.95 * 0.05 / args.runs):.1f} points)")
    print(f"truth: ordinal alpha {truths[0]:.3f}, nominal alpha {truths[1]:.3f}, mean Pearson {truths[2]:.3f}")
    columns = ["ordinal", "nominal", "Pearson", "units only", "boot units"]
    print(f"{'units':>6}{'raters':>7}{'missing':>8}  " + "".join(f"{name:>11}" for name in columns) + "   mean width")
    for units, raters, missing in SHAPES:
        hits, width = np.empty((args.runs, len(columns))), np.empty(args.runs)
        for run in range(args.runs):
            ratings, scores = draw(rng, units, raters, missing, True), draw(rng, units, raters, missing, False)
            boot = Interval("units", "bootstrap", resamples=200, rng=rng)
            default = alpha(ratings, "ordinal")
            estimates = [
                (default, truths[0]),
                (alpha(ratings, "nominal"), truths[1]),
                (mean_pairwise_pearson(scores), truths[2]),
                (alpha(ratings, "ordinal", interval=Interval("units")), truths[0]),
                (alpha(ratings, "ordinal", interval=boot), truths[0]),
            ]
            hits[run] = [covered(estimate, truth) for estimate, truth in estimates]
            width[run] = np.nan if default.low is None else default.high - default.low
        cells = "".join(f"{100 * share:>10.1f}%" for share in np.nanmean(hits, axis=0))
        print(f"{units:>6}{raters:>7}{missing:>8.0%}  {cells}   {np.nanmean(width):.2f}", flush=True)


if __name__ == "__main__":
    main()
