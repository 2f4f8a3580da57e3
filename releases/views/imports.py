"""Import a release: choose the file, see what it holds, import it."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core import signing
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from people.access import visible_teams
from people.pages.tabs import tabs_for
from people.views.request_helpers import current_user
from releases.forms.imports import ReleaseFileForm, ReleaseImportForm
from releases.pages import imports as pages
from releases.queries.imported_versions import imported_versions
from releases.services import imports as services
from releases.services.imports import ImportRefused


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def choose(request: HttpRequest) -> HttpResponse:
    """Any member of a team may import a release there, and becomes the owner of the benchmark."""
    user = current_user(request)
    if not visible_teams(user).exists():
        raise Http404
    form = ReleaseFileForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        stored = services.keep(form.cleaned_data["file"])
        try:
            services.preview(stored)
            return redirect("releases:import_preview", pages.token_of(user, stored))
        except ImportRefused as refusal:
            services.discard(stored)
            form.add_error("file", str(refusal))
    context = {"form": form, "nav": tabs_for(user, "benchmarks")}
    return render(request, "releases/import.html", context, status=400 if form.errors else 200)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def preview(request: HttpRequest, token: str) -> HttpResponse:
    user = current_user(request)
    try:
        stored = pages.stored_of(user, token)
        contents = services.preview(stored)
    except (signing.BadSignature, ImportRefused):
        messages.error(request, _("The file is no longer there. Choose it again."))
        return redirect("releases:import")
    if request.method == "POST" and request.POST.get("do") == "cancel":
        services.discard(stored)
        return redirect("benchmarks:list")
    known = imported_versions(user, contents.slug, contents.version)
    form = ReleaseImportForm(request.POST or None, teams=visible_teams(user), known=known, preview=contents)
    if request.method == "POST" and form.is_valid():
        try:
            return redirect("jobs:job", services.start_form(user, stored, form.cleaned_data, form.over_benchmark).pk)
        except ImportRefused as refusal:
            form.add_error(None, str(refusal))
    context = {
        "form": form,
        "contents": contents,
        "newer": known.newer,
        "rows": pages.counts_of(contents),
        "nav": tabs_for(user, "benchmarks"),
    }
    return render(request, "releases/import_preview.html", context, status=400 if form.errors else 200)
