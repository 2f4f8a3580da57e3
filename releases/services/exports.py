"""Exports leave an event: who took what, and when."""

import json
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.utils.text import slugify

from annotation.models import Campaign
from benchmarks.models import Benchmark, Stage
from jobs.models import Event, record
from people.models import User
from releases.exports.archive_files import ArchiveFile, archive_files
from releases.exports.codebook import codebook, complete_codebook, describe_documents, sheets_of
from releases.exports.document_files import DocumentMember, document_members
from releases.formats.archive import FileSummary, archive

FORMATS = ("csv", "jsonl", "parquet")


def export(
    stage: Stage, campaigns: Sequence[Campaign], form: str, actor: User, at: datetime, *, versions: bool = False
) -> tuple[str, Iterator[bytes]]:
    """A file name and the archive in pieces: the rows, then the codebook with their meaning and number.

    What the codebook needs is read now; the rows are read while the archive is sent. `versions`: with a file of the
    answers that were superseded or taken back.
    """
    if form not in FORMATS:
        raise ValueError(f"form must be one of {', '.join(FORMATS)}, got {form!r}")
    benchmark = stage.benchmark
    ids = [campaign.pk for campaign in campaigns]
    more = {"versions": True} if versions else {}
    record(actor, "ratings.exported", scope=benchmark.scope, target=stage.key, campaigns=ids, form=form, **more)
    name = f"{benchmark.slug}-{_stage_file_name(stage)}-{at:%Y%m%d-%H%M}"
    sheets = [sheet for _version, sheet in sheets_of(campaigns).values()]
    members = archive_files(stage, campaigns, sheets, versions=versions)
    files = {f"{name}/{member.key}.{form}": member for member in members}
    documents = {f"{name}/{one.file.key}.json": one for one in document_members(benchmark, stage.key, ids)}
    book = codebook(stage, campaigns, members, at)
    return f"{name}.zip", _pieces(book, files, documents, form, f"{name}/codebook.json", at)


READ = "rows.read"


def record_reading(benchmark: Benchmark, kind: str, actor: User, at: datetime) -> None:
    """Leave an event once in ten minutes: a program that reads page by page would otherwise write one for each."""
    recent = Event.objects.filter(scope=benchmark.scope, verb=READ, actor=actor, target=kind)
    if not recent.filter(at__gte=at - timedelta(minutes=10)).exists():
        record(actor, READ, scope=benchmark.scope, target=kind)


def _stage_file_name(stage: Stage) -> str:
    """As people call the stage now, in Latin letters; else its key, which never changes."""
    return slugify(stage.name)[:60].strip("-") or stage.key


def _pieces(
    book: dict[str, Any], files: dict[str, ArchiveFile], documents: dict[str, DocumentMember], form: str, name: str,
    at: datetime,
) -> Iterator[bytes]:  # fmt: skip
    def book_lines() -> Iterator[bytes]:
        complete = complete_codebook(book, files)
        if documents:
            complete["documents"] = describe_documents(documents)
        yield json.dumps(complete, ensure_ascii=False, indent=2).encode() + b"\n"

    rows = [(path, archive_file.lines(form), archive_file.written) for path, archive_file in files.items()]
    rows += [(path, member.lines(), member.written) for path, member in documents.items()]
    yield from archive([*rows, (name, book_lines(), FileSummary())], at)
