"""Releases: drafted, built, published and withdrawn as on their pages, and their files."""

from dataclasses import asdict
from typing import Any

from django.http import Http404, HttpResponseBase, StreamingHttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from api.forms.releases import IMAGES, release_of
from api.protocol.file_replies import AnyTypeRenderer, NoLongerAvailable, ReplyFile, file_response
from api.protocol.operations import PAGING, operation, query_parameter
from api.protocol.paging import page_of
from api.protocol.preconditions import check_match, with_etag
from api.protocol.problems import Conflict
from api.schemas import releases as shapes
from api.schemas.pages import page_of_shape
from api.views.base import ResourceView
from benchmarks.access import benchmark_for
from benchmarks.models import Benchmark, Stage
from jobs.formats.numbers import parse_id
from people.models import User
from releases.access import release_for, visible_releases
from releases.models import Release
from releases.queries.differences import differences, state_changes
from releases.queries.main_numbers import main_numbers
from releases.queries.needed_version import stored_codebooks, stored_need, version_need
from releases.queries.publication import publication_errors, publication_warnings
from releases.queries.withdrawals import withdrawn_since
from releases.services import downloads
from releases.services import releases as services

TEXTS = ("version", "state", "notes", "manifest_sha256", "withdrawn_because")
TIMES = ("created_at", "frozen_at", "built_at", "published_at", "withdrawn_at")
FROM = query_parameter("from", "Version of the earlier release; without it the published one before it.")
VERSION = query_parameter("version", "The release with this version alone.")


class ReleaseList(ResourceView):
    @operation("releases", "Releases; those who do not work on the benchmark see published ones",
               parameters=(*PAGING, VERSION), reply=page_of_shape(shapes.ReleaseSerializer))  # fmt: skip
    def get(self, request: Request, slug: str) -> Response:
        benchmark = benchmark_for(request.user, slug)
        rows = visible_releases(request.user, benchmark).select_related("parent").defer("facts")
        if version := request.query_params.get("version"):
            rows = rows.filter(version=version)
        return page_of(request, rows, "releases", lambda page: releases_json(benchmark, page), benchmark.pk)

    @operation("release_create", "Create a release as a draft, which waits to be built", scope="write",
               body=shapes.NewRelease, reply=shapes.ReleaseDetailSerializer, status=201, needs_key=True)  # fmt: skip
    def post(self, request: Request, slug: str) -> Response:
        benchmark = benchmark_for(request.user, slug, can="work_on")
        version, notes, selection = release_of(benchmark, self.content)
        release = services.create(
            benchmark, request.user, version=version, notes=notes, selection=selection, starts=False
        )
        return with_etag(
            request, detail_json(request.user, release), 201, reverse("api:release", args=[slug, release.pk])
        )


class ReleaseDetail(ResourceView):
    @operation("release", "One release", reply=shapes.ReleaseDetailSerializer)
    def get(self, request: Request, slug: str, release_id: int) -> Response:
        return with_etag(request, detail_json(request.user, release_for(request.user, slug, release_id)))

    @operation("release_delete", "Delete a release that was never published", scope="write", status=204)
    def delete(self, request: Request, slug: str, release_id: int) -> Response:
        release = release_for(request.user, slug, release_id, can="work_on")
        check_match(request, detail_json(request.user, release))
        services.delete(release, request.user)
        return Response(status=204)


class ReleaseBuild(ResourceView):
    @operation("release_build", "Freeze the rows as they are now and write the files, under a higher version if one is"
               " sent", scope="write", body=shapes.ReleaseBuildRequest, reply=shapes.ReleaseDetailSerializer,
               needs_key=True)  # fmt: skip
    def post(self, request: Request, slug: str, release_id: int) -> Response:
        release = release_for(request.user, slug, release_id, can="work_on")
        services.build(release, request.user, version=self.content.get("version", ""))
        return with_etag(request, detail_json(request.user, release_for(request.user, slug, release_id)))


