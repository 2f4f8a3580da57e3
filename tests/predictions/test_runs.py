"""Runs come in whole or do not count; they are joined by key, stand once, and can be withdrawn and brought back."""

import json
import random
from typing import Any

import numpy as np
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db.models import F

from jobs.models import Event, Job
from jobs.services import runner
from people.models import Rater
from predictions.models import Ranking, Run
from predictions.queries.results import lists_of, runs_of, vectors_of
from predictions.services.files import result_import
from predictions.services.runs import result_runs
from tests.importing import outcomes
from tests.personas import World
from tests.predictions.file_helpers import a_collection, a_run, jsonl, run_info, run_of

FOUND = [
    {"query": "q1", "keys": ["e4", "e3", "e2", "e1"], "scores": [0.1, 0.5, 0.9, 0.5]},
    {"query": "q2", "keys": ["e2"], "scores": ["0.25"]},
]
ORDERED = {"q1": (["e2", "e1", "e3", "e4"], [0.9, 0.5, 0.5, 0.1]), "q2": (["e2"], [0.25])}
CHOICE = [
    {"query": "q1", "keys": ["e2", "e1"], "scores": [0.2, 0.4]},
    {"query": "q2", "keys": ["e2", "e4"], "scores": [0.2, 0.4]},
]


@pytest.fixture(autouse=True)
def collection(world: World) -> None:
    a_collection(world)


def lists(run: Run) -> dict[str, tuple[list[str], list[float]]]:
    return {found.query.key: (found.keys, found.scores) for found in lists_of(run)}


def test_a_ranking_is_ordered_by_score_and_ties_by_key(world: World) -> None:
    job = a_run(world, jsonl(FOUND), about={"family": "CLIP"})
    assert job.state == "done" and set(outcomes(job).values()) == {("created", "")}, list(job.rows.values())
    [run] = runs_of(world.benchmark, "retrieval", "plain")
    assert lists(run) == ORDERED
    assert (run.rater.name, run.rater.setting, run.rater.about) == ("CLIP", "main", {"family": "CLIP"})
    assert (run.score_kind, run.created_by, run.source) == ("cosine", world.mara, "file")
    assert run.options["rows"] == 2
    event = Event.objects.get(verb="run.imported")
    assert event.data["complete"] is True and event.target == f"run:{run.pk}"


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_a_table_with_a_row_for_each_entry_says_the_same_in_any_order(world: World, separator: str) -> None:
    rows = [(one["query"], *pair) for one in FOUND for pair in zip(one["keys"], one["scores"], strict=True)]
    random.Random(3).shuffle(rows)
    table = "\n".join(separator.join(map(str, row)) for row in [("query", "key", "score"), *rows])
    job = a_run(world, table.encode())
    assert job.done == job.total == 5 and set(outcomes(job).values()) == {("created", "")}, list(job.rows.values())
    assert lists(run_of(job)) == ORDERED and run_of(job).complete


@pytest.mark.parametrize(
    ("row", "reason", "words"),
    [
        ({"query": "q9"}, "no_query", "no query “q9” in the query set “plain”"),
        ({"keys": ["e1", "e9"]}, "no_entry", "no entry “e9”"),
        ({"keys": ["e1", "e1"]}, "twice", "“e1” is there twice"),
        ({"keys": ["e1"]}, "lengths", "(1) and “scores” (2)"),
        ({"keys": [], "scores": []}, "lengths", "(0) and “scores” (0)"),
        ({"scores": [1, None]}, "not_a_number", "“None” is not a finite number"),
        ({"scores": [1, True]}, "not_a_number", "not a finite number"),
        ({"scores": [1, "Infinity"]}, "not_a_number", "not a finite number"),
        ({"scores": [1, float("nan")]}, "unreadable", "NaN or infinity"),
        ({"scores": [1, 10**400]}, "not_a_number", "not a finite number"),
        ({"scores": "1, 2"}, "unreadable", "“scores” cannot be read"),
        ({"query": {"q": 2}}, "unreadable", "“query” must be text"),
        ({"query": "q1"}, "twice", "“q1” is there twice"),
    ],
)
def test_one_faulty_row_is_told_and_the_run_is_not_counted(
    world: World, row: dict[str, Any], reason: str, words: str
) -> None:
    faulty = {"query": "q2", "keys": ["e1", "e2"], "scores": [1, 2], **row}
    job = a_run(world, jsonl([FOUND[0], faulty]))
    assert job.state == "done", job.error
    assert outcomes(job) == {1: ("created", ""), 2: ("error", reason)}
    assert words in job.rows.get(number=2).message
    assert runs_of(world.benchmark, "retrieval") == [] and not run_of(job).complete
    assert "not counted" in job.result["notes"][0]
    assert a_run(world, jsonl(FOUND)).state == "done"  # the mended file takes its place
    assert len(runs_of(world.benchmark, "retrieval")) == 1


