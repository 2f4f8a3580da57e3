"""A release from beginning to end: created, built, published, withdrawn; or deleted before it was published."""

import shutil
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from django.core.files.storage import default_storage
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from benchmarks.models import Benchmark
from jobs.models import Job, record
from jobs.services import lifecycle as jobs
from people.models import User
from releases.models import Release, ReleaseFile, ReleaseItem, ReleaseRow, ReleaseSelection, WithheldFile
from releases.queries.publication import publication_errors, publication_warnings
from releases.services.building import KIND
from releases.services.versioning import VersionTooLow, check_new, current_need, published_before, refuse_low


class ReleaseRefused(Exception):
    """What was asked for cannot be done; the message says what to do."""


def create(
    benchmark: Benchmark, actor: User, *, version: str, notes: str, selection: ReleaseSelection, starts: bool = True
) -> Release:
    """Create a release and queue its build, unless `starts` is off: then `build` does. Raises ReleaseRefused."""
    with transaction.atomic():
        Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark.pk)
        parent = _checked(benchmark, version, selection)
        try:
            release = Release.objects.create(
                benchmark=benchmark, version=version, notes=notes, selection=selection.to_json(), created_by=actor,
                parent=parent,
            )  # fmt: skip
        except IntegrityError as error:
            raise ReleaseRefused(_("This version exists already. Choose a higher one.")) from error
        record(actor, "release.created", scope=benchmark.scope, target=f"release:{release.pk}", version=version)
        if starts:
            _start(release, actor)
    return release


def _checked(benchmark: Benchmark, version: str, selection: ReleaseSelection) -> Release | None:
    """The published release before this version, if the version can follow it. Raises ReleaseRefused."""
    if problem := check_new(benchmark, version):
        raise ReleaseRefused(problem)
    parent = published_before(benchmark)
    if parent is not None:
        try:
            refuse_low(version, parent, current_need(benchmark, selection, parent))
        except VersionTooLow as low:
            raise ReleaseRefused(str(low)) from low
    return parent


def build(release: Release, actor: User, *, version: str = "") -> Job:
    """Freeze the rows as they are now and write the files anew, under another version if there is one. Raises
    ReleaseRefused."""
    with transaction.atomic():
        locked = _locked(release)
        if locked.published_at:
            raise ReleaseRefused(_("This release is published. Create the next version instead."))
        if locked.job and locked.job.state in Job.LIVE:
            raise ReleaseRefused(_("This release is being built now. Wait for it, or stop it."))
        if version and version != locked.version:
            _rename(locked, version)
        Release.objects.filter(pk=locked.pk).update(frozen_at=None, state=Release.State.DRAFT)
        return _start(locked, actor)


def _rename(release: Release, version: str) -> None:
    """Raises ReleaseRefused."""
    Benchmark.objects.select_for_update(no_key=True).get(pk=release.benchmark_id)
    if problem := check_new(release.benchmark, version, but=release):
        raise ReleaseRefused(problem)
    Release.objects.filter(pk=release.pk).update(version=version)
    release.version = version


def publish(release: Release, actor: User, *, confirmed: bool, reason: str = "") -> None:
    """Make it final. Warnings must be confirmed with a reason. Raises ReleaseRefused."""
    with transaction.atomic():
        locked = _locked(release)
        if locked.state != Release.State.READY:
            raise ReleaseRefused(_("Only a release that is built and not yet published can be published."))
        if errors := publication_errors(locked):
            raise ReleaseRefused(" ".join(errors))
        warnings = publication_warnings(locked)
        if warnings and not confirmed:
            raise ReleaseRefused(_("Confirm the warnings first."))
        if warnings and not reason.strip():
            raise ReleaseRefused(_("Write why the release is published in spite of the warnings."))
        Release.objects.filter(pk=locked.pk).update(state=Release.State.PUBLISHED, published_at=timezone.now())
        _record(locked, actor, "release.published", confirmed=warnings, reason=reason.strip())


def withdraw(release: Release, actor: User, *, reason: str) -> None:
    """Its page and its manifest stay, its files are deleted. Raises ReleaseRefused."""
    if not reason.strip():
        raise ReleaseRefused(_("Write why it is withdrawn. The reason stays on its page."))
    with transaction.atomic():
        locked = _locked(release)
        if locked.state != Release.State.PUBLISHED:
            raise ReleaseRefused(_("Only a published release can be withdrawn. Delete one that was never published."))
        values = {"withdrawn_at": timezone.now(), "withdrawn_because": reason.strip()}
        Release.objects.filter(pk=locked.pk).update(state=Release.State.WITHDRAWN, **values)
        _record(locked, actor, "release.withdrawn", reason=reason.strip())
        transaction.on_commit(lambda: _delete_files(locked))


def delete(release: Release, actor: User) -> None:
    """One that was never published, with its files. Its version can be used again. Raises ReleaseRefused."""
    with transaction.atomic():
        locked = _locked(release)
        if locked.published_at:
            raise ReleaseRefused(_("A published release cannot be deleted. Withdraw it instead."))
        if locked.job and locked.job.state in Job.LIVE:
            raise ReleaseRefused(_("This release is being built now. Stop the build first."))
        if locked.children.exists():
            raise ReleaseRefused(_("A later release names this one as its predecessor. Delete that one first."))
        _record(locked, actor, "release.deleted")
        names = _stored_names(locked)
        ReleaseFile.objects.filter(release=locked).delete()
        WithheldFile.objects.filter(release=locked).delete()
        ReleaseRow.objects.filter(release=locked)._raw_delete(using="default")
        ReleaseItem.objects.filter(release=locked)._raw_delete(using="default")
        folder = locked.folder
        locked.delete()
        transaction.on_commit(lambda: _delete_stored(folder, names))


def _locked(release: Release) -> Release:
    rows = Release.objects.select_for_update(of=("self",)).select_related("benchmark__team", "job")
    return rows.get(pk=release.pk)


def _start(release: Release, actor: User) -> Job:
    title = _("Release %(version)s") % {"version": release.version}
    params = {"release": release.pk}
    job = jobs.start(KIND, title, scope=release.benchmark.scope, actor=actor, params=params)
    Release.objects.filter(pk=release.pk).update(job=job)
    return job


def _record(release: Release, actor: User, verb: str, **data: Any) -> None:
    scope, target = release.benchmark.scope, f"release:{release.pk}"
    record(actor, verb, scope=scope, target=target, version=release.version, **data)


def _delete_files(release: Release) -> None:
    _delete_stored(release.folder, _stored_names(release))


def _stored_names(release: Release) -> list[str]:
    """Of its files in the storage, also of those that are withheld."""
    files: list[ReleaseFile | WithheldFile] = []
    files += [*release.files.select_related("release"), *release.withheld_files.select_related("release")]
    return [file.stored_name for file in files]


def _delete_stored(folder: str, names: Sequence[str]) -> None:
    for name in names:
        default_storage.delete(name)
    with suppress(NotImplementedError, OSError):  # folders are only where files lie on a disk
        shutil.rmtree(default_storage.path(folder), ignore_errors=True)
