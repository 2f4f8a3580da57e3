"""Addresses of version 0.1 that moved. They answer with a redirect, so that bookmarks and waiting answers arrive.

An answer that a device saved before the update is sent to its old address: 308 lets the browser send it again with its
body. docs/reference/addresses.md has the same table.
"""

from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponsePermanentRedirect
from django.urls import path, reverse
from django.views.decorators.csrf import csrf_exempt

MOVED = (
    ("b/<slug:slug>/agreement/anew/", "evaluation:agreement_recompute"),
    ("b/<slug:slug>/campaigns/<int:campaign_id>/do/", "annotation:campaign_action"),
    ("b/<slug:slug>/coverage/do/", "annotation:coverage_action"),
    ("b/<slug:slug>/encoders/<int:run_id>/alike/", "predictions:near_duplicates"),
    ("b/<slug:slug>/links/<int:run_id>/do/", "predictions:links_action"),
    ("b/<slug:slug>/predictions/answers/", "predictions:answers_new"),
    ("b/<slug:slug>/predictions/run/<int:run_id>/do/", "predictions:answer_run_action"),
    ("jobs/<int:job_id>/go-on/", "jobs:resume"),
    ("me/figures/", "evaluation:own"),
    ("memberships/<int:member_id>/back", "annotation:member_reactivate"),
    ("teams/<slug:slug>/models/<int:endpoint_id>/do/", "predictions:endpoint_action"),
    ("work/<int:assignment_id>/change", "annotation:change"),
    ("work/<int:assignment_id>/draft", "annotation:draft"),
    ("work/<int:assignment_id>/leave", "annotation:leave"),
    ("work/<int:assignment_id>/picture", "annotation:picture"),
    ("work/<int:assignment_id>/report", "annotation:report"),
    ("work/<int:assignment_id>/skip", "annotation:skip"),
    ("work/<int:assignment_id>/submit", "annotation:submit"),
    ("work/<int:assignment_id>/undo", "annotation:undo"),
)


@csrf_exempt  # it changes nothing; the address that it leads to checks the token
def redirect_to_new_address(request: HttpRequest, route: str, **parameters: Any) -> HttpResponse:
    query = request.META.get("QUERY_STRING", "")
    response = HttpResponsePermanentRedirect(reverse(route, kwargs=parameters) + (f"?{query}" if query else ""))
    if request.method not in ("GET", "HEAD"):
        response.status_code = 308
    return response


urlpatterns = [
    path(old, redirect_to_new_address, {"route": route}, name=f"old-address-{number}")
    for number, (old, route) in enumerate(MOVED, 1)
]
