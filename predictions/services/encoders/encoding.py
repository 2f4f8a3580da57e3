"""The vectors of a collection's entries or queries by one encoder: on disk, in shards, made once."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from benchmarks.models import Image
from benchmarks.services import storage
from predictions.backends.clip import BATCH, ClipEncoder
from predictions.backends.contract import Vectors
from predictions.models import Collection
from predictions.retrieval import scoring
from predictions.retrieval.vectors import SHARD, VectorStore, vector_store


@dataclass(frozen=True)
class EncodeInput:
    """What is encoded: the picture where there is one, else the words."""

    pk: int
    key: str
    sha: str
    text: str


class Encoding:
    """`things` in the order of their rows in the store. Its folder is named after all that the vectors depend on, so
    other entries, another model or other weights have another."""

    def __init__(self, collection: Collection, kind: str, things: Sequence[EncodeInput], encoder: ClipEncoder) -> None:
        self.what, self.things, self._encoder = kind, things, encoder
        identity = "\x1f".join(
            [encoder.name, encoder.digest, kind, *(f"{thing.pk} {thing.sha} {thing.text}" for thing in things)]
        )
        self.name = f"collections/{collection.pk}/{hashlib.sha256(identity.encode()).hexdigest()[:16]}"
        self.store: VectorStore = vector_store(self.name)

    def encode_missing(self, beat: Callable[[], None]) -> Iterator[tuple[int, list[tuple[EncodeInput, str]]]]:
        """Make what is not there: after each shard how many things are done, and which could not be read, and why."""
        if not self.things:
            return
        if not self.store.planned:
            self.store.write_plan((thing.pk, 0) for thing in self.things)
        for number in list(self.store.missing()):
            part = self.things[number * SHARD : (number + 1) * SHARD]
            vectors, failures = self._encode_part(part, beat)
            self.store.write(number, vectors)
            yield number * SHARD + len(part), failures

    def _encode_part(
        self, part: Sequence[EncodeInput], beat: Callable[[], None]
    ) -> tuple[Vectors, list[tuple[EncodeInput, str]]]:
        matrix = np.zeros((len(part), self._encoder.dimensions), np.float32)
        failures: list[tuple[EncodeInput, str]] = []
        pictures = [at for at, encode_input in enumerate(part) if encode_input.sha]
        words = [at for at, encode_input in enumerate(part) if not encode_input.sha]
        for places, vectors, unread in self._encoder.stream([partial(original, part[at].sha) for at in pictures]):
            matrix[[pictures[place] for place in places]] = vectors
            failures += [(part[pictures[place]], error.words) for place, error in unread.items()]
            beat()
        for at in range(0, len(words), BATCH):
            some = words[at : at + BATCH]
            matrix[some] = self._encoder.texts([part[place].text for place in some])
            beat()
        return matrix, failures

    def count_cached(self) -> int:
        """Of how many things there are vectors already, of this run or of an earlier one."""
        if not self.things or not self.store.planned:
            return 0
        left = (len(self.things[number * SHARD : (number + 1) * SHARD]) for number in self.store.missing())
        return len(self.things) - sum(left)

    def units(self) -> scoring.Floats:
        """(n, d) in the order of `things`, from what is stored; zeros for what could not be read."""
        if not self.things:
            return np.zeros((0, self._encoder.dimensions))
        return scoring.normalise_rows(np.concatenate([part for _first, part in self.store.parts()]))

    def unread(self) -> int:
        return int((~np.any(self.units() != 0, axis=1)).sum()) if self.things else 0


def original(sha: str) -> bytes:
    """The picture as it was received."""
    with storage.open_binary(Image(sha256=sha).original_name) as file:
        return file.read()
