"""Importing items: a job that takes rows one by one, says what became of each, and can be stopped and gone on with."""

from __future__ import annotations

import errno
import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO

from django.conf import settings
from django.core.files.base import File
from django.core.files.storage import default_storage
from django.db import Error as DatabaseFailure
from django.db import transaction
from django.db.models import Count
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from benchmarks.images.perceptual_hash import TooManyPictures
from benchmarks.imports.problems import RowProblem, SourceProblem
from benchmarks.imports.records import Defaults, Record, Row
from benchmarks.imports.sources import FolderFiles, NoFiles, Source, ZipFiles
from benchmarks.imports.tables.mapping import MappedTable
from benchmarks.imports.vocabulary import vocabulary_of
from benchmarks.imports.web_addresses import is_web_address
from benchmarks.models import Stage
from benchmarks.services import item_changes, storage
from benchmarks.services.images import ImageRefused, TeamPictures, store_image
from benchmarks.services.intake.picture_hashes import needs_hashes, store_hash
from benchmarks.services.intake.web_pictures import WebPictures
from benchmarks.services.picture_arrangement import arrange, is_arranged
from benchmarks.services.row_import import PreparedRow, import_batch
from jobs.models import Job, record
from jobs.services import lifecycle as jobs
from jobs.services.job_context import JobCancelled, JobContext, JobFailed, LeaseLost, SiteFailure, TimeSlice
from jobs.services.kinds import JobKind, NextLink
from people.models import Team, User

log = logging.getLogger(__name__)

KIND = "import_items"
STEP_ROWS = 25  # with pictures: reading them takes most of the time, and a kill repeats at most so many
TEXT_STEP_ROWS = 500
STEP_SECONDS = 2.0


@dataclass(frozen=True)
class StoredImport:
    """Files of an import that are kept: `archive` and `manifest` name them in the storage, `name` is for people.
    `pictures` names a JSON object: path to SHA-256 of pictures that the team has.
    """

    name: str
    manifest_name: str
    archive: str
    manifest: str
    defaults: dict[str, str]
    complete: bool = False
    correct_facts: bool = False
    pictures: str = ""


def start_upload(
    stage: Stage, actor: User, *, archive: File[bytes] | None, manifest: File[bytes] | None, defaults: Defaults,
    complete: bool = False, correct_facts: bool = False,
) -> Job:  # fmt: skip
    """Keep the uploaded files until the work is done, and queue it. Items without pictures need no archive.

    `complete`: fill in what known items lack. `correct_facts`: a fact that differs replaces the earlier one.
    """
    return start_stored(
        stage, actor, store_files(archive, manifest, defaults, complete=complete, correct_facts=correct_facts)
    )


def store_files(
    archive: File[bytes] | None, manifest: File[bytes] | None, defaults: Defaults, *,
    complete: bool = False, correct_facts: bool = False,
) -> StoredImport:  # fmt: skip
    """Keep the files of an import that may begin later, once its columns are known."""
    named = archive or manifest
    assert named is not None
    return StoredImport(
        name=str(named.name),
        manifest_name=str(manifest.name) if manifest else "",
        archive=_store_upload(archive) if archive else "",
        manifest=_store_upload(manifest) if manifest else "",
        defaults=asdict(defaults),
        complete=complete,
        correct_facts=correct_facts,
    )


def start_stored(stage: Stage, actor: User, files: StoredImport, table: MappedTable | None = None) -> Job:
    """Queue the import of files that are kept. `table`: what the columns of the manifest are, if they are not ours."""
    params = {name: value for name, value in asdict(files).items() if name not in ("name", "manifest_name")}
    params |= table.to_params() if table else {}
    return _start(stage, actor, _("Import of %(file)s") % {"file": files.name}, params, inline=False)


def earlier_mapping(stage: Stage, columns: Sequence[str]) -> dict[str, Any] | None:
    """The mapping that a table with the same columns was last imported with, in this benchmark."""
    rows = Job.objects.filter(kind=KIND, scope=stage.benchmark.scope, params__columns=list(columns))
    return rows.order_by("-pk").values_list("params__mapping", flat=True).first()


