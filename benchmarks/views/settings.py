from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from benchmarks.access import benchmark_for, is_permitted
from benchmarks.forms.settings import SettingsForm
from benchmarks.pages.tabs import tabs_for
from benchmarks.services.settings import SETTING_NAMES, change
from people.views.request_helpers import current_user


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def settings(request: HttpRequest, slug: str) -> HttpResponse:
    """A benchmark's name, purpose, citation and licence, for those who work on it."""
    benchmark = benchmark_for(request.user, slug, can="work_on")
    initial = {name: getattr(benchmark, name) for name in SETTING_NAMES}
    owns = is_permitted(request.user, benchmark, "own")
    form = SettingsForm(request.POST or None, initial=initial, owns=owns)
    if request.method == "POST" and form.is_valid():
        if change(benchmark, form.cleaned_data, current_user(request)):
            messages.success(request, _("The settings are saved."))
        return redirect("benchmarks:detail", slug)
    context = {
        "benchmark": benchmark,
        "form": form,
        "nav": tabs_for(request.user, benchmark, "overview"),
        "who_place": benchmark.name,
    }
    return render(request, "benchmarks/settings.html", context, status=400 if form.errors else 200)
