"""Pictures of one concept that a model finds alike: proposals for a person, with examples on both sides."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from predictions import scoring
from predictions.models import Entry, Run
from predictions.readers import vectors_of

THRESHOLD = 0.92  # of 3XCM's texts; shown with examples, and to be chosen anew for every encoder
MOST_OF_CONCEPT = 5000
EXAMPLES = 6


@dataclass(frozen=True)
class Pair:
    """`first` comes first by key."""

    first: Entry
    second: Entry
    similarity: float

    @property
    def shown(self) -> tuple[Entry, Entry]:
        return self.first, self.second


@dataclass(frozen=True)
class Alike:
    """`pairs`: at or above the threshold, the most alike first. `above`, `below`: those nearest to the threshold on
    either side. `groups`: keys that hang together by pairs, since being a duplicate passes on."""

    pairs: Sequence[Pair]
    above: Sequence[Pair]
    below: Sequence[Pair]
    groups: Sequence[Sequence[str]]
    concepts: int
    compared: int


def search(run: Run, threshold: float = THRESHOLD, *, within: str = "concept", most: int = 500) -> Alike:
    """Among the entries of a run's collection that share `within`; at most `most` pairs are given, all are counted."""
    entries, vectors = vectors_of(run)
    units = scoring.units(vectors) if len(entries) else np.zeros((0, 0))
    places: dict[str, list[int]] = defaultdict(list)
    for at, entry in enumerate(entries):
        places[str(entry.about.get(within) or "")].append(at)
    found: list[tuple[float, int, int]] = []
    below: list[tuple[float, int, int]] = []
    compared = 0
    for where in places.values():
        where = where[:MOST_OF_CONCEPT]
        scores = scoring.cosines(units[where], units[where])
        first, second = np.triu_indices(len(where), 1)
        values = scores[first, second]
        compared += values.size
        for at in map(int, np.flatnonzero(values >= threshold)):
            found.append((float(values[at]), where[first[at]], where[second[at]]))
        under = np.flatnonzero(values < threshold)
        for at in map(int, under[np.argsort(-values[under], kind="stable")[:EXAMPLES]]):
            below.append((float(values[at]), where[first[at]], where[second[at]]))
    found.sort(key=lambda one: (-one[0], one[1:]))
    below.sort(key=lambda one: (-one[0], one[1:]))

    def pairs(some: Sequence[tuple[float, int, int]]) -> list[Pair]:
        return [Pair(entries[first], entries[second], value) for value, first, second in some]

    return Alike(
        pairs(found[:most]), pairs(found[-EXAMPLES:][::-1]), pairs(below[:EXAMPLES]), _groups(found, entries),
        len(places), compared,
    )  # fmt: skip


def _groups(found: Sequence[tuple[float, int, int]], entries: Sequence[Entry]) -> list[list[str]]:
    parent: dict[int, int] = {}

    def top(one: int) -> int:
        while parent.setdefault(one, one) != one:
            parent[one] = parent[parent[one]]
            one = parent[one]
        return one

    for _value, first, second in found:
        parent[max(top(first), top(second))] = min(top(first), top(second))
    groups: Mapping[int, list[str]] = defaultdict(list)
    for one in sorted(parent):
        groups[top(one)].append(entries[one].key)
    return list(groups.values())
