"""Files as replies: whole, or the part that a reader still lacks after a lost connection (RFC 9110, section 14)."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

from django.http import FileResponse, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.utils.http import content_disposition_header
from django.utils.translation import gettext as _
from rest_framework.request import Request

from api.protocol.file_forms import FileRenderer
from api.protocol.problems import ApiProblem

BLOCK = 256 * 1024
RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")


class AnyTypeRenderer(FileRenderer):
    """For clients that ask for any type."""

    media_type = "*/*"
    format = "file"


class RangeInvalid(ApiProblem):
    status, code = 416, "range-not-satisfiable"


class NoLongerAvailable(ApiProblem):
    status, code = 410, "gone"


@dataclass(frozen=True)
class ReplyFile:
    """A file to send. `open` opens it at its beginning; it is called only where bytes are sent."""

    name: str
    size: int
    sha256: str
    media_type: str
    open: Callable[[], BinaryIO]

    @property
    def tag(self) -> str:
        return f'"{self.sha256}"'


def file_response(request: Request, file: ReplyFile) -> HttpResponseBase:
    """The file, the range that `Range` names, or 304. Raises RangeInvalid."""
    tags = [tag.strip().removeprefix("W/") for tag in request.headers.get("If-None-Match", "").split(",")]
    if file.tag in tags or tags == ["*"]:
        return HttpResponse(status=304, headers={"ETag": file.tag})
    headers = {"ETag": file.tag, "Accept-Ranges": "bytes"}
    part = _range(request, file)
    if part is None:
        response: HttpResponseBase = FileResponse(
            file.open(), as_attachment=True, filename=file.name, content_type=file.media_type, headers=headers
        )
        response["Content-Length"] = str(file.size)
        return response
    first, last = part
    headers |= {
        "Content-Range": f"bytes {first}-{last}/{file.size}",
        "Content-Length": str(last - first + 1),
        "Content-Disposition": content_disposition_header(True, file.name) or "",
    }
    pieces = _pieces(file.open, first, last - first + 1)
    return StreamingHttpResponse(pieces, status=206, content_type=file.media_type, headers=headers)


def _range(request: Request, file: ReplyFile) -> tuple[int, int] | None:
    """First and last byte; None for the whole: also of several ranges and other units, which may be ignored, and where
    `If-Range` names another version. Raises RangeInvalid."""
    match = RANGE.fullmatch(request.headers.get("Range", "").replace(" ", ""))
    if match is None or match[1] == match[2] == "" or request.headers.get("If-Range", file.tag) != file.tag:
        return None
    if match[1] == "":  # the last bytes
        first, last = max(0, file.size - int(match[2])), file.size - 1
    else:
        first, last = int(match[1]), min(int(match[2] or file.size - 1), file.size - 1)
    if first > last:
        text = _("The file has %(n)s bytes. The range lies outside.") % {"n": file.size}
        raise RangeInvalid(text, {"Content-Range": f"bytes */{file.size}"})
    return first, last


def _pieces(open_file: Callable[[], BinaryIO], first: int, length: int) -> Iterator[bytes]:
    with open_file() as source:
        source.seek(first)
        while length > 0 and (piece := source.read(min(BLOCK, length))):
            length -= len(piece)
            yield piece
