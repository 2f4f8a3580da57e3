"""The queries that people write, as query sets of a collection: take them, see what follows, remove them."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from benchmarks.access import benchmark_for
from people.views.request_helpers import current_user
from predictions.access import collection_for
from predictions.forms.written_queries import WrittenQueriesForm
from predictions.models import Collection
from predictions.pages.written_queries import set_rows
from predictions.services.collections import written_queries
from predictions.services.runs.result_runs import FileRunRefused
from predictions.views.overview import page_context


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def page(request: HttpRequest, slug: str, collection_id: int) -> HttpResponse:
    """Posted, the collection takes a stage's queries, or with `remove` none any more."""
    benchmark = benchmark_for(request.user, slug, can="work_on")
    collection = collection_for(benchmark, collection_id)
    form = WrittenQueriesForm(*((request.POST,) if request.method == "POST" else ()), collection=collection)
    status = 200
    if request.method == "POST":
        try:
            if _change(request, collection, form):
                return redirect("predictions:collection_queries", benchmark.slug, collection.pk)
        except FileRunRefused as refused:
            messages.error(request, str(refused))
        status = 400
    stage = written_queries.stage_read(collection)
    sets = written_queries.sets_of(collection, stage) if stage else []
    context = page_context(
        request,
        benchmark,
        collection=collection,
        form=form,
        stage=stage,
        rows=set_rows(sets),
        taken=sum(written.stored for written in sets),
        has_trials=written_queries.has_trials(collection),
        stages=written_queries.writing_stages(benchmark),
    )
    return render(request, "predictions/encoding/written_queries.html", context, status=status)


def _change(request: HttpRequest, collection: Collection, form: WrittenQueriesForm) -> bool:
    """Raises FileRunRefused."""
    if "remove" in request.POST:
        written_queries.remove_queries(collection, current_user(request))
        messages.info(request, _("The collection takes no written queries now."))
        return True
    if not form.is_valid():
        return False
    data = form.cleaned_data
    by_models = bool(data.get("by_models"))
    count = written_queries.take_queries(collection, data["stage"], current_user(request), by_models=by_models)
    text = ngettext("%(n)s query was taken.", "%(n)s queries were taken.", count)
    messages.info(request, text % {"n": count})
    return True
