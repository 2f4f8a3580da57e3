"""A request in parts (`multipart/form-data`): the members of its JSON body in one part, and files in others."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from django.core.exceptions import SuspiciousOperation
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext as _
from rest_framework.exceptions import ParseError
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request

from api.protocol.contents import problem
from api.protocol.problems import BadContent

CONTENT = "request"
"""The part that is a JSON object. Without it there are files alone."""


class PartsParser(MultiPartParser):
    def parse(self, stream: Any, media_type: Any = None, parser_context: Any = None) -> Any:
        """Raises ParseError, also for too many parts."""
        try:
            return super().parse(stream, media_type, parser_context)
        except SuspiciousOperation as error:
            raise ParseError(str(error)) from error


def is_in_parts(request: Request) -> bool:
    return str(request.content_type or "").partition(";")[0].strip().lower() == "multipart/form-data"


def read_parts(request: Request, single: Sequence[str], several: str) -> tuple[Any, dict[str, list[UploadedFile[Any]]]]:
    """What the JSON part says, and the files by the names of their parts. `single`: parts that are one file; `several`:
    one that may come more than once. Raises BadContent and ParseError."""
    request.data  # noqa: B018  (read whole before its parts are looked at)
    errors = []
    for name in {*request.POST, *request.FILES} - {CONTENT, *single, several}:
        names = ", ".join((CONTENT, *single, several))
        words = _("This part is unknown. There are: %(names)s.") % {"names": names}
        errors.append(problem(f"/{name[:100]}", "unknown-member", words))
    for name in single:
        if name in request.POST or len(request.FILES.getlist(name)) > 1:
            errors.append(problem(f"/{name}", "invalid", _("This part has to be one file.")))
    if several in request.POST or CONTENT in request.FILES or len(request.POST.getlist(CONTENT)) > 1:
        errors.append(
            problem("", "invalid", _("“request” has to be one part with a JSON object, and files are files."))
        )
    if errors:
        raise BadContent(errors)
    try:
        content = json.loads(request.POST.get(CONTENT, "{}"))
    except (ValueError, RecursionError) as error:
        raise ParseError(_("The part “request” is not JSON.")) from error
    return content, {name: request.FILES.getlist(name) for name in request.FILES}


def digest_of_parts(request: Request) -> str:
    """Of what it says, not of its bytes: a repeated request has another boundary between its parts."""
    request.data  # noqa: B018  (read whole before its parts are looked at)
    whole = hashlib.sha256()
    for name in sorted(request.POST):
        whole.update(json.dumps([name, request.POST.getlist(name)]).encode())
    for name in sorted(request.FILES):
        for file in request.FILES.getlist(name):
            digest = hashlib.sha256()
            for chunk in file.chunks():
                digest.update(chunk)
            file.seek(0)
            whole.update(json.dumps([name, file.name, digest.hexdigest()]).encode())
    return whole.hexdigest()
