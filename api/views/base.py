"""What all views of the API share: scopes, limits, headers."""

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.views import APIView

from api.protocol.authentication import HasScope
from api.protocol.problems import KIND
from api.schemas.numbers import ProblemSerializer

PROBLEMS = {(status, KIND): ProblemSerializer for status in (401, 403, 404, 429)}
REFUSED = {(status, KIND): ProblemSerializer for status in (400, 409)}
INVALID = {(400, KIND): ProblemSerializer}
SLUG = OpenApiParameter("slug", OpenApiTypes.STR, OpenApiParameter.PATH, description="As in /b/<slug>/.")


def query_parameter(name: str, words: str, *, many: bool = False) -> OpenApiParameter:
    return OpenApiParameter(name, OpenApiTypes.STR, description=words, many=many)


class ReadOnlyView(APIView):
    """Reads only; OPTIONS is answered by the schema, not here. `scope` is what a token needs."""

    http_method_names = ["get", "head"]
    permission_classes = [IsAuthenticated, HasScope]
    scope = "read"

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        """With the limit of requests and what is left of it, by the draft `ratelimit-headers` of the IETF."""
        response = super().finalize_response(request, response, *args, **kwargs)
        if limits := getattr(request, "rate_limit", None):
            most, seconds, left, reset = limits
            response.headers["RateLimit-Policy"] = f'"person";q={most};w={seconds}'
            response.headers["RateLimit"] = f'"person";r={left};t={reset}'
        return response
