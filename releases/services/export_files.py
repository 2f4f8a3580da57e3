"""Exports for programs: a job writes the archive that the page sends, and the file is kept for a week.

A file that holds answers of somebody who has withdrawn their consent since is not given out.
"""

import hashlib
import uuid
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, BinaryIO

from django.core.files.storage import default_storage
from django.urls import reverse
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _

from annotation.models import Campaign
from benchmarks.models import Benchmark, Stage
from benchmarks.services import storage
from jobs.models import Event, Job, record
from jobs.services import lifecycle
from jobs.services.job_context import JobContext, JobFailed
from jobs.services.kinds import JobKind, NextLink
from jobs.services.lease_keeper import kept_lease
from people.models import User
from releases.queries.withdrawals import has_withdrawn_since
from releases.rows.snapshot import repeatable_read
from releases.services.exports import export
from releases.services.tool_exports import export_for_tool
from releases.writers.registry import BY_KEY

KIND = "export_rows"
FOLDER = "exports"
KEPT = timedelta(days=7)
READ = "export.read"


@dataclass(frozen=True)
class ExportFile:
    """`stored`: its name in the storage; `at`: the moment of its rows."""

    name: str
    stored: str
    bytes: int
    sha256: str
    at: datetime

    @property
    def available_until(self) -> datetime:
        return self.at + KEPT


def start(stage: Stage, campaigns: Sequence[Campaign], form: str, actor: User, *, versions: bool = False) -> Job:
    params = {
        "stage": stage.pk, "key": stage.key, "campaigns": [campaign.pk for campaign in campaigns], "form": form,
        "versions": versions,
    }  # fmt: skip
    title = _("Export of %(stage)s") % {"stage": stage.name}
    return lifecycle.start(KIND, title, scope=stage.benchmark.scope, actor=actor, params=params)


def run(work: JobContext) -> None:
    """Write all rows of one moment. A worker that dies leaves nothing, and the next one begins anew."""
    params, stage = work.params, Stage.objects.select_related("benchmark__team").get(pk=work.params["stage"])
    if work.job.created_by is None:
        raise JobFailed(_("The account that started this export is gone."))
    chosen = Campaign.objects.filter(pk__in=params["campaigns"], stage=stage).order_by("pk")
    stored, sha, at = f"{FOLDER}/{uuid.uuid4().hex}.zip", hashlib.sha256(), timezone.now()

    def hashed(pieces: Iterator[bytes]) -> Iterator[bytes]:
        for piece in pieces:
            lease.check()
            sha.update(piece)
            yield piece

    with kept_lease(work) as lease, repeatable_read():
        campaigns = list(chosen.select_related("sheet_version", "rule_version").prefetch_related("cohorts__cohort"))
        name, pieces = _pieces(stage, campaigns, work, at)
        size = storage.replace(stored, hashed(pieces))
    file = {"name": name, "stored": stored, "bytes": size, "sha256": sha.hexdigest(), "at": at.isoformat()}
    work.remember(file=file)


def _pieces(
    stage: Stage, campaigns: Sequence[Campaign], work: JobContext, at: datetime
) -> tuple[str, Iterator[bytes]]:  # fmt: skip
    """The rows, or the files of another tool."""
    form, actor = work.params["form"], work.job.created_by
    assert actor is not None
    if writer := BY_KEY.get(form):
        return export_for_tool(stage, campaigns, writer, actor, at)
    return export(stage, campaigns, form, actor, at, versions=work.params["versions"])


def next_link(job: Job) -> NextLink | None:
    benchmark, file = _benchmark(job), find_file(job)
    if benchmark is None or file is None:
        return None
    return NextLink(_("Download the export"), reverse("releases:export_file", args=[benchmark.slug, job.pk]))


EXPORT = JobKind(KIND, run, next_link)


def exports_of(benchmark: Benchmark) -> Any:
    return Job.objects.filter(kind=KIND, scope=benchmark.scope)


def find_file(job: Job) -> ExportFile | None:
    """The file of a finished export, while it can be given out."""
    if job.state != Job.State.DONE or not (stored := job.result.get("file")):
        return None
    at = parse_datetime(stored["at"])
    assert at is not None
    file = ExportFile(**{**stored, "at": at})
    if timezone.now() >= file.available_until:
        return None
    benchmark = _benchmark(job)
    params = job.params
    if benchmark is None or has_withdrawn_since(benchmark, params["campaigns"], params["stage"], at):
        return None
    return file if default_storage.exists(file.stored) else None


def open_file(job: Job, file: ExportFile, actor: User) -> BinaryIO:
    """Leaves an event once in ten minutes, for a file may be read in parts."""
    target, since = f"job:{job.pk}", timezone.now() - timedelta(minutes=10)
    recent = Event.objects.filter(scope=job.scope, verb=READ, actor=actor, target=target)
    if not recent.filter(at__gte=since).exists():
        record(actor, READ, scope=job.scope, target=target)
    return storage.open_binary(file.stored)


def delete_old(at: datetime) -> int:
    """Delete the files that are kept no longer; returns how many."""
    try:
        _folders, names = default_storage.listdir(FOLDER)
    except FileNotFoundError:
        return 0
    deleted = 0
    for name in names:
        with suppress(FileNotFoundError):  # another worker deletes, too
            if default_storage.get_modified_time(f"{FOLDER}/{name}") < at - KEPT:
                default_storage.delete(f"{FOLDER}/{name}")
                deleted += 1
    return deleted


def _benchmark(job: Job) -> Benchmark | None:
    return Benchmark.objects.filter(pk=job.scope.partition(":")[2]).first()
