"""Of candidates whose pictures are at least `least` similar, the first by rank and key is kept. Pure.

params: least (0.9), within (as in same_picture), fact (empty: the perceptual hash of the first picture).

The similarity by hash is that of `benchmarks.images.perceptual_hash` without windows. A fact lists the most similar
items with their similarity, as [[key, similarity], ...] or {key: similarity}; other items are not similar.
A candidate is compared with those before it that are kept, so a chain of similar pictures loses only those that are
similar to a kept one.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.rules.filters.contract import (
    HASH,
    PICTURE,
    Candidate,
    FilterError,
    FilterOutcome,
    drop,
    is_number,
    keep,
    require_known,
    require_name,
    require_share,
    require_within,
    wait,
)

LEAST = 0.9
DIGITS = 64  # hexadecimal digits of the hash; 6 of the mean colour follow
BITS = 255
TONE = 0.5
Floats = npt.NDArray[np.float64]


def check(params: Mapping[str, Any]) -> None:
    require_known(params, ("least", "within", "fact"))
    require_share(params, "least", LEAST)
    require_within(params)
    if params.get("fact"):
        require_name(params, "fact")
    elif params.get("fact", "") != "":
        raise FilterError("fact", "must be a text")


def needs(params: Mapping[str, Any]) -> str:
    return str(params.get("fact") or HASH)


def judge(
    candidates: Sequence[Candidate], params: Mapping[str, Any], earlier: Collection[int] = ()
) -> list[FilterOutcome]:
    by_fact = bool(params.get("fact"))
    comparison: _FactComparison | _HashComparison
    comparison = _FactComparison(candidates, str(params["fact"])) if by_fact else _HashComparison(candidates)
    least = params.get("least", LEAST)
    stays: list[int] = []
    outcomes = []
    for number, candidate in enumerate(candidates):
        missing = comparison.missing(number)
        if missing is not None:
            outcomes.append(missing)
            continue
        alike = comparison.similarities(number, stays)
        best = int(np.argmax(alike)) if len(stays) else -1  # the first of several that are equally similar
        if best >= 0 and alike[best] >= least:
            value = {"key": candidates[stays[best]].key, "similarity": round(float(alike[best]), 4)}
            outcomes.append(drop("near_duplicate", value, least))
            continue
        outcomes.append(keep(None, least))
        if candidate.id not in earlier:
            stays.append(number)
    return outcomes


class _HashComparison:
    """Similarities by the perceptual hashes of first pictures."""

    def __init__(self, candidates: Sequence[Candidate]) -> None:
        hashes = [candidate.pictures[0].perceptual_hash if candidate.pictures else None for candidate in candidates]
        self._hashes = hashes
        blank = "0" * (DIGITS + 6)
        texts = [text if text and len(text) == len(blank) else blank for text in hashes]
        rows = np.array([list(bytes.fromhex(text)) for text in texts], np.uint8).reshape(-1, DIGITS // 2 + 3)
        self._bits, self._tones = rows[:, : DIGITS // 2], rows[:, DIGITS // 2 :].astype(np.float64) / 255

    def missing(self, number: int) -> FilterOutcome | None:
        text = self._hashes[number]
        if text is None:
            return wait(PICTURE, "no_picture")
        if len(text) != DIGITS + 6:
            return wait(HASH, "unreadable" if text else "no_fact")
        return None

    def similarities(self, number: int, others: Sequence[int]) -> Floats:
        chosen = list(others)
        apart = np.bitwise_count(self._bits[chosen] ^ self._bits[number]).sum(axis=1)
        alike = np.clip(1 - 2 * apart / BITS, 0, 1)
        tones = np.abs(self._tones[chosen] - self._tones[number]).mean(axis=1)
        return np.asarray(alike * (1 - TONE * np.minimum(2 * tones, 1)), np.float64)


class _FactComparison:
    """Similarities that a fact lists; of two listings of a pair the larger counts."""

    def __init__(self, candidates: Sequence[Candidate], name: str) -> None:
        self._keys = [candidate.key for candidate in candidates]
        self._name = name
        self._listed = [_read_listing(candidate.facts.get(name)) for candidate in candidates]

    def missing(self, number: int) -> FilterOutcome | None:
        return wait(self._name) if self._listed[number] is None else None

    def similarities(self, number: int, others: Sequence[int]) -> Floats:
        own = self._listed[number] or {}
        pairs = [
            max(own.get(self._keys[other], 0.0), (self._listed[other] or {}).get(self._keys[number], 0.0))
            for other in others
        ]
        return np.array(pairs, np.float64)


def _read_listing(value: Any) -> dict[str, float] | None:
    """Similarity by key; None if the value is no such list."""
    pairs = list(value.items()) if isinstance(value, Mapping) else value
    if not isinstance(pairs, list):
        return None
    listing = {}
    for pair in pairs:
        if not isinstance(pair, list | tuple) or len(pair) != 2 or not is_number(pair[1]):
            return None
        listing[str(pair[0])] = float(pair[1])
    return listing
