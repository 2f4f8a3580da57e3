"""Pictures of a benchmark and its team, by the SHA-256 of their bytes: listed, read as they came, and brought."""

import hashlib
from typing import Any

from django.core.files.storage import default_storage
from django.http import Http404, HttpResponseBase
from django.utils import timezone
from django.utils.translation import gettext as _
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from api.protocol.file_replies import AnyTypeRenderer, ReplyFile, file_response
from api.protocol.operations import PAGING, operation, query_parameter
from api.protocol.paging import page_of
from api.protocol.problems import Refused
from api.schemas.imports import ImageSerializer, MissingImages
from api.schemas.pages import page_of_shape
from api.views.base import BytesView, ResourceView
from benchmarks.access import benchmark_for
from benchmarks.models import Image
from benchmarks.services.images import ImageRefused, store_image
from benchmarks.services.storage import open_binary
from releases.queries.pictures import pictures_of
from releases.services.exports import record_reading

NAMES = ("sha256", "format", "bytes", "width", "height")
STAGE = query_parameter("stage", "Key of a stage.")


class ImageList(ResourceView):
    @operation("images", "Pictures of items and answers of the benchmark", parameters=(*PAGING, STAGE),
               reply=page_of_shape(ImageSerializer))  # fmt: skip
    def get(self, request: Request, slug: str) -> Response:
        benchmark = benchmark_for(request.user, slug, can="work_on")
        rows = pictures_of(benchmark, stage=request.query_params.get("stage", ""))
        return page_of(request, rows, "images", lambda page: [image_json(row) for row in page], benchmark.pk)


class ImagesMissing(ResourceView):
    @operation("images_missing", "Which of these pictures the team does not have", scope="write", body=MissingImages,
               reply=MissingImages)  # fmt: skip
    def post(self, request: Request, slug: str) -> Response:
        team = benchmark_for(request.user, slug, can="work_on").team
        wanted = list(dict.fromkeys(self.content["sha256"]))
        known = Image.objects.filter(team=team, sha256__in=wanted)
        stored = {image.sha256 for image in known if default_storage.exists(image.original_name)}
        return Response({"sha256": [sha for sha in wanted if sha not in stored]})


class ImageBytes(BytesView):
    renderer_classes = [JSONRenderer, AnyTypeRenderer]

    @operation("image", "The bytes of a picture, as they came", scope="export", media_type="image/*")
    def get(self, request: Request, slug: str, sha256: str) -> HttpResponseBase:
        benchmark = benchmark_for(request.user, slug, can="work_on")
        image = pictures_of(benchmark).filter(sha256=sha256).exclude(bytes=0).first()
        if image is None:
            raise Http404
        record_reading(benchmark, "images", request.user, timezone.now())
        form = image.format.lower()
        name, media_type = f"{sha256[:12]}.{form}", f"image/{form}"
        stored = image.original_name
        reply = ReplyFile(name, image.bytes, image.sha256, media_type, lambda: open_binary(stored))
        return file_response(request, reply)

    @operation("image_put", "Bring the bytes of a picture", scope="write", reply=ImageSerializer, matched=False)
    def put(self, request: Request, slug: str, sha256: str) -> Response:
        team = benchmark_for(request.user, slug, can="work_on").team
        data = self.bytes_sent
        if hashlib.sha256(data).hexdigest() != sha256:
            raise Refused(_("The SHA-256 of the bytes is another one. Send them again."))
        try:
            image, _is_new = store_image(team, data, name=sha256[:12])
        except ImageRefused as error:
            raise Refused(error.message) from error
        return Response(image_json(image))


def image_json(image: Image) -> dict[str, Any]:
    return {name: getattr(image, name) for name in NAMES}
