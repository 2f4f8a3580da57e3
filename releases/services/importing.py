"""The job that imports a release: its files are verified, then its rows are written kind by kind, a few at a time.

An import that was stopped or killed goes on with the row it was at. Until all files are verified nothing is written.
"""

import errno
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from django.core.files.storage import default_storage
from django.db import transaction
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from benchmarks.imports.problems import SourceProblem
from benchmarks.services import storage
from jobs.models import Job, JobRow, record
from jobs.services.job_context import JobContext, JobFailed, SiteFailure, TimeSlice
from jobs.services.kinds import JobKind, NextLink
from releases.imports.benchmark import finish, write_benchmark
from releases.imports.files import ReleaseZip
from releases.imports.pictures import ReleasedPictures
from releases.imports.removal import remove_gone
from releases.imports.state import ImportState, PendingRow
from releases.imports.values import parse_line
from releases.imports.writer import KindWriter
from releases.models import ImportedRow, ReleaseImport
from releases.rows.site.kinds import SiteKind
from releases.rows.site.registry import site_kinds

KIND = "import_release"
BATCH = 500
BEAT_SECONDS = 5.0
WITH_PICTURES = 25  # reading them takes most of the time
PICTURE_FILES = "picture_files"
Outcome = JobRow.Outcome


def run(work: JobContext) -> None:
    rows = ReleaseImport.objects.select_related("team", "benchmark", "created_by")
    release_import = rows.get(pk=work.params["import"])
    try:
        with _opened(work) as files:
            if not work.cursor:
                _verify(work, files)
            _import(work, files, release_import)
    except SourceProblem as problem:
        raise JobFailed(str(problem)) from problem
    except FileNotFoundError as error:
        raise JobFailed(_("The file is no longer there. Start a new import.")) from error
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise SiteFailure(_("The disk is full. Free some space, then resume.")) from error
        raise
    default_storage.delete(work.params["upload"])


def next_link(job: Job) -> NextLink | None:
    row = ReleaseImport.objects.select_related("benchmark").filter(pk=job.params.get("import")).first()
    if row is None or row.benchmark is None:
        return None
    return NextLink(_("View the benchmark"), reverse("benchmarks:detail", args=[row.benchmark.slug]))


IMPORT_RELEASE = JobKind(
    KIND,
    run,
    next_link,
    remarks={
        "withdrawn": gettext_lazy("No longer in the release"),
        "no_file": gettext_lazy("Picture without a file"),
        "model_known": gettext_lazy("Model of which the team knows other details"),
    },
)


@contextmanager
def _opened(work: JobContext) -> Iterator[ReleaseZip]:
    with storage.open_binary(work.params["upload"]) as file:
        yield ReleaseZip(file)


def _beat(work: JobContext) -> Callable[[], None]:
    """For loops over the blocks of a large file: keeps the lease, and looks whether somebody asked to stop."""
    due = time.monotonic() + BEAT_SECONDS

    def beat() -> None:
        nonlocal due
        work.check()
        if time.monotonic() >= due:
            work.beat()
            due = time.monotonic() + BEAT_SECONDS

    return beat


def _verify(work: JobContext, files: ReleaseZip) -> None:
    """Raises SourceProblem. The first cursor says that all files are as they were published."""
    beat = _beat(work)
    files.check_names()
    files.check_manifest()
    manifest = files.manifest
    work.expect(len(manifest.files) + sum(manifest.site.values()))
    for number, file in enumerate(manifest.files, 1):
        files.verify(file, beat)
        work.step(done=number, cursor={})
    work.step(done=len(manifest.files), cursor={"kind": 0, "row": 0, "number": len(manifest.files)})


def _import(work: JobContext, files: ReleaseZip, release_import: ReleaseImport) -> None:
    manifest = files.manifest
    with ExitStack() as stack:
        archives = stack.enter_context(files.pictures(_beat(work)))
        pictures = ReleasedPictures(archives, work.with_heartbeat(files.lines(PICTURE_FILES, 0)))
        kinds = site_kinds(_recipe(files))
        state = ImportState(release_import, kinds, timezone.now(), work.job.created_by, pictures)
        state.read_shas()
        turn = TimeSlice(work)
        for place, kind in enumerate(kinds.values()):
            if place >= work.cursor["kind"]:
                _import_kind(work, files, state, kind, place, turn)
    for kind in reversed(kinds.values()):
        _withdraw(work, state, kind)
    with transaction.atomic():
        finish(state, manifest.watermark)
        counts = work.job.result.get("counts", {})
        scope, version = state.benchmark.scope, release_import.version
        record(state.actor, "release.import_finished", scope=scope, implied=True, version=version, counts=counts)
        work.step(done=work.job.total or 0, cursor=work.cursor)


