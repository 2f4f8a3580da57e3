"""An index over a knowledge base's pictures or texts: encoded in shards, or brought as vectors, then built."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from django.core.files.base import File
from django.db import transaction
from django.db.models import Min
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from benchmarks.services import storage
from jobs.models import Job, record
from jobs.services import lifecycle as jobs
from jobs.services.job_context import JobContext, JobFailed, TimeSlice
from jobs.services.kinds import JobKind, NextLink
from people.models import User
from predictions.backends.contract import CallError, Encoder, Vectors
from predictions.models import Endpoint, KnowledgeBase, KnowledgeEntry, KnowledgeImage, KnowledgeIndex, Run
from predictions.retrieval.vectors import SHARD, VectorStore, unit
from predictions.services.files import uploads
from predictions.services.knowledge import faiss_index
from predictions.services.knowledge.bases import scope_of
from predictions.services.knowledge.faiss_index import FaissMissing, UnsuitableVectors
from predictions.services.knowledge.vectors import folder_of

KIND = "build_knowledge_index"
Over = KnowledgeIndex.Over
LEAST_BATCH, MOST_BATCH, BATCH_SECONDS = 8, 128, 5.0  # a batch is as large as keeps the work's lease
LONGEST_ARTICLE = 2000  # characters; an encoder reads the beginning only, and how much is its own


class IndexRefused(Exception):
    """What was asked for cannot be done; the message says what to do."""


def store_of(index: KnowledgeIndex) -> VectorStore:
    return VectorStore(folder_of(index.base_id, index.pk))


def encoder_of(index: KnowledgeIndex) -> Encoder:
    """What encodes images and texts as the index was. Raises whatever the endpoint says."""
    from predictions.services.endpoints import endpoints

    if index.endpoint is None:
        raise IndexRefused(_("This index names no encoder. Choose one of the team's, then link again."))
    try:
        encoder: Encoder = endpoints.encoder_for(index.endpoint, index.model)
    except CallError as error:
        raise IndexRefused(str(error)) from error
    told = index.facts.get("digest", "")
    if told and told != getattr(encoder, "digest", ""):
        raise IndexRefused(_("The encoder has other weights now than when the index was built. Build the index again."))
    return encoder


def start_build(base: KnowledgeBase, actor: User, *, endpoint: Endpoint, model: str, over: str, kind: str = "") -> Job:
    """Queue it; an index by the same encoder over the same is built anew. Raises IndexRefused."""
    return _start(base, actor, endpoint, model, over, {"kind": kind})


def start_vectors(
    base: KnowledgeBase, actor: User, vectors: File[Any], names: File[Any],
    *, endpoint: Endpoint | None, model: str, over: str, kind: str = "",
) -> Job:  # fmt: skip
    """The same from vectors made elsewhere: an .npy file (n, d), and a text file naming each row.

    Raises IndexRefused.
    """
    kept = {"vectors": uploads.store_upload(vectors), "names": uploads.store_upload(names)}
    return _start(base, actor, endpoint, model, over, {"kind": kind, **kept})


def _start(
    base: KnowledgeBase, actor: User, endpoint: Endpoint | None, model: str, over: str, params: dict[str, Any]
) -> Job:
    with transaction.atomic():
        KnowledgeBase.objects.select_for_update(no_key=True).get(pk=base.pk)
        index, _made = KnowledgeIndex.objects.get_or_create(
            base=base, model=model, over=over, defaults={"endpoint": endpoint}
        )
        if Job.objects.filter(kind=KIND, params__index=index.pk, state__in=Job.LIVE).exists():
            raise IndexRefused(_("This index is being built now. Wait for it, or stop it."))
        if Run.objects.filter(knowledge_index=index, task=Run.Task.LINKING, withdrawn_at=None).exists():
            raise IndexRefused(
                _("The index cannot be removed because images were linked with it. Create a new version of the base.")
            )
        KnowledgeIndex.objects.filter(pk=index.pk).update(endpoint=endpoint, built_at=None, facts={}, count=0)
        title = _("Index over %(what)s by %(model)s") % {"what": index.get_over_display(), "model": model[:120]}
        return jobs.start(KIND, title, scope=scope_of(base), actor=actor, params={"index": index.pk, **params})


def remove(index: KnowledgeIndex, actor: User) -> None:
    """One that was never built, with what lies of it on disk. Raises IndexRefused."""
    with transaction.atomic():
        KnowledgeBase.objects.select_for_update(no_key=True).get(pk=index.base_id)
        locked_index = KnowledgeIndex.objects.select_for_update(no_key=True).get(pk=index.pk)
        if Job.objects.filter(kind=KIND, params__index=index.pk, state__in=Job.LIVE).exists():
            raise IndexRefused(_("This index is being built now. Wait for it, or stop it."))
        if locked_index.built_at or Run.objects.filter(knowledge_index=locked_index).exists():
            raise IndexRefused(_("The index cannot be removed because results may depend on it."))
        data: dict[str, Any] = {"over": locked_index.over, "model": locked_index.model}
        record(actor, "knowledge.index_removed", scope=scope_of(index.base), target=f"index:{index.pk}", **data)
        locked_index.delete()
    shutil.rmtree(folder_of(index.base_id, index.pk), ignore_errors=True)


def run(work: JobContext) -> None:
    """Plan, encode, build. What is on disk is not done again."""
    index = KnowledgeIndex.objects.select_related("base", "endpoint").filter(pk=work.params["index"]).first()
    if index is None:
        raise JobFailed(_("This index was removed. Create it again from the page of its knowledge base."))
    store = store_of(index)
    try:
        faiss_index.library()
        if not work.cursor.get("begun"):
            store.begin()
            work.step(done=0, cursor={"begun": True, "seconds": 0.0})
        if not store.planned:
            _plan(work, index, store)
        work.expect(len(store.plan()))
        if work.params.get("vectors"):
            _copy(work, index, store)
        else:
            _encode(work, index, store)
        _build(work, index, store)
    except (FaissMissing, IndexRefused, UnsuitableVectors) as problem:
        raise JobFailed(str(problem)) from problem
    for name in ("vectors", "names"):
        if work.params.get(name):
            uploads.delete_file(work.params[name])


def next_link(job: Job) -> NextLink | None:
    index = KnowledgeIndex.objects.select_related("base__team").filter(pk=job.params.get("index")).first()
    if index is None:
        return None
    address = reverse("predictions:knowledge_base", args=[index.base.team.slug, index.base_id])
    return NextLink(_("View knowledge base"), address)


BUILD = JobKind(KIND, run, next_link)


def planned_rows(base: KnowledgeBase, over: str) -> Iterator[tuple[int, int]]:
    """What an index over this has: pictures, each file once; or texts of entries, every name of each. By key order."""
    entries = KnowledgeEntry.objects.filter(base=base).order_by("pk")
    if over == Over.IMAGES:
        images = KnowledgeImage.objects.filter(entry__base=base, image__isnull=False)
        once = images.values("name").annotate(first=Min("pk")).order_by("first")
        yield from ((row["first"], 0) for row in once.iterator(chunk_size=10_000))
    elif over == Over.LEMMAS:
        for pk, lemmas in entries.values_list("pk", "lemmas").iterator(chunk_size=5000):
            yield from ((pk, number) for number in range(len(lemmas)))
    else:
        field = "gloss" if over == Over.GLOSSES else "text"
        yield from ((pk, 0) for pk in entries.exclude(**{field: ""}).values_list("pk", flat=True).iterator(5000))


def _plan(work: JobContext, index: KnowledgeIndex, store: VectorStore) -> None:
    if work.params.get("vectors"):
        rows: Iterator[tuple[int, int]] = _iter_named_rows(work, index)
    else:
        rows = planned_rows(index.base, index.over)
    if not store.write_plan(_beating(work, rows)):
        raise JobFailed(_no_input_text(index.over))


def _no_input_text(over: str) -> str:
    if over == Over.IMAGES:
        return _("No entry has a picture. Import pictures with the entries, or import vectors.")
    return _("No entry has such a text. Import it with the entries.")


def _beating(work: JobContext, rows: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    for count, row in enumerate(rows):
        if count % 20_000 == 0:
            work.beat()
        yield row


def _encode(work: JobContext, index: KnowledgeIndex, store: VectorStore) -> None:
    encoder = encoder_of(index) if next(store.missing(), None) is not None else None
    turn, size = TimeSlice(work), LEAST_BATCH
    for number in store.missing():
        assert encoder is not None
        turn.is_over()
        began = time.monotonic()
        parts = []
        rows, at = store.rows_of(number), 0
        while at < len(rows):
            work.beat()
            asked = time.monotonic()
            parts.append(_vectors(encoder, index, rows[at : at + size].tolist()))
            at += size
            size = (
                max(LEAST_BATCH, size // 2) if time.monotonic() - asked > BATCH_SECONDS else min(MOST_BATCH, 2 * size)
            )
        store.write(number, np.concatenate(parts))
        _record_progress(work, number, len(rows), time.monotonic() - began, getattr(encoder, "digest", ""))


def _record_progress(work: JobContext, number: int, rows: int, seconds: float, digest: str = "") -> None:
    cursor = {"begun": True, "seconds": work.cursor.get("seconds", 0.0) + seconds, "digest": digest}
    work.step(done=number * SHARD + rows, cursor=cursor)


def _vectors(encoder: Encoder, index: KnowledgeIndex, rows: Sequence[Sequence[int]]) -> Vectors:
    keys = {pk for pk, _part in rows}
    if index.over == Over.IMAGES:
        images = KnowledgeImage.objects.filter(pk__in=keys).select_related("image").in_bulk()
        return images_of(encoder, [bytes_of(images[pk]) for pk, _part in rows])
    entries = KnowledgeEntry.objects.filter(pk__in=keys).in_bulk()
    return encoder.texts([text_of(entries[pk], index.over, part) for pk, part in rows])


def images_of(encoder: Encoder, data: Sequence[bytes]) -> Vectors:
    """(n, d) of unit length; zeros where a picture cannot be read."""
    if not data:
        return np.zeros((0, encoder.dimensions), np.float32)
    try:
        return unit(encoder.images(data))
    except CallError:
        rows = np.zeros((len(data), encoder.dimensions), np.float32)
        for place, one in enumerate(data):
            with suppress(CallError):
                rows[place] = unit(encoder.images([one]))[0]
        return rows


def bytes_of(row: KnowledgeImage) -> bytes:
    assert row.image is not None
    with storage.open_binary(row.image.original_name) as file:
        return file.read()


def text_of(entry: KnowledgeEntry, over: str, part: int) -> str:
    if over == Over.LEMMAS:
        return str(entry.lemmas[part])
    if over == Over.GLOSSES:
        return entry.gloss
    return f"{entry.title}. {entry.text[:LONGEST_ARTICLE]}" if entry.title else entry.text[:LONGEST_ARTICLE]


def _iter_named_rows(work: JobContext, index: KnowledgeIndex) -> Iterator[tuple[int, int]]:
    """Rows by the names that came with the vectors: a picture's file, or an entry's key. Raises JobFailed."""
    with storage.open_binary(work.params["names"]) as file:
        block: list[str] = []
        count = 0
        for count, raw in enumerate(file, start=1):
            block.append(raw.decode("utf-8", "replace").strip("\r\n\ufeff"))
            if len(block) == 5000:
                yield from _of_names(index, block, count)
                block = []
        yield from _of_names(index, block, count)


def _of_names(index: KnowledgeIndex, names: Sequence[str], last: int) -> Iterator[tuple[int, int]]:
    if index.over == Over.IMAGES:
        images = KnowledgeImage.objects.filter(entry__base=index.base, name__in=names).values("name")
        known = dict(images.annotate(first=Min("pk")).values_list("name", "first"))
    else:
        entries = KnowledgeEntry.objects.filter(base=index.base, key__in=names)
        known = dict(entries.values_list("key", "pk"))
    for number, name in enumerate(names, start=last - len(names) + 1):
        if name not in known:
            text = _("Line %(n)s names “%(name)s”, which the knowledge base does not have. Import its entries first.")
            raise JobFailed(text % {"n": number, "name": name[:100]})
        yield known[name], 0


def _copy(work: JobContext, index: KnowledgeIndex, store: VectorStore) -> None:
    with storage.open_binary(work.params["vectors"]) as file:
        try:
            array = np.load(getattr(file, "name", file), mmap_mode="r", allow_pickle=False)
        except (ValueError, OSError, EOFError, TypeError) as error:
            raise JobFailed(_("This is no .npy file of numbers. Save the vectors by numpy.save.")) from error
        planned = len(store.plan())
        if array.ndim != 2 or array.dtype.kind != "f" or array.shape[0] != planned:
            text = _(
                "The vectors have the shape %(shape)s of %(type)s; needed are %(n)s rows of floats, as many as names."
            )
            raise JobFailed(text % {"shape": "×".join(map(str, array.shape)), "type": array.dtype, "n": planned})
        turn = TimeSlice(work)
        for number in store.missing():
            work.check()
            turn.is_over()
            part = np.asarray(array[number * SHARD : (number + 1) * SHARD], np.float32)
            store.write(number, part)
            _record_progress(work, number, len(part), 0.0)


def _build(work: JobContext, index: KnowledgeIndex, store: VectorStore) -> None:
    total = len(store.plan())
    chosen = work.params.get("kind") or ""
    kind: faiss_index.Kind = next((one for one in faiss_index.KINDS if one == chosen), faiss_index.kind_for(total))
    facts = faiss_index.build(store, kind, work.beat)
    facts |= {"chosen": "by hand" if chosen else "by size", "seconds_vectors": round(work.cursor["seconds"], 2)}
    facts |= {"source": "file" if work.params.get("vectors") else "encoder", "left_out": total - facts["count"]}
    facts |= {"digest": work.cursor.get("digest", "")}
    first = np.load(store.shard(0), mmap_mode="r")
    with transaction.atomic():
        KnowledgeIndex.objects.filter(pk=index.pk).update(
            dimensions=int(first.shape[1]), count=facts["count"], built_at=timezone.now(), facts=facts
        )
        actor, scope = work.job.created_by, scope_of(index.base)
        record(actor, "knowledge.indexed", scope=scope, target=f"index:{index.pk}", implied=True, facts=facts)
