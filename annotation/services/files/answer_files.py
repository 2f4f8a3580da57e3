"""Answers out of a file: a job that takes rows one by one, can be stopped, and gone on with."""

import hashlib
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any, BinaryIO

from django.conf import settings
from django.core.files.base import File
from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import Count
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.imports import source
from annotation.imports.row_groups import AnswerRowGroup, group_long_rows, group_wide_rows
from annotation.models import Annotation, Campaign, CampaignCohort
from annotation.services.files.campaigns import can_create_items
from annotation.services.files.rows import ImportTarget, ParsedAnswer, RowsRejected, look_up, resolve_answer
from annotation.services.files.writing import analyze, write
from annotation.services.sheets.sheet_versions import sheet_of
from benchmarks.imports.problems import RowProblem, SourceProblem
from benchmarks.services import storage
from jobs.models import Job, JobRow, record
from jobs.services import lifecycle as jobs
from jobs.services.job_context import JobContext, JobFailed, SiteFailure
from jobs.services.kinds import JobKind, NextLink
from people.models import Team, User

KIND = "import_answers"
STEP = 500
Outcome = JobRow.Outcome


def start(campaign: Campaign, actor: User, upload: File, *, makes_items: bool = False) -> Job:  # type: ignore[type-arg]
    """Keep the file until the work is done, and queue it. `makes_items`: those that the stage lacks."""
    digest = hashlib.sha256()
    for chunk in upload.chunks():
        digest.update(chunk)
    upload.seek(0)
    name = storage.keep_upload(upload)
    params = {"campaign": campaign.pk, "file": name, "digest": digest.hexdigest(), "makes_items": makes_items}
    title = _("Answers from %(file)s") % {"file": str(upload.name)[:150]}
    return jobs.start(KIND, title, scope=campaign.stage.benchmark.scope, actor=actor, params=params)


def run(work: JobContext) -> None:
    check_not_withdrawn(work)
    place = load_target(work)
    analyze()
    try:
        with _rows(work) as rows:
            long = source.is_long_format(rows)
        if work.job.total is None:
            with _rows(work) as rows:
                work.expect(sum(1 for _row in work.with_heartbeat(rows)))
        with _rows(work) as rows:
            has_target = place.campaign.stage.has_target
            _import_answers(
                work,
                place,
                group_long_rows(rows, place.sheet, has_target, work.beat) if long else group_wide_rows(rows),
            )
    except SourceProblem as problem:
        raise JobFailed(str(problem)) from problem
    except FileNotFoundError as error:
        raise JobFailed(_("The file is no longer there. Start a new import.")) from error
    except sqlite3.OperationalError as error:
        raise SiteFailure(_("The disk is full. Free some space, then resume.")) from error
    counts = work.job.result.get("counts", {})
    _update_summary(work, place)
    scope, target = place.campaign.stage.benchmark.scope, f"campaign:{place.campaign.pk}"
    record(work.job.created_by, "answers.imported", scope=scope, target=target, implied=True, counts=counts)
    default_storage.delete(work.params["file"])


def _update_summary(work: JobContext, place: ImportTarget) -> None:
    """What stands of the file now, for who looks at rows only."""
    rows = Annotation.objects.filter(
        assignment__campaign=place.campaign, live=True, client_key__startswith=place.key("")
    )
    counts = rows.aggregate(
        n=Count("pk"), raters=Count("rater", distinct=True), items=Count("assignment__unit__item", distinct=True)
    )
    if not counts["n"] and work.job.result.get("counts", {}).get(Outcome.ERROR):
        work.note(_("No rows were imported. The reason is shown for each row."))
    else:
        text = _("Current answers from this file: %(n)s, of %(raters)s raters to %(items)s items.")
        work.note(text % counts)


def check_not_withdrawn(work: JobContext) -> None:
    """What was withdrawn half-way would stay so, and the rest would count. Raises JobFailed."""
    if Job.objects.filter(pk=work.job.pk, params__withdrawn=True).exists():
        raise JobFailed(_("The answers imported so far were withdrawn. Import the file again to import all of it."))


def load_target(work: JobContext) -> ImportTarget:
    """The campaign that the job's params name, with what its answers are read by."""
    campaign = Campaign.objects.select_related("stage__benchmark__team", "sheet_version", "rule_version").get(
        pk=work.params["campaign"]
    )
    cohorts = {
        row.cohort.label: row for row in CampaignCohort.objects.filter(campaign=campaign).select_related("cohort")
    }
    makes_items = bool(work.params.get("makes_items"))
    sheet, digest = sheet_of(campaign.sheet_version), work.params["digest"]
    return ImportTarget(campaign, sheet, cohorts, digest, makes_items, work.job.created_by)


