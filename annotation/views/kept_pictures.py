"""The pictures of a stage's sheets that go on, are dropped, or wait. Only for those who work on the benchmark."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotation.pages.kept_pictures import kept_pictures
from benchmarks.access import stage_for
from benchmarks.pages.tabs import tabs_for
from benchmarks.rules.derivations.grouping_votes import PictureState
from jobs.formats.numbers import parse_id


@login_required
@require_safe
@never_cache
def page(request: HttpRequest, slug: str, stage_id: int) -> HttpResponse:
    stage = stage_for(request.user, slug, stage_id)
    show = PictureState.WAITS if request.GET.get("show") == PictureState.WAITS else PictureState.DROPPED
    context = {
        "benchmark": stage.benchmark, "nav": tabs_for(request.user, stage.benchmark, "stages"),
        "who_place": stage.benchmark.name, "stage": stage, "show": show.value,
        "page": kept_pictures(stage, show, parse_id(request.GET.get("after")) or 0),
    }  # fmt: skip
    return render(request, "annotation/kept_pictures.html", context)
