"""The next version of a collection that was made from a stage: first what comes and goes, then a press."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from benchmarks.access import benchmark_for
from people.views.request_helpers import current_user
from predictions.access import collection_for
from predictions.pages.collection_versions import source_text, version_lists
from predictions.services.collections import next_versions
from predictions.services.collections.builder import EntriesChanged
from predictions.services.collections.next_versions import NextVersion
from predictions.services.runs.result_runs import FileRunRefused
from predictions.views.encoders import build_message
from predictions.views.overview import page_context


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def next_version(request: HttpRequest, slug: str, collection_id: int) -> HttpResponse:
    """Posted with the digest of what was shown, it is made; where that is no longer so, it is shown anew."""
    benchmark = benchmark_for(request.user, slug, can="work_on")
    collection = next_versions.newest_version(collection_for(benchmark, collection_id))
    try:
        shown = next_versions.plan_next(collection)
        if request.method == "POST":
            result = next_versions.create_next(collection, current_user(request), request.POST.get("digest", ""))
            for sentence in build_message(result):
                messages.info(request, sentence)
            return redirect("predictions:index", benchmark.slug)
    except FileRunRefused as refused:
        messages.error(request, str(refused))
        return redirect("predictions:index", benchmark.slug)
    except EntriesChanged:
        messages.error(request, _("The stage has changed since you looked. Here is what would be created now."))
        shown = next_versions.plan_next(collection)
        return _show(request, slug, shown, status=409)
    return _show(request, slug, shown)


def _show(request: HttpRequest, slug: str, shown: NextVersion, status: int = 200) -> HttpResponse:
    context = page_context(
        request,
        shown.plan.stage.benchmark,
        shown=shown,
        lists=version_lists(shown),
        source=source_text(shown.plan.source),
    )
    return render(request, "predictions/encoding/next_version.html", context, status=status)
