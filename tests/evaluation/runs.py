"""Runs in the database: collections, queries, ranked lists, similarities and vectors, straight into the rows."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.models import Benchmark
from people.models import Rater
from predictions.models import Collection, Embedding, Entry, Query, Ranking, Run


def collection(benchmark: Benchmark, entries: Mapping[str, Mapping[str, Any]], key: str = "set") -> Collection:
    made = Collection.objects.create(benchmark=benchmark, key=key, name=key.title())
    Entry.objects.bulk_create(Entry(collection=made, key=name, about=dict(about)) for name, about in entries.items())
    return made


def query(made: Collection, key: str, about: Mapping[str, Any], **more: Any) -> Query:
    return Query.objects.create(collection=made, key=key, about=dict(about), **more)


def run(made: Collection, rater: Rater, task: str = "retrieval", **more: Any) -> Run:
    return Run.objects.create(
        benchmark=made.benchmark, collection=made, rater=rater, task=task, **{"complete": True, **more}
    )


def create_ranking(of: Run, asked: Query, keys: Sequence[str], scores: Sequence[float] | None = None) -> Ranking:
    """A list; without scores they fall from rank to rank."""
    given = scores if scores is not None else [1 - place / 1000 for place in range(len(keys))]
    return Ranking.objects.create(run=of, query=asked, keys=list(keys), scores=list(given))


def vectors(of: Run, by_key: Mapping[str, Iterable[float]]) -> None:
    entries = {entry.key: entry for entry in Entry.objects.filter(collection=of.collection)}
    Embedding.objects.bulk_create(
        Embedding(run=of, entry=entries[key], vector=np.array(list(vector), "<f4").tobytes())
        for key, vector in by_key.items()
    )
