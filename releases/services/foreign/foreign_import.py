"""Importing the files of another tool: a job that takes items and answers row by row, and can be stopped."""

from __future__ import annotations

import hashlib
import json
import logging
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from django.conf import settings
from django.core.files.storage import default_storage
from django.db import Error as DatabaseFailure
from django.db import transaction
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.models import Campaign
from annotation.services.files import withdrawals
from annotation.services.files.answer_files import check_not_withdrawn, load_target
from annotation.services.files.rows import ImportTarget
from annotation.services.files.writing import analyze
from benchmarks.imports.problems import RowProblem, SourceProblem
from benchmarks.imports.records import LENGTHS, Defaults, Row, from_manifest
from benchmarks.imports.sources import ZipFiles
from benchmarks.imports.vocabulary import Vocabulary, vocabulary_of
from benchmarks.models import Item, Stage
from benchmarks.services import item_changes, storage
from benchmarks.services.images import ImageRefused, TeamPictures
from benchmarks.services.intake.picture_hashes import needs_hashes, store_hash
from benchmarks.services.intake.web_pictures import WebPictures
from benchmarks.services.row_import import PreparedRow, import_batch
from jobs.models import Job, JobRow, record
from jobs.services import lifecycle as jobs
from jobs.services.job_context import JobCancelled, JobContext, JobFailed, LeaseLost, SiteFailure
from jobs.services.kinds import JobKind, NextLink
from people.models import Team, User
from releases.foreign.contract import (
    ForeignAnswer,
    ForeignFile,
    ForeignItem,
    ForeignMapping,
    ForeignProblem,
    ForeignRater,
    ForeignRecord,
)
from releases.foreign.registry import reader_for
from releases.foreign.uploaded_files import foreign_files, whole_files, with_pulse
from releases.services.foreign.foreign_answers import LEFT_OUT, import_answers
from releases.services.foreign.foreign_pictures import PictureFinder

log = logging.getLogger(__name__)
KIND = withdrawals.KINDS[1]
STEP_RECORDS, STEP_PICTURES = 300, 25
MOST_ITEMS = 1_000_000
Outcome = JobRow.Outcome
NumberedRecord = tuple[int, ForeignRecord]


@dataclass(frozen=True)
class StoredForeign:
    """Uploads that are kept: names for people and in the storage. `pictures`: a zip. `listed`: a JSON object from path
    to SHA-256 of pictures that the team has."""

    files: tuple[tuple[str, str], ...]
    pictures: str = ""
    listed: str = ""

    def open_files(self, pulse: Callable[[], None] = lambda: None) -> list[ForeignFile]:
        """`pulse` is called while they are read. Raises SourceProblem."""
        openers = [(name, lambda stored=stored: storage.open_binary(stored)) for name, stored in self.files]
        return [with_pulse(file, pulse) for file in foreign_files(openers, settings.IMPORT_MAX_BYTES)]


def start(
    stage: Stage, campaign: Campaign | None, actor: User, stored: StoredForeign, mapping: ForeignMapping, cohort: str
) -> Job:
    """Queue the import of kept files. Without a campaign only items are imported. `cohort`: whose answers these are."""
    params: dict[str, Any] = {
        "stage": stage.pk, "campaign": campaign.pk if campaign else 0, "files": [list(pair) for pair in stored.files],
        "pictures": stored.pictures, "listed": stored.listed, "mapping": mapping.to_json(), "cohort": cohort,
        "digest": _digest(stored, mapping, cohort),
    }  # fmt: skip
    title = _("Import of %(file)s") % {"file": ", ".join(name for name, _stored in stored.files)[:150]}
    return jobs.start(KIND, title, scope=stage.benchmark.scope, actor=actor, params=params)


def _digest(stored: StoredForeign, mapping: ForeignMapping, cohort: str) -> str:
    """Of the files and of how they are read: the same once more adds nothing."""
    digest = hashlib.sha256(json.dumps([mapping.to_json(), cohort], sort_keys=True).encode())
    for _name, name in stored.files:
        with storage.open_binary(name) as file:
            while block := file.read(1024 * 1024):
                digest.update(block)
    return digest.hexdigest()


def run(work: JobContext) -> None:
    stage = Stage.objects.select_related("benchmark__team").get(pk=work.params["stage"])
    place = load_target(work) if work.params["campaign"] else None
    mapping = ForeignMapping.from_json(work.params["mapping"])
    try:
        if place:
            check_not_withdrawn(work)
            analyze()
        stored = _stored(work)
        files, damaged = whole_files(stored.open_files(work.keep_lease))
        reader = reader_for(files, mapping.tool)
        if work.job.total is None:
            work.expect(_count(work, reader.read(files, mapping), reader.name) + len(damaged))
        with _pictures(stage, stored, WebPictures(stage, work.beat)) as pictures:
            rows = chain(damaged, reader.read(files, mapping))
            ForeignImport(work, stage, place, mapping, pictures, vocabulary_of(stage)).run(rows)
    except SourceProblem as problem:
        raise JobFailed(str(problem)) from problem
    except FileNotFoundError as error:
        raise JobFailed(_("The file is no longer there. Start a new import.")) from error
    except sqlite3.OperationalError as error:
        raise SiteFailure(_("The disk is full. Free some space, then resume.")) from error
    _finish(work, reader.program(files).name or reader.name)
    item_changes.notify_import_ended()
    for name in (*(stored for _name, stored in work.params["files"]), work.params["pictures"], work.params["listed"]):
        if name:
            default_storage.delete(name)


