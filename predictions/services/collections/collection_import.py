"""A collection out of a file: entries first, then the queries, which speak of entries by key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.core.files.base import File
from django.db import transaction
from django.urls import reverse
from django.utils.translation import gettext as _

from annotation.imports import source
from annotation.imports.rows import clean
from benchmarks.imports.problems import RowProblem
from benchmarks.models import Benchmark
from jobs.models import Job, JobRow, record
from jobs.services import lifecycle as jobs
from jobs.services.job_context import JobContext
from jobs.services.kinds import JobKind, NextLink
from people.models import User
from predictions.imports.collections import TRIAL, EntryRow, QueryRow, read
from predictions.models import Collection, Entry, Query, Run
from predictions.services.files import uploads
from predictions.services.files.uploads import Outcome, report_row

KIND = "import_collection"
STEP = 500
HEADS = ("key", TRIAL)
Read = tuple[int, tuple[list[EntryRow], QueryRow | None] | RowProblem]


def start(
    benchmark: Benchmark, actor: User, upload: File[Any], *, key: str, version: str, name: str, licence: str
) -> Job:
    """Into the version of the collection that has this key, made if it is new."""
    with transaction.atomic():
        collection, created = Collection.objects.get_or_create(
            benchmark=benchmark, key=key, version=version, defaults={"name": name, "licence": licence}
        )
        if created:
            target = f"collection:{collection.pk}"
            record(actor, "collection.made", scope=benchmark.scope, target=target, key=key, version=version)
        params = {"collection": collection.pk, "file": uploads.store_upload(upload)}
        title = _("Collection from %(file)s") % {"file": str(upload.name)[:150]}
        return jobs.start(KIND, title, scope=benchmark.scope, actor=actor, params=params)


def run(work: JobContext) -> None:
    collection = Collection.objects.select_related("benchmark").get(pk=work.params["collection"])
    with uploads.job_errors():
        if work.job.total is None:
            with uploads.rows(work, HEADS) as numbered_rows:
                work.expect(sum(1 for _row in work.with_heartbeat(numbered_rows)))
        for turn in ("entries", "queries"):
            if work.cursor.get("turn", "entries") <= turn:
                with uploads.rows(work, HEADS) as numbered_rows:
                    _import_rows(work, collection, turn, work.with_heartbeat(numbered_rows))
    counts, target = work.job.result.get("counts", {}), f"collection:{collection.pk}"
    scope = collection.benchmark.scope
    record(work.job.created_by, "collection.imported", scope=scope, target=target, implied=True, counts=counts)
    uploads.delete_file(work.params["file"])


def next_link(job: Job) -> NextLink | None:
    collection = Collection.objects.select_related("benchmark").filter(pk=job.params.get("collection")).first()
    if collection is None:
        return None
    return NextLink(_("View predictions"), reverse("predictions:index", args=[collection.benchmark.slug]))


IMPORT = JobKind(KIND, run, next_link)


def _import_rows(work: JobContext, collection: Collection, turn: str, numbered_rows: Iterator[source.Row]) -> None:
    """One way through the file. A row is told of in the turn in which it says something."""
    passed = work.cursor.get("rows", 0) if work.cursor.get("turn") == turn else 0
    batch: list[Read] = []
    count = 0
    for count, (number, row) in enumerate(numbered_rows, start=1):
        if count <= passed:
            continue
        one = _parse_row(row)
        if (turn == "queries") == (isinstance(one, tuple) and one[1] is not None):
            batch.append((number, one))
        if len(batch) >= STEP:
            batch = _step(work, collection, turn, batch, count)
    _step(work, collection, turn, batch, count)


def _parse_row(row: Mapping[str, Any] | RowProblem) -> tuple[list[EntryRow], QueryRow | None] | RowProblem:
    try:
        if isinstance(row, RowProblem):
            raise row
        return read(dict(clean(row)))
    except RowProblem as problem:
        return problem


def _step(work: JobContext, collection: Collection, turn: str, batch: Sequence[Read], at: int) -> list[Read]:
    work.check()
    with transaction.atomic():
        Collection.objects.select_for_update(no_key=True).get(pk=collection.pk)
        job_rows = import_batch(collection, batch)
        work.step(done=work.job.done + len(batch), cursor={"turn": turn, "rows": at}, rows=job_rows)
    return []


def import_batch(collection: Collection, batch: Sequence[Read]) -> list[JobRow]:
    """What becomes of some rows. Needs a transaction that holds the collection's row."""
    things = [thing for _n, one in batch if isinstance(one, tuple) for thing in one[0]]
    asked = [one[1] for _n, one in batch if isinstance(one, tuple) and one[1] is not None]
    closed = collection.stage_id is not None or Run.objects.filter(collection=collection, complete=True).exists()
    keys = {thing.key for thing in things} | {key for query_row in asked for key in query_row.entry_keys}
    entries = _Entries(collection, closed, keys)
    queries = _Queries(collection, closed, asked)
    report = []
    for number, parsed in batch:
        try:
            if isinstance(parsed, RowProblem):
                raise parsed
            new = [entries.add(thing) for thing in parsed[0]]
            if parsed[1] is not None:
                entries.require_keys(parsed[1].entry_keys)
                new.append(queries.add(parsed[1]))
            report.append(report_row(number, _name(parsed), Outcome.CREATED if any(new) else Outcome.UNCHANGED))
        except RowProblem as problem:
            name = "" if isinstance(parsed, RowProblem) else _name(parsed)
            report.append(report_row(number, name, Outcome.ERROR, problem))
    entries.save()
    queries.save()
    return report


