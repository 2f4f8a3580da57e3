"""Choose the limit of a filter by a fact on what people say of candidates. For those who work on the benchmark."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from benchmarks.access import stage_for
from benchmarks.models import Stage
from benchmarks.rules.filters import FilterError
from benchmarks.services.intake.filter_versions import FiltersChanged
from benchmarks.services.intake.judging import version_number
from people.views.request_helpers import current_user
from predictions.forms.calibration import LimitForm
from predictions.pages.calibration import CalibrationChoice, calibration_page, choose
from predictions.retrieval.calibration import exact_text
from predictions.services.encoders.filter_limits import use_as_limit
from predictions.views.overview import page_context


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def page(request: HttpRequest, slug: str, stage_id: int) -> HttpResponse:
    """Look at a limit; posted, use it."""
    stage = stage_for(request.user, slug, stage_id)
    query = request.POST if request.method == "POST" else request.GET
    choice = choose(stage, query)
    form = LimitForm(request.POST) if request.method == "POST" else LimitForm()
    if choice is not None and request.method == "POST" and _use(request, stage, choice, form):
        return redirect("benchmarks:filters", slug, stage.pk)
    shown = calibration_page(stage, choice, query.get("limit", "")) if choice else None
    context = page_context(request, stage.benchmark, stage=stage, page=shown, form=form, number=version_number(stage))
    status = 400 if request.method == "POST" else 200
    return render(request, "predictions/encoding/calibrate.html", context, status=status)


def _use(request: HttpRequest, stage: Stage, choice: CalibrationChoice, form: LimitForm) -> bool:
    """Use the limit; false if it cannot be, with an error in the form."""
    if not choice.is_posted_by(request.POST):
        form.add_error(None, _("The filter, the stage or the question changed meanwhile. Check them and try again."))
    elif not choice.codes:
        form.add_error(None, _("No answer is selected. Select the answers that mean relevant."))
    if not form.is_valid():
        return False
    limit, number = form.cleaned_data["limit"], form.cleaned_data["number"]
    try:
        use_as_limit(
            stage, choice.rule, limit, choice.labels, choice.field, choice.codes, current_user(request),
            number_seen=number,
        )  # fmt: skip
    except FiltersChanged:
        text = _("Somebody else changed the filters. Look at them as they are now, then use the limit again.")
        form.add_error(None, text)
        return False
    except FilterError:
        form.add_error("limit", _("The lower limit is above the filter's upper limit. Enter a smaller number."))
        return False
    text = _("The limit of “%(filter)s” is %(limit)s. The items are judged again.")
    messages.info(request, text % {"filter": choice.rule.params["key"], "limit": exact_text(limit)})
    return True
