"""A team's endpoints: seen by its members, kept by its admins. A key goes in and never comes out."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from benchmarks.access import is_permitted
from benchmarks.models import Benchmark
from people.access import is_team_admin, team_for
from people.models import Team
from people.pages.tabs import tabs_for
from people.views.request_helpers import current_user
from predictions.access import endpoint_for
from predictions.forms.endpoints import EndpointForm, SecretForm, practice_values, price_rows, table_of
from predictions.models import Endpoint
from predictions.queries.endpoints import OFFERED, endpoint_rows, last_check, prices_of
from predictions.services.endpoints import endpoints


@login_required
@require_safe
@never_cache
def index(request: HttpRequest, slug: str) -> HttpResponse:
    team = team_for(request.user, slug)
    known = team.endpoints.filter(base_url=settings.PRACTICE_MODEL, retired_at=None).exists()
    context = _context(request, team, endpoints=endpoint_rows(team), practice=settings.PRACTICE_MODEL and not known)
    return render(request, "predictions/endpoints.html", context)


@sensitive_post_parameters("secret")
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def new(request: HttpRequest, slug: str) -> HttpResponse:
    team = team_for(request.user, slug, admin=True)
    posted = request.POST if request.method == "POST" else None
    form, key = _new_form(posted, practice=bool(request.GET.get("practice"))), SecretForm(posted)
    if posted is not None and form.is_bound and form.is_valid() and key.is_valid():
        try:
            with transaction.atomic():
                new_endpoint = endpoints.create(team, current_user(request), timezone.now(), **form.endpoint_values())
                if key.cleaned_data["secret"]:
                    endpoints.set_secret(
                        new_endpoint, key.cleaned_data["secret"], current_user(request), timezone.now()
                    )
        except endpoints.EndpointRefused as refused:
            form.add_error(None, str(refused))
        else:
            return _added(request, new_endpoint)
    status = 400 if form.errors or key.errors else 200
    return render(request, "predictions/endpoint_new.html", _context(request, team, form=form, key=key), status=status)


def _added(request: HttpRequest, endpoint: Endpoint) -> HttpResponse:
    """Back to the models of the benchmark that led here; encoders have a page of their own. The practice model is
    checked at once: its names are known."""
    checked = bool(endpoint.base_url) and endpoint.base_url == settings.PRACTICE_MODEL
    if checked:
        endpoints.check(endpoint, current_user(request), timezone.now(), "")
    benchmark = Benchmark.objects.filter(team=endpoint.team, slug=request.GET.get("benchmark", "")).first()
    if benchmark is not None and is_permitted(request.user, benchmark, "work_on"):
        messages.info(request, _("Endpoint saved."))
        is_encoder = endpoint.kind == Endpoint.Kind.OPEN_CLIP
        return redirect("predictions:encode" if is_encoder else "predictions:ask_models", benchmark.slug)
    messages.info(request, _("Endpoint saved.") if checked else _("Endpoint saved. Check the connection now."))
    return redirect("predictions:endpoint", endpoint.team.slug, endpoint.pk)


def _new_form(posted: QueryDict | None, *, practice: bool = False) -> EndpointForm:
    """With the fields of its kind. Another kind than was shown is no mistake: what was typed is shown again.
    `practice`: filled in for the model that answers on this machine, if one does."""
    if posted is None:
        return EndpointForm(initial=practice_values() if practice else None)
    kind = posted.get("kind", "")
    kind = kind if kind in Endpoint.Kind.values else Endpoint.Kind.OPENAI
    if posted.get("shown_kind", kind) == kind:
        return EndpointForm(posted, kind=kind)
    return EndpointForm(kind=kind, initial={"kind": kind, "name": posted.get("name", "")})


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def endpoint(request: HttpRequest, slug: str, endpoint_id: int) -> HttpResponse:
    """Its page; posted, what is known of it changes."""
    team = team_for(request.user, slug, admin=request.method == "POST")
    endpoint = endpoint_for(team, endpoint_id)
    if request.method != "POST":
        return _page(request, endpoint)
    form = EndpointForm(request.POST, endpoint=endpoint)
    if form.is_valid():
        try:
            endpoints.change(endpoint, current_user(request), timezone.now(), **form.endpoint_values())
        except endpoints.EndpointRefused as refused:
            form.add_error(None, str(refused))
        else:
            words = _("The endpoint was changed. Runs that were started keep their address and their ways of asking.")
            messages.info(request, words)
            return redirect("predictions:endpoint", team.slug, endpoint.pk)
    return _page(request, endpoint_for(team, endpoint_id), form=form)


@login_required
@require_POST
def prices(request: HttpRequest, slug: str, endpoint_id: int) -> HttpResponse:
    """A new version of the price list. What was asked before keeps the price it was counted by."""
    team = team_for(request.user, slug, admin=True)
    endpoint = endpoint_for(team, endpoint_id)
    rows = price_rows(request.POST, prices_of(endpoint))
    if not rows.is_valid():
        return _page(request, endpoint, prices=rows)
    try:
        new_prices = endpoints.set_prices(endpoint, table_of(rows), current_user(request), timezone.now())
    except endpoints.EndpointRefused as refused:
        messages.error(request, str(refused))
        return _page(request, endpoint, prices=rows)
    messages.info(request, _("Prices, version %(number)s, hold from now on.") % {"number": new_prices.number})
    return redirect("predictions:endpoint", team.slug, endpoint.pk)


@sensitive_post_parameters("secret")
@login_required
@require_POST
def perform_action(request: HttpRequest, slug: str, endpoint_id: int) -> HttpResponse:
    """Check the connection, offer what worked, set or take away the key, retire."""
    team = team_for(request.user, slug, admin=True)
    endpoint, user, at = endpoint_for(team, endpoint_id), current_user(request), timezone.now()
    key = SecretForm(request.POST)
    try:
        if request.POST.get("do") == "check":
            endpoints.check(
                endpoint, user, at, request.POST.get("model", "").strip()[:200]
            )  # the page says what it found
        elif request.POST.get("do") == "offer":
            tried = last_check(endpoint)
            endpoints.change(endpoint, user, at, offers=tried.kept if tried and not tried.stale else endpoint.offers)
            messages.info(request, _("The capabilities were updated."))
        elif request.POST.get("do") == "retire":
            endpoints.retire(endpoint, user, at)
            messages.info(request, _("The endpoint is retired. Nothing more is asked of it; what it answered stays."))
        elif request.POST.get("do") == "no_secret":
            endpoints.set_secret(endpoint, "", user, at)
            messages.info(request, _("API key deleted."))
        elif key.is_valid() and key.cleaned_data["secret"]:
            endpoints.set_secret(endpoint, key.cleaned_data["secret"], user, at)
            messages.info(request, _("API key saved. It is never shown."))
        else:
            messages.error(request, _("No API key was entered. Write it in one line."))
    except endpoints.EndpointRefused as refused:
        messages.error(request, str(refused))
    return redirect("predictions:endpoint", team.slug, endpoint.pk)


def _page(request: HttpRequest, endpoint: Endpoint, **typed: Any) -> HttpResponse:
    current_prices, tried = prices_of(endpoint), last_check(endpoint)
    context = {
        "endpoint": endpoint,
        "check": tried,
        "unoffered": bool(tried and tried.model and not tried.stale and set(tried.kept) != set(endpoint.offers)),
        "offered": [OFFERED.get(name, name) for name in endpoint.offers],
        "held": current_prices,
        "form": EndpointForm(endpoint=endpoint),
        "key": SecretForm(),
        "prices": price_rows(None, current_prices),
    }
    return render(
        request, "predictions/endpoint.html", _context(request, endpoint.team, **(context | typed)),
        status=400 if typed else 200,
    )  # fmt: skip


def _context(request: HttpRequest, team: Team, **more: Any) -> dict[str, Any]:
    user = current_user(request)
    manages = user.is_staff or is_team_admin(user, team)
    return {"team": team, "manages": manages, "nav": tabs_for(user, "teams"), "who_place": team.name, **more}
