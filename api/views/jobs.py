"""Long work: how far it is, awaited, stopped and resumed, and what became of each row."""

import threading
import time
from typing import Any

from django.db import connection
from django.http import Http404
from django.urls import reverse
from django.utils.translation import gettext as _
from rest_framework.request import Request
from rest_framework.response import Response

from api.protocol.authentication import allowed_benchmarks
from api.protocol.operations import PAGING, operation, query_parameter
from api.protocol.paging import page_of
from api.protocol.preconditions import with_etag
from api.protocol.problems import Conflict, InvalidParameter
from api.schemas.jobs import JobRowSerializer, JobSerializer
from api.schemas.pages import page_of_shape
from api.views.base import ResourceView
from benchmarks.access import visible_benchmarks
from benchmarks.models import Benchmark
from jobs.access import job_for
from jobs.formats.numbers import parse_int
from jobs.models import Job, JobRow
from jobs.pages.progress import summary
from jobs.services import lifecycle
from people.access import visible_teams
from people.models import Team, User

MOST_SECONDS = 30
LOOK_SECONDS = 0.3
WAITING = threading.BoundedSemaphore(2)
"""Requests of this process that wait for a job. Whoever finds no room is answered at once."""
FILTERS = (
    query_parameter("benchmark", "Slug of a benchmark."),
    query_parameter("team", "Slug of a team: its own jobs, not those of its benchmarks."),
    query_parameter("kind", "Such as import_items."),
    query_parameter("state", "queued, running, done, cancelled or failed."),
)
WAIT = query_parameter("wait", "Seconds to wait for its end, 1 to 30; fewer while many wait.", number=True)
OUTCOME = query_parameter("outcome", "created, unchanged, updated or error.")


class JobView(ResourceView):
    """A job is of a benchmark or a team: a token for chosen benchmarks opens those of its benchmarks."""

    def _check_benchmark(self, request: Request, slug: str | None) -> None:
        """It is no part of the address: `find_job` looks at the job."""

    def find_job(self, job_id: int, *, change: bool = False) -> Job:
        """Raises Http404."""
        job, _place = job_for(self.request.user, job_id, change=change)
        chosen = allowed_benchmarks(self.request)
        if chosen is not None and job.scope not in {f"benchmark:{pk}" for pk in chosen}:
            raise Http404
        return job


class JobList(JobView):
    @operation("jobs", "Jobs of your benchmarks and teams", parameters=(*PAGING, *FILTERS),
               reply=page_of_shape(JobSerializer))  # fmt: skip
    def get(self, request: Request) -> Response:
        rows = Job.objects.filter(scope__in=_scopes(request.user, allowed_benchmarks(request)))
        if slug := request.query_params.get("benchmark"):
            pk = Benchmark.objects.filter(slug=slug).values_list("pk", flat=True).first()
            rows = rows.filter(scope=f"benchmark:{pk}")
        if slug := request.query_params.get("team"):
            pk = Team.objects.filter(slug=slug).values_list("pk", flat=True).first()
            rows = rows.filter(scope=f"team:{pk}")
        if kind := request.query_params.get("kind"):
            rows = rows.filter(kind=kind)
        if state := request.query_params.get("state"):
            if state not in Job.State.values:
                raise InvalidParameter("state", _("There are: %(names)s.") % {"names": ", ".join(Job.State.values)})
            rows = rows.filter(state=state)
        return page_of(request, rows, "jobs", jobs_json, request.user.pk)


def _scopes(user: User, chosen: set[int] | None) -> list[str]:
    benchmarks = visible_benchmarks(user).values_list("pk", flat=True)
    if chosen is not None:
        return [f"benchmark:{pk}" for pk in benchmarks if pk in chosen]
    teams = visible_teams(user).values_list("pk", flat=True)
    return [*(f"benchmark:{pk}" for pk in benchmarks), *(f"team:{pk}" for pk in teams)]


