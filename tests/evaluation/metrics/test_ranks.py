"""Ranks and the binomial distribution are those of scipy.stats, which the site itself does not load."""

import numpy as np
import pytest
import scipy.stats

from evaluation.metrics.medians import _binomial_quantile
from evaluation.metrics.ranks import mid_ranks, rank_bounds


@pytest.mark.parametrize("shape", [(0,), (1,), (9,), (0, 4), (4, 0), (3, 1), (7, 8), (2, 3, 5)])
def test_ranks_are_those_of_scipy(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(7)
    for values in (rng.integers(0, 4, shape).astype(float), rng.normal(size=shape)):
        for spoiled in (None, np.inf, np.nan):
            if spoiled is not None and values.size:
                values.flat[0] = spoiled
            lowest, highest = rank_bounds(values)
            for method, ranks in (("average", mid_ranks(values)), ("min", lowest), ("max", highest)):
                expected = scipy.stats.rankdata(values, method, axis=-1) if values.size else values
                assert np.array_equal(ranks, expected, equal_nan=True), method


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
def test_binomial_quantiles_are_those_of_scipy(level: float) -> None:
    for n in [*range(1, 200), 5_000]:
        assert _binomial_quantile((1 - level) / 2, n) == scipy.stats.binom.ppf((1 - level) / 2, n, 0.5)
