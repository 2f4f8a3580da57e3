"""Releases that come back: what one holds, and its import."""

from dataclasses import asdict
from typing import Any

from django.utils.translation import gettext as _
from rest_framework.request import Request
from rest_framework.response import Response

from api.protocol.contents import check_form, form_data, problem
from api.protocol.operations import operation
from api.protocol.preconditions import with_etag
from api.protocol.problems import Refused
from api.schemas.jobs import JobSerializer
from api.schemas.release_imports import NewReleaseImport, ReleaseContents, ReleaseUpload
from api.views.base import ResourceView
from api.views.imports import finished_upload
from api.views.jobs import jobs_json
from benchmarks.access import benchmark_for
from benchmarks.models import Benchmark
from people.access import team_for, visible_teams
from people.models import User
from releases.forms.imports import NEW, ReleaseImportForm
from releases.queries.imported_versions import imported_versions
from releases.services import imports
from releases.services.imports import ImportRefused, ReleasePreview


class ReleaseImportPreview(ResourceView):
    @operation("release_import_preview", "What a release holds", scope="write", body=ReleaseUpload,
               reply=ReleaseContents)  # fmt: skip
    def post(self, request: Request, team: str) -> Response:
        team_for(request.user, team)
        _stored, contents = _contents(request.user, self.content)
        known = imported_versions(request.user, contents.slug, contents.version)
        shown = {name: value for name, value in asdict(contents).items() if name != "manifest_sha256"}
        newer = [{"benchmark": row.benchmark.slug, "version": row.version} for row in known.newer]
        earlier = [benchmark.slug for benchmark in known.earlier]
        return Response({**shown, "later_version_of": earlier, "earlier_version_of": newer})


class ReleaseImportList(ResourceView):
    @operation("release_import_create", "Import a release as a benchmark; the reply is the job", scope="write",
               body=NewReleaseImport, reply=JobSerializer, status=201, needs_key=True)  # fmt: skip
    def post(self, request: Request, team: str) -> Response:
        owner, content = team_for(request.user, team), self.content
        stored, contents = _contents(request.user, content)
        over = benchmark_for(request.user, content["benchmark"], can="work_on") if "benchmark" in content else None
        if over is not None:
            _check_later(over, contents)
        texts = {name: content.get(name, "") for name in ("name", "slug")}
        form = ReleaseImportForm(
            form_data({**texts, "team": owner.pk, "over": over.pk if over else NEW}),
            teams=visible_teams(request.user), preview=contents,
            known=imported_versions(request.user, contents.slug, contents.version),
        )  # fmt: skip
        data = check_form(form)
        try:
            job = imports.start_form(request.user, stored, data, form.over_benchmark)
        except ImportRefused as refusal:
            raise _refused(str(refusal)) from refusal
        return with_etag(request, jobs_json([job])[0], 201)


def _contents(user: User, content: dict[str, Any]) -> tuple[str, ReleasePreview]:
    """The stored file and what it holds. Raises Refused."""
    upload = finished_upload(user, content, "upload")
    if upload is None:
        raise _refused(_("Name the upload that holds the release."))
    try:
        return upload.stored, imports.preview(upload.stored)
    except ImportRefused as refusal:
        raise _refused(str(refusal)) from refusal


def _check_later(over: Benchmark, contents: ReleasePreview) -> None:
    """Raises Refused."""
    try:
        imports.check_later(over, contents)
    except ImportRefused as refusal:
        raise Refused(str(refusal), errors=[problem("/benchmark", "refused", str(refusal))]) from refusal


def _refused(text: str) -> Refused:
    return Refused(text, errors=[problem("/upload", "refused", text)])
