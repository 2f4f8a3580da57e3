"""Entries out of a file, row by row. A row is taken whole, with all its pictures, or not at all."""

from __future__ import annotations

import errno
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO

from django.conf import settings
from django.db import Error as DatabaseFailure
from django.db import transaction
from django.urls import reverse
from django.utils.translation import gettext as _

from annotation.imports import source
from annotation.imports.rows import clean
from benchmarks.imports.problems import RowProblem
from benchmarks.imports.sources import FolderFiles, NoFiles, ZipFiles
from benchmarks.models import Image
from benchmarks.services import storage
from benchmarks.services.images import ImageRefused, store_image
from jobs.models import Job, JobRow, record
from jobs.services.job_context import JobContext, SiteFailure, TimeSlice
from jobs.services.kinds import JobKind, NextLink
from people.models import Team
from predictions.imports.knowledge import KnowledgeRow, read
from predictions.models import KnowledgeBase, KnowledgeEntry, KnowledgeImage
from predictions.services.files import uploads
from predictions.services.files.uploads import Outcome, report_row
from predictions.services.knowledge.bases import KIND, is_closed, scope_of

log = logging.getLogger(__name__)
HEADS = ("id", "key")
STEP = 100
MOST_PICTURES = 50  # of a step: reading them takes time, and a step that is killed is done again
Pictures = ZipFiles | FolderFiles | NoFiles


@dataclass(frozen=True)
class PreparedEntry:
    """A row that was read and whose pictures are stored: by name, None where no pictures were sent."""

    number: int
    found: KnowledgeRow | RowProblem
    images: Mapping[str, Image | None]
    name: str = ""  # the entry's key, as far as it could be read


def run(work: JobContext) -> None:
    base = KnowledgeBase.objects.select_related("team").get(pk=work.params["base"])
    try:
        with uploads.job_errors():
            if work.job.total is None:
                with _rows(work) as rows:
                    work.expect(sum(1 for _row in work.with_heartbeat(rows)))
            with _rows(work) as rows, _pictures(work) as pictures:
                _import_rows(work, base, work.with_heartbeat(rows), pictures)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise SiteFailure(_("The disk is full. Free some space, then resume.")) from error
        raise
    counts = work.job.result.get("counts", {})
    record(work.job.created_by, "knowledge.imported", scope=scope_of(base), implied=True, counts=counts)
    for name in ("file", "pictures"):
        if work.params.get(name):
            uploads.delete_file(work.params[name])


def next_link(job: Job) -> NextLink | None:
    base = KnowledgeBase.objects.select_related("team").filter(pk=job.params.get("base")).first()
    if base is None:
        return None
    return NextLink(_("View knowledge base"), reverse("predictions:knowledge_base", args=[base.team.slug, base.pk]))


IMPORT = JobKind(KIND, run, next_link)


@contextmanager
def _rows(work: JobContext) -> Iterator[Iterator[source.Row]]:
    if work.params.get("path"):
        with Path(work.params["path"]).open("rb") as file:
            yield source.rows(file, HEADS)
    else:
        with uploads.rows(work, HEADS) as rows:
            yield rows


@contextmanager
def _pictures(work: JobContext) -> Iterator[Pictures]:
    path = Path(work.params["pictures_path"]) if work.params.get("pictures_path") else None
    with ExitStack() as stack:
        if path and path.is_dir():
            yield FolderFiles(path)
        elif path or work.params.get("pictures"):
            opened: BinaryIO = path.open("rb") if path else storage.open_binary(work.params["pictures"])
            yield ZipFiles(stack.enter_context(opened), settings.IMPORT_MAX_BYTES)
        else:
            yield NoFiles()


def _import_rows(work: JobContext, base: KnowledgeBase, rows: Iterator[source.Row], pictures: Pictures) -> None:
    store = _picture_store(base.team, pictures)
    passed = work.cursor.get("rows", 0)
    batch: list[PreparedEntry] = []
    count = shown = 0
    turn = TimeSlice(work)
    for count, (number, row) in enumerate(rows, start=1):
        if count <= passed:
            continue
        batch.append(_prepare(number, row, store))
        shown += len(batch[-1].images) if not isinstance(pictures, NoFiles) else 0
        if len(batch) >= STEP or shown >= MOST_PICTURES:
            _step(work, base, batch, count)
            batch, shown = [], 0
            turn.is_over()
    if batch:
        _step(work, base, batch, count)


def _picture_store(team: Team, pictures: Pictures) -> Any:
    """A function from a picture's name to its row; pictures of several entries are read once while they are near."""

    @lru_cache(maxsize=256)
    def stored(name: str) -> Image | None:
        if isinstance(pictures, NoFiles):
            return None
        data = pictures.read(name, settings.IMAGE_MAX_BYTES)
        return store_image(team, data, name=name.rpartition("/")[2])[0]

    return stored


