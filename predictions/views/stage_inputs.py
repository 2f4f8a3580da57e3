"""The runs whose answers a stage judges, for those who work on the benchmark."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from annotation.services.derivation import stage_inputs as service
from benchmarks.access import benchmark_for
from benchmarks.models import Stage
from people.views.request_helpers import current_user
from predictions.forms.stage_inputs import StageInputsForm
from predictions.pages.stage_inputs import stage_inputs
from predictions.views.overview import page_context


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def page(request: HttpRequest, slug: str, stage_id: int) -> HttpResponse:
    benchmark = benchmark_for(request.user, slug, can="work_on")
    stage = get_object_or_404(Stage.objects.select_related("benchmark"), benchmark=benchmark, pk=stage_id)
    inputs = stage_inputs(stage)
    status = 200
    if request.method == "POST" and inputs is not None:
        form = StageInputsForm(request.POST, shown={row.value: row.chosen for row in inputs.rows})
        if form.is_valid():
            changed = service.choose_runs(stage, form.choices(), current_user(request), timezone.now())
            messages.info(request, _changed_text(changed))
            return redirect("predictions:stage_inputs", benchmark.slug, stage.pk)
        messages.error(request, _("A run in the form is not on this page any more. Check the list and save again."))
        status = 400
    elif request.method == "POST":
        status = 400
    context = page_context(request, benchmark, stage=stage, inputs=inputs)
    return render(request, "predictions/stage_inputs.html", context, status=status)


def _changed_text(changed: int) -> str:
    if not changed:
        return _("Nothing was changed.")
    text = ngettext(
        "%(n)s run was changed. Its items follow in a moment.",
        "%(n)s runs were changed. Their items follow in a moment.",
        changed,
    )
    return text % {"n": changed}
