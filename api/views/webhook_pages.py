"""The pages of a team's webhooks."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from api import access
from api.forms.webhooks import WebhookForm
from api.models import Webhook
from api.services import webhook_sender, webhooks
from api.views.webhooks import find_delivery
from people.access import is_team_admin, team_for
from people.models import Team
from people.pages.tabs import tabs_for
from people.views.one_time_link import OneTimeLink, clear_link, one_time_context, show_once
from people.views.request_helpers import current_user

SHOWN = 50  # of the latest deliveries


def _frame(request: HttpRequest, team: Team) -> dict[str, Any]:
    return {"team": team, "nav": tabs_for(current_user(request), "teams"), "who_place": team.name}


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def index(request: HttpRequest, slug: str) -> HttpResponse:
    """The webhooks that this person may change, and a new one. Its secret is shown once, on its page."""
    user, team = current_user(request), team_for(request.user, slug)
    benchmarks = access.benchmarks_for_webhooks(user, team)
    form = WebhookForm(request.POST or None, benchmarks=benchmarks, whole_team=is_team_admin(user, team))
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        place, benchmark = access.place_for_webhook(user, team.slug, data["benchmark"])
        try:
            webhook, secret = webhooks.create(place, benchmark, data["url"], data["verbs"], user)
        except webhooks.WebhookRefused as refused:
            form.add_error(refused.member or None, refused.message)
        else:
            page = reverse("webhooks:webhook", args=[webhook.pk])
            return show_once(request, page, OneTimeLink(url=secret, kind="webhook", pk=webhook.pk))
    rows = access.webhooks_of(user).filter(team=team).order_by("pk")
    allowed = bool(benchmarks) or is_team_admin(user, team)
    context = _frame(request, team) | {"form": form, "webhooks": rows, "allowed": allowed}
    return render(request, "api/webhooks.html", context, status=400 if form.errors else 200)


@never_cache
@login_required
@require_safe
def webhook(request: HttpRequest, webhook_id: int) -> HttpResponse:
    row = access.webhook_for(current_user(request), webhook_id)
    return clear_link(request, _page(request, row, _form_of(row), **one_time_context(request)))


def _form_of(row: Webhook) -> WebhookForm:
    return WebhookForm(initial={"url": row.url, "verbs": row.verbs})


def _page(request: HttpRequest, row: Webhook, form: WebhookForm, **more: Any) -> HttpResponse:
    deliveries = list(row.deliveries.order_by("-pk")[:SHOWN])
    attempts = webhook_sender.last_attempts(deliveries)
    lines = [(delivery, attempts[delivery.pk]) for delivery in deliveries]
    context = _frame(request, row.team) | {"webhook": row, "form": form, "deliveries": lines, "at": timezone.now()}
    return render(request, "api/webhook.html", context | more, status=400 if form.errors else 200)


@login_required
@require_POST
def act(request: HttpRequest, webhook_id: int, action: str) -> HttpResponse:
    """The buttons of its page."""
    user = current_user(request)
    row = access.webhook_for(user, webhook_id)
    try:
        if action == "delete":
            webhooks.delete(row, user)
            messages.info(request, _("The webhook was deleted."))
            return redirect("webhooks:team", row.team.slug)
        if action == "secret":
            return _new_secret(request, row)
        if action == "save":
            return _save(request, row)
        _run(request, row, action)
    except webhooks.WebhookRefused as refused:
        messages.warning(request, refused.message)
    return redirect("webhooks:webhook", row.pk)


def _run(request: HttpRequest, row: Webhook, action: str) -> None:
    """Raises WebhookRefused and Http404."""
    user = current_user(request)
    if action == "test":
        webhooks.send_test(row, timezone.now())
        messages.info(request, _("A test message is on its way. Load the page again to see its result."))
    elif action in ("on", "off"):
        webhooks.change(row, {"active": action == "on"}, user)
        messages.info(request, _("The webhook is on.") if action == "on" else _("The webhook is off."))
    else:
        raise Http404


def _new_secret(request: HttpRequest, row: Webhook) -> HttpResponse:
    secret = webhooks.replace_secret(row, current_user(request), timezone.now())
    page = reverse("webhooks:webhook", args=[row.pk])
    return show_once(request, page, OneTimeLink(url=secret, kind="webhook", pk=row.pk))


def _save(request: HttpRequest, row: Webhook) -> HttpResponse:
    form = WebhookForm(request.POST)
    if form.is_valid():
        try:
            webhooks.change(row, form.cleaned_data, current_user(request))
        except webhooks.WebhookRefused as refused:
            form.add_error(refused.member or None, refused.message)
        else:
            messages.success(request, _("The webhook is saved."))
            return redirect("webhooks:webhook", row.pk)
    return _page(request, row, form)


@login_required
@require_POST
def redeliver(request: HttpRequest, webhook_id: int, delivery_id: int) -> HttpResponse:
    row = access.webhook_for(current_user(request), webhook_id)
    try:
        webhooks.redeliver(find_delivery(row, delivery_id), timezone.now())
        messages.info(request, _("The message is sent again."))
    except webhooks.WebhookRefused as refused:
        messages.warning(request, refused.message)
    return redirect("webhooks:webhook", row.pk)
