"""Which items are alike by the vectors that a model found of them. Pure."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.rules.derivations.contract import DerivationError, Result, read_number

VECTOR = "text_vector"  # the fact that a standing request computes of an item's words
BLOCK = 256  # rows that are compared with all others at a time
DIGITS = 4  # the last digits of a cosine differ from machine to machine, and would make other items

Likeness = Mapping[frozenset[str], float | None]
"""Similarity of two items by their keys; None where nobody said it."""


def check_similar(similar: Any, path: str = "params.similar") -> None:
    """`similar`: {"fact": key of a fact that is a vector, "least": cosine}. Raises DerivationError."""
    if not isinstance(similar, Mapping) or set(similar) - {"fact", "least"}:
        raise DerivationError(path, "must name a fact and the least similarity")
    if not isinstance(similar.get("fact"), str) or not similar["fact"]:
        raise DerivationError(f"{path}.fact", "is missing")
    least = similar.get("least")
    if isinstance(least, bool) or not isinstance(least, int | float) or not 0 < least <= 1:
        raise DerivationError(f"{path}.least", "must be a number over 0, and at most 1")


def similar_items(results: Sequence[Result], similar: Mapping[str, Any]) -> Likeness:
    """Items whose vectors have at least this cosine. What has no vector yet is like nothing."""
    vectors = {result.item.key: _vector(result.item.facts.get(similar["fact"])) for result in results}
    by_length: dict[int, list[str]] = defaultdict(list)
    for key, vector in sorted(vectors.items()):
        if vector is not None:
            by_length[len(vector)].append(key)
    alike: dict[frozenset[str], float | None] = {}
    for keys in by_length.values():
        units = np.array([vectors[key] for key in keys], np.float64)
        alike |= {frozenset(pair): value for *pair, value in _compared(keys, units, float(similar["least"]))}
    return alike


def _vector(value: Any) -> list[float] | None:
    """None where the fact is missing, or is no vector of a length."""
    if not isinstance(value, list | tuple) or not value:
        return None
    numbers = [read_number(part) for part in value]
    numbers_there = [number for number in numbers if number is not None]
    length = sum(number * number for number in numbers_there) ** 0.5
    return [number / length for number in numbers_there] if length and len(numbers_there) == len(numbers) else None


def _compared(keys: Sequence[str], units: npt.NDArray[np.float64], least: float) -> Iterator[tuple[str, str, float]]:
    for start in range(0, len(keys), BLOCK):
        scores = np.round(units[start : start + BLOCK] @ units.T, DIGITS)
        rows, columns = np.nonzero(scores >= least)
        for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
            if start + row < column:
                yield keys[start + row], keys[column], float(scores[row, column])
