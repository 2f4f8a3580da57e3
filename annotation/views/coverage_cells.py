"""What a stage has of what it wants, cell by cell: how many, why not more, and what to do about it."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotation.pages.coverage_cells import cells_page, stages_with_coverage
from annotation.pages.packs import packs_on_devices
from annotation.queries.coverage_cells import coverage_of
from benchmarks.access import is_permitted, stage_for
from benchmarks.pages.tabs import tabs_for
from people.views.request_helpers import current_user


@login_required
@require_safe
@never_cache
def cells(request: HttpRequest, slug: str, stage_id: int) -> HttpResponse:
    stage = stage_for(request.user, slug, stage_id, can="see")
    spec, user = coverage_of(stage), current_user(request)
    context = {
        "benchmark": stage.benchmark,
        "stage": stage,
        "nav": tabs_for(user, stage.benchmark, "coverage"),
        "who_place": stage.benchmark.name,
        "works": is_permitted(user, stage.benchmark, "work_on"),
        "stages": stages_with_coverage(stage.benchmark),
        "page": cells_page(stage, spec, user, request.GET.dict(), timezone.now()) if spec else None,
        "on_devices": packs_on_devices(stage.campaigns.all()),
    }
    return render(request, "annotation/coverage/cells.html", context)
