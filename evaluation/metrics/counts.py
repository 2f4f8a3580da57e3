"""Ratings as three parallel arrays, and the count table (units x codes) that every level of measurement shares."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

_DENSE_CODES, _DENSE_CELLS = 64, 8_000_000  # largest units x codes table held densely
_CODE_SPAN = 65_536  # whole-number codes within this span are numbered by a lookup table, the rest by sorting


def divide(above: Floats, below: Floats) -> Floats:
    """Element by element; not a number where ``below`` is 0."""
    return np.asarray(np.divide(above, below, out=np.full(above.shape, np.nan), where=below > 0))


@dataclass(frozen=True, eq=False)
class Ratings:
    """n ratings: ``value[i]`` is the code rater ``rater[i]`` gave unit ``unit[i]``.

    ``unit`` in 0..n_units-1, ``rater`` in 0..n_raters-1 (units and raters without any rating may exist: they count as
    missing).
    A rater rates a unit at most once; how repeats count is decided before, in the selection.
    """

    unit: Ints
    rater: Ints
    value: Floats
    n_units: int
    n_raters: int

    def __post_init__(self) -> None:
        for name, kind in (("unit", np.int64), ("rater", np.int64), ("value", np.float64)):
            array = np.array(getattr(self, name), dtype=kind)  # a copy: nobody changes it under us
            if array.ndim != 1:
                raise ValueError(f"{name} must be one-dimensional, got shape {array.shape}")
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        if not self.unit.size == self.rater.size == self.value.size:
            raise ValueError(
                f"unit, rater and value differ in length: {self.unit.size}, {self.rater.size}, {self.value.size}"
            )
        if not np.isfinite(self.value).all():
            raise ValueError("value must be finite; leave a missing rating out instead of passing NaN")
        for name, size in (("unit", self.n_units), ("rater", self.n_raters)):
            index = getattr(self, name)
            if index.size and (index.min() < 0 or index.max() >= size):
                raise ValueError(f"{name} must lie in 0..{size - 1}, got {index.min()}..{index.max()}")
        self._refuse_repeats()

    def _refuse_repeats(self) -> None:
        key = self.unit * max(self.n_raters, 1) + self.rater
        places = self.n_units * self.n_raters
        if places <= 32 * key.size:  # a mark in each place is cheaper than sorting, unless nearly all are empty
            seen = np.zeros(places, bool)
            seen[key] = True
            if int(seen.sum()) == key.size:
                return
        key = np.sort(key)
        repeated = np.flatnonzero(key[1:] == key[:-1])
        if repeated.size:
            unit, rater = divmod(int(key[repeated[0]]), max(self.n_raters, 1))
            raise ValueError(
                f"{repeated.size} repeated rating(s): rater {rater} rated unit {unit} more than once; "
                "decide in the selection which one counts"
            )

    @classmethod
    def from_labels(cls, rows: Iterable[tuple[Hashable, Hashable, float]]) -> Ratings:
        """From (unit label, rater label, code) rows; labels are numbered in the order they appear."""
        units: dict[Hashable, int] = {}
        raters: dict[Hashable, int] = {}
        numbered = [(units.setdefault(u, len(units)), raters.setdefault(r, len(raters)), v) for u, r, v in rows]
        unit, rater, value = zip(*numbered, strict=True) if numbered else ((), (), ())
        return cls(
            np.array(unit, np.int64), np.array(rater, np.int64), np.array(value, np.float64), len(units), len(raters)
        )

    @classmethod
    def from_matrix(cls, matrix: npt.ArrayLike) -> Ratings:
        """From a units x raters matrix with NaN where there is no rating."""
        table = np.asarray(matrix, dtype=np.float64)
        if table.ndim != 2:
            raise ValueError(f"matrix must be units x raters, got shape {table.shape}")
        unit, rater = np.nonzero(~np.isnan(table))
        return cls(unit, rater, table[unit, rater], table.shape[0], table.shape[1])

    def to_matrix(self) -> Floats:
        """The units x raters matrix, NaN where there is no rating."""
        matrix = np.full((self.n_units, self.n_raters), np.nan)
        matrix[self.unit, self.rater] = self.value
        return matrix

    @property
    def n_ratings(self) -> int:
        return int(self.value.size)

    @cached_property
    def unit_counts(self) -> Ints:
        """(n_units,): how many ratings each unit has."""
        return np.bincount(self.unit, minlength=self.n_units)

    @cached_property
    def unit_sums(self) -> Floats:
        """(n_units,): the sum of the codes of each unit."""
        return np.asarray(np.bincount(self.unit, weights=self.value, minlength=self.n_units), np.float64)

    @cached_property
    def same_counts(self) -> Ints:
        """(n,): how many ratings of the unit have the code of this one, itself among them."""
        codes, code = np.unique(self.value, return_inverse=True)
        _keys, place, counts = np.unique(self.unit * max(codes.size, 1) + code, return_inverse=True, return_counts=True)
        same: Ints = counts[place]
        return same

    @cached_property
    def _by_rater(self) -> tuple[Ints, Ints]:
        """The places of the ratings, rater by rater and in their order, and (n_raters + 1,) where each rater begins."""
        places = np.argsort(self.rater, kind="stable")
        return places, np.searchsorted(self.rater[places], np.arange(self.n_raters + 1))

    def places_of(self, rater: int) -> Ints:
        """Where the ratings of a rater are, in their order. All raters together cost one sort."""
        places, starts = self._by_rater
        return places[starts[rater] : starts[rater + 1]]

    @property
    def n_raters_present(self) -> int:
        """Raters with at least one rating."""
        return int(np.count_nonzero(np.bincount(self.rater, minlength=self.n_raters)))

    @property
    def missing_share(self) -> float | None:
        """1 - ratings / (units x raters); None for an empty table."""
        cells = self.n_units * self.n_raters
        return 1 - self.n_ratings / cells if cells else None

    @property
    def sizes(self) -> Sizes:
        """Of the whole table."""
        return Sizes(self.n_units, self.n_raters, self.n_ratings)

    def sizes_of(self, used: Bools) -> Sizes:
        """Of the ratings that enter a value. ``used`` (n,): which ones do."""
        units, raters = (
            int(np.count_nonzero(np.bincount(index[used], minlength=1))) for index in (self.unit, self.rater)
        )
        return Sizes(units, raters, int(np.count_nonzero(used)))


@dataclass(frozen=True)
class Sizes:
    """What a value is computed from: units x raters, and the ratings in that table."""

    n_units: int
    n_raters: int
    n_ratings: int

    @property
    def missing_share(self) -> float | None:
        """1 - ratings / (units x raters); None for an empty table."""
        cells = self.n_units * self.n_raters
        return 1 - self.n_ratings / cells if cells else None

    def to_fields(self) -> dict[str, Any]:
        """The fields of an Estimate that say what it rests on."""
        return {**vars(self), "missing_share": self.missing_share}


@dataclass(frozen=True, eq=False)
class CountTable:
    """The pairable ratings with their weights: U units, R raters, C codes, n ratings, all renumbered without gaps.

    A unit is pairable when at least two raters of positive weight rated it. ``weight`` is each rating's rater weight v,
    ``unit_weight`` (U,) is w, ``codes`` (C,) the sorted distinct values.
    """

    unit: Ints
    rater: Ints
    code: Ints
    weight: Floats
    unit_weight: Floats
    codes: Floats
    units: Ints  # (U,) the units' numbers in the ratings
    raters: Ints  # (R,) the raters'
    weighted: bool = True  # False: every weight is 1

    @property
    def n_raters(self) -> int:
        return int(self.raters.size)

    @property
    def n_units(self) -> int:
        return int(self.unit_weight.size)

    @property
    def n_codes(self) -> int:
        return int(self.codes.size)

    @cached_property
    def size(self) -> Ints:
        """(U,) raters per unit."""
        return np.bincount(self.unit, minlength=self.n_units)

    @cached_property
    def mass(self) -> Floats:
        """(U,) m_u = sum of rater weights."""
        return self.by_unit(self.weight) if self.weighted else self.size.astype(np.float64)

    @cached_property
    def squares(self) -> Floats:
        """(U,) q_u = sum of squared rater weights: the pairs a rater would form with itself."""
        return self.by_unit(self.weight**2) if self.weighted else self.mass

    @cached_property
    def factor(self) -> Floats:
        """(U,) w_u m_u / (m_u^2 - q_u), which is 1 / (m_u - 1) without weights."""
        return np.asarray(self.unit_weight * self.mass / (self.mass**2 - self.squares))

    @cached_property
    def rating_mass(self) -> Floats:
        """(n,) w_u v_r: what one rating weighs in the marginals."""
        return self.unit_weight[self.unit] * self.weight if self.weighted else self.weight

    @cached_property
    def marginals(self) -> Floats:
        """(C,) weighted number of ratings with each code."""
        return np.bincount(self.code, self.rating_mass, self.n_codes).astype(np.float64)

    @cached_property
    def total(self) -> float:
        return float(self.unit_weight @ self.mass)

    @cached_property
    def self_pairs(self) -> float:
        """Weight of the pairs of a rating with itself; equals ``total`` without weights."""
        return float(self.unit_weight @ self.squares)

    @cached_property
    def counts(self) -> Any:
        """Sparse (U, C): weighted raters of unit u who gave code c."""
        shape = (self.n_units, self.n_codes)
        return scipy.sparse.csr_matrix((self.weight, (self.unit, self.code)), shape=shape)

    @cached_property
    def cells(self) -> Floats | None:
        """``counts`` as a dense (U, C) array, where codes are few; else None."""
        if self.n_codes > _DENSE_CODES or self.n_units * self.n_codes > _DENSE_CELLS:
            return None
        flat = np.bincount(self.unit * self.n_codes + self.code, self.weight, self.n_units * self.n_codes)
        return np.asarray(flat.reshape(self.n_units, self.n_codes), np.float64)

    def by_unit(self, numbers: Floats) -> Floats:
        return np.bincount(self.unit, numbers, self.n_units).astype(np.float64)


def number_codes(values: Floats) -> tuple[Floats, Ints]:
    """Sorted distinct values (C,) and each rating's place among them (n,)."""
    if values.size:
        low = float(values.min())
        if float(values.max()) - low < _CODE_SPAN and low == np.rint(low):
            shifted = (values - low).astype(np.int64)
            if (shifted + low == values).all():
                present = np.bincount(shifted) > 0
                return np.flatnonzero(present) + np.float64(low), (np.cumsum(present, dtype=np.int64) - 1)[shifted]
    codes, place = np.unique(values, return_inverse=True)
    return codes, place.astype(np.int64)