def start_path(
    stage: Stage, actor: User | None, *, path: Path, manifest: Path | None, defaults: Defaults, complete: bool = False
) -> Job:
    """For the command line only: no page may name a path on the server. The caller runs the job."""
    params = {
        "path": str(path.resolve()),
        "manifest_path": str(manifest.resolve()) if manifest else "",
        "defaults": asdict(defaults),
        "complete": complete,
    }
    return _start(stage, actor, _("Import of %(file)s") % {"file": path.name}, params, inline=True)


def run(work: JobContext) -> None:
    stage = Stage.objects.select_related("benchmark__team").get(pk=work.params["stage"])
    try:
        if work.job.total is None or work.job.done < work.job.total:
            with _source(work, stage) as source:
                if work.job.total is None:
                    _measure(work, source)
                _import_rows(work, stage, source)
        if stage.pictures == "set":
            _arrange_near_duplicates(work, stage)
    except SourceProblem as problem:
        raise JobFailed(str(problem)) from problem
    except FileNotFoundError as error:
        raise JobFailed(_("The file is no longer there. Start a new import.")) from error
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise SiteFailure(_("The disk is full. Free some space, then resume.")) from error
        raise
    counts = work.job.result.get("counts", {})
    record(work.job.created_by, "items.imported", scope=work.job.scope, target=stage.key, implied=True, counts=counts)
    item_changes.notify_import_ended()
    _delete_upload(work.job)


def next_link(job: Job) -> NextLink | None:
    stage = Stage.objects.select_related("benchmark").filter(pk=job.params.get("stage")).first()
    if stage is None:
        return None
    if stage.filters:
        address = reverse("benchmarks:filters", args=[stage.benchmark.slug, stage.pk])
        return NextLink(_("View what the filters kept"), address)
    return NextLink(_("View items"), reverse("benchmarks:items", args=[stage.benchmark.slug]))


def form_link(job: Job) -> NextLink | None:
    """To the form of the stage, where a corrected file is imported."""
    stage = Stage.objects.select_related("benchmark").filter(pk=job.params.get("stage")).first()
    if stage is None:
        return None
    address = reverse("benchmarks:import", args=[stage.benchmark.slug], query={"stage": stage.key})
    return NextLink(_("Import a corrected file"), address)


IMPORT = JobKind(
    KIND,
    run,
    next_link,
    form_link=form_link,
    remarks={
        "shares_picture": gettext_lazy("Duplicate picture"),
        "shortened": gettext_lazy("Shortened"),
        "picture_not_used": gettext_lazy("Unused file"),
        "revision": gettext_lazy("Next revision"),
        "fact_corrected": gettext_lazy("Corrected fact"),
    },
)


def _start(stage: Stage, actor: User | None, title: str, params: dict[str, Any], *, inline: bool) -> Job:
    params = {"stage": stage.pk, **params}
    return jobs.start(KIND, title, scope=stage.benchmark.scope, actor=actor, params=params, inline=inline)


def _store_upload(upload: File[bytes]) -> str:
    return storage.keep_upload(upload)


def _delete_upload(job: Job) -> None:
    for name in (job.params.get("archive"), job.params.get("manifest"), job.params.get("pictures")):
        if name:
            default_storage.delete(name)