def test_lines_that_are_no_rows_are_told(world: World) -> None:
    job = a_run(world, jsonl(FOUND) + b'\n{"query": \n[1]\n\xff\xfe\n' + b"[" * 2000)
    assert [one for one, _reason in outcomes(job).values()] == ["created"] * 2 + ["error"] * 4
    assert (
        run_of(job).options["missing"] == 0 and not run_of(job).complete
    )  # all queries are answered; yet rows were refused
    long = a_run(world, b"query,key,score\nq1,e1,0.5\nq1,e2\nq2,e1,x\nq2,e9,1\n")
    assert outcomes(long) == {
        2: ("created", ""), 3: ("error", "wrong_cells"), 4: ("error", "not_a_number"), 5: ("error", "not_a_number"),
    }  # fmt: skip
    assert "Row 4" in long.rows.get(number=5).message
    assert a_run(world, b"x" * 2_000_000).state == "failed"


def test_run_without_some_queries_counts_only_if_declared(world: World) -> None:
    job = a_run(world, jsonl(FOUND[:1]))
    assert not run_of(job).complete and "such as “q2”" in job.result["notes"][0]
    again = a_run(world, jsonl(FOUND[:1]), some_missing=True)
    assert run_of(again).complete and run_of(again).options["missing"] == 1


def test_a_forced_choice_needs_a_score_for_each_candidate_and_for_nothing_else(world: World) -> None:
    more = {"query": "q1", "keys": ["e1", "e2", "e3"], "scores": [1, 2, 3]}
    less = {"query": "q2", "keys": ["e2"], "scores": [1]}
    job = a_run(world, jsonl([more, less]), task="forced_choice")
    assert set(outcomes(job).values()) == {("error", "candidates")}
    assert "The candidates of “q1” are e1, e2" in job.rows.get(number=1).message
    job = a_run(world, jsonl(CHOICE), task="forced_choice")
    assert run_of(job).complete and lists(run_of(job))["q1"] == (["e1", "e2"], [0.4, 0.2])


def test_embeddings_are_of_one_length_and_finite(world: World) -> None:
    good = [{"key": "e2", "vector": [1, -2.5]}, {"key": "e1", "vector": "[0.5, 3]"}]
    job = a_run(world, jsonl(good), task="embedding", query_set="")
    assert run_of(job).complete and run_of(job).options["numbers"] == 2
    entries, vectors = vectors_of(run_of(job))
    assert [entry.key for entry in entries] == ["e1", "e2"]
    np.testing.assert_array_equal(vectors, np.array([[0.5, 3], [1, -2.5]], np.float32))
    faults = [
        ([1, 2, 3], "lengths"), ([], "lengths"), ([1, 1e39], "not_a_number"), ([1, None], "not_a_number"),
        ("x", "unreadable"), ([1, float("inf")], "unreadable"), ([0] * 17_000, "lengths"),
    ]  # fmt: skip
    rows = [good[0], *({"key": "e1", "vector": vector} for vector, _reason in faults), good[0], {**good[1], "key": "?"}]
    job = a_run(world, jsonl(rows), task="embedding", query_set="", setting="other")
    reasons = [reason for _outcome, reason in outcomes(job).values()]
    assert reasons == ["", *(reason for _vector, reason in faults), "twice", "no_entry"] and not run_of(job).complete


