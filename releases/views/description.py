from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from benchmarks.access import benchmark_for
from people.views.request_helpers import current_user
from releases.access import release_for
from releases.descriptions.sections import gaps
from releases.forms.description import DescriptionForm
from releases.pages import description as pages
from releases.services.description import describe


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def page(request: HttpRequest, slug: str) -> HttpResponse:
    """Everything that the descriptions of releases need and nobody can count."""
    benchmark = benchmark_for(request.user, slug, can="work_on")
    form = DescriptionForm(request.POST if request.method == "POST" else None, benchmark=benchmark)
    if request.method == "POST" and form.is_valid():
        if describe(benchmark, form.cleaned_data, current_user(request)):
            messages.success(request, _("The description is saved. The next build prints it."))
        return redirect("releases:list", slug)
    context = pages.description_context(current_user(request), benchmark, form)
    return render(request, "releases/description.html", context, status=400 if form.errors else 200)


@login_required
@require_POST
def fill(request: HttpRequest, slug: str, release_id: int) -> HttpResponse:
    """The gaps of a release, from its page."""
    release = release_for(request.user, slug, release_id, can="work_on")
    form = DescriptionForm(request.POST, benchmark=release.benchmark, sections=gaps(release))
    if not form.is_valid():
        messages.error(request, " ".join(str(error) for errors in form.errors.values() for error in errors))
    elif describe(release.benchmark, form.cleaned_data, current_user(request)):
        messages.success(request, _("The texts are saved. Build again to print them in this release."))
    return redirect("releases:release", slug, release_id)