def next_link(job: Job) -> NextLink | None:
    campaign = Campaign.objects.select_related("stage__benchmark").filter(pk=job.params.get("campaign")).first()
    if campaign is None:
        return None
    if job.state == Job.State.DONE and {Outcome.CREATED, Outcome.UPDATED} & set(job.result.get("counts", {})):
        return NextLink(_("View results"), reverse("evaluation:agreement", args=[campaign.stage.benchmark.slug]))
    to = reverse("annotation:answers_import", args=[campaign.stage.benchmark.slug, campaign.pk])
    return NextLink(_("Back to the campaign's imports"), to)


IMPORT = JobKind(KIND, run, next_link)


@contextmanager
def _rows(work: JobContext) -> Iterator[Iterator[source.Row]]:
    file: BinaryIO
    with storage.open_binary(work.params["file"]) as file, source.open_rows(file, settings.IMPORT_MAX_BYTES) as found:
        yield source.rows(found)


def _import_answers(work: JobContext, place: ImportTarget, groups: Iterator[AnswerRowGroup]) -> None:
    """Steps end where an answer ends."""
    done, passed, batch, size = work.cursor.get("rows", 0), 0, list[AnswerRowGroup](), 0
    for count, group in enumerate(groups):
        if count % 5000 == 0:
            work.beat()
        passed += len(group.numbers)
        if passed <= done:
            continue
        batch.append(group)
        size += len(group.numbers)
        if size >= STEP:
            _step(work, place, batch, passed)
            if passed < 2 * STEP:
                analyze()
            batch, size = [], 0
    if batch:
        _step(work, place, batch, passed)


def _step(work: JobContext, place: ImportTarget, batch: Sequence[AnswerRowGroup], done: int) -> None:
    work.check()
    with transaction.atomic():
        # Imports into one campaign take turns, and so do those that make raters of one team.
        Team.objects.select_for_update(no_key=True).get(pk=place.team.pk)
        check_not_withdrawn(work)
        place.campaign.refresh_from_db(fields=["state"])
        if place.creates_items and not can_create_items(place.campaign):
            text = _("The campaign is open now, so people would get the items created here. Pause it, then resume.")
            raise JobFailed(text)
        rows = import_batch(place, batch, timezone.now())
        work.step(done=done, cursor={"rows": done}, rows=rows)


def import_batch(place: ImportTarget, batch: Sequence[AnswerRowGroup], now: datetime) -> list[JobRow]:
    """What becomes of some answers, told for each of their rows. Needs a transaction that holds the team's row."""
    ready: list[ParsedAnswer] = []
    report: list[JobRow] = []
    known = look_up(place, batch)
    for group in batch:
        try:
            ready.append(resolve_answer(place, group, known, now))
        except RowsRejected as refused:
            report += report_rejected(group, refused.problems)
    for taken, judged in zip(ready, write(place, ready, now), strict=True):
        report += report_written(taken, *judged)
    return report


def report_rejected(group: AnswerRowGroup, problems: Mapping[int, RowProblem]) -> Iterator[JobRow]:
    """An answer is taken whole or not at all: its other rows say which row is to blame."""
    first = min(problems)
    text = _("Row %(n)s belongs to the same answer and was rejected. Correct that row, and import the file again.")
    because = RowProblem("same_answer", text % {"n": first})
    for number in group.numbers:
        problem = problems.get(number, because)
        yield _line(number, group.row.get("item", ""), Outcome.ERROR, problem.code, problem.message)


def report_written(answer: ParsedAnswer, outcome: str, reason: str, message: str) -> Iterator[JobRow]:
    for number in answer.gathered.numbers:
        if number in answer.gathered.repeated and outcome in (Outcome.CREATED, Outcome.UPDATED):
            yield _line(
                number, answer.item.key, Outcome.UNCHANGED, "repeated", _("An earlier row has the same answer.")
            )
        else:
            yield _line(number, answer.item.key, outcome, reason, message)


def _line(number: int, name: Any, outcome: str, reason: str = "", message: str = "") -> JobRow:
    return JobRow(number=number, name=str(name)[:300], outcome=outcome, reason=reason, message=message)
