"""A team's knowledge bases: what is in them, how it comes in, and the indexes over it. For the team's members."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.imports.rows import clean
from jobs.formats.numbers import parse_id
from people.access import team_for
from people.models import Team
from people.pages.tabs import tabs_for
from people.views.request_helpers import current_user
from predictions.access import base_for, entry_for, index_for
from predictions.forms.knowledge import BaseForm, EntriesForm, IndexForm
from predictions.queries import knowledge as readers
from predictions.services.knowledge import bases, indexes
from predictions.services.knowledge.linking import LONGEST_ARTICLE

LONGEST_SEARCH = 100
KIND_NAMES = {
    "flat": gettext_lazy("exact"),
    "hnsw": gettext_lazy("graph (HNSW)"),
    "ivfpq": gettext_lazy("inverted lists (IVF-PQ)"),
}


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def index(request: HttpRequest, slug: str) -> HttpResponse:
    """The team's bases; posted, a new one."""
    team = team_for(request.user, slug)
    form = BaseForm(request.POST, team=team) if request.method == "POST" else BaseForm(team=team)
    if request.method == "POST" and form.is_valid():
        knowledge_base, _new = bases.get_or_create_base(team, current_user(request), **form.base_values())
        return redirect("predictions:knowledge_import", team.slug, knowledge_base.pk)
    context = _context(request, team, form=form, bases=readers.bases_of(team))
    return render(request, "predictions/knowledge/index.html", context, status=400 if form.errors else 200)


@login_required
@require_safe
@never_cache
def base(request: HttpRequest, slug: str, base_id: int) -> HttpResponse:
    team = team_for(request.user, slug)
    base = base_for(team, base_id)
    wanted = str(clean(request.GET.get("q", "")))[:LONGEST_SEARCH].strip()
    entries, further = readers.entries_of(base, wanted, parse_id(request.GET.get("after")))
    pictures, base_row = readers.first_pictures(entries), readers.knowledge_base_row(base)
    context = _context(
        request, team, base=base, held=base_row, closed=bases.is_closed(base),
        indexes=[(index, KIND_NAMES.get(index.facts.get("kind"), "")) for index in base_row.indexes],
        entries=[(entry, pictures.get(entry.pk)) for entry in entries],
        further=further, wanted=wanted, jobs=readers.jobs_of(base),
    )  # fmt: skip
    return render(request, "predictions/knowledge/base.html", context)


@login_required
@require_safe
@never_cache
def entry(request: HttpRequest, slug: str, base_id: int, entry_id: int) -> HttpResponse:
    team = team_for(request.user, slug)
    entry = entry_for(base_for(team, base_id), entry_id)
    context = _context(
        request, team, base=entry.base, entry=entry, article=entry.text[:LONGEST_ARTICLE],
        cut=max(0, len(entry.text) - LONGEST_ARTICLE), pictures=readers.pictures_of([entry]).get(entry.pk, []),
    )  # fmt: skip
    return render(request, "predictions/knowledge/entry.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def entries_new(request: HttpRequest, slug: str, base_id: int) -> HttpResponse:
    team = team_for(request.user, slug)
    base = base_for(team, base_id)
    form = EntriesForm(request.POST, request.FILES) if request.method == "POST" else EntriesForm()
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        job = bases.start_import(base, current_user(request), data["entries"], data["pictures"])
        return redirect("jobs:job", job.pk)
    context = _context(request, team, base=base, form=form, closed=bases.is_closed(base))
    return render(request, "predictions/knowledge/import.html", context, status=400 if form.errors else 200)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def index_new(request: HttpRequest, slug: str, base_id: int) -> HttpResponse:
    team = team_for(request.user, slug)
    base = base_for(team, base_id)
    posted = (request.POST, request.FILES) if request.method == "POST" else ()
    form = IndexForm(*posted, team=team)
    if posted and form.is_valid():
        data, user = form.cleaned_data, current_user(request)
        try:
            if data["vectors"]:
                job = indexes.start_vectors(base, user, data["vectors"], data["names"], **form.index_values())
            else:
                job = indexes.start_build(base, user, **form.index_values())
        except indexes.IndexRefused as refused:
            form.add_error(None, str(refused))
        else:
            return redirect("jobs:job", job.pk)
    encoders = form.fields["endpoint"].queryset.exists()  # type: ignore[attr-defined]
    context = _context(request, team, base=base, form=form, encoders=encoders)
    return render(request, "predictions/knowledge/index_new.html", context, status=400 if form.errors else 200)


@login_required
@require_POST
def index_action(request: HttpRequest, slug: str, base_id: int, index_id: int) -> HttpResponse:
    """Remove an index that was never built."""
    team = team_for(request.user, slug)
    index = index_for(base_for(team, base_id), index_id)
    if request.POST.get("do") != "remove":
        raise BadRequest
    try:
        indexes.remove(index, current_user(request))
        messages.info(request, _("The index was removed. It had never been built."))
    except indexes.IndexRefused as refused:
        messages.error(request, str(refused))
    return redirect("predictions:knowledge_base", team.slug, base_id)


def _context(request: HttpRequest, team: Team, **more: Any) -> dict[str, Any]:
    return {"team": team, "nav": tabs_for(current_user(request), "teams"), "who_place": team.name, **more}
