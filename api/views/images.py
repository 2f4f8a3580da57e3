"""Pictures of a benchmark's team: which are there, and those that are not, by the SHA-256 of their bytes."""

import hashlib

from django.utils.translation import gettext as _
from rest_framework.request import Request
from rest_framework.response import Response

from api.protocol.operations import operation
from api.protocol.problems import Refused
from api.schemas.imports import ImageSerializer, MissingImages
from api.views.base import BytesView, ResourceView
from benchmarks.access import benchmark_for
from benchmarks.models import Image
from benchmarks.services.images import ImageRefused, store_image


class ImagesMissing(ResourceView):
    @operation("images_missing", "Which of these pictures the team does not have", scope="write", body=MissingImages,
               reply=MissingImages)  # fmt: skip
    def post(self, request: Request, slug: str) -> Response:
        team = benchmark_for(request.user, slug, can="work_on").team
        wanted = list(dict.fromkeys(self.content["sha256"]))
        held = set(Image.objects.filter(team=team, sha256__in=wanted).values_list("sha256", flat=True))
        return Response({"sha256": [sha for sha in wanted if sha not in held]})


class ImageBytes(BytesView):
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
        return Response({name: getattr(image, name) for name in ("sha256", "format", "bytes", "width", "height")})
