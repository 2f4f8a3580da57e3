"""The OpenAPI description as a page, for people who are signed in."""

import functools
import json
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import get_language
from django.views.decorators.http import require_safe
from drf_spectacular.generators import SchemaGenerator

from api.protocol.openapi_examples import JSON
from people.pages.tabs import tabs_for
from people.views.request_helpers import current_user


@login_required
@require_safe
def page(request: HttpRequest) -> HttpResponse:
    context = {"operations": _operations(get_language()), "nav": tabs_for(current_user(request), "me")}
    return render(request, "api/docs.html", context)


@functools.cache
def _operations(_language: str | None) -> list[dict[str, Any]]:
    """Every operation in the present language. To describe them takes a second, and only the code changes them."""
    schema = SchemaGenerator().get_schema(request=None, public=True)
    return [
        _operation(path, method, described)
        for path, methods in schema["paths"].items()
        for method, described in methods.items()
    ]


def _operation(path: str, method: str, described: dict[str, Any]) -> dict[str, Any]:
    parameters = [p for p in described.get("parameters", ()) if p["in"] == "query"]
    return {
        "id": described["operationId"],
        "method": method.upper(),
        "path": path,
        "summary": described.get("summary", ""),
        "description": described.get("description", ""),
        "scope": described.get("x-emic-scope", "read"),
        "parameters": parameters,
        "statuses": sorted(described["responses"]),
        "body": _example(described.get("requestBody", {})),
        "reply": next((_example(r) for status, r in described["responses"].items() if status.startswith("2")), ""),
    }


def _example(content: dict[str, Any]) -> str:
    media = content.get("content", {}).get(JSON, {})
    return json.dumps(media["example"], indent=2, ensure_ascii=False) if "example" in media else ""
