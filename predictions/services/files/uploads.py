"""What both kinds of files have in common: kept until the work is done, read row by row, taken in small steps."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import Any

from django.core.files.base import File
from django.core.files.storage import default_storage
from django.utils.translation import gettext as _

from annotation.imports import source
from benchmarks.imports.problems import RowProblem, SourceProblem
from benchmarks.services import storage
from jobs.models import JobRow
from jobs.services.job_context import JobContext, JobFailed, SiteFailure

Outcome = JobRow.Outcome


def digest_of(upload: File[Any]) -> str:
    """SHA-256; the upload is at its beginning again."""
    digest = hashlib.sha256()
    for chunk in upload.chunks():
        digest.update(chunk)
    upload.seek(0)
    return digest.hexdigest()


def store_upload(upload: File[Any], folder: str = "uploads") -> str:
    return storage.keep_upload(upload, folder)


def delete_stale(folder: str, older: datetime, used: Callable[[list[str]], Collection[str]]) -> None:
    """Forget what was kept in a folder before that time, except what is `used` of it."""
    try:
        names = [f"{folder}/{name}" for name in default_storage.listdir(folder)[1]]
    except FileNotFoundError:
        return
    old = []
    for name in names:
        with suppress(FileNotFoundError):  # somebody else sweeps too
            if default_storage.get_modified_time(name) < older:
                old.append(name)
    for name in set(old) - set(used(old)) if old else ():
        delete_file(name)


def delete_file(name: str) -> None:
    default_storage.delete(name)


@contextmanager
def rows(work: JobContext, needs: Sequence[str]) -> Iterator[Iterator[source.Row]]:
    with storage.open_binary(work.params["file"]) as file:
        if file.read(4) == b"PK\x03\x04":
            raise SourceProblem(_("This is a zip. Unpack it first, and send the file that is in it."))
        file.seek(0)
        yield source.rows(file, needs)


@contextmanager
def job_errors() -> Iterator[None]:
    """What ends a job, in words for the person who started it."""
    try:
        yield
    except SourceProblem as problem:
        raise JobFailed(str(problem)) from problem
    except FileNotFoundError as error:
        raise JobFailed(_("The file is no longer there. Start a new import.")) from error
    except sqlite3.OperationalError as error:
        raise SiteFailure(_("The disk is full. Free some space, then resume.")) from error


def report_row(number: int, name: Any, outcome: str, problem: RowProblem | None = None) -> JobRow:
    code, message = (problem.code, problem.message) if problem else ("", "")
    return JobRow(number=number, name=str(name)[:300], outcome=outcome, reason=code, message=message)
