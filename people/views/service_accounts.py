"""Service accounts of a team and their tokens, for the team's admins."""

from collections import Counter
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from people import access
from people.forms.service_accounts import ServiceAccountForm
from people.models import Team
from people.pages.tabs import tabs_for
from people.services import service_accounts as service
from people.services import tokens
from people.services.teams import LastTeamOwner
from people.views.one_time_link import OneTimeLink, clear_link, one_time_context, show_once
from people.views.request_helpers import current_user
from people.views.tokens import TokenForm


def _frame(request: HttpRequest, team: Team) -> dict[str, Any]:
    return {"team": team, "nav": tabs_for(current_user(request), "teams"), "who_place": team.name}


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def index(request: HttpRequest, slug: str) -> HttpResponse:
    """The service accounts of a team, and a new one."""
    team = access.team_for(request.user, slug, admin=True)
    form = ServiceAccountForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        account = service.create_service_account(team, form.cleaned_data["name"], current_user(request))
        return redirect("people:service_account", team.slug, account.pk)
    accounts = list(access.service_accounts_of(team))
    active = Counter(tokens.valid_tokens(timezone.now()).filter(user__in=accounts).values_list("user", flat=True))
    rows = [(account, active[account.pk]) for account in accounts]
    context = _frame(request, team) | {"form": form, "accounts": rows}
    return render(request, "people/service_accounts.html", context, status=400 if form.errors else 200)


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def account(request: HttpRequest, slug: str, account_id: int) -> HttpResponse:
    """Its tokens, and a new one, whose text is shown once."""
    team, account = access.service_account_for(request.user, slug, account_id)
    user, at = current_user(request), timezone.now()
    form = TokenForm(request.POST or None, user=account, scopes=service.SCOPES)
    if request.method == "POST" and form.is_valid():
        try:
            token, text = form.create(account, at, user)
            page = reverse("people:service_account", args=[team.slug, account.pk])
            return show_once(request, page, OneTimeLink(url=text, kind="token", pk=token.pk))
        except tokens.TooManyTokens:
            form.add_error(None, tokens.too_many_text())
    context = _frame(request, team) | {
        "account": account,
        "form": form,
        "tokens": tokens.active_tokens(account, at),
        "expired": tokens.expired_tokens(account, at),
        "roles": account.benchmark_roles.select_related("benchmark").order_by("benchmark__name"),
        **one_time_context(request),
    }
    status = 400 if form.errors else 200
    return clear_link(request, render(request, "people/service_account.html", context, status=status))


@login_required
@require_POST
def revoke_token(request: HttpRequest, slug: str, account_id: int, token_id: int) -> HttpResponse:
    team, account = access.service_account_for(request.user, slug, account_id)
    token = get_object_or_404(account.api_tokens, pk=token_id)
    if tokens.revoke(token, current_user(request), timezone.now()):
        messages.info(request, _("“%(name)s” was revoked.") % {"name": token.name})
    return redirect("people:service_account", team.slug, account.pk)


@login_required
@require_POST
def delete(request: HttpRequest, slug: str, account_id: int) -> HttpResponse:
    team, account = access.service_account_for(request.user, slug, account_id)
    try:
        service.delete_service_account(team, account, current_user(request), timezone.now())
    except LastTeamOwner as refused:
        text = _("%(name)s is the only owner of %(benchmarks)s. Change another member's role to owner there first.")
        messages.warning(request, text % {"name": account.name, "benchmarks": ", ".join(refused.benchmarks)})
        return redirect("people:service_account", team.slug, account.pk)
    messages.info(request, _("“%(name)s” was deleted. Its tokens are revoked.") % {"name": account.name})
    return redirect("people:service_accounts", team.slug)
