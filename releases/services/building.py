"""The job that builds a release: rows are frozen at one moment, then each file is written and committed by itself.

A build that was stopped or killed goes on with the file it was at. One that finds a frozen row changed fails, and
the next attempt freezes anew.
"""

import errno
from collections.abc import Iterator

from django.db import transaction
from django.db.models import Sum
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from benchmarks.services import storage
from jobs.models import Job, record
from jobs.services.job_context import JobContext, JobFailed, SiteFailure, TimeSlice
from jobs.services.kinds import JobKind, NextLink
from releases.contents.pictures import PictureMissing
from releases.contents.planned_files import CHECKSUMS, MANIFEST, PlannedFile, planned_files
from releases.contents.tables import release_tables
from releases.formats.archive import FileSummary
from releases.models import Release, ReleaseFile, WithheldFile
from releases.rows.frozen import RowsChanged
from releases.services.freezing import check_surroundings, freeze, lock_for_build, thaw
from releases.services.versioning import VersionTooLow

KIND = "build_release"


def run(work: JobContext) -> None:
    release = Release.objects.select_related("benchmark__team", "parent").filter(pk=work.params["release"]).first()
    if release is None:
        raise JobFailed(_("This release was deleted."))
    try:
        with transaction.atomic():
            frozen_at = lock_for_build(release.pk, work.job.pk).frozen_at
        if frozen_at is None or "described" not in release.facts:  # frozen by an older version
            release = freeze(work, release.pk)
        _write_files(work, release)
    except VersionTooLow as low:
        thaw(release, {"need": low.need.to_json()})
        raise JobFailed(str(low)) from low
    except RowsChanged as change:
        thaw(release)
        text = _("The data changed while the release was being built. Build again: the rows are frozen anew.")
        raise JobFailed(text) from change
    except PictureMissing as problem:
        text = _("The picture of item “%(item)s” cannot be read. Restore the files from a backup, then resume.")
        raise SiteFailure(text % {"item": str(problem)[:100]}) from problem
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise SiteFailure(_("The disk is full. Free some space, then resume.")) from error
        raise


def next_link(job: Job) -> NextLink | None:
    release = Release.objects.select_related("benchmark").filter(pk=job.params.get("release")).first()
    if release is None:
        return None
    return NextLink(_("View the release"), reverse("releases:release", args=[release.benchmark.slug, release.pk]))


BUILD = JobKind(KIND, run, next_link)


def _write_files(work: JobContext, release: Release) -> None:
    """Raises RowsChanged."""
    tables = release_tables(release)
    check_surroundings(release, tables)
    files = planned_files(release, tables)
    written = {*release.files.values_list("path", flat=True), *release.withheld_files.values_list("path", flat=True)}
    work.expect(sum(file.expected + 1 for file in files))
    done, turn = sum(file.expected + 1 for file in files if file.path in written), TimeSlice(work)
    for file in files:
        if file.path in written:
            continue
        turn.is_over()
        if file.path == MANIFEST:
            check_surroundings(release, release_tables(release))
        _write_file(work, release, file, done)
        done += file.expected + 1


def _write_file(work: JobContext, release: Release, file: PlannedFile, done: int) -> None:
    """The bytes first, then the row that says that they are whole."""
    rows_read = 0

    def progress(rows: int) -> None:
        nonlocal rows_read
        rows_read += rows
        work.step(done=done + min(rows_read, file.expected), cursor={})
        work.check()

    work.check()
    pieces, written = file.open(progress)
    model = WithheldFile if file.withheld else ReleaseFile
    stored = model(release=release, path=file.path, media_type=file.media_type)
    stored.bytes = storage.replace(stored.stored_name, _hashed(pieces, written))
    stored.sha256, stored.rows = written.sha.hexdigest(), written.rows if file.has_rows else None
    with transaction.atomic():
        locked = lock_for_build(release.pk, work.job.pk)
        stored.save(force_insert=True)
        if file.path == CHECKSUMS:
            _finish(work, locked)
        work.step(done=done + file.expected + 1, cursor={})


def _hashed(pieces: Iterator[bytes], written: FileSummary) -> Iterator[bytes]:
    for piece in pieces:
        written.sha.update(piece)
        yield piece


def _finish(work: JobContext, release: Release) -> None:
    files = release.files.aggregate(bytes=Sum("bytes"))
    release.state, release.built_at = Release.State.READY, timezone.now()
    release.manifest_sha256 = release.files.get(path=MANIFEST).sha256
    release.save(update_fields=["state", "built_at", "manifest_sha256"])
    data = {"version": release.version, "bytes": files["bytes"], "manifest": release.manifest_sha256}
    target = f"release:{release.pk}"
    record(work.job.created_by, "release.built", scope=work.job.scope, target=target, implied=True, **data)
