"""Vectors on disk: a plan of which row is what, and shards of 16-bit floats. A shard is there whole, or not at all.

The folder of a store holds `plan.npy`, (n, 2) integers: of what (a primary key), and which of its texts;
`000000.npy`, `000001.npy`, ...: SHARD rows each, in the plan's order; and what an index over them adds. A row of zeros
is one that could not be encoded.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from django.conf import settings

from predictions.backends.contract import Vectors

SHARD = 512
Ints = npt.NDArray[np.int64]


def save(path: Path, array: npt.NDArray[Any]) -> None:
    """Whole or not at all, whenever the machine stops."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            np.save(file, array)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def unit(vectors: npt.ArrayLike) -> Vectors:
    """Rows of length one; rows without a length, and with a number that is none, become zeros."""
    rows = np.asarray(vectors, np.float32)
    length = np.linalg.norm(rows, axis=-1, keepdims=True)
    good = np.isfinite(length) & (length > 0)
    return np.asarray(np.where(good, rows / np.where(good, length, 1), 0), np.float32)


def vector_store(name: str) -> VectorStore:
    """The store of this name in the folder of vectors; a run keeps the name in its options, as "vectors"."""
    return VectorStore(Path(settings.VECTORS_ROOT) / name)


@dataclass(frozen=True)
class VectorStore:
    folder: Path

    @property
    def _plan(self) -> Path:
        return self.folder / "plan.npy"

    @property
    def planned(self) -> bool:
        return self._plan.exists()

    def begin(self) -> None:
        """Nothing of what was there before."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)

    def write_plan(self, rows: Iterable[tuple[int, int]]) -> int:
        """How many rows. They are written as they come; the plan is there when all of them are."""
        self.folder.mkdir(parents=True, exist_ok=True)
        raw = self.folder / "plan.part"
        count = 0
        with raw.open("wb") as file:
            for block in _blocks(rows, 65_536):
                file.write(np.array(block, np.int64).tobytes())
                count += len(block)
        mapped = np.memmap(raw, np.int64, "r", shape=(count, 2)) if count else np.zeros((0, 2), np.int64)
        save(self._plan, mapped)
        raw.unlink()
        return count

    def plan(self) -> Ints:
        """(n, 2), mapped from disk."""
        return np.asarray(np.load(self._plan, mmap_mode="r"))

    def shard(self, number: int) -> Path:
        return self.folder / f"{number:06}.npy"

    def shards(self) -> int:
        """How many the plan asks for."""
        return -(-len(self.plan()) // SHARD)

    def missing(self) -> Iterator[int]:
        return (number for number in range(self.shards()) if not self.shard(number).exists())

    def rows_of(self, number: int) -> Ints:
        return self.plan()[number * SHARD : (number + 1) * SHARD]

    def write(self, number: int, vectors: npt.ArrayLike) -> None:
        save(self.shard(number), unit(vectors).astype(np.float16))

    def parts(self) -> Iterator[tuple[int, Vectors]]:
        """The first row's number, and the vectors from there: shard by shard."""
        for number in range(self.shards()):
            yield number * SHARD, np.load(self.shard(number)).astype(np.float32)

    def take(self, rows: npt.ArrayLike) -> Vectors:
        """Vectors of rows by their numbers, in this order."""
        wanted = np.asarray(rows, np.int64)
        if not wanted.size:
            return np.zeros((0, 0), np.float32)
        found = [(n, np.load(self.shard(int(n)), mmap_mode="r")) for n in np.unique(wanted // SHARD)]
        out = np.zeros((wanted.size, found[0][1].shape[1]), np.float32)
        for number, held in found:
            here = wanted // SHARD == number
            out[here] = held[wanted[here] % SHARD]
        return out

    def bytes(self) -> int:
        return sum(file.stat().st_size for file in self.folder.iterdir()) if self.folder.exists() else 0


def _blocks(rows: Iterable[tuple[int, int]], size: int) -> Iterator[list[tuple[int, int]]]:
    block: list[tuple[int, int]] = []
    for row in rows:
        block.append(row)
        if len(block) == size:
            yield block
            block = []
    if block:
        yield block
