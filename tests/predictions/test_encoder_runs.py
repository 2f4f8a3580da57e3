"""Runs of our own encoder: equal to a plain numpy script, whole or not counted, and going on where they were killed."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.utils import timezone

from benchmarks.services import storage
from jobs.models import Event, Job
from jobs.services import lifecycle, runner
from predictions.backends import clip
from predictions.models import Entry, Query, Ranking, Run
from predictions.queries.exports import run_lines
from predictions.queries.results import runs_of, vectors_of
from predictions.retrieval import scoring
from predictions.services.encoders import encoder_runs, encoding
from predictions.services.encoders.encoder_runs import EncoderPlan
from predictions.services.runs.result_runs import FileRunRefused, withdraw
from tests.personas import World
from tests.predictions.shapes import MODEL, a_collection, a_run, an_endpoint, stored_vectors, texts_of
from tests.predictions.test_clip import encode_plainly
from tests.predictions.tiny_clip import KINDS, draw_shape, png
from tests.start.helpers import ROOT, eventually

pytestmark = pytest.mark.django_db


def script(root: Path, entries: list[Entry], queries: list[Query]) -> Any:
    """The plain script: encode as open_clip does, keep 16 bits, multiply."""
    pictures = [encoding.original(entry.image.sha256) for entry in entries if entry.image]
    pixels, words = encode_plainly(root, pictures, texts_of(queries))
    return stored_vectors(words) @ stored_vectors(pixels).T, words @ pixels.T


def test_retrieval_equals_a_plain_script(world: World, models_root: Path) -> None:
    collection = a_collection(world)
    run = a_run(world, collection)
    assert run.complete and run.state == "done" and run.score_kind == "cosine" and run.source == "here"
    assert run.options["rows"] == 16 and run.options["unread"] == 0 and run.options["numbers"] == 48
    assert run.revision == clip.load(MODEL).digest[:12]
    assert runs_of(world.benchmark, "retrieval") == [run]
    entries = list(Entry.objects.filter(collection=collection).order_by("pk").select_related("image"))
    queries = list(Query.objects.filter(collection=collection, query_set="captions").order_by("pk"))
    wanted, unrounded = script(models_root, entries, queries)
    assert np.abs(wanted - unrounded).max() < 2e-3  # what 16 bits cost
    keys, right = [entry.key for entry in entries], 0
    for row, query in zip(wanted, queries, strict=True):
        ranking = Ranking.objects.get(run=run, query=query)
        order = sorted(range(len(keys)), key=lambda at: (-row[at], keys[at]))[:5]
        assert np.abs(np.array(ranking.scores) - row[order]).max() < 1e-6
        assert np.abs(row[[keys.index(key) for key in ranking.keys]] - row[order]).max() < 1e-6
        right += ranking.keys[0] in query.relevant
    assert right >= 8  # of 16; chance is 1
    assert Event.objects.filter(verb="run.finished", target=f"run:{run.pk}").exists()


def test_forced_choice_equals_a_plain_script_and_says_the_similarity_of_every_candidate(
    world: World, models_root: Path
) -> None:
    collection = a_collection(world)
    run = a_run(world, collection, "forced_choice", query_set="choice")
    entries = list(Entry.objects.filter(collection=collection).order_by("pk").select_related("image"))
    queries = list(Query.objects.filter(collection=collection, query_set="choice").order_by("pk"))
    wanted, _unrounded = script(models_root, entries, queries)
    place = {entry.key: at for at, entry in enumerate(entries)}
    for row, query in zip(wanted, queries, strict=True):
        ranking = Ranking.objects.get(run=run, query=query)
        assert set(ranking.keys) == set(query.roles.values())
        assert np.abs(np.array(ranking.scores) - row[[place[key] for key in ranking.keys]]).max() < 1e-6
        assert ranking.scores == sorted(ranking.scores, reverse=True)
    chosen = [found.keys[0] == found.query.roles["correct"] for found in Ranking.objects.filter(run=run)]
    assert sum(chosen) >= 12  # of 16; chance is 8


def test_embeddings_are_read_by_id_and_lie_on_disk_in_16_bits(world: World, models_root: Path) -> None:
    collection = a_collection(world)
    run = a_run(world, collection, "embedding")
    entries, vectors = vectors_of(run)
    assert [entry.key for entry in entries] == sorted(entry.key for entry in entries) and len(entries) == 32
    pixels, _words = encode_plainly(
        models_root, [encoding.original(entry.image.sha256) for entry in entries if entry.image], []
    )
    np.testing.assert_allclose(vectors, pixels.astype(np.float16).astype(np.float32), atol=6e-4)
    store = encoding.vector_store(run.options["vectors"])
    assert np.load(store.shard(0)).dtype == np.float16 and store.bytes() < 32 * 48 * 2 + 1000
    assert len(list(run_lines(run))) == 32
    store.shard(0).unlink()
    assert vectors_of(run)[0] == []  # they may be deleted; a run of the same model makes them again


def test_what_is_encoded_is_not_encoded_again(world: World, models_root: Path, monkeypatch: Any) -> None:
    collection = a_collection(world)
    a_run(world, collection)
    asked = []
    stream = clip.ClipEncoder.stream
    monkeypatch.setattr(
        clip.ClipEncoder,
        "stream",
        lambda self, fetches, *more: asked.append(len(fetches)) or stream(self, fetches, *more),
    )
    assert a_run(world, collection, "forced_choice", query_set="choice").complete
    assert sum(asked) == 0  # neither the pictures; the texts of another query set are few
    Entry.objects.create(collection=collection, key="new", image=Entry.objects.filter(collection=collection)[0].image)
    a_run(world, collection, "embedding")
    assert sum(asked) == 33  # another set of pictures is another encoding


def test_a_template_is_put_round_the_words_and_makes_another_run(world: World, models_root: Path) -> None:
    collection = a_collection(world, 1)
    plain, framed = a_run(world, collection), a_run(world, collection, template="a photo of {text}")
    assert framed.system_prompt == "a photo of {text}" and framed.complete
    query = Query.objects.filter(collection=collection, query_set="captions").first()
    assert Ranking.objects.get(run=plain, query=query).scores != Ranking.objects.get(run=framed, query=query).scores
    with pytest.raises(FileRunRefused, match=r"Write \{text\}"):
        a_run(world, collection, template="a photo")


def test_ties_go_by_key() -> None:
    assert scoring.top_k([0.5, 0.7, 0.7, 0.1, 0.5], ["d", "c", "b", "e", "a"], 3) == (["b", "c", "a"], [0.7, 0.7, 0.5])
    assert scoring.top_k([1.0], ["a"], 5) == (["a"], [1.0]) and scoring.top_k([], [], 5) == ([], [])


def test_run_with_unreadable_picture_counts_only_if_declared(world: World, models_root: Path) -> None:
    collection = a_collection(world, 1)
    broken = Entry.objects.filter(collection=collection).order_by("pk")[3]
    assert broken.image
    with storage.open_binary(broken.image.original_name) as file:
        path = Path(str(file.name))
    whole = path.read_bytes()
    path.write_bytes(b"broken")
    try:
        run = a_run(world, collection)
        assert run.options["unread"] == 1 and not run.complete and run.state == "done"
        [row] = run.job.rows.all()
        assert (row.name, row.outcome, row.message) == (broken.key, "error", "The picture cannot be read.")
        assert "not counted" in run.job.result["notes"][0]
        again = a_run(world, collection, some_missing=True)
        assert again.complete and broken.key not in Ranking.objects.filter(run=again).first().keys
        assert len(vectors_of(again)[0]) == 15
    finally:
        path.write_bytes(whole)


def test_a_second_run_is_refused_until_the_first_is_withdrawn(world: World, models_root: Path) -> None:
    collection = a_collection(world, 1)
    run = a_run(world, collection)
    with pytest.raises(FileRunRefused, match="Withdraw it first"):
        a_run(world, collection)
    withdraw(run, world.mara, timezone.now())
    assert a_run(world, collection).complete


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"query_set": "nothing"}, "has no queries"),
        ({"task": "forced_choice"}, "name no candidates"),
        ({"endpoint": "openai"}, "Choose such an endpoint"),
        ({"entries": None}, "no pictures here"),
    ],
)
def test_what_cannot_be_run_is_refused_before_it_begins(world: World, change: dict[str, Any], words: str) -> None:
    collection = a_collection(world, 1)
    if "entries" in change:
        Entry.objects.filter(collection=collection).update(image=None)
    options = {"task": "retrieval", "query_set": "captions"} | {
        k: v for k, v in change.items() if k in ("task", "query_set")
    }
    plan = EncoderPlan(
        collection=collection, endpoint=an_endpoint(world, change.get("endpoint", "open_clip")), model=MODEL,
        name="Tiny", **options,
    )  # fmt: skip
    with pytest.raises(FileRunRefused, match=words):
        encoder_runs.open_run(plan, world.mara, timezone.now())
    assert not Run.objects.exists()


def test_a_model_that_is_not_there_ends_the_job_with_its_sentence(world: World, models_root: Path) -> None:
    plan = EncoderPlan(
        collection=a_collection(world, 1), endpoint=an_endpoint(world), model="local-dir:gone", name="Gone",
        task="embedding",
    )  # fmt: skip
    run = encoder_runs.open_run(plan, world.mara, timezone.now())
    runner.run(run.job_id)
    job = Job.objects.get(pk=run.job_id)
    assert job.state == "failed" and "There is no folder “gone”" in job.error
    run.refresh_from_db()
    assert run.state == "cancelled" and not run.complete


def test_stopped_by_a_person_it_goes_on_and_ends_the_same(world: World, models_root: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(encoding, "SHARD", 8)
    monkeypatch.setattr("predictions.retrieval.vectors.SHARD", 8)
    collection = a_collection(world)
    plan = EncoderPlan(collection=collection, endpoint=an_endpoint(world), model=MODEL, name="Tiny", task="embedding")
    run = encoder_runs.open_run(plan, world.mara, timezone.now())
    job, write = Job.objects.get(pk=run.job_id), encoding.VectorStore.write
    written: list[int] = []

    def stopping(self: Any, number: int, vectors: Any) -> None:
        write(self, number, vectors)
        written.append(number)
        if len(written) == 2:
            lifecycle.request_cancel(job, world.mara)

    monkeypatch.setattr(encoding.VectorStore, "write", stopping)
    runner.run(job.pk)
    run.refresh_from_db()
    assert run.state == "cancelled" and run.stopped_because == "person" and not run.complete
    lifecycle.resume(Job.objects.get(pk=job.pk), world.mara)
    runner.run(job.pk)
    run.refresh_from_db()
    assert run.complete and sorted(written) == list(range(4))  # no shard twice
    assert len(vectors_of(run)[0]) == 32


def test_withdrawn_while_it_runs_it_stops(world: World, models_root: Path, monkeypatch: Any) -> None:
    plan = EncoderPlan(
        collection=a_collection(world, 1), endpoint=an_endpoint(world), model=MODEL, name="Tiny", task="retrieval",
        query_set="captions",
    )  # fmt: skip
    run = encoder_runs.open_run(plan, world.mara, timezone.now())
    write = encoding.VectorStore.write

    def withdrawing(self: Any, number: int, vectors: Any) -> None:
        write(self, number, vectors)
        withdraw(run, world.mara, timezone.now())

    monkeypatch.setattr(encoding.VectorStore, "write", withdrawing)
    runner.run(run.job_id)
    run.refresh_from_db()
    assert not run.complete and not Ranking.objects.exists()
    assert Job.objects.get(pk=run.job_id).error == "This run was withdrawn meanwhile. Start a new one."


ENCODE = """
import json, sys
import django
django.setup()
from django.conf import settings
from benchmarks.models import Benchmark
from predictions.backends import clip
from predictions.models import Collection
from predictions.services.encoders import encoding
from predictions.retrieval import vectors
job = json.load(sys.stdin)
settings.VECTORS_ROOT, settings.MODELS_ROOT = job["vectors"], job["models"]
encoding.SHARD = vectors.SHARD = 16
encoding.original = lambda sha: open(sha, "rb").read()
inputs = [encoding.EncodeInput(*row) for row in job["inputs"]]
entries = encoding.Encoding(Collection(pk=1), "entries", inputs, clip.load("local-dir:tiny"))
for done, failures in entries.encode_missing(lambda: None):
    print(done, flush=True)