def _name(one: tuple[list[EntryRow], QueryRow | None]) -> str:
    return one[1].key if one[1] is not None else one[0][0].key


def _conflict(key: str) -> RowProblem:
    text = _("“%(key)s” already exists with different values. Give the collection a new version.")
    return RowProblem("differs", text % {"key": key})


def _check_open() -> RowProblem:
    text = _(
        "This version was made from a stage, or models have been run on it, so nothing is added to it. Give the "
        "collection a new version."
    )
    return RowProblem("closed", text)


class _Entries:
    """Those a step speaks of: there already, or new."""

    def __init__(self, collection: Collection, closed: bool, keys: set[str]) -> None:
        self.collection, self.closed = collection, closed
        rows = Entry.objects.filter(collection=collection, key__in=keys)
        self.known: dict[str, Mapping[str, Any]] = dict(rows.values_list("key", "about"))
        self.new: list[EntryRow] = []

    def add(self, thing: EntryRow) -> bool:
        """Whether it is new. Raises RowProblem."""
        if thing.key in self.known:
            if self.known[thing.key] != thing.about:
                raise _conflict(thing.key)
            return False
        if self.closed:
            raise _check_open()
        self.known[thing.key] = thing.about
        self.new.append(thing)
        return True

    def require_keys(self, keys: set[str]) -> None:
        missing = sorted(keys - set(self.known))
        if missing:
            text = _("There is no entry “%(key)s” in this collection. Every key that a query names must be an entry.")
            raise RowProblem("no_entry", text % {"key": missing[0]})

    def save(self) -> None:
        Entry.objects.bulk_create(
            Entry(collection=self.collection, key=thing.key, about=dict(thing.about)) for thing in self.new
        )


class _Queries:
    def __init__(self, collection: Collection, closed: bool, asked: Sequence[QueryRow]) -> None:
        self.collection, self.closed = collection, closed
        rows = Query.objects.filter(collection=collection, key__in={query_row.key for query_row in asked})
        self.known = {
            (row.query_set, row.key): QueryRow(
                row.query_set, row.key, row.text, tuple(row.relevant), row.roles, row.about
            )
            for row in rows
        }  # fmt: skip
        self.new: list[QueryRow] = []

    def add(self, row: QueryRow) -> bool:
        """Whether it is new. Raises RowProblem."""
        known = self.known.get((row.query_set, row.key))
        if known is not None and known != row:
            raise _conflict(row.key)
        if known is None and self.closed:
            raise _check_open()
        if known is None:
            self.known[row.query_set, row.key] = row
            self.new.append(row)
        return known is None

    def save(self) -> None:
        Query.objects.bulk_create(
            Query(
                collection=self.collection, query_set=row.query_set, key=row.key, text=row.text,
                relevant=list(row.relevant), roles=dict(row.roles), about=dict(row.about),
            )
            for row in self.new
        )  # fmt: skip
