"""The job that judges all items of a stage again, after its filters changed or when hashes were missing."""

from django.db import transaction
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from benchmarks.models import Stage
from benchmarks.services import item_changes
from benchmarks.services.intake import picture_hashes
from benchmarks.services.intake.judging import current_version, judge_items, lock_stage
from jobs.models import Job
from jobs.services import lifecycle as jobs
from jobs.services.job_context import JobContext, TimeSlice
from jobs.services.kinds import JobKind, NextLink
from people.models import User

KIND = "judge_candidates"
STEP = 500


def start(stage: Stage, actor: User | None) -> Job:
    """Queue the job for the current version. Needs the stage's lock."""
    version = current_version(stage)
    title = _("Filters of %(stage)s, version %(number)s") % {"stage": stage.name, "number": version.number}
    params = {"stage": stage.pk, "version": version.number}
    return jobs.start(KIND, title, scope=stage.benchmark.scope, actor=actor, params=params)


def latest_unfinished(stage: Stage) -> Job | None:
    """The newest job of this stage, if it is not done."""
    newest = Job.objects.filter(kind=KIND, scope=stage.benchmark.scope, params__stage=stage.pk).order_by("-pk").first()
    return newest if newest is not None and newest.state != Job.State.DONE else None


def start_if_hashes_are_missing(stage: Stage, item_ids: list[int], actor: User | None = None) -> Job | None:
    """For items that came without a perceptual hash, such as derived ones. Needs the stage's lock."""
    if not item_ids or not picture_hashes.needs_hashes(stage) or not picture_hashes.has_missing_hashes(item_ids):
        return None
    waiting = Job.objects.filter(kind=KIND, state=Job.State.QUEUED, cursor={}, params__stage=stage.pk)
    return None if waiting.exists() else start(stage, actor)


def run(work: JobContext) -> None:
    """Batch by batch. A batch that is judged twice changes nothing, so a stopped job goes on where it was."""
    stage = Stage.objects.get(pk=work.params["stage"])
    items = stage.items.filter(withdrawn_at=None).order_by("pk")
    if work.job.total is None:
        work.expect(items.count())
    time_slice = TimeSlice(work)
    while ids := list(items.filter(pk__gt=work.cursor.get("after", 0)).values_list("pk", flat=True)[:STEP]):
        if not _judge_batch(work, stage, ids):
            return
        work.check()
        time_slice.is_over()
    _finish(work, stage)


def _judge_batch(work: JobContext, stage: Stage, ids: list[int]) -> bool:
    """One transaction; false if the filters were changed again: another job carries out the newer version."""
    stage.refresh_from_db(fields=["filters"])
    if picture_hashes.needs_hashes(stage):
        picture_hashes.store_missing_hashes(ids, work.beat)
    with transaction.atomic():
        locked = lock_stage(stage)
        if current_version(locked).number != work.params["version"]:
            work.note(_("The filters were changed again. Another job judges the items."))
            return False
        changed = work.cursor.get("changed", 0) + len(judge_items(locked, ids))
        work.step(done=work.job.done + len(ids), cursor={"after": ids[-1], "changed": changed})
    return True


def _finish(work: JobContext, stage: Stage) -> None:
    """Later stages that leave one filter out follow results that changed no item's state."""
    first = stage.items.order_by("pk").values_list("pk", flat=True)[:1]
    with transaction.atomic():
        item_changes.notify(stage.pk, list(first))
        n = work.cursor.get("changed", 0)
        text = ngettext("%(n)s item has another state.", "%(n)s items have another state.", n)
        work.note(text % {"n": n})


def next_link(job: Job) -> NextLink | None:
    stage = Stage.objects.select_related("benchmark").filter(pk=job.params.get("stage")).first()
    if stage is None:
        return None
    return NextLink(_("View filters"), reverse("benchmarks:filters", args=[stage.benchmark.slug, stage.pk]))


JUDGE = JobKind(KIND, run, next_link)
