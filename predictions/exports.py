"""A collection and a run as files, line by line, in the form their imports take."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from django.db.models import Func, IntegerField, Max

from predictions.models import Collection, Embedding, Entry, Query, Ranking, Run

MOST_IN_A_LINE = 800  # so many keys of the longest kind still make a line that the import reads


def collection_lines(collection: Collection) -> Iterator[bytes]:
    """Its entries, then its queries, each by key."""
    entries = Entry.objects.filter(collection=collection).order_by("key").values_list("key", "about")
    for key, about in entries.iterator(chunk_size=500):
        yield _line({"kind": "entry", "key": key, "about": about})
    names = ("query_set", "key", "text", "relevant", "roles", "about")
    queries = Query.objects.filter(collection=collection).order_by("query_set", "key").values(*names)
    for row in queries.iterator(chunk_size=100):
        yield _line({"kind": "query", **row})


def run_lines(run: Run) -> Iterator[bytes]:
    """What each query found, or the vector of each entry, by key. Where a list is long, each of what was found is a
    line of its own."""
    if run.task == Run.Task.EMBEDDING:
        vectors = Embedding.objects.filter(run=run).order_by("entry__key").values_list("entry__key", "vector")
        for key, vector in vectors.iterator(chunk_size=100):
            yield _line({"key": key, "vector": np.frombuffer(bytes(vector), "<f4").tolist()})
        return
    rankings = Ranking.objects.filter(run=run)
    longest = rankings.aggregate(most=Max(Func("keys", function="cardinality", output_field=IntegerField())))["most"]
    rows = rankings.order_by("query__key").values_list("query__key", "keys", "scores")
    for query, keys, scores in rows.iterator(chunk_size=20):
        if (longest or 0) <= MOST_IN_A_LINE:
            yield _line({"query": query, "keys": keys, "scores": scores})
        else:
            found = zip(keys, scores, strict=True)
            yield b"".join(_line({"query": query, "key": key, "score": score}) for key, score in found)


def _line(row: Mapping[str, Any]) -> bytes:
    return json.dumps(row, ensure_ascii=False).encode() + b"\n"
