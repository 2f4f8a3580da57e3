"""Uploaded files of jobs: deleted when no job can need them any more. So are halves of files that killed programs left.

Every kind of job names its files in its `params`, as texts that begin with "uploads/".
"""

import tempfile
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files.storage import default_storage
from django.db.models import Q, QuerySet

from jobs.models import Job

FOLDER = "uploads"
PARTS = f"{FOLDER}/parts"  # of programs, which no job has used yet
INCOMING = "incoming"  # files on their way into the storage
KEEP = timedelta(days=7)  # after a job failed or was cancelled, it can go on for so long
KEEP_PARTS = timedelta(days=1)
RECEIVED = "*.upload*"  # how Django calls a file while its request runs


def sweep(at: datetime) -> int:
    """Delete the uploads that are older than a week, or a day in parts, and that no job needs; and what a program that
    was killed left a day ago. Returns how many."""
    received = _delete_received(at - KEEP_PARTS)
    stored = [*_iter_stored(FOLDER), *_iter_stored(INCOMING)]
    old = [name for name in stored if _is_older(name, at - _lifetime(name))]
    if not old:
        return received
    deletable = set(old) - _needed_uploads(at - KEEP)
    for name in deletable:
        default_storage.delete(name)
    return len(deletable) + received


def _lifetime(name: str) -> timedelta:
    return KEEP_PARTS if name.startswith((f"{PARTS}/", f"{INCOMING}/")) else KEEP


def _delete_received(before: datetime) -> int:
    """Of requests that were cut off with their process; only where the folder is Emic's own, as in a container."""
    folder, deleted = Path(settings.FILE_UPLOAD_TEMP_DIR or tempfile.gettempdir()), 0
    if not folder.is_relative_to(settings.DATA_DIR):
        return 0
    for path in folder.glob(RECEIVED):
        with suppress(FileNotFoundError):
            if path.stat().st_mtime < before.timestamp():
                path.unlink()
                deleted += 1
    return deleted


def _needed_uploads(since: datetime) -> set[str]:
    """The uploads of jobs that wait or run, and of those that stopped since then and can go on."""
    stopped = Q(state__in=(Job.State.CANCELLED, Job.State.FAILED), finished_at__gte=since)
    return _names_of(Job.objects.filter(Q(state__in=Job.LIVE) | stopped))


def live_uploads() -> set[str]:
    """The uploads of jobs that wait or run."""
    return _names_of(Job.objects.filter(state__in=Job.LIVE))


def _names_of(jobs: QuerySet[Job]) -> set[str]:
    return {name for params in jobs.values_list("params", flat=True).iterator() for name in names_in(params)}


def names_in(value: Any) -> Iterator[str]:
    """The uploads that are named anywhere in the params of a job."""
    if isinstance(value, str) and value.startswith(f"{FOLDER}/"):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from names_in(part)


def _iter_stored(folder: str) -> Iterator[str]:
    try:
        folders, files = default_storage.listdir(folder)
    except FileNotFoundError:
        return
    yield from (f"{folder}/{name}" for name in files)
    for name in folders:
        yield from _iter_stored(f"{folder}/{name}")


def _is_older(name: str, than: datetime) -> bool:
    with suppress(FileNotFoundError):  # somebody else deletes too
        return default_storage.get_modified_time(name) < than
    return False
