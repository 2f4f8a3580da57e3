"""Reading the files of a release. Whoever does leaves an event."""

from collections.abc import Collection, Iterator
from datetime import timedelta
from typing import BinaryIO

from django.utils import timezone

from benchmarks.services import storage
from jobs.models import Event, record
from people.models import User
from releases.formats.archive import DATED, FileSummary, archive
from releases.models import Release, ReleaseFile, WithheldFile

READ = "release.read"
_BLOCK = 256 * 1024


def is_available(release: Release) -> bool:
    """Whether it is built and not withdrawn."""
    return release.state in (Release.State.READY, Release.State.PUBLISHED)


def open_file(file: ReleaseFile, actor: User) -> BinaryIO:
    _record(file.release, actor)
    return storage.open_binary(file.stored_name)


def open_withheld(file: WithheldFile, actor: User) -> BinaryIO:
    record(actor, "release.withheld_read", scope=file.release.benchmark.scope, target=f"release:{file.release_id}")
    return storage.open_binary(file.stored_name)


def open_archive(release: Release, actor: User, only: Collection[int] = ()) -> tuple[str, Iterator[bytes]]:
    """A file name, and the archive in pieces: the same bytes each time. `only`: some of its files, by id; all without.

    Raises ReleaseFile.DoesNotExist if there is none of these.
    """
    name = f"{release.benchmark.slug}-{release.version}"
    rows = release.files.filter(pk__in=only) if only else release.files.all()
    files = list(rows.order_by("path"))
    if only and not files:
        raise ReleaseFile.DoesNotExist
    _record(release, actor)
    for file in files:
        file.release = release
    members = ((f"{name}/{file.path}", _blocks(file), FileSummary()) for file in files)
    return f"{name}{'-selected' if only else ''}.zip", archive(members, DATED)


def _blocks(file: ReleaseFile) -> Iterator[bytes]:
    with storage.open_binary(file.stored_name) as stored:
        while block := stored.read(_BLOCK):
            yield block


def _record(release: Release, actor: User) -> None:
    """Once in ten minutes: a program that takes file by file would otherwise write an event for each."""
    target, since = f"release:{release.pk}", timezone.now() - timedelta(minutes=10)
    recent = Event.objects.filter(scope=release.benchmark.scope, verb=READ, actor=actor, target=target)
    if not recent.filter(at__gte=since).exists():
        record(actor, READ, scope=release.benchmark.scope, target=target, version=release.version)
