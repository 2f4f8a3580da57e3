"""Exports: the archive of the page, written by a job and kept for a week."""

from typing import Any

from django.http import Http404, HttpResponseBase
from django.urls import reverse
from django.utils.translation import gettext as _
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from api.forms.releases import export_of
from api.protocol.file_replies import AnyTypeRenderer, NoLongerAvailable, ReplyFile, file_response
from api.protocol.operations import PAGING, operation
from api.protocol.paging import page_of
from api.protocol.preconditions import with_etag
from api.protocol.problems import Conflict
from api.schemas.pages import page_of_shape
from api.schemas.releases import ExportSerializer, NewExport
from api.views.base import ResourceView
from benchmarks.access import benchmark_for
from benchmarks.models import Benchmark
from jobs.models import Job
from releases.services import export_files


class ExportList(ResourceView):
    @operation("exports", "Exports and their files", scope="export", parameters=PAGING,
               reply=page_of_shape(ExportSerializer))  # fmt: skip
    def get(self, request: Request, slug: str) -> Response:
        benchmark = benchmark_for(request.user, slug, can="work_on")
        rows = export_files.exports_of(benchmark)
        return page_of(request, rows, "exports", lambda page: [export_json(slug, job) for job in page], benchmark.pk)

    @operation("export_create", "Write the rows of a stage into an archive, which is kept for 7 days", scope="export",
               body=NewExport, reply=ExportSerializer, status=201, needs_key=True)  # fmt: skip
    def post(self, request: Request, slug: str) -> Response:
        form = export_of(benchmark_for(request.user, slug, can="work_on"), self.content)
        data = form.cleaned_data
        job = export_files.start(
            data["stage"], form.campaigns(), data["form"], request.user, versions=bool(data.get("versions"))
        )
        return with_etag(request, export_json(slug, job), 201, reverse("api:export", args=[slug, job.pk]))


class ExportDetail(ResourceView):
    @operation("export", "One export", scope="export", reply=ExportSerializer)
    def get(self, request: Request, slug: str, job_id: int) -> Response:
        return with_etag(
            request, export_json(slug, find_export(benchmark_for(request.user, slug, can="work_on"), job_id))
        )


class ExportFileView(ResourceView):
    renderer_classes = [JSONRenderer, AnyTypeRenderer]

    @operation("export_file", "The archive; `Range` asks for a part of it", scope="export",
               media_type="application/zip", more_problems=(409, 410, 416))  # fmt: skip
    def get(self, request: Request, slug: str, job_id: int) -> HttpResponseBase:
        job = find_export(benchmark_for(request.user, slug, can="work_on"), job_id)
        if job.state != Job.State.DONE:
            raise Conflict(_("The export is not done yet. Wait for its job."))
        file = export_files.find_file(job)
        if file is None:
            raise NoLongerAvailable(
                _("The file is no longer kept: a week has passed, or somebody withdrew their consent since.")
            )
        return file_response(request, ReplyFile(
            file.name, file.bytes, file.sha256, "application/zip",
            lambda: export_files.open_file(job, file, request.user),
        ))  # fmt: skip


def find_export(benchmark: Benchmark, job_id: int) -> Job:
    """Raises Http404."""
    job: Job | None = export_files.exports_of(benchmark).filter(pk=job_id).first()
    if job is None:
        raise Http404
    return job


def export_json(slug: str, job: Job) -> dict[str, Any]:
    file = export_files.find_file(job)
    return {
        "id": job.pk,
        "state": job.state,
        "stage": job.params["key"],
        "campaigns": job.params["campaigns"],
        "format": job.params["form"],
        "versions": job.params["versions"],
        "created_at": job.created_at,
        "error": job.error,
        "file": file and {
            **{name: getattr(file, name) for name in ("name", "bytes", "sha256", "available_until")},
            "address": reverse("api:export_file", args=[slug, job.pk]),
        },
    }  # fmt: skip
