"""Reports, tables and figures as files, beside JSON: what a client may ask for by an address with a suffix."""

from typing import Any

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from rest_framework.renderers import BaseRenderer, JSONRenderer

from evaluation.figures import figure_files
from evaluation.reports import report_files

TYPES = {"json": "application/json", **report_files.TYPES, **figure_files.TYPES}


class FileRenderer(BaseRenderer):
    """For clients that ask for the type of the file. It writes errors alone; the file is sent by `file_response`."""

    charset = None

    def render(self, data: Any, *args: Any, **kwargs: Any) -> Any:
        return JSONRenderer().render(data)


def renderers_for(form: str) -> list[type[BaseRenderer]]:
    if form == "json":
        return [JSONRenderer]
    media_type = TYPES[form].partition(";")[0]
    renderer = type(f"{form.capitalize()}Renderer", (FileRenderer,), {"media_type": media_type, "format": form})
    return [renderer, JSONRenderer]


def described_reply(form: str, shape: Any) -> dict[Any, Any]:
    """The reply of status 200 for the description."""
    if form == "json":
        return {200: shape}
    kind = OpenApiTypes.BINARY if form == "png" else OpenApiTypes.STR
    return {(200, TYPES[form].partition(";")[0]): kind}


def file_response(content: str | bytes, form: str, name: str, tag: str) -> HttpResponse:
    headers = {
        "Content-Disposition": f'attachment; filename="{name}.{form}"',
        "Content-Security-Policy": figure_files.POLICY,
        "X-Content-Type-Options": "nosniff",
        "ETag": tag,
    }
    return HttpResponse(content, content_type=TYPES[form], headers=headers)
