"""Speed of the measures beside a library and plain loops, in one run. By hand: python tests/performance/metrics.py

Alpha against the ``krippendorff`` package at 200 x 200, at 10,000 x 200 with 90 % missing and at 100,000 x 20. Its
interval has to be a loop of calls: a few are timed and the rest extrapolated (marked ~). Pairwise Pearson against a
numpy loop over pairs; that of 500 raters over 2,000 items, full and half empty, against pandas, which has no interval.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parents[2])  # our own folder holds a queue that is not Python's

import krippendorff  # noqa: E402
import numpy as np  # noqa: E402
import pandas  # noqa: E402

from evaluation.metrics.alpha import LEVELS, Interval, alpha  # noqa: E402
from evaluation.metrics.correlation import mean_pairwise_pearson, mean_pairwise_spearman  # noqa: E402
from evaluation.metrics.counts import Ratings  # noqa: E402

NONE = Interval("none")


def best(call: Callable[[], object], repeats: int = 5) -> float:
    """Seconds of the fastest of a few calls."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def table(rng: np.random.Generator, units: int, raters: int, missing: float) -> np.ndarray:
    score = np.clip(np.rint(3 + rng.normal(size=(units, 1)) + rng.normal(size=(units, raters))), 1, 5)
    score[rng.random(score.shape) < missing] = np.nan
    return score


def ms(seconds: float) -> str:
    return f"{1000 * seconds:,.1f} ms"


def compare_alpha(matrix: np.ndarray) -> None:
    ratings = Ratings.from_matrix(matrix)
    units, raters = matrix.shape
    print(f"\n{units:,} units x {raters} raters, {ratings.missing_share:.0%} missing, {ratings.n_ratings:,} ratings")
    print(f"  {'level':<10}{'ours':>12}{'library':>14}{'ratio':>8}{'interval':>16}{'library loop':>20}{'ratio':>10}")
    for level in LEVELS:
        ours = best(lambda level=level: alpha(ratings, level, interval=NONE))
        whole = best(lambda level=level: alpha(ratings, level), 3)
        library = best(lambda level=level: krippendorff.alpha(matrix.T, level_of_measurement=level), 3)
        start = time.perf_counter()
        few = 3
        for unit in range(few):
            krippendorff.alpha(np.delete(matrix, unit, 0).T, level_of_measurement=level)
        each = (time.perf_counter() - start) / few
        calls = units + raters + ratings.n_ratings  # without each unit, each rater, each rating
        units_only = each * units
        print(
            f"  {level:<10}{ms(ours):>12}{ms(library):>14}{library / ours:>7.1f}x{ms(whole):>16}"
            f"{f'~{each * calls:,.0f} s':>20}{each * calls / whole:>9,.0f}x  (units alone ~{units_only:,.1f} s)"
        )
        theirs = krippendorff.alpha(matrix.T, level_of_measurement=level)
        assert abs(alpha(ratings, level, interval=NONE).value - theirs) < 1e-10
    print(f"  loop over the library: {few} calls timed, extrapolated to {calls:,} (each unit, rater, rating left out)")


def compare_bootstrap(matrix: np.ndarray) -> None:
    ratings = Ratings.from_matrix(matrix)
    for over in ("units", "raters"):
        for level in ("nominal", "ordinal"):
            wanted = Interval(over, "bootstrap", resamples=1_000, rng=np.random.default_rng(0))
            seconds = best(lambda level=level, wanted=wanted: alpha(ratings, level, interval=wanted), 1)
            print(f"  1,000 resamples of {over}, {level}: {ms(seconds)}")


def pearson_loop(matrix: np.ndarray, pairs: int) -> float:
    """Seconds for the first so many pairs."""
    raters = matrix.shape[1]
    chosen = [(i, j) for i in range(raters) for j in range(i + 1, raters)][:pairs]
    start = time.perf_counter()
    for i, j in chosen:
        both = ~np.isnan(matrix[:, i] + matrix[:, j])
        np.corrcoef(matrix[both, i], matrix[both, j])
    return time.perf_counter() - start


def compare_correlations(matrix: np.ndarray) -> None:
    ratings, pairs = Ratings.from_matrix(matrix), matrix.shape[1] * (matrix.shape[1] - 1) // 2
    timed = min(pairs, 2_000)
    loop = pearson_loop(matrix, timed) * pairs / timed
    pearson = best(lambda: mean_pairwise_pearson(ratings, interval=NONE), 3)
    print(
        f"  mean pairwise Pearson {ms(pearson)}; numpy loop over {pairs:,} pairs ~{ms(loop)} ({timed:,} timed):"
        f" {loop / pearson:.1f}x; with interval {ms(best(lambda: mean_pairwise_pearson(ratings), 1))}"
    )
    spearman = best(lambda: mean_pairwise_spearman(ratings, interval=NONE), 3)
    print(
        f"  mean pairwise Spearman {ms(spearman)}; with interval {ms(best(lambda: mean_pairwise_spearman(ratings), 1))}"
    )


def compare_with_pandas(matrix: np.ndarray) -> None:
    ratings, frame = Ratings.from_matrix(matrix), pandas.DataFrame(matrix)
    pairs = np.triu_indices(matrix.shape[1], 1)
    theirs = frame.corr().to_numpy()[pairs].mean()
    assert abs(mean_pairwise_pearson(ratings, interval=NONE).value - theirs) < 1e-10
    ours = best(lambda: mean_pairwise_pearson(ratings, interval=NONE), 3)
    whole = best(lambda: mean_pairwise_pearson(ratings), 2)
    library = best(frame.corr, 3)
    print(f"\n{matrix.shape[1]} raters x {matrix.shape[0]:,} items, {ratings.missing_share:.0%} missing, Pearson")
    print(
        f"  ours {ms(ours)}, pandas {ms(library)}: {library / ours:.1f}x;"
        f" with interval {ms(whole)}: {library / whole:.2f}x of pandas without one"
    )


def main() -> None:
    print(f"load average {os.getloadavg()[0]:.1f} of {os.cpu_count()} cores")
    rng = np.random.default_rng(1)
    for units, raters, missing in ((200, 200, 0.0), (10_000, 200, 0.9), (100_000, 20, 0.0)):
        matrix = table(rng, units, raters, missing)
        compare_alpha(matrix)
        if units <= 10_000:
            compare_bootstrap(matrix)
            compare_correlations(matrix)
    for missing in (0.0, 0.5):
        compare_with_pandas(table(rng, 2_000, 500, missing))
    print(f"load average {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
