from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.middleware.gzip import GZipMiddleware


class Compress(GZipMiddleware):
    """Pages and JSON, not pictures and archives: those are compressed already, and must stream as they are."""

    def process_response(self, request: HttpRequest, response: Any) -> HttpResponseBase:
        kind = response.headers.get("Content-Type", "")
        if response.streaming or not kind.startswith(("text/", "application/json")):
            return response  # type: ignore[no-any-return]
        return super().process_response(request, response)