def _count(work: JobContext, rows: Iterator[ForeignRecord], tool: str) -> int:
    """Raises SourceProblem where there is none: files of which nothing is read are other files than was thought."""
    count = sum(1 for row in work.with_heartbeat(rows) if not isinstance(row, ForeignRater))
    if not count:
        raise SourceProblem(_("No row of %(tool)s was read in these files. Choose the files again.") % {"tool": tool})
    return count


def _stored(work: JobContext) -> StoredForeign:
    params = work.params
    return StoredForeign(tuple((name, file) for name, file in params["files"]), params["pictures"], params["listed"])


@contextmanager
def _pictures(stage: Stage, stored: StoredForeign, web: WebPictures) -> Iterator[PictureFinder]:
    """Those of the zip with pictures, of the tool's own zips, and of the list of the team's. Raises SourceProblem."""
    with ExitStack() as stack:
        sources: list[Any] = []
        for name in (stored.pictures, *(file for _name, file in stored.files)):
            stream = stack.enter_context(storage.open_binary(name)) if name else None
            if stream and stream.read(4) == b"PK\x03\x04":
                sources.append(ZipFiles(stream, settings.IMPORT_MAX_BYTES))
        if stored.listed:
            listed = stack.enter_context(storage.open_binary(stored.listed))
            sources.append(TeamPictures(stage.benchmark.team, listed))
        yield PictureFinder(stage.benchmark.team, sources, web)


def _finish(work: JobContext, program: str) -> None:
    counts, left_out = work.job.result.get("counts", {}), work.cursor.get("left_out", {})
    work.note(_("Written by: %(program)s.") % {"program": program})
    if left_out:
        parts = ", ".join(f"{kind} ({count})" for kind, count in sorted(left_out.items()))
        work.note(_("Without a place here: %(parts)s.") % {"parts": parts})
    target = f"campaign:{work.params['campaign']}" if work.params["campaign"] else f"stage:{work.params['stage']}"
    scope = work.job.scope
    record(work.job.created_by, "foreign.imported", scope=scope, target=target, implied=True, counts=counts)


@dataclass
class ForeignImport:
    """The work of one run. `seen`: the items that came already, since tools name them again with every answer."""

    work: JobContext
    stage: Stage
    place: ImportTarget | None
    mapping: ForeignMapping
    pictures: PictureFinder
    words: Vocabulary
    seen: set[int] = field(default_factory=set)

    def run(self, rows: Iterator[ForeignRecord]) -> None:
        """Steps of bounded size; a stop loses at most one of them."""
        done, pictures = self.work.cursor.get("records", 0), 0
        batch: list[NumberedRecord] = []
        number = done
        for number, row in enumerate((row for row in rows if not isinstance(row, ForeignRater)), start=1):
            if number % 500 == 0:
                self.work.keep_lease()
            repeated = isinstance(row, ForeignItem) and not self._is_new(row.key)
            if number <= done or repeated:
                continue
            batch.append((number, row))
            pictures += isinstance(row, ForeignItem) and bool(row.picture)
            if len(batch) >= STEP_RECORDS or pictures >= STEP_PICTURES:
                self._step(batch, number)
                batch, pictures = [], 0
        if batch or number > done:
            self._step(batch, number)

    def _is_new(self, key: str) -> bool:
        mark = hash(key)
        if mark in self.seen:
            return False
        if len(self.seen) >= MOST_ITEMS:
            raise SourceProblem(_("The files name more than a million items. Split them."))
        self.seen.add(mark)
        return True

    def _step(self, batch: Sequence[NumberedRecord], done: int) -> None:
        self.work.check()
        items = [(number, row) for number, row in batch if isinstance(row, ForeignItem)]
        known = self._known_items([item.key for _number, item in items])
        prepared = [self._prepare(number, item) for number, item in items if item.key not in known]
        left_out = Counter(self.work.cursor.get("left_out", {}))
        with transaction.atomic():
            Team.objects.select_for_update(no_key=True).get(pk=self.stage.benchmark.team_id)
            rows = import_batch(self.stage, prepared) if prepared else []
            rows += [_existing(number) for number, item in items if item.key in known]
            rows += [_problem(number, row, left_out) for number, row in batch if isinstance(row, ForeignProblem)]
            rows += self._answers(batch, left_out)
            names = {number: _name(row) for number, row in batch}
            for row in rows:
                row.name = names[row.number][:300]
            self.work.step(done=done, cursor={"records": done, "left_out": dict(left_out)}, rows=rows)

    def _known_items(self, keys: Sequence[str]) -> set[str]:
        return set(Item.objects.filter(stage=self.stage, key__in=keys).values_list("key", flat=True)) if keys else set()

    def _answers(self, batch: Sequence[NumberedRecord], left_out: Counter[str]) -> list[JobRow]:
        answers = [(number, row) for number, row in batch if isinstance(row, ForeignAnswer)]
        if self.place is None or not answers:
            return []
        check_not_withdrawn(self.work)
        self.place.campaign.refresh_from_db(fields=["state"])
        report = import_answers(self.place, answers, self.mapping, self.work.params["cohort"], timezone.now())
        left_out.update(report.left_out)
        return report.rows

    def _prepare(self, number: int, item: ForeignItem) -> PreparedRow:
        """The item's row as a manifest would have it; its picture is stored."""
        self.work.keep_lease()
        row = _named_columns(item, self.mapping)
        row |= {"key": item.key, "text": item.text, "file": "picture" if item.picture else ""}
        named = from_manifest(number, row, self.words, Defaults())
        if isinstance(named.found, RowProblem):
            return PreparedRow(named, problem=named.found)
        if not item.picture or not named.found.file:
            return PreparedRow(named)
        try:
            name, image = self.pictures.load(item.picture, item.content)
            if needs_hashes(self.stage):
                store_hash(image)
        except (RowProblem, ImageRefused) as problem:
            return PreparedRow(named, problem=problem)
        except (DatabaseFailure, OSError, JobCancelled, LeaseLost):
            raise  # of the site or the job, not of the picture
        except Exception:
            log.exception("import: record %s could not be read", number)
            message = _("The picture is damaged or ends early. Copy or export it again.")
            return PreparedRow(named, problem=RowProblem("damaged", message))
        differs = item.size and item.size != (image.width, image.height)
        if differs and item.size:
            return PreparedRow(named, problem=_size_problem(item.size, (image.width, image.height)))
        return PreparedRow(Row(number, named.name, replace(named.found, file=name[-500:])), image)