def test_the_same_file_again_is_unchanged_and_another_asks_to_withdraw_the_older(world: World) -> None:
    first = run_of(a_run(world, jsonl(FOUND)))
    upload = SimpleUploadedFile("again.jsonl", jsonl(FOUND))
    assert result_runs.start(world.benchmark, world.mara, upload, run_info(about={"open": True})) is None
    assert Rater.objects.get(name="CLIP").about == {"open": True}
    other = SimpleUploadedFile("other.jsonl", jsonl([FOUND[1], FOUND[0]]))
    with pytest.raises(result_runs.FileRunRefused, match="Withdraw it first"):
        result_runs.start(world.benchmark, world.mara, other, run_info())
    result_runs.withdraw(first, world.mara, first.created_at)
    second = run_of(a_run(world, jsonl([FOUND[1], FOUND[0]])))
    assert runs_of(world.benchmark, "retrieval") == [second]
    first.refresh_from_db()
    with pytest.raises(result_runs.FileRunRefused, match="Withdraw that run first"):
        result_runs.restore(first, world.mara)
    with pytest.raises(result_runs.FileRunRefused, match="Restore that run instead"):
        result_runs.start(world.benchmark, world.mara, SimpleUploadedFile("a", jsonl(FOUND)), run_info())
    for name, value in (("setting", "text"), ("query_set", "other"), ("system_prompt", "x"), ("task", "forced_choice")):
        assert result_runs.start(
            world.benchmark, world.mara, SimpleUploadedFile("a", b"x"), run_info(**{name: value})
        ), name


def test_a_withdrawn_run_is_kept_and_comes_back(world: World) -> None:
    run = run_of(a_run(world, jsonl(FOUND)))
    path = f"/b/{world.benchmark.slug}/predictions/runs/{run.pk}/"
    mara = world.client(world.mara)
    page = mara.post(path, {"do": "withdraw"}, follow=True).content.decode()
    assert "It is kept but not counted" in page and "Restore" in page
    assert runs_of(world.benchmark, "retrieval") == [] and Ranking.objects.filter(run=run).count() == 2
    page = mara.post(path, {"do": "back"}, follow=True).content.decode()
    assert "The run was restored" in page and runs_of(world.benchmark, "retrieval") == [run]
    verbs = Event.objects.filter(target=f"run:{run.pk}").order_by("pk").values_list("verb", flat=True)
    assert list(verbs) == ["run.imported", "run.withdrawn", "run.brought_back"]