def _prepare(number: int, row: Mapping[str, Any] | RowProblem, store: Any) -> PreparedEntry:
    name = key = ""
    try:
        if isinstance(row, RowProblem):
            raise row
        knowledge_row = read(dict(clean(row)))
        images, key = {}, knowledge_row.key
        for name in knowledge_row.images:
            images[name] = store(name)
        return PreparedEntry(number, knowledge_row, images, key)
    except (RowProblem, ImageRefused) as problem:
        return PreparedEntry(number, _of_picture(name, RowProblem(problem.code, problem.message)), {}, key)
    except (DatabaseFailure, OSError):
        raise  # of the house, not of the picture
    except Exception:
        log.exception("knowledge base: row %s could not be read", number)
        message = _("The picture is damaged or ends early. Copy or export it again.")
        return PreparedEntry(number, _of_picture(name, RowProblem("damaged", message)), {}, key)


def _of_picture(name: str, problem: RowProblem) -> RowProblem:
    return RowProblem(problem.code, f"{name}: {problem.message}") if name else problem


def _step(work: JobContext, base: KnowledgeBase, batch: Sequence[PreparedEntry], done: int) -> None:
    work.check()
    with transaction.atomic():
        KnowledgeBase.objects.select_for_update(no_key=True).get(pk=base.pk)
        work.step(done=done, cursor={"rows": done}, rows=import_batch(base, batch))


def import_batch(base: KnowledgeBase, batch: Sequence[PreparedEntry]) -> list[JobRow]:
    """What becomes of some rows. Needs a transaction that holds the base's row."""
    entries = _EntryBatch(
        base, [prepared_entry.found.key for prepared_entry in batch if isinstance(prepared_entry.found, KnowledgeRow)]
    )
    report = []
    for prepared in batch:
        try:
            if isinstance(prepared.found, RowProblem):
                raise prepared.found
            report.append(report_row(prepared.number, prepared.name, entries.add(prepared.found, prepared.images)))
        except RowProblem as problem:
            report.append(report_row(prepared.number, prepared.name, Outcome.ERROR, problem))
    entries.save()
    return report


class _EntryBatch:
    """Entries a step speaks of, with their pictures: there already, or new."""

    def __init__(self, base: KnowledgeBase, keys: Sequence[str]) -> None:
        self.base, self.closed = base, is_closed(base)
        self.entries = {
            knowledge_entry.key: knowledge_entry
            for knowledge_entry in KnowledgeEntry.objects.filter(base=base, key__in=keys)
        }
        knowledge_images = KnowledgeImage.objects.filter(entry__base=base, entry__key__in=keys).select_related("entry")
        self.images = {
            (knowledge_image.entry.key, knowledge_image.name): knowledge_image for knowledge_image in knowledge_images
        }
        self.new: list[KnowledgeEntry] = []
        self.new_images: list[KnowledgeImage] = []
        self.filled: list[KnowledgeImage] = []

    def add(self, thing: KnowledgeRow, images: Mapping[str, Image | None]) -> str:
        """What became of it. Raises RowProblem."""
        values = {"lemmas": list(thing.lemmas), "gloss": thing.gloss, "title": thing.title, "text": thing.text}
        entry = self.entries.get(thing.key)
        fresh = entry is None
        if entry is not None and {name: getattr(entry, name) for name in values} != values:
            raise _differing_entry_problem(thing.key)
        more = [name for name in images if (thing.key, name) not in self.images]
        if self.closed and (fresh or more):
            text = _("Images have been linked to this version, so nothing is added to it. Create a new version.")
            raise RowProblem("closed", text)
        filled = [(self.images[thing.key, name], image) for name, image in images.items() if name not in more and image]
        changed = [(row, image) for row, image in filled if row.sha256 != image.sha256]
        if any(row.sha256 for row, _image in changed):
            raise _differing_entry_problem(thing.key)
        if entry is None:
            entry = self.entries[thing.key] = KnowledgeEntry(
                base=self.base, key=thing.key, language=thing.language, **values
            )
            self.new.append(entry)
        for name in more:
            self._picture(entry, name, images[name])
        for row, image in changed:
            row.image, row.sha256 = image, image.sha256
            self.filled.append(row)
        return Outcome.CREATED if fresh else Outcome.UPDATED if more or changed else Outcome.UNCHANGED

    def _picture(self, entry: KnowledgeEntry, name: str, image: Image | None) -> None:
        row = KnowledgeImage(entry=entry, name=name, image=image, sha256=image.sha256 if image else "")
        self.images[entry.key, name] = row
        self.new_images.append(row)

    def save(self) -> None:
        KnowledgeEntry.objects.bulk_create(self.new)
        for row in self.new_images:
            row.entry_id = row.entry.pk
        KnowledgeImage.objects.bulk_create(self.new_images)
        KnowledgeImage.objects.bulk_update([row for row in self.filled if row.pk], ["image", "sha256"])


def _differing_entry_problem(key: str) -> RowProblem:
    text = _("“%(key)s” already exists with different values. Create a new version of the knowledge base.")
    return RowProblem("differs", text % {"key": key})
