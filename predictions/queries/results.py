"""What runs produced, read by key."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from django.db.models import Count

from benchmarks.models import Benchmark
from predictions.models import Collection, Embedding, Entry, Query, Ranking, Run
from predictions.retrieval.vectors import vector_store

VECTORS_LEFT_OUT = "vectors_left_out"
"""The option of a run whose vectors were not in the release that it came with."""


@dataclass(frozen=True)
class QueryResult:
    """What one query found: keys with their scores, the best first."""

    query: Query
    keys: list[str]
    scores: list[float]


def runs_of(benchmark: Benchmark, task: str, query_set: str | None = None) -> list[Run]:
    """Complete runs that were not withdrawn, by the model's name and setting."""
    rows = Run.objects.filter(benchmark=benchmark, task=task, complete=True, withdrawn_at=None)
    if query_set is not None:
        rows = rows.filter(query_set=query_set)
    rows = rows.select_related("rater", "collection", "knowledge_index__base")
    return list(rows.order_by("rater__name", "rater__setting", "query_set", "pk"))


def state_of(benchmark: Benchmark) -> list[Any]:
    """Of the runs that are counted, and of what is known of their models: other numbers come of another state only. A
    collection on which a run stands is closed, so nothing else of a run changes."""
    rows = Run.objects.filter(benchmark=benchmark, complete=True, withdrawn_at=None).order_by("pk")
    return [list(row) for row in rows.values_list("pk", "rater__about")]


def entries_of(collection: Collection) -> dict[str, Mapping[str, Any]]:
    """What is known of each entry, by its key."""
    rows = Entry.objects.filter(collection=collection).values_list("key", "about")
    return dict(rows.iterator(chunk_size=5000))


def lists_of(run: Run) -> Iterator[QueryResult]:
    """By the query's key."""
    rows = Ranking.objects.filter(run=run).select_related("query").order_by("query__key")
    for row in rows.iterator(chunk_size=2000):
        yield QueryResult(row.query, row.keys, row.scores)


def vectors_of(run: Run) -> tuple[list[Entry], npt.NDArray[np.float32]]:
    """Entries by key, and their vectors (n, d); (0, 0) without any. Those of a file lie in the database, those made
    here on disk, joined by the entries' ids; what could not be read is left out."""
    if run.options.get("vectors"):
        return _on_disk(run)
    rows = list(Embedding.objects.filter(run=run).select_related("entry__image").order_by("entry__key"))
    if not rows:
        return [], np.zeros((0, 0), np.float32)
    return [row.entry for row in rows], np.stack([np.frombuffer(bytes(row.vector), "<f4") for row in rows])


def entries_with_vectors(run: Run) -> list[tuple[int, str, Mapping[str, Any]]]:
    """What has a vector, by key: an id for `vectors_by`, the key, and what is known of the entry."""
    if run.options.get("vectors"):
        return [(entry.pk, entry.key, entry.about) for entry in _on_disk(run)[0]]
    rows = Embedding.objects.filter(run=run).order_by("entry__key").values_list("pk", "entry__key", "entry__about")
    return list(rows.iterator(chunk_size=5000))


def vectors_by(run: Run, ids: Sequence[int]) -> npt.NDArray[np.float32]:
    """(n, d) in the order of `ids`, of `entries_with_vectors`."""
    if run.options.get("vectors"):
        store = vector_store(run.options["vectors"])
        place = {int(pk): at for at, pk in enumerate(store.plan()[:, 0])}
        return store.take([place[one] for one in ids])
    vector_by_id: dict[int, npt.NDArray[np.float32]] = {}
    for start in range(0, len(ids), 1000):
        rows = Embedding.objects.filter(pk__in=ids[start : start + 1000]).values_list("pk", "vector")
        vector_by_id |= {pk: np.frombuffer(bytes(vector), "<f4") for pk, vector in rows}
    return np.stack([vector_by_id[one] for one in ids])


def _on_disk(run: Run) -> tuple[list[Entry], npt.NDArray[np.float32]]:
    store = vector_store(run.options["vectors"])
    if not store.planned or any(True for _number in store.missing()):
        return [], np.zeros((0, 0), np.float32)  # deleted: a run of the same model makes them again
    place = {int(pk): at for at, pk in enumerate(store.plan()[:, 0])}
    rows = Entry.objects.filter(collection=run.collection).select_related("image").order_by("key")
    entries = [entry for entry in rows if entry.pk in place]
    vectors = store.take([place[entry.pk] for entry in entries])
    seen = np.any(vectors != 0, axis=1)
    return [entry for entry, there in zip(entries, seen, strict=True) if there], vectors[seen]


@dataclass(frozen=True)
class CollectionRow:
    """A collection with how much is in it: entries, and queries by query set. `newest`: of its versions."""

    collection: Collection
    entries: int
    queries: dict[str, int]
    newest: bool = True


def collections_of(benchmark: Benchmark) -> list[CollectionRow]:
    """Of a benchmark, the newest first."""
    rows = list(Collection.objects.filter(benchmark=benchmark).select_related("stage").order_by("-pk"))
    newest = {row.key: row.pk for row in reversed(rows)}
    entries = Entry.objects.filter(collection__in=rows).order_by().values_list("collection").annotate(n=Count("pk"))
    queries = Query.objects.filter(collection__in=rows).order_by("query_set")
    sets: dict[int, dict[str, int]] = {}
    for collection, name, n in queries.values_list("collection", "query_set").annotate(n=Count("pk")):
        sets.setdefault(collection, {})[name] = n
    counted = dict(entries)
    return [CollectionRow(row, counted.get(row.pk, 0), sets.get(row.pk, {}), newest[row.key] == row.pk) for row in rows]


def all_runs_of(benchmark: Benchmark) -> list[Run]:
    """By collection, task, query set and model; what was withdrawn last. A file that never came in whole is left out
    once another has taken its place."""
    rows = Run.objects.filter(benchmark=benchmark).exclude(task__in=(Run.Task.ANSWERS, Run.Task.LINKING))
    rows = rows.exclude(complete=False, withdrawn_at__isnull=False)
    rows = rows.select_related("rater", "collection", "created_by")
    order = ("-collection", "task", "query_set", "rater__name", "rater__setting", "system_prompt", "-pk")
    return sorted(rows.order_by(*order), key=lambda run: run.withdrawn_at is not None)
