"""What runs produced, read by key."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.models import Benchmark
from predictions.models import Collection, Embedding, Entry, Query, Ranking, Run


@dataclass(frozen=True)
class Found:
    """What one query found: keys with their scores, the best first."""

    query: Query
    keys: list[str]
    scores: list[float]


def runs_of(benchmark: Benchmark, task: str, query_set: str | None = None) -> list[Run]:
    """Complete runs that were not withdrawn, by the model's name and setting."""
    rows = Run.objects.filter(benchmark=benchmark, task=task, complete=True, withdrawn_at=None)
    if query_set is not None:
        rows = rows.filter(query_set=query_set)
    return list(rows.select_related("rater", "collection").order_by("rater__name", "rater__setting", "query_set", "pk"))


def entries_of(collection: Collection) -> dict[str, Mapping[str, Any]]:
    """What is known of each entry, by its key."""
    rows = Entry.objects.filter(collection=collection).values_list("key", "about")
    return dict(rows.iterator(chunk_size=5000))


def lists_of(run: Run) -> Iterator[Found]:
    """By the query's key."""
    rows = Ranking.objects.filter(run=run).select_related("query").order_by("query__key")
    for row in rows.iterator(chunk_size=2000):
        yield Found(row.query, row.keys, row.scores)


def vectors_of(run: Run) -> tuple[list[Entry], npt.NDArray[np.float32]]:
    """Entries by key, and their vectors (n, d); (0, 0) without any."""
    rows = list(Embedding.objects.filter(run=run).select_related("entry").order_by("entry__key"))
    if not rows:
        return [], np.zeros((0, 0), np.float32)
    return [row.entry for row in rows], np.stack([np.frombuffer(bytes(row.vector), "<f4") for row in rows])
