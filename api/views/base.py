"""What all views of the API share: scopes, limits, headers, and the checks that an operation declares."""

from typing import Any

from django.http import Http404, HttpRequest
from django.utils.functional import cached_property
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.views import APIView

from api.protocol.authentication import HasScope, TokenLimited, allowed_benchmarks
from api.protocol.bytes_body import BytesParser
from api.protocol.contents import check_parameters, read_content
from api.protocol.operations import Operation
from api.schemas.problems import KIND, ProblemSerializer
from benchmarks.models import Benchmark

PROBLEMS = {(status, KIND): ProblemSerializer for status in (401, 403, 404, 406, 429)}
REFUSED = {(status, KIND): ProblemSerializer for status in (400, 409)}
INVALID = {(400, KIND): ProblemSerializer}
SLUG = OpenApiParameter("slug", OpenApiTypes.STR, OpenApiParameter.PATH, description="As in /b/<slug>/.")
KEY = OpenApiParameter("key", OpenApiTypes.STR, OpenApiParameter.PATH)


class ResourceView(APIView):
    """Methods are declared by `operation`; OPTIONS is answered by the schema, not here.

    `spans`: whether it can be read with a token for chosen benchmarks though its address names none.
    """

    http_method_names = ["get", "head", "post", "put", "patch", "delete"]
    permission_classes = [IsAuthenticated, HasScope]
    spans = False

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        self._check_benchmark(request, kwargs.get("slug"))
        declared = self.operation_of(request)
        if declared is not None and declared.parameters is not None:
            check_parameters(request, declared.parameters)

    @cached_property
    def content(self) -> dict[str, Any]:
        """The members of the body. Read when it is asked for: who may not see the thing is told nothing of the body."""
        declared = self.operation_of(self.request)
        return read_content(self.request, declared.body if declared else None)

    def operation_of(self, request: HttpRequest | Request) -> Operation | None:
        method = getattr(self, (request.method or "").lower(), None)
        return getattr(method, "operation", None)

    def scope_of(self, request: Request) -> str:
        declared = self.operation_of(request)
        return declared.scope if declared else ""

    def _check_benchmark(self, request: Request, slug: str | None) -> None:
        """A token for chosen benchmarks opens no other. Raises Http404 and TokenLimited."""
        chosen = allowed_benchmarks(request)
        if chosen is None or (self.spans and request.method in ("GET", "HEAD")):
            return
        if slug is None:
            raise TokenLimited
        if not Benchmark.objects.filter(slug=slug, pk__in=chosen).exists():
            raise Http404

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        """With the limits of requests and what is left of them, by the draft `ratelimit-headers` of the IETF."""
        response = super().finalize_response(request, response, *args, **kwargs)
        if limits := getattr(request, "rate_limits", None):
            response.headers["RateLimit-Policy"] = ", ".join(limit.policy for limit in limits)
            response.headers["RateLimit"] = ", ".join(limit.state for limit in limits)
        return response


class BytesView(ResourceView):
    """What is sent are bytes. Such requests are many for one thing, so they are not counted."""

    parser_classes = [BytesParser]
    throttle_classes: list[Any] = []

    @property
    def bytes_sent(self) -> bytes:
        return self.request.data or b""

    @cached_property
    def content(self) -> dict[str, Any]:
        """No JSON to check."""
        return {}


class ReadOnlyView(ResourceView):
    """Reads. `scope` is what a token needs; the view looks at its parameters itself. What writes is an operation."""

    http_method_names = ["get", "head"]
    scope = "read"

    def scope_of(self, request: Request) -> str:
        declared = self.operation_of(request)
        return declared.scope if declared else self.scope
