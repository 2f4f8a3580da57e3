"""Pictures of one concept that a model finds alike: proposals for a person, with examples on both sides."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from predictions.models import Entry, Run
from predictions.queries.results import vectors_of
from predictions.retrieval import scoring

THRESHOLD = 0.92  # of 3XCM's texts; shown with examples, and to be chosen anew for every encoder
LEAST = 0.5  # under it nearly everything is like everything
MOST_PAIRS = 20_000  # that groups are made of, the most alike first
MOST_COMPARED = 15_000_000  # pairs, about two seconds: people wait for the page
BLOCK = 500_000  # similarities held at once
EXAMPLES = 6
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class EntryPair:
    """`first` comes first by key."""

    first: Entry
    second: Entry
    similarity: float

    @property
    def shown(self) -> tuple[Entry, Entry]:
        return self.first, self.second


@dataclass(frozen=True)
class DuplicateProposals:
    """`pairs`: at or above the threshold, the most alike first. `above`, `below`: those nearest to the threshold on
    either side. `groups`: keys that hang together by pairs, since being a duplicate passes on. `found`: how many pairs
    there are; groups are made of MOST_PAIRS of them. `left_out`: entries that were not compared, for there are many."""

    pairs: Sequence[EntryPair]
    above: Sequence[EntryPair]
    below: Sequence[EntryPair]
    groups: Sequence[Sequence[str]]
    concepts: int
    compared: int
    found: int
    left_out: int

    @property
    def cut(self) -> bool:
        return self.found > MOST_PAIRS


class TopPairs:
    """Of pairs that come in blocks, the `most` with the highest (`lowest`: the lowest) similarities; ties by place."""

    def __init__(self, most: int, *, lowest: bool = False) -> None:
        self.most, self.sign = most, 1.0 if lowest else -1.0
        self.values, self.first, self.second = np.zeros(0), np.zeros(0, np.int64), np.zeros(0, np.int64)

    def add(self, values: Floats, first: Ints, second: Ints) -> None:
        if len(self.values) == self.most:
            near = self.sign * values <= self.sign * self.values[-1]
            values, first, second = values[near], first[near], second[near]
        if not len(values):
            return
        values = np.concatenate([self.values, values])
        first, second = np.concatenate([self.first, first]), np.concatenate([self.second, second])
        order = np.lexsort((second, first, self.sign * values))[: self.most]
        self.values, self.first, self.second = values[order], first[order], second[order]

    def pairs(self, entries: Sequence[Entry], most: int) -> list[EntryPair]:
        rows = zip(self.values[:most], self.first[:most], self.second[:most], strict=True)
        return [EntryPair(entries[first], entries[second], float(value)) for value, first, second in rows]


def search(run: Run, threshold: float = THRESHOLD, *, within: str = "concept", most: int = 500) -> DuplicateProposals:
    """Among the entries of a run's collection that share `within`; at most `most` pairs are given, all are counted.
    However much there is, it takes seconds and some megabytes beside the vectors."""
    entries, vectors = vectors_of(run)
    places: dict[str, list[int]] = defaultdict(list)
    for at, entry in enumerate(entries):
        places[str(entry.about.get(within) or "")].append(at)
    best, above, below = TopPairs(MOST_PAIRS), TopPairs(EXAMPLES, lowest=True), TopPairs(EXAMPLES)
    compared = n_pairs = left_out = 0
    for members in places.values():
        where = np.asarray(members[: _max_entries(MOST_COMPARED - compared)], np.int64)
        left_out += len(members) - len(where)
        compared += len(where) * (len(where) - 1) // 2
        for values, first, second in _compared(where, vectors):
            over = values >= threshold
            n_pairs += int(np.count_nonzero(over))
            for top_pairs, chosen in ((best, over), (above, over), (below, ~over)):
                top_pairs.add(values[chosen], first[chosen], second[chosen])
    return DuplicateProposals(
        best.pairs(entries, most), above.pairs(entries, EXAMPLES), below.pairs(entries, EXAMPLES),
        _groups(best, entries), len(places), compared, n_pairs, left_out,
    )  # fmt: skip


def _max_entries(pairs: int) -> int:
    """Among how many entries there are at most so many pairs."""
    return int((1 + np.sqrt(1 + 8 * max(0, pairs))) // 2)


def _compared(where: Ints, vectors: npt.NDArray[np.float32]) -> Iterator[tuple[Floats, Ints, Ints]]:
    """Each pair once, in blocks: similarities, and the places of both."""
    if len(where) < 2:
        return
    units = scoring.normalise_rows(vectors[where])
    step = max(1, BLOCK // len(where))
    for start in range(0, len(where), step):
        scores = scoring.cosines(units[start : start + step], units[start:])
        first, second = np.triu_indices(len(scores), 1, scores.shape[1])
        yield scores[first, second], where[start + first], where[start + second]


def _groups(pairs: TopPairs, entries: Sequence[Entry]) -> list[list[str]]:
    """By the place of the first of each."""
    label = np.arange(len(entries))
    while True:
        least = np.minimum(label[pairs.first], label[pairs.second])
        before = label.copy()
        np.minimum.at(label, pairs.first, least)
        np.minimum.at(label, pairs.second, least)
        label = label[label]
        if np.array_equal(before, label):
            break
    groups: dict[int, list[str]] = defaultdict(list)
    for one in np.union1d(pairs.first, pairs.second):
        groups[int(label[one])].append(entries[one].key)
    return [groups[group] for group in sorted(groups)]
