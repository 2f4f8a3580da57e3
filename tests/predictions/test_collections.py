"""A collection comes in by key: entries, and queries that speak of them. What cannot be taken is told by its row."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db.models import F

from jobs.models import Event, Job
from jobs.services import runner
from predictions.models import Collection, Entry, Query
from predictions.queries.results import entries_of
from predictions.services.collections import collection_import
from tests.importing import outcomes
from tests.personas import World
from tests.predictions.file_helpers import ENTRIES, QUERIES, a_collection, a_run, jsonl

PUBLISHED = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "3xcm" / "xcm-bench.csv"


def stored_rows() -> list[Any]:
    return [list(model.objects.order_by("pk").values()) for model in (Collection, Entry, Query)]


def test_entries_and_queries_come_in_whatever_their_order(world: World) -> None:
    job = a_collection(world, jsonl([*QUERIES, *ENTRIES]))
    assert job.state == "done" and job.done == job.total == 6, job.error
    assert set(outcomes(job).values()) == {("created", "")} and len(outcomes(job)) == 6
    collection = Collection.objects.get()
    assert entries_of(collection)["e1"] == {"country": "Egypt"}
    first, second = Query.objects.order_by("key")
    assert (first.relevant, first.roles) == (["e1", "e3"], {"correct": "e1", "language_biased": "e2"})
    assert (second.relevant, second.roles) == (["e2", "e4"], {"correct": "e2", "language_biased": "e4"})
    assert second.about == {"concept": "tea"}
    assert Event.objects.get(verb="collection.imported").data["counts"] == {"created": 6}


def test_a_table_says_the_same_as_json_lines(world: World) -> None:
    names = list(dict.fromkeys(name for row in [*ENTRIES, *QUERIES] for name in row))
    out = io.StringIO()
    writer = csv.DictWriter(out, names, delimiter="\t")
    writer.writeheader()
    for row in [*ENTRIES, *QUERIES]:
        writer.writerow({name: json.dumps(v) if isinstance(v, list | dict) else v for name, v in row.items()})
    a_collection(world, jsonl([*ENTRIES, *QUERIES]), version="json")
    assert set(outcomes(a_collection(world, out.getvalue().encode(), version="table")).values()) == {("created", "")}

    def content_of(version: str) -> Any:
        rows = Query.objects.filter(collection__version=version).order_by("key")
        return list(rows.values_list("key", "query_set", "text", "relevant", "roles", "about"))

    assert content_of("table") == content_of("json")


def test_the_same_file_again_adds_nothing_and_another_version_is_its_own(world: World) -> None:
    a_collection(world)
    before = stored_rows()
    assert set(outcomes(a_collection(world)).values()) == {("unchanged", "")}
    assert stored_rows() == before
    assert set(outcomes(a_collection(world, version="2")).values()) == {("created", "")}
    assert Collection.objects.count() == 2 and Entry.objects.count() == 8


@pytest.mark.parametrize(
    ("row", "reason", "words"),
    [
        ({"kind": "picture"}, "bad_kind", "“kind” is “picture”"),
        ({"key": ""}, "missing", "“key” is empty"),
        ({"key": "k" * 201}, "too_long", "longer than 200"),
        ({"key": ["e9"]}, "unreadable", "“key” must be text"),
        ({"about": "[1]"}, "unreadable", "“about” cannot be read"),
        ({"about": {"x": "y" * 30_000}}, "too_long", "“about” is longer"),
        ({"about": {"x": float("nan")}}, "unreadable", "NaN or infinity"),
        ({"about": json.loads('{"a":' * 50 + "1" + "}" * 50)}, "unreadable", "nested too deeply"),
        ({"about": {"x": "\ud800"}}, "not_utf8", "not in UTF-8"),
        ({"kind": "query", "query_set": "s" * 61}, "too_long", "longer than 60"),
        ({"kind": "query", "relevant": ["nowhere"]}, "no_entry", "no entry “nowhere”"),
        ({"kind": "query", "roles": {"correct": "nowhere"}}, "no_entry", "no entry “nowhere”"),
        ({"kind": "query", "roles": {"a": "e1", "b": "e1"}}, "same_candidate", "Two roles name the same"),
        ({"kind": "query", "roles": [1]}, "unreadable", "“roles” cannot be read"),
        ({"key": "e1", "country": "Peru"}, "differs", "already exists with different values"),
        (
            {"kind": "query", "key": "q1", "query_set": "plain", "text": "rice"},
            "differs",
            "already exists with different values",
        ),
    ],
)
def test_a_faulty_row_is_told_and_the_rest_is_taken(world: World, row: dict[str, Any], reason: str, words: str) -> None:
    job = a_collection(world, jsonl([*ENTRIES, *QUERIES, {"kind": "entry", "key": "e9", **row}]))
    assert job.state == "done", job.error
    assert outcomes(job)[7] == ("error", reason) and words in job.rows.get(number=7).message
    assert (Entry.objects.count(), Query.objects.count()) == (4, 2)


def test_what_the_database_cannot_keep_is_left_out_or_told(world: World) -> None:
    job = a_collection(world, b'{"key": "a\\u0000b"}\n[1]\n{"key": \n\xff\xfe\n{"key": "c"}')
    assert [one for one, _reason in outcomes(job).values()] == ["created", "error", "error", "error", "created"]
    assert set(Entry.objects.values_list("key", flat=True)) == {"ab", "c"}


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"name;country\nx;Egypt\n", "one of them must be “key”"),
        (b"", "one of them must be “key”"),
        (b"x" * 3_000_000, "longer than 1 MB"),
        (b"PK\x03\x04", "Unpack it first"),
    ],
)
def test_a_file_of_something_else_is_refused_as_a_whole(world: World, data: bytes, words: str) -> None:
    job = a_collection(world, data)
    assert job.state == "failed" and words in job.error


def test_a_version_that_models_were_run_on_stays_as_it_is(world: World) -> None:
    a_collection(world)
    answers = [{"query": key, "keys": ["e1", "e2"], "scores": [2, 1]} for key in ("q1", "q2")]
    assert a_run(world, jsonl(answers)).state == "done"
    before = stored_rows()
    job = a_collection(world, jsonl([*ENTRIES, {"key": "e5"}, {"kind": "query", "key": "q3", "relevant": ["e1"]}]))
    assert outcomes(job)[5] == outcomes(job)[6] == ("error", "closed")
    assert stored_rows() == before
    assert a_collection(world, jsonl([*ENTRIES, {"key": "e5"}]), version="2").result["counts"] == {"created": 5}


@pytest.mark.parametrize("at", [1, 2, 3, 4, 5])
def test_a_kill_anywhere_loses_nothing_and_doubles_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    monkeypatch.setattr(collection_import, "STEP", 2)
    real, steps = collection_import.import_batch, []

    def stops(*args: Any) -> Any:
        steps.append(1)
        rows = real(*args)
        if len(steps) == at:
            raise KeyboardInterrupt  # as a kill would, before the step is committed
        return rows

    monkeypatch.setattr(collection_import, "import_batch", stops)
    upload = SimpleUploadedFile("a.jsonl", jsonl([QUERIES[0], *ENTRIES, QUERIES[1]]))
    facts = {"key": "dishes", "version": "1", "name": "Dishes", "licence": ""}
    job = collection_import.start(world.benchmark, world.mara, upload, **facts)
    with pytest.raises(KeyboardInterrupt):
        runner.run(job.pk)
    Job.objects.filter(pk=job.pk).update(lease_until=F("started_at"))
    runner.run(job.pk)
    job.refresh_from_db()
    assert (job.state, job.done, job.result["counts"]) == ("done", 6, {"created": 6})
    assert (Entry.objects.count(), Query.objects.count()) == (4, 2)


def test_the_published_trials_of_3xcm_are_a_collection(world: World) -> None:
    if not PUBLISHED.exists():
        pytest.skip(f"NOT TESTED: the published trials are not at {PUBLISHED}")
    head, *rows = PUBLISHED.read_bytes().splitlines(keepends=True)
    job = a_collection(world, head + b"".join(rows[:600]))
    assert job.state == "done" and job.result["counts"] == {"created": 600}, job.error
    query = Query.objects.get(key="argentina-0-1-eng")
    assert query.query_set == "plain" and query.text == "train"
    assert query.roles == {
        "correct": "portugal-0-5-nav", "language_biased": "argentina-62-6-eng", "irrelevant": "japan-29-9-nav",
    }  # fmt: skip
    assert query.relevant == ["portugal-0-5-nav"] and query.about == {"concept": "train", "country": "Argentina"}
    assert Entry.objects.get(key="japan-29-9-nav").about == {"concept": "congress", "country": "Japan"}
    assert set(outcomes(a_collection(world, head + b"".join(rows[:600]))).values()) == {("unchanged", "")}
