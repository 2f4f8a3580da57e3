"""An index is built in shards that survive a kill, and says how much of the exact it finds."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from jobs.models import Job
from jobs.services import lifecycle, runner
from predictions.models import KnowledgeBase, KnowledgeImage, KnowledgeIndex
from predictions.retrieval import vectors
from predictions.retrieval.vectors import VectorStore, unit
from predictions.services.knowledge import bases, faiss_index, indexes
from tests.personas import World
from tests.predictions.knowledge.colours import (
    MODEL,
    PICTURES,
    Colours,
    a_base,
    an_endpoint,
    built,
    import_entries,
    row,
    run_job,
)


def store_with_vectors(tmp_path: Path, count: int, dimensions: int, seed: int = 0) -> VectorStore:
    """Vectors around a hundred centres: as uneven as those of pictures."""
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((100, dimensions))
    rows = unit(centres[rng.integers(0, 100, count)] + 0.4 * rng.standard_normal((count, dimensions)))
    store = VectorStore(tmp_path / f"many-{count}-{dimensions}")
    store.begin()
    store.write_plan((number, 0) for number in range(count))
    for number in range(store.shards()):
        store.write(number, rows[number * vectors.SHARD : (number + 1) * vectors.SHARD])
    return store


def test_each_picture_is_encoded_once_whoever_has_it(world: World, encoder: Colours) -> None:
    import_entries(world)
    index = built(world)
    assert encoder.seen == len(PICTURES) == index.count and index.dimensions == 4
    facts = index.facts
    assert (facts["kind"], facts["chosen"], facts["recall"], facts["left_out"]) == ("flat", "by size", 1.0, 0)
    assert facts["bytes"] > 0 and facts["seconds_vectors"] >= 0 and facts["recall_n"] == 7
    held = VectorStore(indexes.store_of(index).folder)
    assert np.load(held.shard(0)).dtype == np.float16


def test_texts_have_an_index_of_their_own_and_every_name_a_place(world: World, encoder: Colours) -> None:
    import_entries(world)
    assert built(world, "lemmas").count == 7, "azul and blue are names of one entry"
    assert built(world, "glosses").count == 5 and built(world, "articles").count == 5
    assert encoder.seen == 0 and encoder.read == 17


def test_the_kind_goes_by_size_and_by_hand(world: World) -> None:
    assert [faiss_index.kind_for(n) for n in (1, 50_000, 50_001, 2_000_000, 2_000_001)] == [
        "flat", "flat", "hnsw", "hnsw", "ivfpq",
    ]  # fmt: skip
    import_entries(world)
    index = built(world, kind="hnsw")
    assert (index.facts["kind"], index.facts["chosen"]) == ("hnsw", "by hand")
    assert built(world).facts["kind"] == "flat", "built anew in its place"
    assert KnowledgeIndex.objects.count() == 1


@pytest.mark.parametrize("kind", faiss_index.KINDS)
def test_every_kind_says_how_many_of_the_exact_nearest_it_finds(tmp_path: Path, kind: faiss_index.Kind) -> None:
    store = store_with_vectors(tmp_path, 3000, 16)
    facts = faiss_index.build(store, kind, lambda: None)
    index = faiss_index.load(store.folder, facts)
    everything = np.concatenate([part for _first, part in store.parts()])
    asked = everything[:50]
    wanted = np.argsort(-(asked @ everything.T), axis=1, kind="stable")[:, :20]
    scores, found = index.search(asked, 20)
    mine = np.mean([len(set(a) & set(b)) / 20 for a, b in zip(wanted, found, strict=True)])
    assert abs(mine - facts["recall"]) < 0.12, "the recall it states is the recall it has"
    if kind == "flat":
        assert facts["recall"] == 1.0 and np.allclose(scores[:, 0], (asked * asked).sum(1), atol=1e-5)
    assert facts["count"] == 3000 and facts["recall_n"] == 200 and facts["recall_at"] == 20
    np.testing.assert_array_equal(faiss_index.exact_nearest(store.parts(), asked, 20)[:, :5], wanted[:, :5])


def test_what_has_no_vector_is_never_found(tmp_path: Path) -> None:
    store = VectorStore(tmp_path / "few")
    store.begin()
    store.write_plan((number, 0) for number in (10, 11, 12))
    store.write(0, [[1, 0], [np.nan, 1], [0, 1]])
    facts = faiss_index.build(store, "flat", lambda: None)
    _scores, positions = faiss_index.load(store.folder, facts).search(np.eye(2, dtype=np.float32), 3)
    assert facts["count"] == 2 and positions.tolist() == [[0, 2], [2, 0]]
    _scores, positions = faiss_index.load(store.folder, facts).search(np.zeros((1, 2), np.float32), 1)
    assert positions.shape == (1, 1)


def test_a_build_that_stopped_goes_on_with_what_is_missing(
    world: World, encoder: Colours, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (vectors, indexes):
        monkeypatch.setattr(module, "SHARD", 2)
    import_entries(world)
    base = bases.KnowledgeBase.objects.get()
    job = indexes.start_build(base, world.mara, endpoint=an_endpoint(world), model=MODEL, over="images")

    def stop() -> None:
        if encoder.seen == 6:  # in the middle of the third of four shards
            lifecycle.request_cancel(Job.objects.get(pk=job.pk), world.mara)
            raise KeyboardInterrupt

    encoder.after = stop
    with pytest.raises(KeyboardInterrupt):
        runner.run(job.pk)
    store = indexes.store_of(KnowledgeIndex.objects.get())
    assert list(store.missing()) == [2, 3]
    encoder.after = lambda: None
    Job.objects.filter(pk=job.pk).update(state="queued", cancel_asked=False)
    assert run_job(job).state == "done", job.error
    assert encoder.seen == 6 + 2 + 1, "only the shard that was cut off is encoded again"
    assert job.done == job.total == 7 and not list(store.missing())


def test_vectors_made_elsewhere_are_taken_by_name(world: World, encoder: Colours) -> None:
    import_entries(world, pictures=None)
    names = sorted(PICTURES)
    held = encoder.images([PICTURES[name] for name in names])
    encoder.seen = 0
    job = of_vectors(world, held.astype(np.float16), "\n".join(names).encode())
    assert job.state == "done", job.error
    index = KnowledgeIndex.objects.get()
    assert encoder.seen == 0 and index.count == 7 and index.facts["source"] == "file"
    searched = faiss_index.load(indexes.store_of(index).folder, index.facts)
    _scores, found = searched.search(encoder.images([PICTURES["navy.png"]]), 1)
    pk = int(indexes.store_of(index).plan()[found[0, 0], 0])
    assert KnowledgeImage.objects.get(pk=pk).name == "navy.png"


@pytest.mark.parametrize(
    ("held", "names", "words"),
    [
        (np.zeros((2, 3), np.int32), b"red.png\nblue.png", "int32"),
        (np.zeros((3, 3), np.float32), b"red.png\nblue.png", "2 rows"),
        (np.zeros((2, 3), np.float32), b"red.png\npurple.png", "purple.png"),
        (b"no numbers at all", b"red.png\nblue.png", ".npy"),
    ],
)
def test_vectors_that_do_not_fit_are_refused_with_the_reason(world: World, held: Any, names: bytes, words: str) -> None:
    import_entries(world, pictures=None)
    job = of_vectors(world, held, names)
    assert job.state == "failed" and words in job.error
    assert KnowledgeIndex.objects.get().built_at is None


def of_vectors(world: World, array: Any, names: bytes) -> Job:
    import io

    out = io.BytesIO()
    if isinstance(array, bytes):
        out.write(array)
    else:
        np.save(out, array)
    files = (SimpleUploadedFile("v.npy", out.getvalue()), SimpleUploadedFile("names.txt", names))
    base = bases.KnowledgeBase.objects.get()
    endpoint = an_endpoint(world)
    return run_job(indexes.start_vectors(base, world.mara, *files, endpoint=endpoint, model=MODEL, over="images"))


def test_a_base_without_pictures_says_what_to_bring(world: World) -> None:
    import_entries(world, [row("red")], None)
    base = bases.KnowledgeBase.objects.get()
    job = run_job(indexes.start_build(base, world.mara, endpoint=an_endpoint(world), model=MODEL, over="images"))
    assert job.state == "failed" and "Import pictures" in job.error


def test_without_the_extra_a_sentence_says_what_to_do(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "faiss", None)
    import_entries(world)
    job = run_job(
        indexes.start_build(
            bases.KnowledgeBase.objects.get(), world.mara, endpoint=an_endpoint(world), model=MODEL, over="images"
        )
    )
    assert (job.state, job.error) == (
        "failed", "Local models are not installed here. Run ./emic models, then restart.",
    )  # fmt: skip


def test_one_index_is_built_once_at_a_time(world: World) -> None:
    import_entries(world)
    base = a_base(world)
    indexes.start_build(base, world.mara, endpoint=an_endpoint(world), model=MODEL, over="images")
    with pytest.raises(indexes.IndexRefused, match="being built now"):
        indexes.start_build(base, world.mara, endpoint=an_endpoint(world), model=MODEL, over="images")


def test_what_makes_no_index_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(
        faiss_index.UnsuitableVectors, match="There are 30 vectors, and product quantisation needs 1000"
    ):
        faiss_index.build(store_with_vectors(tmp_path, 30, 16), "ivfpq", lambda: None)
    store = VectorStore(tmp_path / "none")
    store.begin()
    store.write_plan((number, 0) for number in (1, 2))
    store.write(0, [[0, 0], [np.nan, 1]])
    with pytest.raises(faiss_index.UnsuitableVectors, match="None of the vectors can be used"):
        faiss_index.build(store, "flat", lambda: None)


@pytest.mark.parametrize(("kind", "words"), [("ivfpq", "product quantisation needs 1000"), ("", "can be used")])
def test_an_index_of_no_vectors_is_a_job_that_failed(
    world: World, encoder: Colours, monkeypatch: pytest.MonkeyPatch, kind: str, words: str
) -> None:
    import_entries(world)
    monkeypatch.setattr(indexes, "unit", lambda vectors: np.zeros_like(vectors))
    more = {"endpoint": an_endpoint(world), "model": MODEL, "over": "images", "kind": kind}
    build = run_job(indexes.start_build(KnowledgeBase.objects.get(), world.mara, **more))
    assert build.state == "failed" and words in build.error
    assert not KnowledgeIndex.objects.exclude(built_at=None).exists()
