"""Tables used by several tests, and what brute force makes of them."""

from collections.abc import Callable

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from evaluation.metrics.counts import Ratings

N = np.nan

# Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, section C: 4 observers x 12 units, values missing.
KRIPPENDORFF_2011 = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, N, N, N],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, N, 3],
        [N, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, N],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, N],
    ]
).T


def table_with_gaps(
    rng: np.random.Generator, units: int, raters: int, *, codes: int | None, missing: float
) -> np.ndarray:
    """A random units x raters table: codes 0..codes-1, or continuous and positive when ``codes`` is None."""
    shape = (units, raters)
    table = rng.gamma(2, size=shape) if codes is None else rng.integers(0, codes, shape).astype(float)
    table[rng.random(shape) < missing] = N
    return table


@st.composite
def tables(draw: st.DrawFn, codes: int = 5, min_raters: int = 2) -> np.ndarray:
    shape = draw(st.tuples(st.integers(2, 12), st.integers(min_raters, 6)))
    cell = st.one_of(st.just(N), st.integers(0, codes - 1).map(float), st.integers(0, codes - 1).map(float))
    return draw(hnp.arrays(float, shape, elements=cell))


def freedom(total: float, units: float, raters: float, n_units: int, n_raters: int) -> float:
    """Satterthwaite's degrees of freedom of a two-way variance, at least those of the scarcer side."""
    found = total**2 / (units**2 / (n_units - 1) + raters**2 / (n_raters - 1))
    return float(max(found, min(n_units, n_raters) - 1))


def delete_one(table: np.ndarray, of: Callable[[Ratings], float]) -> dict[str, np.ndarray]:
    """The measure without each unit, each rater, each rating: computed anew each time."""
    ones = []
    for unit, rater in np.argwhere(~np.isnan(table)):
        without = table.copy()
        without[unit, rater] = N
        ones.append(of(Ratings.from_matrix(without)))
    return {
        "units": np.array([of(Ratings.from_matrix(np.delete(table, u, 0))) for u in range(table.shape[0])]),
        "raters": np.array([of(Ratings.from_matrix(np.delete(table, r, 1))) for r in range(table.shape[1])]),
        "ratings": np.array(ones),
    }
