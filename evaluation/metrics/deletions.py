"""The four sums of alpha, for all ratings and with each unit, rater and rating left out once.

    alpha = 1 - (observed / total) / (expected / (total^2 - self_pairs))

    observed   sum over units of w_u m_u T_u / (m_u^2 - q_u), T_u the weighted distance of all pairs within the unit
    expected   sum over pairs of codes of n_c n_k delta2(c, k)
    total      weighted number of pairable ratings; self_pairs: weight of a rating paired with itself

Without weights this is Krippendorff's alpha: w m / (m^2 - q) = 1 / (m - 1), self_pairs = total.
Leaving a rater out is the same as giving it weight 0: a unit left with one rating is no longer pairable and its
partner's rating leaves the marginals too. All replicates are exact, none is a loop over a recomputation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from evaluation.metrics.counts import Bools, CountTable, Floats, Ints
from evaluation.metrics.distances import FixedLevel, distance_matrix, distance_sums

# code (n,), group (n,), weight (n,), number of groups to d_i (n,): the weighted distance of each to its whole group
DistanceSums = Callable[[Ints, Ints, Floats, int], Floats]
_ZERO = 1e-12  # expected distance below this share of the whole table's counts as no variation left in a replicate


@dataclass(frozen=True, eq=False)
class Sums:
    """One entry per replicate; for the whole table, arrays of length 1."""

    observed: Floats
    expected: Floats
    total: Floats
    self_pairs: Floats

    def where(self, choose: Bools, other: Sums) -> Sums:
        """Entries of ``self`` where ``choose``, of ``other`` elsewhere."""
        return Sums(
            np.where(choose, self.observed, other.observed),
            np.where(choose, self.expected, other.expected),
            np.where(choose, self.total, other.total),
            np.where(choose, self.self_pairs, other.self_pairs),
        )

    def take(self, index: Ints) -> Sums:
        return Sums(self.observed[index], self.expected[index], self.total[index], self.self_pairs[index])


def observed_share(sums: Sums, whole: Sums) -> Floats:
    """D_o of each replicate, NaN where no rating is left."""
    some = sums.total > _ZERO * whole.total
    return np.asarray(np.divide(sums.observed, sums.total, out=np.full(sums.total.shape, np.nan), where=some))


def alpha_values(sums: Sums, whole: Sums) -> Floats:
    """Alpha of each replicate, NaN where no rating or no variation is left."""
    pairs = sums.total**2 - sums.self_pairs
    varied = (sums.total > _ZERO * whole.total) & (sums.expected > _ZERO * whole.expected)
    missing = np.full(sums.total.shape, np.nan)
    return np.asarray(1 - np.divide(observed_share(sums, whole) * pairs, sums.expected, out=missing, where=varied))


@dataclass(frozen=True, eq=False)
class Deletions:
    """All sums of one table: whole (1,), without each unit (U,), without each rater (R,), without each rating (n,)."""

    whole: Sums
    units: Sums
    raters: Sums
    ratings: Sums


@dataclass(frozen=True, eq=False)
class Removal:
    """What leaves the table with each rating. In a unit of two raters the partner's rating becomes unpairable and
    leaves too."""

    lonely: Bools  # (n,) the unit has only two raters
    factor: Floats  # (n,) the unit's factor without this rating; 0 where lonely
    mass: Floats  # (n,) leaves ``total``
    squares: Floats  # (n,) leaves ``self_pairs``
    rater: Ints  # (n + partners,) marginal mass that leaves with a rater: whose,
    code: Ints  # which code,
    weight: Floats  # how much

    @classmethod
    def of(cls, table: CountTable) -> Removal:
        u, v = table.unit, table.weight
        lonely = table.size[u] == 2
        mass, squares = table.mass[u] - v, table.squares[u] - v**2
        pairs = np.where(lonely, 1, mass**2 - squares)
        factor = np.where(lonely, 0, table.unit_weight[u] * mass / pairs)
        own_squares = table.unit_weight[u] * v**2
        with_partner = np.flatnonzero(lonely)
        pair = with_partner[np.argsort(u[with_partner], kind="stable")].reshape(-1, 2)
        own_place, partner = pair.ravel(), pair[:, ::-1].ravel()
        return cls(
            lonely=lonely,
            factor=factor,
            mass=np.where(lonely, (table.unit_weight * table.mass)[u], table.rating_mass),
            squares=np.where(lonely, (table.unit_weight * table.squares)[u], own_squares),
            rater=np.concatenate([table.rater, table.rater[own_place]]),
            code=np.concatenate([table.code, table.code[partner]]),
            weight=np.concatenate([table.rating_mass, table.rating_mass[partner]]),
        )


def whole_sums(level: FixedLevel, table: CountTable) -> Sums:
    """The sums of the whole table; O(ratings) except for the ratio level with many codes."""
    if table.cells is None:
        return _sums_of_all(partial(distance_sums, level, table.codes), table)[0]
    distance = distance_matrix(level, table.codes)
    within = np.einsum("uc,uc->u", table.cells @ distance, table.cells)
    return Sums(
        np.array([table.factor @ within]),
        np.array([table.marginals @ distance @ table.marginals]),
        np.array([table.total]),
        np.array([table.self_pairs]),
    )


def _sums_of_all(sums_of: DistanceSums, table: CountTable) -> tuple[Sums, Floats, Floats, Floats]:
    """The sums; d_i within units (n,); T_u (U,); distance of each code to all ratings (C,)."""
    near = sums_of(table.code, table.unit, table.weight, table.n_units)
    within = table.by_unit(table.weight * near)
    every = np.arange(table.n_codes)
    far = sums_of(every, np.zeros_like(every), table.marginals, 1)
    sums = Sums(
        np.array([table.factor @ within]),
        np.array([table.marginals @ far]),
        np.array([table.total]),
        np.array([table.self_pairs]),
    )
    return sums, near, within, far


def fixed_deletions(level: FixedLevel, table: CountTable) -> Deletions:
    """Exact delete-one sums for a distance that does not depend on the marginals."""
    return distance_deletions(partial(distance_sums, level, table.codes), table)


def distance_deletions(sums_of: DistanceSums, table: CountTable) -> Deletions:
    """The same for any distance between codes; ``sums_of`` takes places in ``table.codes``."""
    whole, near, within, far = _sums_of_all(sums_of, table)
    u, r, gone = table.unit, table.rater, Removal.of(table)
    far_of = table.rating_mass * far[table.code]
    units = Sums(
        np.maximum(whole.observed - table.factor * within, 0),
        whole.expected - 2 * table.by_unit(far_of) + table.unit_weight**2 * within,
        whole.total - table.unit_weight * table.mass,
        whole.self_pairs - table.unit_weight * table.squares,
    )
    change = table.factor[u] * within[u] - gone.factor * (within[u] - 2 * table.weight * near)
    ratings = units.take(u).where(
        gone.lonely,
        Sums(
            np.maximum(whole.observed - change, 0),
            whole.expected - 2 * far_of,
            whole.total - gone.mass,
            whole.self_pairs - gone.squares,
        ),
    )
    count = table.n_raters
    own = sums_of(gone.code, gone.rater, gone.weight, count)
    expected_change = np.bincount(gone.rater, gone.weight * (own - 2 * far[gone.code]), count)
    raters = Sums(
        np.maximum(whole.observed - np.bincount(r, change, count), 0),
        whole.expected + expected_change,
        whole.total - np.bincount(r, gone.mass, count),
        whole.self_pairs - np.bincount(r, gone.squares, count),
    )
    return Deletions(whole, units, raters, ratings)
