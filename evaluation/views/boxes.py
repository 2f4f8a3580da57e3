"""The model page of a question whose answers are boxes."""

from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render

from annotation.pages.status_text import time_zone_for
from evaluation.reports.boxes_page import box_selection, boxes_context
from evaluation.selections.catalogue import Catalogue
from people.views.request_helpers import current_user


def boxes_response(
    request: HttpRequest, catalogue: Catalogue, params: QueryDict, context: dict[str, Any]
) -> HttpResponse | None:
    """None where the stage's questions have codes. Raises SelectionError. `context`: with `here`, the page's name."""
    selection = box_selection(catalogue, params, time_zone_for(current_user(request)))
    if selection is None:
        return None
    return render(request, "evaluation/boxes.html", context | boxes_context(catalogue, selection))
