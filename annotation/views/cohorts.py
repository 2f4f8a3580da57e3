"""A cohort, for those who manage it: its people, what they do, and how far it is."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from annotation.queries.roster import CONSENTS, cohort_campaigns, consent_filters, roster
from annotation.services.campaigns import membership_end
from people import access
from people.forms.teams import TeamPersonForm
from people.models import Cohort, User
from people.pages.tabs import tabs_for
from people.services import memberships
from people.views.one_time_link import clear_link, one_time_context
from people.views.request_helpers import current_user


@login_required
@require_safe
@never_cache
def cohort(request: HttpRequest, cohort_id: int) -> HttpResponse:
    """Researchers of the team look; managers and team admins also see addresses, and change."""
    found = access.cohort_for(request.user, cohort_id)
    context = _context(found, current_user(request), request.GET.get("consent", "")) | one_time_context(request)
    return clear_link(request, render(request, "annotation/cohort/page.html", context))


def _context(cohort: Cohort, user: User, consent: str) -> dict[str, Any]:
    """Only managers see consent: beside a benchmark's numbers it would tell whose answers were withdrawn."""
    names_managers = access.may_name_managers(user, cohort.team)
    people = roster(cohort, timezone.now())
    manages = names_managers or access.may_manage(user, cohort)
    chosen = consent if manages and consent in CONSENTS else ""
    return {
        "cohort": cohort,
        "part": "people",
        "manages": manages,
        "names_managers": names_managers,
        "people": [one for one in people if not chosen or one.consent.key == chosen],
        "consents": consent_filters(people, chosen) if manages else [],
        "active": memberships.active_members(cohort).count(),
        "waiting": _open_invitations(cohort),
        "work": cohort_campaigns(cohort),
        "managers": cohort.managers.select_related("user").order_by("user__name"),
        "manager_form": _manager_form(cohort) if names_managers else None,
        "nav": tabs_for(user, "teams"),
        "who_place": cohort.team.name,
    }


def _manager_form(cohort: Cohort) -> TeamPersonForm:
    return TeamPersonForm(people=memberships.eligible_managers(cohort), team=cohort.team)


def _open_invitations(cohort: Cohort) -> int:
    """Invitations that nobody has taken up yet."""
    return cohort.invitations.filter(used_at=None, revoked_at=None, expires_at__gt=timezone.now()).count()


@login_required
@require_POST
def member_end(request: HttpRequest, member_id: int) -> HttpResponse:
    """The person works here no longer; what they hold goes back, what they wrote stays."""
    member = access.membership_for(request.user, member_id)
    released = membership_end.end_membership_and_release(member, current_user(request), timezone.now())
    if released is not None:
        message = _("%(name)s is no longer a member. The answers and drafts stay.") % {"name": member.user}
        places = ngettext("%(n)s reservation was released.", "%(n)s reservations were released.", released) % {
            "n": released
        }
        messages.info(request, f"{message} {places}" if released else message)
    return redirect("annotation:cohort", member.cohort_id)


@login_required
@require_POST
def member_reactivate(request: HttpRequest, member_id: int) -> HttpResponse:
    """Undo it. Who left by themselves is invited anew."""
    member = access.membership_for(request.user, member_id)
    if memberships.reactivate(member, current_user(request)):
        messages.info(request, _("%(name)s is a member again. Drafts are kept.") % {"name": member.user})
    else:
        messages.warning(request, _("This person left the cohort themselves. Send a new invitation."))
    return redirect("annotation:cohort", member.cohort_id)
