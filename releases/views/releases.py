from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from benchmarks.access import benchmark_for
from benchmarks.models import Benchmark
from jobs.formats.numbers import parse_id
from people.models import User
from releases.access import release_for
from releases.forms.releases import ReleaseForm
from releases.models import Release, ReleaseFile
from releases.pages import releases as pages
from releases.pages.description import statement_context
from releases.services import downloads
from releases.services import releases as services
from releases.services.releases import ReleaseRefused
from releases.services.versioning import proposed_version

MOST_SELECTED = 1000


@login_required
@require_safe
@never_cache
def index(request: HttpRequest, slug: str) -> HttpResponse:
    benchmark = benchmark_for(request.user, slug)
    assert isinstance(request.user, User)
    context = pages.base_context(request.user, benchmark) | {"entries": pages.sorted_entries(request.user, benchmark)}
    return render(request, "releases/list.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def new(request: HttpRequest, slug: str) -> HttpResponse:
    benchmark = benchmark_for(request.user, slug, can="work_on")
    initial = {"version": proposed_version(benchmark)}
    form = ReleaseForm(request.POST if request.method == "POST" else None, benchmark=benchmark, initial=initial)
    release = _create(request, benchmark, form) if request.method == "POST" and form.is_valid() else None
    if release:
        return redirect("releases:release", slug, release.pk)
    assert isinstance(request.user, User)
    context = pages.base_context(request.user, benchmark) | {"form": form}
    context["has_stages"] = form.fields["stages"].queryset.exists()  # type: ignore[attr-defined]
    return render(request, "releases/new.html", context, status=400 if form.errors else 200)


def _create(request: HttpRequest, benchmark: Benchmark, form: ReleaseForm) -> Release | None:
    assert isinstance(request.user, User)
    data, selection = form.cleaned_data, form.selection()
    try:
        return services.create(
            benchmark, request.user, version=data["version"], notes=data["notes"], selection=selection
        )
    except ReleaseRefused as refusal:
        form.add_error("version", str(refusal))
        return None


@login_required
@require_safe
@never_cache
def detail(request: HttpRequest, slug: str, release_id: int) -> HttpResponse:
    release = release_for(request.user, slug, release_id)
    assert isinstance(request.user, User)
    context = pages.release_context(request.user, release)
    context |= statement_context(release, works=context["works"])
    return render(request, "releases/release.html", context)


@login_required
@require_POST
def action(request: HttpRequest, slug: str, release_id: int) -> HttpResponse:
    """Build again or delete: who works on the benchmark. Publish or withdraw: its owner."""
    do = request.POST.get("do", "")
    release = release_for(request.user, slug, release_id, can="own" if do in ("publish", "withdraw") else "work_on")
    assert isinstance(request.user, User)
    try:
        if do == "build":
            services.build(release, request.user, version=request.POST.get("version", "")[:20].strip())
        elif do == "publish":
            reason = request.POST.get("why", "")[:2000]
            services.publish(release, request.user, confirmed=bool(request.POST.get("sure")), reason=reason)
        elif do == "withdraw":
            services.withdraw(release, request.user, reason=request.POST.get("reason", "")[:2000])
        elif do == "delete":
            services.delete(release, request.user)
            messages.success(request, _("Version %(version)s was deleted.") % {"version": release.version})
            return redirect("releases:list", slug)
    except ReleaseRefused as refusal:
        messages.error(request, str(refusal))
    return redirect("releases:release", slug, release_id)


@login_required
@require_safe
@never_cache
def file(request: HttpRequest, slug: str, release_id: int, file_id: int) -> HttpResponseBase:
    release = release_for(request.user, slug, release_id)
    assert isinstance(request.user, User)
    stored = get_object_or_404(release.files, pk=file_id)
    if not downloads.is_available(release):
        return render(request, "releases/gone.html", {"release": release}, status=410)
    stored.release = release
    content = downloads.open_file(stored, request.user)
    name = stored.path.replace("/", "-")
    return FileResponse(content, as_attachment=True, filename=name, content_type=stored.media_type)


@login_required
@require_safe
@never_cache
def withheld(request: HttpRequest, slug: str, release_id: int, withheld_id: int) -> HttpResponseBase:
    """Answers of a withheld split: for owners alone."""
    release = release_for(request.user, slug, release_id, can="own")
    assert isinstance(request.user, User)
    stored = get_object_or_404(release.withheld_files, pk=withheld_id)
    if not downloads.is_available(release):
        return render(request, "releases/gone.html", {"release": release}, status=410)
    stored.release = release
    content = downloads.open_withheld(stored, request.user)
    name = f"{slug}-{release.version}-{stored.path.replace('/', '-')}"
    return FileResponse(content, as_attachment=True, filename=name, content_type=stored.media_type)


@login_required
@require_safe
@never_cache
def whole(request: HttpRequest, slug: str, release_id: int) -> HttpResponseBase:
    """All files as one archive, or those that were selected."""
    release = release_for(request.user, slug, release_id)
    assert isinstance(request.user, User)
    if not downloads.is_available(release):
        return render(request, "releases/gone.html", {"release": release}, status=410)
    selected = [parse_id(value) or 0 for value in request.GET.getlist("file")[:MOST_SELECTED]]
    if "selected" in request.GET and not selected:
        messages.error(request, _("Select at least one file."))
        return redirect("releases:release", slug, release_id)
    try:
        name, pieces = downloads.open_archive(release, request.user, selected)
    except ReleaseFile.DoesNotExist as error:
        raise Http404 from error
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingHttpResponse(pieces, content_type="application/zip", headers=headers)