def count_table(
    ratings: Ratings, unit_weights: npt.ArrayLike | None, rater_weights: npt.ArrayLike | None
) -> CountTable:
    """Keep what can be paired. Raises ValueError on weights of the wrong length, negative or not finite."""
    if unit_weights is None and rater_weights is None:
        return _unweighted(ratings)
    w = _weights("unit_weights", unit_weights, ratings.n_units)
    v = _weights("rater_weights", rater_weights, ratings.n_raters)
    keep = (w[ratings.unit] > 0) & (v[ratings.rater] > 0)
    size = np.bincount(ratings.unit, weights=keep, minlength=ratings.n_units)
    keep &= size[ratings.unit] >= 2
    units, unit = _renumber(ratings.unit[keep], ratings.n_units)
    raters, rater = _renumber(ratings.rater[keep], ratings.n_raters)
    codes, code = number_codes(ratings.value[keep])
    return CountTable(unit, rater, code, v[raters][rater], w[units], codes, units, raters)


def _unweighted(ratings: Ratings) -> CountTable:
    keep = np.bincount(ratings.unit, minlength=ratings.n_units)[ratings.unit] >= 2
    rows: Bools | slice = slice(None) if keep.all() else keep
    units, unit = _renumber(ratings.unit[rows], ratings.n_units)
    raters, rater = _renumber(ratings.rater[rows], ratings.n_raters)
    codes, code = number_codes(ratings.value[rows])
    return CountTable(unit, rater, code, np.ones(unit.size), np.ones(units.size), codes, units, raters, False)


def sorting(places: Ints, count: int) -> Ints:
    """The stable order of whole numbers below ``count``; few of them are sorted by their digits, many times as fast."""
    return np.argsort(places.astype(np.uint16) if count <= 2**16 else places, kind="stable")


def _weights(name: str, values: npt.ArrayLike | None, size: int) -> Floats:
    if values is None:
        return np.ones(size)
    weights = np.asarray(values, dtype=np.float64)
    if weights.shape != (size,):
        raise ValueError(f"{name} must have shape ({size},), got {weights.shape}")
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise ValueError(f"{name} must be finite and not negative")
    return weights


def _renumber(index: Ints, size: int) -> tuple[Ints, Ints]:
    present = np.bincount(index, minlength=size) > 0
    if present.all():
        return np.arange(size), index
    return np.flatnonzero(present), (np.cumsum(present) - 1)[index]
