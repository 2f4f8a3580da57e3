"""Runs: begun for a file, counted when all of it is in, withdrawn, and brought back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.files.base import File
from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from annotation.imports.rows import model_info_problem
from benchmarks.models import Benchmark
from jobs.models import Job, record
from jobs.services import lifecycle as jobs
from jobs.services.job_context import JobCancelled, JobContext, JobFailed
from people.models import Rater, Team, User
from people.services.raters import add_model_info, model_conflict, models_of
from predictions.backends.contract import CallError
from predictions.models import Collection, Run
from predictions.services.files import uploads

KIND = "import_run"


class FileRunRefused(Exception):
    """What was asked for cannot be done; the message says what to do."""


@dataclass(frozen=True)
class RunFileInfo:
    """What a person says of a run's file."""

    collection: Collection
    model: str
    setting: str
    about: Mapping[str, Any]
    task: str
    query_set: str
    system_prompt: str
    score_kind: str
    some_missing: bool = False


def start(benchmark: Benchmark, actor: User, upload: File[Any], file_info: RunFileInfo) -> Job | None:
    """Queue the import; None when this very file is there already. What is told of the model is added when the run is
    complete. Raises FileRunRefused."""
    digest = uploads.digest_of(upload)
    with transaction.atomic():
        Team.objects.select_for_update(no_key=True).get(pk=benchmark.team_id)
        Collection.objects.select_for_update(no_key=True).get(pk=file_info.collection.pk)  # as its queries are
        model = (file_info.model, file_info.setting)
        rater = models_of(benchmark.team, [model])[model]
        if name := model_conflict(rater.about, file_info.about):
            raise FileRunRefused(model_info_problem(file_info.model, name, rater.about[name], file_info.about[name]))
        if _check_duplicate(_equal_runs(file_info, rater), digest):
            add_model_info(rater, file_info.about, actor, benchmark.scope)
            return None
        run = Run.objects.create(
            benchmark=benchmark,
            rater=rater,
            collection=file_info.collection,
            task=file_info.task,
            query_set=file_info.query_set,
            system_prompt=file_info.system_prompt,
            score_kind=file_info.score_kind,
            options={"some_missing": file_info.some_missing, "about": dict(file_info.about)},
            digest=digest,
            created_by=actor,
        )
        params = {"run": run.pk, "file": uploads.store_upload(upload)}
        title = _("%(model)s from %(file)s") % {"model": file_info.model[:60], "file": str(upload.name)[:120]}
        return jobs.start(KIND, title, scope=benchmark.scope, actor=actor, params=params)


def _equal_runs(told: RunFileInfo, rater: Rater) -> list[Run]:
    """Runs of the same model that were asked the same thing; those that stand first."""
    asked = {name: getattr(told, name) for name in ("collection", "task", "query_set", "system_prompt")}
    return list(Run.objects.filter(rater=rater, **asked).order_by("-complete", "-pk"))


def _check_duplicate(runs: list[Run], digest: str) -> bool:
    """Whether this very file stands. What never came in whole makes room. Raises FileRunRefused."""
    if any(run.complete and run.digest == digest and run.withdrawn_at for run in runs):
        raise FileRunRefused(_("This file was imported before and withdrawn. Restore that run instead."))
    for run in runs:
        if run.withdrawn_at:
            continue
        if run.complete and run.digest == digest:
            return True
        if run.complete:
            text = _("There is a run of this model on the same queries already, of %(day)s. Withdraw it first.")
            raise FileRunRefused(text % {"day": f"{run.created_at:%Y-%m-%d %H:%M}"})
        if Job.objects.filter(kind=KIND, params__run=run.pk, state__in=Job.LIVE).exists():
            raise FileRunRefused(_("A file of the same run is coming in now. Wait for it, or stop it."))
        Run.objects.filter(pk=run.pk).update(withdrawn_at=run.created_at)
    return False


def local_model_job(work: JobContext, runs: QuerySet[Run], do: Callable[[JobContext, Run], None]) -> None:
    """What a job of a model on this machine does to its run, whatever it finds out. Raises JobFailed, JobCancelled."""
    run = runs.get(pk=work.params["run"])
    if run.withdrawn_at or run.complete:
        raise JobFailed(_("This run was withdrawn meanwhile. Start a new one."))
    Run.objects.filter(pk=run.pk).update(state=Run.State.RUNNING)
    try:
        do(work, run)
    except CallError as error:
        Run.objects.filter(pk=run.pk).update(state=Run.State.CANCELLED, stopped_because="model")
        raise JobFailed(error.words) from error
    except JobCancelled:
        Run.objects.filter(pk=run.pk).update(state=Run.State.CANCELLED, stopped_because="person")
        raise


def withdraw(run: Run, actor: User, at: datetime) -> None:
    """Kept whole, and counted nowhere."""
    with transaction.atomic():
        if Run.objects.filter(pk=run.pk, withdrawn_at=None).update(withdrawn_at=at):
            record(actor, "run.withdrawn", scope=run.benchmark.scope, target=f"run:{run.pk}")


def restore(run: Run, actor: User) -> None:
    """Raises FileRunRefused where another has taken its place, or where it never came in whole."""
    if not run.complete:
        raise FileRunRefused(_("The import of this run is incomplete. Import the file again."))
    with transaction.atomic():
        Team.objects.select_for_update(no_key=True).get(pk=run.benchmark.team_id)
        asked = {name: getattr(run, name) for name in ("collection", "rater", "task", "query_set", "system_prompt")}
        if Run.objects.filter(withdrawn_at=None, **asked).exclude(pk=run.pk).exists():
            raise FileRunRefused(_("A newer run has replaced it. Withdraw that run first."))
        if Run.objects.filter(pk=run.pk).exclude(withdrawn_at=None).update(withdrawn_at=None):
            record(actor, "run.brought_back", scope=run.benchmark.scope, target=f"run:{run.pk}")