def _named_columns(item: ForeignItem, mapping: ForeignMapping) -> dict[str, Any]:
    """An item's further columns by the names of a manifest. One that stays with the item and has such a name by chance,
    as `text` beside a title that is shown, is called `text_`: else it would be taken for that, or be replaced by it."""
    columns = {name: value for name, value in item.context.items() if name not in mapping.dropped}
    row = {}
    for name, value in columns.items():
        own_name = name
        while own_name in LENGTHS or (own_name != name and own_name in columns):
            own_name += "_"
        row[mapping.roles.get(name) or own_name] = value
    return row


def _size_problem(size: tuple[int, int], stored: tuple[int, int]) -> RowProblem:
    text = _("The file says the picture is %(file)s pixels, and it is %(picture)s.")
    values = {"file": f"{size[0]} × {size[1]}", "picture": f"{stored[0]} × {stored[1]}"}
    return RowProblem("size_differs", text % values)


def _existing(number: int) -> JobRow:
    return JobRow(number=number, name="", outcome=Outcome.UNCHANGED)


def _problem(number: int, problem: ForeignProblem, left_out: Counter[str]) -> JobRow:
    if problem.left_out:
        left_out[problem.left_out] += 1
    return JobRow(number=number, name="", outcome=Outcome.ERROR, reason=problem.code[:40], message=problem.message)


def _name(row: ForeignRecord) -> str:
    """How the report names a record: the file, the row in it, and what it is about."""
    place = _("%(file)s, row %(row)s") % {"file": row.file, "row": row.row} if row.row else row.file
    about = row.key if isinstance(row, ForeignItem) else ""
    if isinstance(row, ForeignAnswer):
        about = f"{row.item} ({row.rater})" if row.rater else row.item
    return f"{place}: {about}" if about else place


def next_link(job: Job) -> NextLink | None:
    """To the numbers, where answers came in; else to the items."""
    stage = Stage.objects.select_related("benchmark").filter(pk=job.params.get("stage")).first()
    if stage is None:
        return None
    slug = stage.benchmark.slug
    if job.params.get("campaign") and job.result.get("counts", {}).get(Outcome.CREATED):
        return NextLink(_("View results"), reverse("evaluation:agreement", args=[slug]))
    return NextLink(_("View items"), reverse("benchmarks:items", args=[slug]))


IMPORT = JobKind(
    KIND,
    run,
    next_link,
    remarks={
        LEFT_OUT: gettext_lazy("Taken in part"),
        "skip": gettext_lazy("Skipped there"),
        "shares_picture": gettext_lazy("Duplicate picture"),
        "shortened": gettext_lazy("Shortened"),
        "picture_not_used": gettext_lazy("Unused file"),
    },
)