class ReleasePublish(ResourceView):
    @operation("release_publish", "Make a release final, and readable for all who see the benchmark", scope="admin",
               body=shapes.ReleasePublication, reply=shapes.ReleaseDetailSerializer)  # fmt: skip
    def post(self, request: Request, slug: str, release_id: int) -> Response:
        release = release_for(request.user, slug, release_id, can="own")
        confirmed, reason = self.content.get("confirmed", False), self.content.get("reason", "")
        services.publish(release, request.user, confirmed=confirmed, reason=reason)
        return with_etag(request, detail_json(request.user, release_for(request.user, slug, release_id)))


class ReleaseWithdraw(ResourceView):
    @operation("release_withdraw", "Delete the files of a published release; its manifest and the reason stay",
               scope="admin", body=shapes.ReleaseWithdrawal, reply=shapes.ReleaseDetailSerializer)  # fmt: skip
    def post(self, request: Request, slug: str, release_id: int) -> Response:
        release = release_for(request.user, slug, release_id, can="own")
        services.withdraw(release, request.user, reason=self.content["reason"])
        return with_etag(request, detail_json(request.user, release_for(request.user, slug, release_id)))


class ReleaseDiff(ResourceView):
    @operation("release_diff", "What changed since an earlier release", parameters=(FROM,),
               reply=shapes.ReleaseChanges, more_problems=(409,))  # fmt: skip
    def get(self, request: Request, slug: str, release_id: int) -> Response:
        release = release_for(request.user, slug, release_id)
        earlier = _earlier(request, release)
        if release.frozen_at is None or earlier.frozen_at is None:
            raise Conflict(_("The rows of both releases have to be frozen first. Build them."))
        return with_etag(request, changes_json(release, earlier))


def _earlier(request: Request, release: Release) -> Release:
    """Raises Http404 and Conflict."""
    version = request.query_params.get("from", "")
    rows = visible_releases(request.user, release.benchmark)
    if version:
        earlier = rows.filter(version=version).first() or rows.filter(pk=parse_id(version) or 0).first()
        if earlier is None:
            raise Http404
        return earlier
    earlier = rows.filter(pk=release.parent_id or 0).first()
    if earlier is None:
        raise Conflict(_("Nothing was published before this release."))
    return earlier


class ReleaseFileList(ResourceView):
    @operation("release_files", "The files of a release, with their checksums", reply=shapes.ReleaseFiles)
    def get(self, request: Request, slug: str, release_id: int) -> Response:
        return with_etag(request, files_json(release_for(request.user, slug, release_id)))


class ReleaseFileView(ResourceView):
    renderer_classes = [JSONRenderer, AnyTypeRenderer]

    @operation("release_file", "One file; `Range` asks for a part of it", scope="export",
               media_type="application/octet-stream", more_problems=(409, 410, 416))  # fmt: skip
    def get(self, request: Request, slug: str, release_id: int, file_path: str) -> HttpResponseBase:
        release = available_release(request.user, slug, release_id)
        file = None if "\0" in file_path else release.files.filter(path=file_path).first()
        if file is None:
            raise Http404
        file.release = release
        reply = ReplyFile(
            file.path.replace("/", "-"), file.bytes, file.sha256, file.media_type,
            lambda: downloads.open_file(file, request.user),
        )  # fmt: skip
        return file_response(request, reply)


class ReleaseArchive(ResourceView):
    renderer_classes = [JSONRenderer, AnyTypeRenderer]

    @operation("release_archive", "All files as one zip archive", scope="export", media_type="application/zip",
               more_problems=(409, 410))  # fmt: skip
    def get(self, request: Request, slug: str, release_id: int) -> HttpResponseBase:
        name, pieces = downloads.open_archive(available_release(request.user, slug, release_id), request.user)
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        return StreamingHttpResponse(pieces, content_type="application/zip", headers=headers)