@pytest.mark.parametrize("form", ["lines", "table"])
def test_a_kill_between_steps_loses_nothing_and_nothing_counts_before_the_end(
    world: World, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    monkeypatch.setattr(result_import, "STEP", 1)
    real, steps = result_import.rankings, []

    def stops(*args: Any) -> Any:
        steps.append(1)
        rows = real(*args)
        if len(steps) == 2:
            raise KeyboardInterrupt
        return rows

    monkeypatch.setattr(result_import, "rankings", stops)
    table = b"query,key,score\nq2,e2,0.25\nq1,e1,0.5\nq1,e2,0.9\nq1,e3,0.5\nq1,e4,0.1\n"
    upload = SimpleUploadedFile("a", jsonl(FOUND) if form == "lines" else table)
    job = result_runs.start(world.benchmark, world.mara, upload, run_info())
    assert job is not None
    with pytest.raises(KeyboardInterrupt):
        runner.run(job.pk)
    assert Ranking.objects.count() == 1 and runs_of(world.benchmark, "retrieval") == []
    with pytest.raises(result_runs.FileRunRefused, match="coming in now"):
        result_runs.start(world.benchmark, world.mara, SimpleUploadedFile("b", b"x"), run_info())
    Job.objects.filter(pk=job.pk).update(lease_until=F("started_at"))
    runner.run(job.pk)
    [run] = runs_of(world.benchmark, "retrieval")
    assert lists(run) == ORDERED


def test_only_those_who_work_on_the_benchmark_see_and_bring_predictions(world: World) -> None:
    run = run_of(a_run(world, jsonl(FOUND)))
    home = f"/b/{world.benchmark.slug}/predictions/"
    for user in (world.reviewer, world.nour, world.manager, world.stranger, world.rival):
        client = world.client(user)
        for path in (home, f"{home}collection/", f"{home}run/"):
            assert client.get(path).status_code == 404, (user, path)
            assert client.post(path).status_code in (404, 405), (user, path)
        assert client.post(f"{home}runs/{run.pk}/", {"do": "withdraw"}).status_code == 404
    page = world.client(world.mara).get(home).content.decode()
    assert all(words in page for words in ("Dishes", "CLIP", "Retrieval", "plain", "cosine", "Mara"))


def test_a_run_of_another_benchmark_is_not_reached_through_this_one(world: World) -> None:
    run = run_of(a_run(world, jsonl(FOUND)))
    Run.objects.filter(pk=run.pk).update(benchmark=world.other_benchmark)
    path = f"/b/{world.benchmark.slug}/predictions/runs/{run.pk}/"
    assert world.client(world.mara).post(path, {"do": "withdraw"}).status_code == 404
    run.refresh_from_db()
    assert run.withdrawn_at is None


def test_the_forms_bring_files_and_keep_what_was_typed(world: World) -> None:
    home, mara = f"/b/{world.benchmark.slug}/predictions/", world.client(world.mara)
    reply = mara.post(
        f"{home}collection/", {"name": "Tea", "version": "1", "file": SimpleUploadedFile("a", b"key\nx\n")}
    )
    assert reply.status_code == 302 and reply.url.startswith("/jobs/")
    data = {"collection": run_info().collection.pk, "task": "retrieval", "query_set": "plain", "model": "SigLIP"}
    wrong = mara.post(f"{home}run/", {**data, "about": "{", "file": SimpleUploadedFile("a", b"x")})
    assert wrong.status_code == 400 and "not a JSON object" in wrong.content.decode()
    assert 'value="SigLIP"' in wrong.content.decode()
    file = SimpleUploadedFile("a.jsonl", jsonl(FOUND))
    reply = mara.post(f"{home}run/", {**data, "about": json.dumps({"open": True}), "file": file})
    assert reply.status_code == 302
    run = Run.objects.latest("pk")
    assert (run.rater.name, run.rater.about, run.options["about"]) == ("SigLIP", {}, {"open": True}), "once it counts"


def test_a_run_adds_what_was_not_known_of_its_model_and_changes_nothing(world: World) -> None:
    """All benchmarks of a team share what is known of a model. Only a run that counts tells anything."""
    a_run(world, jsonl([{"query": "q9", "keys": ["e1"], "scores": [1]}]), about={"family": "VANDAL"})
    assert Rater.objects.get(name="CLIP").about == {}
    a_run(world, jsonl(FOUND), about={"family": "CLIP"})
    home, collection_id = f"/b/{world.benchmark.slug}/predictions/", run_info().collection.pk

    def again(about: str) -> str:
        data = {
            "collection": collection_id,
            "task": "retrieval",
            "query_set": "plain",
            "model": "CLIP",
            "setting": "main",
        }
        file = SimpleUploadedFile("a.jsonl", jsonl(FOUND))
        page = world.client(world.mara).post(f"{home}run/", {**data, "about": about, "file": file}, follow=True)
        return str(page.content.decode())

    assert "Nothing was changed" in again("")
    page = again('{"family": "SigLIP", "open": true}')
    assert "is &#x27;CLIP&#x27; in this team" in page and "another model name or setting" in page
    assert Rater.objects.get(name="CLIP").about == {"family": "CLIP"}
    assert "Model details were added" in again('{"family": "CLIP", "open": true}')
    assert Rater.objects.get(name="CLIP").about == {"family": "CLIP", "open": True}
    events = Event.objects.filter(verb="model.described").order_by("pk")
    assert [(one.actor, one.data["told"]) for one in events] == [
        (world.mara, {"family": "CLIP"}), (world.mara, {"open": True}),
    ]  # fmt: skip


def test_files_are_as_long_as_at_the_other_doors(world: World, settings: Any) -> None:
    """Embeddings of a thousand pictures are more than 5 MB."""
    settings.BODY_MAX_BYTES = 1000
    home, long = f"/b/{world.benchmark.slug}/predictions/", {"about": "x" * 2000}
    for path in (f"{home}collection/", f"{home}run/"):
        assert world.client(world.mara).post(path, long).status_code == 400, "read, and refused for what it lacks"
        assert world.client().post(path, long).status_code == 413
        assert world.client(world.rival).post(path, long).status_code == 404
        assert world.client(world.nour).post(path, long).status_code == 413, "annotators import nothing"
    settings.IMPORT_MAX_BYTES = 100
    assert world.client(world.mara).post(f"{home}run/", long).status_code == 413, "refused before it is read"


def test_an_empty_page_says_what_to_do(world: World) -> None:
    page = world.client(world.rival).get(f"/b/{world.other_benchmark.slug}/predictions/").content.decode()
    assert "There is no collection yet" in page and "Dishes" not in page
