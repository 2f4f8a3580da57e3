"""Inviting people to a cohort: one, as so many links, or from a list. Links are shown once, when they are made."""

import secrets
from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from people import access
from people.forms.teams import InviteForm, InviteLinksForm, InviteListForm
from people.models import Cohort
from people.pages.tabs import tabs_for
from people.queries import mail_status
from people.services import memberships
from people.services.inviting import invite_lists
from people.views.one_time_link import OneTimeLink, clear_link, links_file, one_time_context, show_once
from people.views.request_helpers import current_user, link_maker, listed_invitations

SHOWN = 100  # of the latest invitations
KEPT = 20  # keys of lists that were sent, in the session


def _page(request: HttpRequest, cohort: Cohort, **more: Any) -> HttpResponse:
    at = timezone.now()
    rows = list(cohort.invitations.select_related("created_by", "used_by").order_by("-pk")[:SHOWN])
    context = {
        "cohort": cohort,
        "part": "invite",
        "form": InviteForm(),
        "links_form": InviteLinksForm(auto_id="links_%s"),
        "list_form": InviteListForm(auto_id="list_%s"),
        "key": secrets.token_urlsafe(12),
        "active": memberships.active_members(cohort).count(),
        "invitations": listed_invitations(rows, at),
        "no_mail_server": not mail_status.has_mail_server(),
        "nav": tabs_for(current_user(request), "teams"),
        "who_place": cohort.team.name,
    }
    return render(request, "people/invite.html", context | more)


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def cohort_invite(request: HttpRequest, cohort_id: int) -> HttpResponse:
    """One person. The link is on the page that follows, once, and nowhere else."""
    cohort = access.cohort_for(request.user, cohort_id, manage=True)
    if request.method != "POST":
        return clear_link(request, _page(request, cohort, **one_time_context(request)))
    form = InviteForm(request.POST)
    if not form.is_valid():
        return _page(request, cohort, form=form)
    person = (form.cleaned_data["email"], form.cleaned_data["note"])
    [(invitation, url)] = invite_lists.invite_all(
        cohort, current_user(request), [person], link_maker(request), timezone.now()
    )
    page = reverse("people:cohort_invite", args=[cohort.pk])
    return show_once(request, page, OneTimeLink(url=url, kind="invitation", pk=invitation.pk))


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def invite_links(request: HttpRequest, cohort_id: int) -> HttpResponse:
    """So many links for whoever gets them."""
    cohort = access.cohort_for(request.user, cohort_id, manage=True)
    if request.method != "POST":
        return redirect("people:cohort_invite", cohort.pk)
    form = InviteLinksForm(request.POST, auto_id="links_%s")
    if not form.is_valid():
        return _page(request, cohort, links_form=form)
    return _create_and_show(request, cohort, form.people())


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def invite_list(request: HttpRequest, cohort_id: int) -> HttpResponse:
    """A list of people: read first, and shown; sent when it is said so. Rows that are wrong keep nobody waiting."""
    cohort = access.cohort_for(request.user, cohort_id, manage=True)
    if request.method != "POST":
        return redirect("people:cohort_invite", cohort.pk)
    form = InviteListForm(request.POST, request.FILES, auto_id="list_%s")
    if not form.is_valid():
        return _page(request, cohort, list_form=form)
    text = form.cleaned_data["text"]
    listed = invite_lists.parse_list(text, cohort, timezone.now())
    if listed.problem:
        form.add_error(None, listed.problem)
        return _page(request, cohort, list_form=form)
    if request.POST.get("do") != "send" or not listed.valid_rows:
        again = InviteListForm(initial={"text": text}, auto_id="list_%s")
        return _page(request, cohort, listed=listed, list_form=again)
    return _create_and_show(
        request, cohort, [(line.email, line.note) for line in listed.valid_rows], left_out=listed.invalid_rows
    )


def _create_and_show(
    request: HttpRequest,
    cohort: Cohort,
    people: Sequence[tuple[str, str]],
    left_out: Sequence[invite_lists.InviteRow] = (),
) -> HttpResponse:
    """Make them and show the links: the only time. The same form sent again makes no others."""
    key, used = request.POST.get("key", ""), request.session.get("invited", [])
    if key and key in used:
        messages.warning(
            request,
            _("These links were already created and are shown only once. Revoke lost links and create new ones."),
        )
        return redirect("people:cohort_invite", cohort.pk)
    request.session["invited"] = [*used, key][-KEPT:]
    invitations = invite_lists.invite_all(cohort, current_user(request), people, link_maker(request), timezone.now())
    letters = mail_status.letters_of(f"invitation:{invitation.pk}" for invitation, _url in invitations)
    context = {
        "cohort": cohort,
        "part": "invite",
        "rows": [(invitation, url, letters.get(f"invitation:{invitation.pk}")) for invitation, url in invitations],
        "letters": sum(letter.state == letter.State.QUEUED for letter in letters.values()),
        "no_mail_server": not mail_status.has_mail_server(),
        "download": links_file(
            ("email", "note", "link"), [(invitation.email, invitation.note, url) for invitation, url in invitations]
        ),
        "left_out": left_out,
        "nav": tabs_for(current_user(request), "teams"),
        "who_place": cohort.team.name,
    }
    return render(request, "people/invite_result.html", context)
