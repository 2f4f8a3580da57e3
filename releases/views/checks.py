"""Pages beside a release: whether a download is whole, and how to deposit it elsewhere."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from people.views.request_helpers import current_user
from releases.access import release_for
from releases.forms.checks import ChecksumForm
from releases.pages import checks as pages


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def check(request: HttpRequest, slug: str, release_id: int) -> HttpResponse:
    """Compare checksums with those of the release. Nothing is kept."""
    release = release_for(request.user, slug, release_id)
    form = ChecksumForm(*((request.POST, request.FILES) if request.method == "POST" else ()))
    checksums = form.checksums if request.method == "POST" and form.is_valid() else None
    context = pages.check_context(current_user(request), release, checksums) | {"form": form}
    return render(request, "releases/check.html", context, status=400 if form.errors else 200)


@login_required
@require_safe
@never_cache
def deposit(request: HttpRequest, slug: str, release_id: int) -> HttpResponse:
    """What to do to put a release into an archive of data. The site sends nothing itself."""
    release = release_for(request.user, slug, release_id, can="work_on")
    if release.withdrawn_at:
        return render(request, "releases/gone.html", {"release": release}, status=410)
    return render(request, "releases/deposit.html", pages.deposit_context(current_user(request), release))
