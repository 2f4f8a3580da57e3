"""Uploads in parts: begun, continued after a lost connection, and used by an import within a day."""

from typing import Any

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.urls import reverse
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from api.protocol.operations import operation
from api.protocol.problems import ApiProblem, Conflict, Refused
from api.schemas.imports import NewUpload, UploadSerializer
from api.views.base import BytesView, ResourceView
from jobs.formats.numbers import parse_int
from jobs.services import upload_parts
from jobs.services.upload_parts import PART_BYTES, OffsetMismatch, PartialUpload, PartRefused
from people.models import User

OFFSET = OpenApiParameter(
    "Upload-Offset", OpenApiTypes.INT, OpenApiParameter.HEADER, required=True, description="Where this part begins."
)


class WrongOffset(ApiProblem):
    status, code = 409, "wrong-offset"


class UploadView(ResourceView):
    """Of nobody's benchmark until an import uses it."""

    def _check_benchmark(self, request: Request, slug: str | None) -> None:
        """The import looks at the benchmark."""


class UploadList(UploadView):
    @operation("upload_create", "Begin an upload", scope="write", body=NewUpload, reply=UploadSerializer, status=201)
    def post(self, request: Request) -> Response:
        if not request.user.team_memberships.exists():
            raise PermissionDenied
        size = self.content["size"]
        if size > settings.IMPORT_MAX_BYTES:
            text = _("This file is larger than %(most)s MB. Split it.")
            raise Refused(text % {"most": settings.IMPORT_MAX_BYTES // 1024**2})
        try:
            upload = upload_parts.begin(request.user.pk, size)
        except PartRefused as error:
            raise Conflict(error.message) from error
        headers = {"Location": reverse("api:upload", args=[upload.key]), "Upload-Offset": "0"}
        return Response(upload_json(upload), status=201, headers=headers)


class UploadDetail(BytesView, UploadView):
    @operation("upload", "How much of an upload is here", scope="write", reply=UploadSerializer)
    def get(self, request: Request, upload_key: str) -> Response:
        upload = find_upload(request.user, upload_key)
        return Response(upload_json(upload), headers={"Upload-Offset": str(upload.offset)})

    @operation("upload_part", "Send a part of at most 1 MiB as bytes", scope="write", parameters=(),
               reply=UploadSerializer, matched=False)  # fmt: skip
    def patch(self, request: Request, upload_key: str) -> Response:
        upload = find_upload(request.user, upload_key)
        offset = parse_int(request.headers.get("Upload-Offset", ""), default=None, minimum=0)
        if offset is None:
            raise Refused(_("Send the header Upload-Offset: where this part begins."))
        if len(self.bytes_sent) > PART_BYTES:
            raise Refused(_("A part has at most 1 MiB."))
        try:
            upload_parts.append(upload, offset, self.bytes_sent)
        except OffsetMismatch as error:
            text = _("The upload ends at %(offset)s. Go on from there.") % {"offset": error.offset}
            raise WrongOffset(text, {"Upload-Offset": str(error.offset)}) from error
        except PartRefused as error:
            raise Refused(error.message) from error
        return Response(upload_json(upload), headers={"Upload-Offset": str(upload.offset)})

    @operation("upload_delete", "Discard an upload", scope="write", status=204, matched=False)
    def delete(self, request: Request, upload_key: str) -> Response:
        upload_parts.discard(find_upload(request.user, upload_key))
        return Response(status=204)


def find_upload(user: User, key: str) -> PartialUpload:
    """Raises Http404 for what is another's or gone."""
    upload = upload_parts.find(user.pk, key)
    if upload is None:
        raise Http404
    return upload


def upload_json(upload: PartialUpload) -> dict[str, Any]:
    return {"upload": upload.key, "size": upload.size, "offset": upload.offset, "part_bytes": PART_BYTES}
