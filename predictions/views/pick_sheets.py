"""Contact sheets of the nearest pictures, for those who work on the benchmark."""

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
from predictions.forms.pick_sheets import PickSheetsForm
from predictions.services.collections import pick_sheets
from predictions.services.collections.pick_sheets import SheetCounts, SheetsRefused
from predictions.views.overview import page_context


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def page(request: HttpRequest, slug: str) -> HttpResponse:
    """The form; posted, sheets for sentences that have none."""
    benchmark = benchmark_for(request.user, slug, can="work_on")
    posted = (request.POST,) if request.method == "POST" else ()
    form = PickSheetsForm(*posted, benchmark=benchmark)
    if posted and form.is_valid():
        data = form.cleaned_data
        try:
            counts = pick_sheets.create_sheets(
                data["run"], data["source"], data["stage"], current_user(request), most=data["most"]
            )
        except SheetsRefused as refused:
            form.add_error(None, str(refused))
        else:
            messages.info(request, _counts_text(counts))
            return redirect("predictions:pick_sheets", benchmark.slug)
    runs = bool(form.fields["run"].queryset)  # type: ignore[attr-defined]
    context = page_context(request, benchmark, form=form, runs=runs)
    return render(request, "predictions/encoding/pick_sheets.html", context, status=400 if form.errors else 200)


def _counts_text(counts: SheetCounts) -> str:
    text = ngettext("%(n)s contact sheet was created.", "%(n)s contact sheets were created.", counts.created)
    parts = [text % {"n": counts.created}]
    if counts.existing:
        parts.append(_("%(n)s were there already.") % {"n": counts.existing})
    if counts.without:
        parts.append(_("%(n)s queries have no sentence or no picture.") % {"n": counts.without})
    return " ".join(parts)