def available_release(user: User, slug: str, release_id: int) -> Release:
    """Whose files can be read. Raises Http404, NoLongerAvailable and Conflict."""
    release = release_for(user, slug, release_id)
    if release.withdrawn_at is not None:
        raise NoLongerAvailable(_("This release is withdrawn. Its files are deleted."))
    if not downloads.is_available(release):
        raise Conflict(_("This release is not built yet."))
    return release


def releases_json(benchmark: Benchmark, releases: list[Release]) -> list[dict[str, Any]]:
    keys = dict(Stage.objects.filter(benchmark=benchmark).values_list("pk", "key"))
    return [_release_json(release, keys) for release in releases]


def _release_json(release: Release, keys: dict[int, str]) -> dict[str, Any]:
    chosen = release.chosen
    images = {choice: word for word, choice in IMAGES.items()}
    return {
        "id": release.pk,
        **{name: getattr(release, name) for name in (*TEXTS, *TIMES)},
        "stages": [keys[pk] for pk in chosen.stages if pk in keys],
        "formats": list(chosen.formats),
        "images": images.get(chosen.pictures, chosen.pictures),
        "versions": chosen.versions,
        "embed": chosen.embed,
        "splits": dict(chosen.splits),
        "group_by": chosen.group_by,
        "seed": chosen.seed,
        "withheld": chosen.withheld,
        "vectors": chosen.vectors,
        "parent": release.parent.version if release.parent else None,
        "job": release.job_id,
        "watermark": release.watermark,
    }


def detail_json(user: User, release: Release) -> dict[str, Any]:
    """With what stands against publishing it, and what has happened to its answers since."""
    release = visible_releases(user, release.benchmark).select_related("parent", "benchmark").get(pk=release.pk)
    is_ready, since = release.state == Release.State.READY, withdrawn_since(release) if release.published_at else None
    return {
        **releases_json(release.benchmark, [release])[0],
        "errors": publication_errors(release) if is_ready else [],
        "warnings": publication_warnings(release) if is_ready else [],
        "withdrawn_since": {"people": since.people, "answers": since.answers} if since else None,
        "rows": release.facts.get("rows", {}),
        "need": need.to_json() if (need := stored_need(release)) else None,
        "files": reverse("api:release_files", args=[release.benchmark.slug, release.pk]),
    }


def files_json(release: Release) -> dict[str, Any]:
    names = ("path", "sha256", "bytes", "rows", "media_type")
    slug = release.benchmark.slug
    return {
        "files": [
            {
                **{name: getattr(file, name) for name in names},
                "address": reverse("api:release_file", args=[slug, release.pk, file.path]),
            }
            for file in release.files.order_by("path")
        ]
    }


def changes_json(release: Release, earlier: Release) -> dict[str, Any]:
    states, columns = state_changes(release, earlier), (earlier.facts.get("columns", {}), release.facts["columns"])
    tables = []
    counted = differences(release, earlier)
    for table in counted:
        before, now = (set(known.get(table.table, ())) for known in columns)
        changes = [{"before": a, "now": b, "rows": rows} for a, b, rows in states.get(table.table, [])]
        tables.append(
            {**vars(table), "states": changes, "columns_added": sorted(now - before),
             "columns_removed": sorted(before - now)}
        )  # fmt: skip
    old, new = (dict(one.files.values_list("path", "sha256")) for one in (earlier, release))
    files = {
        "added": sorted(new.keys() - old.keys()),
        "removed": sorted(old.keys() - new.keys()),
        "changed": sorted(path for path in new.keys() & old.keys() if new[path] != old[path]),
    }
    return {
        "before": earlier.version,
        "now": release.version,
        "need": version_need(release, earlier, counted, stored_codebooks(release)).to_json(),
        "tables": tables,
        "files": files,
        "numbers": [asdict(number) for number in main_numbers(release, earlier)],
    }
