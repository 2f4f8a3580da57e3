"""Tokens for programs: each person's own."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST

from people.access import token_for
from people.forms.base import StyledFormMixin
from people.models import ApiToken, User
from people.pages.tabs import tabs_for
from people.services import tokens as service
from people.views.one_time_link import OneTimeLink, clear_link, one_time_context, show_once
from people.views.request_helpers import current_user


class TokenForm(StyledFormMixin, forms.Form):
    name = forms.CharField(
        label=gettext_lazy("What is it for?"),
        max_length=80,
        help_text=gettext_lazy("A name you will know it by, such as the program or the computer it runs on."),
    )
    days = forms.IntegerField(
        label=gettext_lazy("Valid for how many days"),
        min_value=1,
        max_value=service.MAX_DAYS,
        initial=service.DEFAULT_DAYS,
        help_text=gettext_lazy("At most 366. Then the program needs a new one."),
    )
    scopes = forms.MultipleChoiceField(
        label=gettext_lazy("What the program may do"),
        choices=ApiToken.Scope.choices,
        initial=["read"],
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=gettext_lazy("Never more than you may do yourself. None selected: read only."),
    )
    benchmarks = forms.TypedMultipleChoiceField(
        label=gettext_lazy("Only these benchmarks (optional)"),
        coerce=int,
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=gettext_lazy("None selected: all that you may see."),
    )

    rate = forms.IntegerField(
        label=gettext_lazy("Requests a minute (optional)"),
        min_value=1,
        max_value=service.MAX_RATE,
        required=False,
        help_text=gettext_lazy("Empty: as many as the site allows you."),
    )

    def __init__(self, *args: Any, user: User, scopes: Sequence[str] = (), **kwargs: Any) -> None:
        """`user`: whose token it becomes. `scopes`: those that can be chosen; all without any."""
        super().__init__(*args, **kwargs)
        if scopes:
            choices = [choice for choice in ApiToken.Scope.choices if choice[0] in scopes]
            self.fields["scopes"].choices = choices  # type: ignore[attr-defined]
            self.fields["scopes"].help_text = _("Never more than its roles allow. None selected: read only.")
            self.fields["benchmarks"].help_text = _("None selected: all in which it has a role.")
        offered = service.offered_benchmarks(user)
        if offered:
            self.fields["benchmarks"].choices = offered  # type: ignore[attr-defined]
        else:
            self.fields.pop("benchmarks")

    def create(self, user: User, at: datetime, actor: User | None = None) -> tuple[ApiToken, str]:
        """Of a valid form. Raises TooManyTokens."""
        data = self.cleaned_data
        scopes = data["scopes"] or [ApiToken.Scope.READ]
        benchmarks = data.get("benchmarks", ())
        return service.create_token(user, data["name"], at, data["days"], scopes, benchmarks, actor, data["rate"])


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def tokens(request: HttpRequest) -> HttpResponse:
    """Make one, see which there are. A new one's text is shown once, after a redirect."""
    user, page, at = current_user(request), reverse("people:tokens"), timezone.now()
    form = TokenForm(request.POST or None, user=user)
    if request.method == "POST" and form.is_valid():
        try:
            token, text = form.create(user, at)
            return show_once(request, page, OneTimeLink(url=text, kind="token", pk=token.pk))
        except service.TooManyTokens:
            form.add_error(None, service.too_many_text())
    valid, expired = service.active_tokens(user, at), service.expired_tokens(user, at)
    context = {
        "form": form,
        "tokens": valid,
        "expired": expired,
        "nav": tabs_for(user, "me"),
        **one_time_context(request),
    }
    status = 400 if form.errors else 200
    return clear_link(request, render(request, "people/tokens.html", context, status=status))


@login_required
@require_POST
def revoke(request: HttpRequest, token_id: int) -> HttpResponse:
    user = current_user(request)
    token = token_for(user, token_id)
    if service.revoke(token, user, timezone.now()):
        messages.info(request, _("“%(name)s” was revoked.") % {"name": token.name})
    return redirect("people:tokens")