@contextmanager
def _source(work: JobContext, stage: Stage) -> Iterator[Source]:
    params = work.params
    with ExitStack() as stack:
        files: ZipFiles | FolderFiles | NoFiles | TeamPictures
        path = Path(params["path"]) if params.get("path") else None
        if path and path.is_dir():
            files = FolderFiles(path)
        elif params.get("pictures"):
            files = TeamPictures(stage.benchmark.team, stack.enter_context(storage.open_binary(params["pictures"])))
        elif not path and not params["archive"] and params.get("manifest"):
            files = NoFiles()
        elif not path and not params["archive"]:
            raise SourceProblem(_("The file is no longer there. Start a new import."))
        else:
            opened: BinaryIO = path.open("rb") if path else storage.open_binary(params["archive"])
            files = ZipFiles(stack.enter_context(opened), settings.IMPORT_MAX_BYTES)
        manifest: BinaryIO | None = None
        if params.get("manifest_path"):
            manifest = stack.enter_context(Path(params["manifest_path"]).open("rb"))
        elif params.get("manifest"):
            manifest = stack.enter_context(storage.open_binary(params["manifest"]))
        defaults = Defaults(**params["defaults"])
        yield Source(files, vocabulary_of(stage), defaults, manifest, work.keep_lease, MappedTable.from_params(params))


def _measure(work: JobContext, source: Source) -> None:
    work.expect(source.count())
    others = source.skipped_files()
    if others:
        text = ngettext(
            "%(n)s file is not a picture and was skipped.", "%(n)s files are not pictures and were skipped.", others
        )
        work.note(text % {"n": others})


def _import_rows(work: JobContext, stage: Stage, source: Source) -> None:
    """Pictures are stored row by row, items written step by step: a kill loses at most one step's items."""
    done = work.cursor.get("rows", 0)
    batch: list[PreparedRow] = []
    began, pictures = time.monotonic(), 0
    hashes, time_slice = needs_hashes(stage), TimeSlice(work)
    web = WebPictures(stage, work.beat)
    for row in source.rows(skip=done):
        work.check()
        prepared = _prepare(stage.benchmark.team, source, web, row)
        if hashes and prepared.image is not None:
            store_hash(prepared.image)
        batch.append(prepared)
        pictures += bool(isinstance(row.found, Record) and row.found.file)
        full = len(batch) >= TEXT_STEP_ROWS or pictures >= STEP_ROWS
        if full or time.monotonic() - began > STEP_SECONDS:
            done, batch, began, pictures = _write(work, stage, batch, done), [], time.monotonic(), 0
            time_slice.is_over()
    _write(work, stage, batch, done)


def _arrange_near_duplicates(work: JobContext, stage: Stage) -> None:
    """Lay out the pictures of items whose pictures are not those that were laid out last."""
    items = stage.items.filter(withdrawn_at=None).select_related("stage").annotate(pictures=Count("images"))
    for item in items.iterator(200):
        if is_arranged(item, item.pictures):
            continue
        work.beat()
        try:
            arrange(item)
        except TooManyPictures as problem:
            text = _("“%(key)s” has %(count)s pictures, too many to place similar pictures side by side. Split it.")
            work.note(text % {"key": item.key, "count": problem.count})


def _prepare(team: Team, source: Source, web: WebPictures, row: Row) -> PreparedRow:
    if isinstance(row.found, RowProblem):
        return PreparedRow(row, problem=row.found)
    if not row.found.file:
        return PreparedRow(row)
    try:
        if is_web_address(row.found.file):
            return PreparedRow(row, web.load(row.found.file))
        data = source.read(row.found.file, settings.IMAGE_MAX_BYTES)
        image, _created = store_image(team, data, name=row.found.file.rpartition("/")[2])
    except (RowProblem, ImageRefused) as problem:
        return PreparedRow(row, problem=problem)
    except (DatabaseFailure, OSError, JobCancelled, LeaseLost):
        raise  # of the house, not of the picture
    except Exception:
        log.exception("import: row %s could not be read", row.number)
        message = _("The picture is damaged or ends early. Copy or export it again.")
        return PreparedRow(row, problem=RowProblem("damaged", message))
    return PreparedRow(row, image)


def _write(work: JobContext, stage: Stage, batch: list[PreparedRow], done: int) -> int:
    with transaction.atomic():
        work.step(
            done=done + len(batch),
            cursor={"rows": done + len(batch)},
            rows=import_batch(
                stage,
                batch,
                complete=bool(work.params.get("complete")),
                correct_facts=bool(work.params.get("correct_facts")),
            ),
        )
    return done + len(batch)