class JobDetail(JobView):
    @operation("job", "One job; with `wait` it is awaited", parameters=(WAIT,), reply=JobSerializer)
    def get(self, request: Request, job_id: int) -> Response:
        job = self.find_job(job_id)
        if (text := request.query_params.get("wait")) is not None:
            seconds = parse_int(text, default=None, minimum=1, maximum=MOST_SECONDS)
            if seconds is None:
                raise InvalidParameter("wait", _("Wait 1 to %(most)s seconds.") % {"most": MOST_SECONDS})
            await_end(job, seconds)
        return with_etag(request, jobs_json([job])[0])


def await_end(job: Job, seconds: float) -> None:
    """Until the job is over or the time is. Meanwhile no connection to the database is held."""
    if job.state not in Job.LIVE or not WAITING.acquire(blocking=False):
        return
    try:
        until = time.monotonic() + seconds
        while job.state in Job.LIVE and (left := until - time.monotonic()) > 0:
            if not connection.in_atomic_block:
                connection.close()
            time.sleep(min(LOOK_SECONDS, left))
            job.refresh_from_db()
    finally:
        WAITING.release()


class JobCancel(JobView):
    @operation("job_cancel", "Stop a job; what is done stays", scope="write", reply=JobSerializer)
    def post(self, request: Request, job_id: int) -> Response:
        job = self.find_job(job_id, change=True)
        lifecycle.request_cancel(job, request.user)
        job.refresh_from_db()
        return with_etag(request, jobs_json([job])[0])


class JobResume(JobView):
    @operation("job_resume", "Go on where a job stopped", scope="write", reply=JobSerializer)
    def post(self, request: Request, job_id: int) -> Response:
        job = self.find_job(job_id, change=True)
        try:
            lifecycle.resume(job, request.user)
        except lifecycle.CannotResume as error:
            raise Conflict(_("There is nothing to resume. The job is running or done.")) from error
        job.refresh_from_db()
        return with_etag(request, jobs_json([job])[0])


class JobRows(JobView):
    @operation("job_rows", "What became of each row", parameters=(*PAGING, OUTCOME),
               reply=page_of_shape(JobRowSerializer))  # fmt: skip
    def get(self, request: Request, job_id: int) -> Response:
        rows = JobRow.objects.filter(job=self.find_job(job_id))
        if outcome := request.query_params.get("outcome"):
            if outcome not in JobRow.Outcome.values:
                names = ", ".join(JobRow.Outcome.values)
                raise InvalidParameter("outcome", _("There are: %(names)s.") % {"names": names})
            rows = rows.filter(outcome=outcome)
        return page_of(request, rows, "job_rows", _rows_json, job_id)


def _rows_json(rows: list[JobRow]) -> list[dict[str, Any]]:
    names = ("number", "name", "outcome", "reason", "message")
    return [{name: getattr(row, name) for name in names} for row in rows]


def jobs_json(jobs: list[Job]) -> list[dict[str, Any]]:
    scopes = {job.scope for job in jobs if job.scope.startswith("benchmark:")}
    pks = [int(scope.partition(":")[2]) for scope in scopes]
    slugs = {f"benchmark:{pk}": slug for pk, slug in Benchmark.objects.filter(pk__in=pks).values_list("pk", "slug")}
    pks = [int(job.scope.partition(":")[2]) for job in jobs if job.scope.startswith("team:")]
    teams = {f"team:{pk}": slug for pk, slug in Team.objects.filter(pk__in=pks).values_list("pk", "slug")}
    return [_job_json(job, slugs.get(job.scope), teams.get(job.scope)) for job in jobs]


def _job_json(job: Job, benchmark: str | None, team: str | None) -> dict[str, Any]:
    names = ("kind", "title", "state", "done", "total", "error", "created_at", "started_at", "finished_at")
    return {
        "id": job.pk,
        "benchmark": benchmark,
        "team": team,
        **{name: getattr(job, name) for name in names},
        "counts": job.result.get("counts", {}),
        "remarks": job.result.get("remarks", {}),
        "notes": job.result.get("notes", []),
        "summary": summary(job),
        "page": reverse("jobs:job", args=[job.pk]),
    }
