"""How often the intervals contain the truth, by simulation: python tests/performance/coverage.py [--runs 500] [--quick]

--part caire, one, boxes, clusters, judges; all of them without it. Ends with 1 where a number misses the band that was
asked for before; the seeds are fixed.

First studies in CAIRE's form (tests/evaluation/simulation.py: 400 images, ten cohorts, 3 to 20 raters of each, 10 %
missing): alpha, mean pairwise correlations, and a model's correlation with people. Then one cohort by other shapes:
raters and units are drawn from a population: score = unit effect + rater effect + noise, cut into five ordered codes
(or left continuous). The truth is alpha of one very large table of fresh units and raters. Printed: coverage of the
default interval (units and raters), of the units-only jackknife and of a bootstrap over units, each against the
population of units *and* raters. Then boxes of people with styles of their own, units in clusters, and the errors of
judges: studies/.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # the processes share the cores between them
sys.path[0] = str(Path(__file__).resolve().parents[2])  # our own folder holds a queue that is not Python's

from concurrent.futures import ProcessPoolExecutor  # noqa: E402
from multiprocessing import get_context  # noqa: E402

import numpy as np  # noqa: E402

from evaluation.metrics.alpha import Interval, alpha  # noqa: E402
from evaluation.metrics.correlation import mean_pairwise_pearson  # noqa: E402
from evaluation.metrics.counts import Ratings  # noqa: E402
from tests.evaluation.simulation import MEASURED, StudyDesign, covers, truth  # noqa: E402
from tests.performance.studies import boxes, clusters, judges  # noqa: E402
from tests.performance.studies.rows import Outcome, report  # noqa: E402

SHARES_ON_AVERAGE = (0.935, 0.965)  # of the intervals of shares by clusters, over all numbers of clusters
BOXES, CLUSTERS, JUDGES = 20261122, 20261123, 20261124  # seeds

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


def caire(runs: int, seed: int, images: int, shapes: tuple[int, ...]) -> dict[int, dict[str, float]]:
    """Prints a row for each number of raters; gives the shares that hold the truth."""
    print(
        f"\nCAIRE's form: {images} images x 10 cohorts, 10 % missing, {runs} studies a row; share that holds the truth"
    )
    print(f"{'raters':>7}" + "".join(f"{name:>22}" for name in MEASURED) + f"{'seconds':>9}")
    coverage: dict[int, dict[str, float]] = {}
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        for raters in shapes:
            began, recipe = time.perf_counter(), StudyDesign(images=images, raters=raters)
            parts = [np.random.default_rng([seed, raters, part]) for part in range(20)]
            true = mean_of(list(pool.map(truth, [recipe] * 20, [max(runs // 20, 5)] * 20, parts)))
            rngs = [np.random.default_rng([seed, raters, 100 + run]) for run in range(runs)]
            held = list(pool.map(covers, [recipe] * runs, [true] * runs, rngs, chunksize=5))
            cells = {name: np.array([one[name] for one in held]) for name in MEASURED}
            coverage[raters] = {name: float(np.nanmean(of[:, 0])) for name, of in cells.items()}
            shown = [f"{100 * np.nanmean(of[:, 0]):.1f}% +-{np.nanmean(of[:, 1]) / 2:.2f}" for of in cells.values()]
            none = sum(int(np.isnan(of[:, 0]).sum()) for of in cells.values())
            words = f"  {none} without an interval" if none else ""
            print(
                f"{raters:>7}" + "".join(f"{one:>22}" for one in shown) + f"{time.perf_counter() - began:>9.0f}{words}"
            )
            print("  truth" + "".join(f"{true[name]:>22.3f}" for name in MEASURED), flush=True)
    return coverage


def mean_of(parts: list[dict[str, float]]) -> dict[str, float]:
    return {name: float(np.mean([part[name] for part in parts])) for name in parts[0]}


def one_cohort(runs: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    none = Interval("none")
    big = [draw(rng, 3000, 1500, 0.0, codes) for codes in (True, True, False)]
    truths = [
        alpha(big[0], "ordinal", interval=none).value,
        alpha(big[1], "nominal", interval=none).value,
        mean_pairwise_pearson(big[2], interval=none).value,
    ]
    print(f"\none cohort, {runs} runs a row")
    print(f"truth: ordinal alpha {truths[0]:.3f}, nominal alpha {truths[1]:.3f}, mean Pearson {truths[2]:.3f}")
    columns = ["ordinal", "nominal", "Pearson", "units only", "boot units"]
    print(f"{'units':>6}{'raters':>7}{'missing':>8}  " + "".join(f"{name:>11}" for name in columns) + "   mean width")
    for units, raters, missing in SHAPES:
        hits, width = np.empty((runs, len(columns))), np.empty(runs)
        for run in range(runs):
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


def of_boxes(runs: int) -> bool:
    outcomes = report("Mean pairwise IoU", boxes.designs(np.random.default_rng(BOXES)), runs, [BOXES, 1])
    return all(one.fits for one in outcomes)


def of_clusters(runs: int) -> bool:
    fits, by_kind = True, clusters.designs(np.random.default_rng(CLUSTERS))
    for number, (kind, designs) in enumerate(by_kind.items()):
        outcomes = report(f"By clusters: {kind}", designs, runs, [CLUSTERS, number])
        fits &= all(one.fits for one in outcomes)
        if kind == "share":
            fits &= _on_average(outcomes)
    return fits


def _on_average(outcomes: list[Outcome]) -> bool:
    average, (low, high) = float(np.mean([one.coverage for one in outcomes])), SHARES_ON_AVERAGE
    print(f"on average {100 * average:.1f} %; asked {100 * low:g} to {100 * high:g} %", flush=True)
    return low <= average <= high


def of_judges(runs: int) -> bool:
    return all(one.fits for one in report("Correlation of judges' errors", judges.designs(), runs, [JUDGES]))


PARTS = {"boxes": of_boxes, "clusters": of_clusters, "judges": of_judges}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=500, help="studies a row; twice as many for clusters")
    parser.add_argument("--seed", type=int, default=20240229, help="of the parts caire and one")
    parser.add_argument("--quick", action="store_true", help="few studies, to see that it works: bands are not held")
    parser.add_argument("--part", choices=["caire", "one", *PARTS])
    args = parser.parse_args()
    runs = 60 if args.quick else args.runs
    print(f"95 % wanted (standard error of a share: {100 * np.sqrt(0.95 * 0.05 / runs):.1f} points)")
    print(f"load average {os.getloadavg()[0]:.1f} of {os.cpu_count()} cores")
    if args.part in ("caire", None):
        caire(runs, args.seed, 100 if args.quick else 400, (8,) if args.quick else (3, 5, 8, 20))
    if args.part in ("one", None) and not args.quick:
        one_cohort(runs, args.seed)
    chosen = [part for name, part in PARTS.items() if args.part in (name, None)]
    fits = [part(2 * runs if part is of_clusters else runs) for part in chosen]
    return 0 if all(fits) or args.quick else 1


if __name__ == "__main__":
    sys.exit(main())
