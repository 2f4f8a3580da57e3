"""Starting the import of a release: what it holds is read at once, the rest is the work of a job."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.core.files.base import File
from django.core.files.storage import default_storage
from django.db import transaction
from django.utils.translation import gettext as _

from benchmarks.imports.problems import SourceProblem
from benchmarks.models import Benchmark
from benchmarks.services import storage
from jobs.models import Job
from jobs.services import lifecycle as jobs
from people.models import Team, User
from releases.imports.files import ReleaseZip
from releases.models import ReleaseImport
from releases.queries.imported_versions import is_earlier, last_import
from releases.services.importing import KIND


class ImportRefused(Exception):
    """The release cannot be imported; the message says what to do."""


@dataclass(frozen=True)
class ReleasePreview:
    """What a release holds, before anything is written. `counts`: rows by kind."""

    name: str
    slug: str
    version: str
    created_on: str
    licence: str
    made_by: str
    counts: dict[str, int]
    pictures: bool
    manifest_sha256: str


def preview(stored: str) -> ReleasePreview:
    """Of a file in the storage. Raises ImportRefused."""
    try:
        with storage.open_binary(stored) as file:
            files = ReleaseZip(file)
            manifest = files.manifest
            return ReleasePreview(
                name=manifest.name, slug=manifest.slug, version=manifest.version, created_on=manifest.created_on,
                licence=manifest.licence, made_by=manifest.made_by, counts=dict(manifest.site),
                pictures=manifest.has_pictures, manifest_sha256=files.manifest_sha256,
            )  # fmt: skip
    except SourceProblem as problem:
        raise ImportRefused(str(problem)) from problem
    except FileNotFoundError as error:
        raise ImportRefused(_("The file is no longer there. Choose it again.")) from error


def keep(file: File[bytes]) -> str:
    """Store the file of an import until it is done."""
    return storage.keep_upload(file)


def discard(stored: str) -> None:
    default_storage.delete(stored)


def start(team: Team, actor: User, stored: str, *, name: str, slug: str) -> Job:
    """A new benchmark of a release. Raises ImportRefused."""
    return _start(team, actor, preview(stored), stored, name=name, slug=slug)


def start_later(benchmark: Benchmark, actor: User, stored: str) -> Job:
    """A later version over the benchmark that an earlier one became. Raises ImportRefused."""
    known = preview(stored)
    check_later(benchmark, known)
    with transaction.atomic():
        Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark.pk)
        if benchmark.release_imports.filter(job__state__in=Job.LIVE).exists():
            raise ImportRefused(_("An import into this benchmark is under way. Wait for it, or stop it."))
        texts = {"name": benchmark.name, "slug": benchmark.slug}
        return _start(benchmark.team, actor, known, stored, benchmark=benchmark, **texts)


def check_later(benchmark: Benchmark, known: ReleasePreview) -> None:
    """Raises ImportRefused where a release is not a later version of what a benchmark was imported from."""
    earlier = last_import(benchmark)
    if earlier is None or earlier.source != known.slug:
        text = _("This benchmark was not imported from a release of “%(slug)s”. Import it as a new benchmark.")
        raise ImportRefused(text % {"slug": known.slug})
    if is_earlier(known.version, earlier):
        text = _("This is version %(version)s, and the benchmark is of %(later)s. Import it as a new benchmark.")
        raise ImportRefused(text % {"version": known.version, "later": earlier.version})


def _start(
    team: Team, actor: User, known: ReleasePreview, stored: str, *, name: str, slug: str,
    benchmark: Benchmark | None = None,
) -> Job:  # fmt: skip
    facts: dict[str, Any] = {"counts": known.counts, "licence": known.licence, "made_by": known.made_by}
    with transaction.atomic():
        row = ReleaseImport.objects.create(
            team=team, benchmark=benchmark, name=name, slug=slug, source=known.slug, version=known.version,
            manifest_sha256=known.manifest_sha256, manifest={**facts, "later": benchmark is not None},
            created_by=actor,
        )  # fmt: skip
        title = _("Import of %(name)s %(version)s") % {"name": known.name, "version": known.version}
        scope = benchmark.scope if benchmark else f"team:{team.pk}"
        job = jobs.start(KIND, title, scope=scope, actor=actor, params={"import": row.pk, "upload": stored})
        ReleaseImport.objects.filter(pk=row.pk).update(job=job)
    return job


def start_form(actor: User, stored: str, data: dict[str, Any], over: Benchmark | None) -> Job:
    """As a form asks for it. Raises ImportRefused."""
    if over is not None:
        return start_later(over, actor, stored)
    return start(data["team"], actor, stored, name=data["name"], slug=data["slug"])