def _recipe(files: ReleaseZip) -> str:
    """Of the benchmark in the release: a plugin may have rows of its own."""
    for line in files.lines("benchmark", 0):
        return str(parse_line(site_kinds("")["benchmark"], line).get("recipe") or "")
    raise SourceProblem(_("The release has no row of its benchmark."))


def _import_kind(
    work: JobContext, files: ReleaseZip, state: ImportState, kind: SiteKind, place: int, turn: TimeSlice
) -> None:
    cursor = work.cursor
    row, number = (cursor["row"] if cursor["kind"] == place else 0), cursor["number"]
    batch: list[tuple[int, bytes]] = []
    size = WITH_PICTURES if kind.key == "images" else BATCH
    for line in files.lines(kind.key, row):
        batch.append((number + len(batch) + 1, line))
        if len(batch) >= size:
            row, number, batch = row + len(batch), number + len(batch), _step(work, state, kind, place, row, batch)
            turn.is_over()
    _step(work, state, kind, place, row, batch)
    number += len(batch)
    with transaction.atomic():
        work.step(done=number, cursor={"kind": place + 1, "row": 0, "number": number})


def _step(
    work: JobContext, state: ImportState, kind: SiteKind, place: int, row: int, batch: list[tuple[int, bytes]]
) -> list[tuple[int, bytes]]:
    """Write these rows; the next batch is empty."""
    if not batch:
        return []
    work.check()
    number = batch[-1][0]
    with transaction.atomic():
        if kind.key == "benchmark":
            write_benchmark(state, batch[0][1])
            rows: list[PendingRow] = []
        else:
            rows = KindWriter(state, kind).write(batch)
        listed = [each for each in rows if each.problem or each.remark or _is_listed(state, kind, each)]
        numbers = {each.number for each in listed}
        work.counts.update(_outcome(each) for each in rows if each.number not in numbers)
        report = [_report(kind, each) for each in listed]
        work.step(done=number, cursor={"kind": place, "row": row + len(batch), "number": number}, rows=report)
    return []


LISTED = ("items", "annotations", "runs", "tables")


def _is_listed(state: ImportState, kind: SiteKind, row: PendingRow) -> bool:
    """Of a later version: what it adds and changes."""
    is_later = state.release_import.manifest.get("later", False)
    return is_later and kind.key in LISTED and bool(row.values)


def _outcome(row: PendingRow) -> str:
    if row.problem is not None:
        return Outcome.ERROR
    if row.is_new:
        return Outcome.CREATED
    return Outcome.UPDATED if row.values else Outcome.UNCHANGED


def _report(kind: SiteKind, row: PendingRow) -> JobRow:
    name = _row_name(kind, row.key)
    problem = row.problem
    reason, message = (problem.code, problem.message) if problem else (row.remark, "")
    return JobRow(number=row.number, name=name, outcome=_outcome(row), reason=reason[:40], message=message)


def _has_unnamed(work: JobContext, kind: SiteKind) -> bool:
    """Whether a row could not be read at all: nobody knows which it is, so none of its kind is gone for sure."""
    return work.job.rows.filter(outcome=Outcome.ERROR, name=_row_name(kind, "")).exists()


def _row_name(kind: SiteKind, key: str) -> str:
    return f"{kind.key} {key}"[:300]


def _withdraw(work: JobContext, state: ImportState, kind: SiteKind) -> None:
    """Only a later version of a release can lack rows."""
    unseen = ImportedRow.objects.filter(benchmark=state.benchmark).exclude(seen=state.release_import)
    if not unseen.exists() or _has_unnamed(work, kind):
        return
    while True:
        with transaction.atomic():
            keys = remove_gone(state, kind)
            if keys is None:
                return
            number = work.cursor["number"]
            rows = [
                JobRow(number=number + place, name=_row_name(kind, key), outcome=Outcome.UPDATED,
                       reason="withdrawn", message=_("It is not in this version of the release."))
                for place, key in enumerate(keys, 1)
            ]  # fmt: skip
            work.step(done=work.job.done, cursor=work.cursor | {"number": number + len(keys)}, rows=rows)
