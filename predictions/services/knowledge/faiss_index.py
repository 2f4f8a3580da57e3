"""Nearest by inner product. Exact where there is little, by a graph or by inverted lists where there is much.

Which kind is chosen by the number of vectors: up to 50,000 every one is looked at ("flat"); up to two million a graph
("hnsw", about 1.3 times the vectors' memory as 32-bit floats); beyond that inverted lists with product quantisation
("ivfpq", 64 bytes for each vector). A researcher may choose another. The share of the exact nearest that it finds is
measured on its own vectors and kept beside it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from django.utils.translation import gettext as _

from predictions.backends.contract import Vectors
from predictions.retrieval.vectors import Ints, VectorStore, save

Kind = Literal["flat", "hnsw", "ivfpq"]
KINDS: tuple[Kind, ...] = ("flat", "hnsw", "ivfpq")
LEAST_IVFPQ = 1_000  # vectors that its 256 codes are learnt from
MOST_FLAT, MOST_HNSW = 50_000, 2_000_000
FILE, ROWS = "index.faiss", "rows.npy"
NEIGHBOURS, CONSTRUCTION = 32, 80
SEARCH = 128
MOST_SEARCH = 1024
GOOD = 0.95
SAMPLE = 200
AT = 20


class FaissMissing(Exception):
    """The extra is not installed; the message says what to do."""


class UnsuitableVectors(Exception):
    """Of these vectors no such index is made; the message says what to do."""


def library() -> Any:
    """The library, imported when it is first needed. Raises FaissMissing."""
    try:
        import faiss
    except ImportError as error:
        raise FaissMissing(_("Local models are not installed here. Run ./emic models, then restart.")) from error
    return faiss


def kind_for(count: int) -> Kind:
    return "flat" if count <= MOST_FLAT else "hnsw" if count <= MOST_HNSW else "ivfpq"


@dataclass
class Index:
    """`rows`: which row of the plan each of its vectors is."""

    kind: Kind
    held: Any
    rows: Ints

    def search(self, vectors: npt.ArrayLike, k: int) -> tuple[Vectors, Ints]:
        """Similarities (n, k) and rows of the plan (n, k), the nearest first; -1 where there are fewer than k."""
        asked = np.ascontiguousarray(vectors, np.float32)
        scores, found = self.held.search(asked, min(k, max(self.held.ntotal, 1)))
        there = found >= 0
        rows = np.where(there, self.rows[np.where(there, found, 0)] if self.rows.size else -1, -1)
        return np.asarray(scores, np.float32), np.asarray(rows, np.int64)

    def search_more(self, breadth: int) -> None:
        """How much of it a search goes through."""
        faiss = library()
        if self.kind == "hnsw":
            faiss.ParameterSpace().set_index_parameter(self.held, "efSearch", breadth)
        elif self.kind == "ivfpq":
            faiss.ParameterSpace().set_index_parameter(self.held, "nprobe", max(1, breadth // 4))


def load(folder: Path, facts: dict[str, Any]) -> Index:
    """Mapped from disk, where its kind can be. Raises FaissMissing, FileNotFoundError."""
    faiss = library()
    if not (folder / FILE).exists():
        raise FileNotFoundError(folder / FILE)
    held = faiss.read_index(str(folder / FILE), faiss.IO_FLAG_MMAP_IFC)
    index = Index(facts["kind"], held, np.asarray(np.load(folder / ROWS, mmap_mode="r")))
    index.search_more(int(facts.get("search", SEARCH)))
    return index


def build(store: VectorStore, kind: Kind, beat: Callable[[], None], seed: int = 0) -> dict[str, Any]:
    """Write the index over a store whose shards are all there; what was measured. Raises FaissMissing, Unfit.

    `recall`: the share of the exact AT nearest that are found, over SAMPLE of its own vectors, each without itself. If
    it is under GOOD the search is widened until it is not, or MOST_SEARCH is reached.
    """
    began = time.monotonic()
    index = _fill_index(store, kind, beat, seed)
    if not index.held.ntotal:
        raise UnsuitableVectors(
            _(
                "None of the vectors can be used: all are zero or contain values that are not "
                "numbers. Nothing was built."
            )
        )
    added = time.monotonic() - began
    _write(store.folder, index)
    facts: dict[str, Any] = {"kind": kind, "count": int(index.held.ntotal), "seconds_index": round(added, 2)}
    facts |= _measured(store, index, beat, seed)
    facts["bytes"] = (store.folder / FILE).stat().st_size
    facts["bytes_vectors"] = sum(store.shard(number).stat().st_size for number in range(store.shards()))
    return facts


def _fill_index(store: VectorStore, kind: Kind, beat: Callable[[], None], seed: int) -> Index:
    index: Any = None
    rows: list[Ints] = []
    for first, part in store.parts():
        filled = np.flatnonzero(part.any(axis=1))
        if index is None:
            index = _create_index(store, kind, part.shape[1], seed)
        index.add(np.ascontiguousarray(part[filled]))
        rows.append(first + filled)
        beat()
    if index is None:
        index = _create_index(store, "flat", 1, seed)
    return Index(kind, index, np.concatenate(rows).astype(np.int64) if rows else np.zeros(0, np.int64))


def _create_index(store: VectorStore, kind: Kind, dimensions: int, seed: int) -> Any:
    faiss = library()
    if kind == "flat":
        return faiss.IndexFlatIP(dimensions)
    if kind == "hnsw":
        index = faiss.IndexHNSWFlat(dimensions, NEIGHBOURS, faiss.METRIC_INNER_PRODUCT)
        index.hnsw.efConstruction = CONSTRUCTION
        index.hnsw.efSearch = SEARCH
        return index
    lists = int(max(1, min(65_536, 4 * np.sqrt(len(store.plan())))))
    pieces = max(one for one in range(1, min(64, dimensions) + 1) if dimensions % one == 0)
    coarse = faiss.IndexFlatIP(dimensions)
    index = faiss.IndexIVFPQ(coarse, dimensions, lists, pieces, 8, faiss.METRIC_INNER_PRODUCT)
    index.own_fields = True
    coarse.this.disown()
    learnt_from = _sample(store, max(40 * lists, 40 * 256), seed)[1]
    if len(learnt_from) < max(LEAST_IVFPQ, lists):
        text = _("There are %(n)s vectors, and product quantisation needs %(least)s. Choose another kind, or by size.")
        raise UnsuitableVectors(text % {"n": len(learnt_from), "least": max(LEAST_IVFPQ, lists)})
    index.train(learnt_from)
    index.nprobe = SEARCH // 4
    return index


def _sample(store: VectorStore, count: int, seed: int) -> tuple[Ints, Vectors]:
    """Rows drawn without replacement that have a vector, and their vectors."""
    total = len(store.plan())
    rows = np.sort(np.random.default_rng(seed).choice(total, min(count, total), replace=False)).astype(np.int64)
    vectors = store.take(rows)
    there = vectors.any(axis=1) if vectors.size else np.zeros(0, bool)
    return rows[there], np.ascontiguousarray(vectors[there])


def _write(folder: Path, index: Index) -> None:
    faiss = library()
    part = folder / f"{FILE}.part"
    faiss.write_index(index.held, str(part))
    with part.open("rb") as file:
        os.fsync(file.fileno())
    save(folder / ROWS, index.rows)
    part.replace(folder / FILE)


def _measured(store: VectorStore, index: Index, beat: Callable[[], None], seed: int) -> dict[str, Any]:
    rows, asked = _sample(store, SAMPLE, seed + 1)
    if len(rows) < 2 or index.held.ntotal < 2:
        return {"recall": None, "recall_n": 0, "recall_at": 0, "search": SEARCH, "milliseconds": None}
    k = int(min(AT, index.held.ntotal - 1))
    exact = exact_nearest(store.parts(), asked, k + 1, beat)
    breadth = SEARCH
    while True:
        index.search_more(breadth)
        began = time.monotonic()
        _scores, found = index.search(asked, k + 1)
        took = time.monotonic() - began
        recall = _recall(found, exact, rows, k)
        if recall >= GOOD or breadth >= MOST_SEARCH or index.kind == "flat":
            break
        breadth *= 2
        beat()
    return {
        "recall": round(recall, 4), "recall_n": len(rows), "recall_at": k, "search": breadth,
        "milliseconds": round(1000 * took / len(rows), 3),
    }  # fmt: skip


def exact_nearest(
    parts: Iterator[tuple[int, Vectors]], asked: Vectors, k: int, beat: Callable[[], None] = lambda: None
) -> Ints:
    """(n, k) rows of the plan, by looking at every vector; memory for one part and the k best. Ties by row."""
    best = np.full((len(asked), 0), -np.inf, np.float32)
    rows = np.zeros((len(asked), 0), np.int64)
    for number, (first, part) in enumerate(parts):
        here = np.where(part.any(axis=1), asked @ part.T, -np.inf).astype(np.float32)
        best = np.concatenate([best, here], axis=1)
        rows = np.concatenate([rows, np.broadcast_to(first + np.arange(len(part)), here.shape)], axis=1)
        order = np.argsort(-best, axis=1, kind="stable")[:, :k]
        best, rows = np.take_along_axis(best, order, 1), np.take_along_axis(rows, order, 1)
        if number % 50 == 0:
            beat()
    return rows


def _recall(approximate: Ints, exact: Ints, own: Ints, k: int) -> float:
    """Without the vector that asked."""
    shares = []
    for mine, theirs, itself in zip(approximate, exact, own, strict=True):
        wanted = [row for row in theirs if row != itself][:k]
        got = [row for row in mine if row != itself][:k]
        shares.append(len(set(wanted) & set(got)) / k)
    return float(np.mean(shares))
