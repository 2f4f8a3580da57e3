"""ETags: a reader is spared what it has already, and a writer changes only what it has seen (RFC 9110, RFC 6585)."""

import hashlib
import json
from typing import Any

from django.utils.translation import gettext as _
from rest_framework.request import Request
from rest_framework.response import Response

from api.protocol.problems import ApiProblem


class PreconditionMissing(ApiProblem):
    status, code = 428, "precondition-required"


class Stale(ApiProblem):
    status, code = 412, "stale"


def tag_of(data: Any) -> str:
    """The strong ETag of what a GET answers with."""
    digest = hashlib.sha256(json.dumps(data, sort_keys=True, default=str).encode()).hexdigest()
    return f'"{digest[:32]}"'


def with_etag(request: Request, data: dict[str, Any], status: int = 200, location: str = "") -> Response:
    """The data, or 304 if the reader has them already."""
    tag = tag_of(data)
    known = _tags(request.headers.get("If-None-Match", ""))
    if request.method in ("GET", "HEAD") and (tag in [entry.removeprefix("W/") for entry in known] or known == ["*"]):
        return Response(status=304, headers={"ETag": tag})
    headers = {"ETag": tag} | ({"Location": location} if location else {})
    return Response(data, status=status, headers=headers)


def report_tag(*parts: Any) -> str:
    """The ETag of a report: of its selection and watermark, or of its content. It is weak, for `computed_at` is when
    the report was read."""
    return "W/" + tag_of(parts)


def is_known(request: Request, tag: str) -> bool:
    """Whether the reader has what the tag is of."""
    known = [entry.removeprefix("W/") for entry in _tags(request.headers.get("If-None-Match", ""))]
    return tag.removeprefix("W/") in known


def not_modified(tag: str) -> Response:
    return Response(status=304, headers={"ETag": tag})


def check_match(request: Request, data: Any) -> None:
    """Whether the writer has seen what is there now: `data` is what a GET answers with, read under the lock of the row.
    A reply that was compressed on its way has its tag as a weak one; it is the same. Raises PreconditionMissing and
    Stale."""
    known = [entry.removeprefix("W/") for entry in _tags(request.headers.get("If-Match", ""))]
    if not known:
        raise PreconditionMissing(_("Send If-Match with the ETag of what you have read."))
    if known != ["*"] and tag_of(data) not in known:
        raise Stale(_("This was changed since you read it. Read it again."))


def _tags(header: str) -> list[str]:
    return [entry.strip() for entry in header.split(",") if entry.strip()]
