"""What came in goes out again as a file that comes in again, elsewhere, as the same."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from predictions.models import Collection, Query, Run
from predictions.queries import exports
from predictions.queries.results import entries_of, lists_of, vectors_of
from tests.module_world import built_once
from tests.personas import World, make_benchmark
from tests.predictions.file_helpers import a_collection, a_run, jsonl, run_of
from tests.predictions.test_runs import CHOICE, FOUND

ODD = [
    {"kind": "entry", "key": "é “one”", "about": {"key": "x", "text": "t", "labels": ["a", "b"], "n": 3}},
    {"kind": "query", "key": "q1", "query_set": "other", "relevant": ["é “one”"], "about": {"kind": "y"}},
]
VECTORS = [{"key": f"e{n}", "vector": [0.1 * n, -1e-20, 3e38]} for n in range(1, 5)]
TASKS = [("retrieval", FOUND), ("forced_choice", CHOICE), ("embedding", VECTORS)]


def download_file(world: World, name: str, pk: int) -> bytes:
    page = world.client(world.mara).get(f"/b/{world.benchmark.slug}/predictions/{name}/{pk}.jsonl")
    assert page.status_code == 200 and page["Content-Disposition"].endswith('.jsonl"')
    return b"".join(page.streaming_content)


def rows_of_collection(collection: Collection) -> Any:
    names = ("query_set", "key", "text", "relevant", "roles", "about")
    return entries_of(collection), list(
        Query.objects.filter(collection=collection).order_by("query_set", "key").values(*names)
    )


def rows_of_run(run: Run) -> Any:
    entries, vectors = vectors_of(run)
    found = [(one.query.key, one.keys, one.scores) for one in lists_of(run)]
    return found, [one.key for one in entries], np.asarray(vectors).tolist()


@built_once
def elsewhere(world: World) -> World:
    return replace(world, benchmark=make_benchmark(world.team, "elsewhere", researcher=world.mara))


@pytest.mark.parametrize("most", [800, 3], ids=["a line for a query", "a line for an entry"])
def test_a_collection_and_its_runs_come_in_again_elsewhere_as_the_same(
    world: World, elsewhere: World, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exports, "MOST_IN_A_LINE", most)
    a_collection(world)
    a_collection(world, jsonl(ODD))
    collection = Collection.objects.get()
    runs = [run_of(a_run(world, jsonl(rows), task=task)) for task, rows in TASKS]
    assert a_collection(elsewhere, download_file(world, "collections", collection.pk)).result["counts"] == {
        "created": 8
    }
    other = Collection.objects.latest("pk")
    assert other != collection and rows_of_collection(other) == rows_of_collection(collection)
    for run in runs:
        data = download_file(world, "runs", run.pk)
        again = run_of(a_run(elsewhere, data, task=run.task))
        assert run.complete and again.complete and again.collection == other
        assert rows_of_run(again) == rows_of_run(run) and any(rows_of_run(run))
        assert (b'"score"' in data) == (run.task == "retrieval" and most == 3)


def test_it_is_read_in_parts(world: World) -> None:
    """A line for each query, written as it is read."""
    a_collection(world)
    lines = exports.run_lines(run_of(a_run(world, jsonl(FOUND))))
    assert json.loads(next(lines)) == {
        "query": "q1", "keys": ["e2", "e1", "e3", "e4"], "scores": [0.9, 0.5, 0.5, 0.1],
    }  # fmt: skip


def test_the_page_leads_to_both_and_others_get_nothing(world: World, elsewhere: World) -> None:
    a_collection(world)
    run = run_of(a_run(world, jsonl(FOUND)))
    page = world.client(world.mara).get(f"/b/{world.benchmark.slug}/predictions/").content.decode()
    for path in (f"runs/{run.pk}.jsonl", f"collections/{run.collection_id}.jsonl"):
        assert f'href="/b/{world.benchmark.slug}/predictions/{path}"' in page
        assert world.client(world.nour).get(f"/b/{world.benchmark.slug}/predictions/{path}").status_code == 404
        crossed = world.client(world.mara).get(f"/b/elsewhere/predictions/{path}")
        assert crossed.status_code == 404, "what is another benchmark's is not found under this one"
