"""A collection and a run as files, line by line, in the form their imports take."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np
from django.db.models import Func, IntegerField, Max, QuerySet

from predictions.models import Attempt, Call, Collection, Embedding, Entry, Query, Ranking, Reply, Run
from predictions.queries.results import vectors_of

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
    if run.task == Run.Task.EMBEDDING and run.options.get("vectors"):
        entries, made = vectors_of(run)
        yield from (_line({"key": entry.key, "vector": one.tolist()}) for entry, one in zip(entries, made, strict=True))
        return
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


def call_lines(run: Run) -> Iterator[bytes]:
    """Every call of a run with its attempts, its replies and the answer, in the order they were made."""
    rows = calls_of(run).order_by("pk").iterator(chunk_size=200)
    while batch := list(islice(rows, 200)):
        yield from (_line(record) for record in call_records(batch))


def calls_of(run: Run) -> "QuerySet[Call]":
    """With what `call_records` reads of them."""
    return Call.objects.filter(run=run).select_related("item", "unit__label_set", "annotation", "run")


def call_records(calls: Sequence[Call]) -> list[dict[str, Any]]:
    """Each of these calls of one run with its attempts, its replies and the answer. Two queries."""
    attempts: dict[int, list[dict[str, Any]]] = {call.pk: [] for call in calls}
    for row in Attempt.objects.filter(call__in=attempts).select_related("prices").order_by("call", "number"):
        if row.call_id is not None:
            attempts[row.call_id].append(_attempt(row))
    wanted = {number for call in calls for number in call.replies}
    replies = dict(Reply.objects.filter(pk__in=wanted).values_list("pk", "body"))
    return [
        _call(call, attempts[call.pk], [replies[reply] for reply in call.replies if reply in replies]) for call in calls
    ]


def _call(call: Call, attempts: list[dict[str, Any]], replies: list[Any]) -> dict[str, Any]:
    return {
        "item": call.item.key,
        "target": call.unit.target if call.unit else "",
        "label_set": call.unit.label_set.reference if call.unit and call.unit.label_set else "",
        "repeat": call.repeat,
        "state": call.state,
        "reason": call.reason,
        "how": call.how,
        "order": call.order,
        "answers": call.annotation.answers if call.annotation else None,
        "notes": {key: value for key, value in call.notes.items() if key != "before"},
        "cached": call.cached,
        "cost": f"{call.cost:f}"
        if call.run.endpoint_id and all(attempt["cost"] is not None for attempt in attempts)
        else None,
        "ended_at": call.ended_at.isoformat() if call.ended_at else None,
        "replies": replies,
        "attempts": attempts,
    }


def _attempt(row: Attempt) -> dict[str, Any]:
    return {
        "number": row.number,
        "part": row.part,
        "at": row.at.isoformat(),
        "seconds": row.seconds,
        "outcome": row.outcome,
        "status": row.status,
        "tokens_in": row.tokens_in,
        "tokens_out": row.tokens_out,
        "cost": f"{row.cost:f}" if row.cost is not None else None,
        "prices": row.prices.number if row.prices else None,
        "provider_id": row.provider_id,
        "error": row.error,
    }