print(entries.name, flush=True)
"""


@pytest.mark.slow
def test_killed_while_it_encodes_it_goes_on_and_the_vectors_are_the_same(models_root: Path, tmp_path: Path) -> None:
    files = []
    for number, kind in enumerate(KINDS * 20):
        files.append(tmp_path / f"{number}.png")
        files[-1].write_bytes(png(draw_shape(*kind, seed=number)))
    inputs = [(number, path.name, str(path), "") for number, path in enumerate(files)]

    def started(vectors: Path) -> "subprocess.Popen[str]":
        job = {"vectors": str(vectors), "models": str(models_root), "inputs": inputs}
        env = {**os.environ, "DJANGO_SETTINGS_MODULE": "tests.settings", "PYTHONPATH": str(ROOT)}
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        program = subprocess.Popen([sys.executable, "-c", ENCODE], env=env, **pipes)
        assert program.stdin
        program.stdin.write(json.dumps(job))
        program.stdin.close()
        return program

    first, whole = tmp_path / "killed", tmp_path / "whole"
    program = started(first)
    assert eventually(lambda: len(list(first.rglob("0*.npy"))) >= 2)
    program.send_signal(signal.SIGKILL)
    program.wait()
    times = {path.name: path.stat().st_mtime_ns for path in first.rglob("0*.npy")}
    assert 2 <= len(times) < 20, "it was to be killed half way"
    for folder in (first, whole):
        program = started(folder)
        assert program.stdout
        output = program.stdout.read().split()
        assert program.wait() == 0
    assert all(path.stat().st_mtime_ns == times[path.name] for path in first.rglob("0*.npy") if path.name in times)
    assert len(output) == 21
    for path in whole.rglob("0*.npy"):
        assert (first / path.relative_to(whole)).read_bytes() == path.read_bytes()
    print(f"killed after {len(times)} of 20 shards; the rest was made, all 20 are the same")
