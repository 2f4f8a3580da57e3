"""How often tests and marks err without an effect, and how often silhouettes' intervals hold the truth, by simulation.

    python tests/performance/error_rates.py [--studies 500] [--quick]

p by clusters      trials of 8 or 700 concepts; each concept has its own chance that the first type wins (logit-normal,
                   sd 2, so a strong effect of the query), on average equal for both types: share of p <= 0.05
mean silhouette    60 concepts x 6 languages, vectors = concept + language + noise: share of intervals that hold the
                   mean silhouette of 3,000 concepts
marked drifts      300 pages of 200 raters, none of whom drifts: share of pages with any mark

Seeds are fixed. The script fails when a share is outside its band.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path[0] = str(Path(__file__).resolve().parents[2])  # our own folder holds a queue that is not Python's

import numpy as np  # noqa: E402

from evaluation.metrics.counts import Ratings  # noqa: E402
from evaluation.metrics.rater_drift import drift, significant_drifts  # noqa: E402
from evaluation.metrics.silhouette import mean_silhouettes, silhouettes  # noqa: E402
from papers.xcm.metrics import difference_of_wins  # noqa: E402

SEED = 20261122
CONCEPTS, LANGUAGES, DIMENSIONS = 60, 6, 8


def report(name: str, share: float, studies: int, low: float, high: float, more: str = "") -> bool:
    """Print one row and return whether the share lies in its band."""
    error = 100 * np.sqrt(max(share * (1 - share), 1e-4) / studies)
    ok = low <= share <= high
    band = f"{100 * low:.0f} to {100 * high:.0f} %"
    row = f"{name:<34}{100 * share:6.1f} %  standard error {error:.1f}  {studies} studies  wanted {band}  {more}"
    print(f"{row}{'' if ok else '  OUTSIDE'}", flush=True)
    return ok


def errors_of_p(clusters: int, studies: int) -> tuple[float, float]:
    """Share of studies without a difference whose p is at most 0.05: by clusters, and by trials."""
    rng, rejected = np.random.default_rng([SEED, clusters]), np.zeros(2)
    for _study in range(studies):
        size = rng.integers(5, 30, clusters)
        chance = 1 / (1 + np.exp(-2 * rng.normal(size=clusters)))
        cluster = np.repeat(np.arange(clusters), size)
        credit = np.eye(2)[(rng.random(cluster.size) >= chance[cluster]).astype(int)]
        for place, test in enumerate(("by clusters", "by trials")):
            p = difference_of_wins(credit, 0, 1, cluster, test=test).extras["p"]  # type: ignore[arg-type]
            rejected[place] += float(p or 0) <= 0.05
    return float(rejected[0] / studies), float(rejected[1] / studies)


def vectors_of(rng: np.random.Generator, concepts: int, language: np.ndarray) -> np.ndarray:
    concept = rng.normal(size=(concepts, 1, DIMENSIONS))
    noise = 0.7 * rng.normal(size=(concepts, LANGUAGES, DIMENSIONS))
    return (concept + language[None] + noise).reshape(-1, DIMENSIONS)


def coverage_of_silhouettes(studies: int) -> tuple[float, float, float]:
    """Share of intervals of all clusters' and the overall mean that hold the truth, mean width, share without."""
    rng = np.random.default_rng([SEED, 1])
    language = rng.normal(size=(LANGUAGES, DIMENSIONS))
    names = np.tile(np.arange(LANGUAGES), 3_000)
    each = silhouettes(vectors_of(rng, 3_000, language), names)
    truth = [*(each[names == place].mean() for place in range(LANGUAGES)), each.mean()]
    names, concepts = np.tile(np.arange(LANGUAGES), CONCEPTS), np.repeat(np.arange(CONCEPTS), LANGUAGES)
    covered, widths, missing = [], [], 0
    for _study in range(studies):
        means = mean_silhouettes(vectors_of(rng, CONCEPTS, language), names, concepts)
        for estimate, true in zip([*means.by_cluster.values(), means.overall], truth, strict=True):
            if estimate.low is None or estimate.high is None:
                missing += 1
                continue
            covered.append(estimate.low <= true <= estimate.high)
            widths.append(estimate.high - estimate.low)
    return float(np.mean(covered)), float(np.mean(widths)), missing / (missing + len(covered))


def pages_with_marks(pages: int, raters: int = 200, units: int = 40) -> tuple[float, float]:
    """Share of pages on which anybody is marked, and on which anybody would be without the correction."""
    rng, marked = np.random.default_rng([SEED, 2]), np.zeros(2)
    for _page in range(pages):
        effect = rng.normal(size=(units, 1)) + 0.5 * rng.normal(size=(1, raters))
        scores = np.digitize(effect + rng.normal(size=(units, raters)), [-1.5, -0.5, 0.5, 1.5]) + 1.0
        ratings = Ratings.from_matrix(scores)
        order = np.arange(ratings.value.size)
        drifts = {rater: drift(ratings, order, rater) for rater in range(raters)}
        marked[0] += bool(significant_drifts(drifts)[0])
        marked[1] += any(float(one.extras["p"] or 1) <= 0.05 for one in drifts.values())
    return float(marked[0] / pages), float(marked[1] / pages)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=500)
    parser.add_argument("--quick", action="store_true", help="40 studies: to see that it works")
    args = parser.parse_args()
    studies, began, ok = 40 if args.quick else args.studies, time.perf_counter(), []
    print(f"load average {os.getloadavg()[0]:.1f} of {os.cpu_count()} cores; seed {SEED}")
    for clusters in (8, 700):
        by_clusters, by_trials = errors_of_p(clusters, studies)
        more = f"by trials {100 * by_trials:.1f} %"
        ok.append(report(f"p by {clusters} clusters", by_clusters, studies, 0.03, 0.07, more))
    share, width, without = coverage_of_silhouettes(studies)
    more = f"mean width {width:.3f}, {100 * without:.1f} % without an interval"
    ok.append(report("mean silhouette, 7 means a study", share, studies, 0.92, 0.98, more))
    pages = 30 if args.quick else 300
    share, uncorrected = pages_with_marks(pages)
    more = f"uncorrected {100 * uncorrected:.1f} %"
    ok.append(report("pages of 200 raters with a mark", share, pages, 0.0, 0.07, more))
    print(f"{time.perf_counter() - began:.0f} s")
    sys.exit(0 if all(ok) or args.quick else 1)


if __name__ == "__main__":
    main()
