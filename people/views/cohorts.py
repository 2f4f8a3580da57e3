from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import F
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from people import access
from people.forms.teams import CohortForm, InviteForm, PersonForm
from people.models import Cohort, CohortMember, Team, User
from people.services import cohorts, consent, links, mail, memberships
from people.tabs import tabs_for
from people.views.asking import person
from people.views.fresh import Fresh, forget, show_once, shown_now

SHOWN = 100  # of the latest invitations


def _may_name_managers(user: User, team: Team) -> bool:
    return user.is_staff or access.is_team_admin(user, team)


def _people_of(cohort: Cohort) -> set[int]:
    """Who is offered as manager: people of the team, and of the cohort. Others of the team are named by e-mail."""
    members = cohort.team.members.values_list("user_id", flat=True)
    return {*members, *memberships.active_members(cohort).values_list("user_id", flat=True)}


def _cohort_page(request: HttpRequest, cohort: Cohort, form: InviteForm, **extra: Any) -> HttpResponse:
    user, at = person(request), timezone.now()
    names_managers = _may_name_managers(user, cohort.team)
    manages = names_managers or cohort.managers.filter(user=user).exists()
    members = cohort.members.select_related("user").order_by(F("left_at").asc(nulls_first=True), "user__name")
    agreed = members.filter(consent.consented_filter("user_id", "cohort__team_id")).values_list("pk", flat=True)
    invitations = cohort.invitations.select_related("created_by", "used_by").order_by("-pk")[:SHOWN] if manages else []
    context = {
        "cohort": cohort,
        "manages": manages,
        "names_managers": names_managers,
        "members": members,
        "agreed": set(agreed),
        "active": memberships.active_members(cohort).count(),
        "managers": cohort.managers.select_related("user").order_by("user__name"),
        "invitations": [(invitation, links.state_of(invitation, at)) for invitation in invitations],
        "form": form,
        "manager_form": PersonForm(people=_people_of(cohort), team=cohort.team) if names_managers else None,
        "nav": tabs_for(user, "teams"),
        "who_place": cohort.team.name,
    }
    return render(request, "people/cohort.html", context | extra)


def _page(cohort: Cohort) -> str:
    return reverse("people:cohort", args=[cohort.pk])


@login_required
@require_safe
def cohort(request: HttpRequest, cohort_id: int) -> HttpResponse:
    found = access.cohort_for(request.user, cohort_id)
    return forget(request, _cohort_page(request, found, InviteForm(), **shown_now(request)))


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def cohort_new(request: HttpRequest, slug: str) -> HttpResponse:
    team = access.team_for(request.user, slug, admin=True)
    form = CohortForm(request.POST or None, team=team)
    if request.method == "POST" and form.is_valid():
        made = cohorts.create_cohort(team, form.data_for_service, person(request))
        return redirect("people:cohort", made.pk)
    context = {"form": form, "team": team, "nav": tabs_for(person(request), "teams")}
    return render(request, "people/cohort_edit.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def cohort_edit(request: HttpRequest, cohort_id: int) -> HttpResponse:
    found = access.cohort_for(request.user, cohort_id, manage=True)
    form = CohortForm(request.POST or None, instance=found, team=found.team)
    if request.method == "POST" and form.is_valid():
        cohorts.update_cohort(found, form.data_for_service, person(request))
        return redirect("people:cohort", found.pk)
    context = {"form": form, "team": found.team, "cohort": found, "nav": tabs_for(person(request), "teams")}
    return render(request, "people/cohort_edit.html", context)


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def cohort_invite(request: HttpRequest, cohort_id: int) -> HttpResponse:
    """The link is on the page that follows, once, and nowhere else."""
    found = access.cohort_for(request.user, cohort_id, manage=True)
    if request.method != "POST":
        return redirect("people:cohort", found.pk)
    form = InviteForm(request.POST)
    if not form.is_valid():
        return _cohort_page(request, found, form)
    email, note = form.cleaned_data["email"], form.cleaned_data["note"]
    at = timezone.now()
    invitation, token = links.invite(found.team, person(request), at, cohort=found, email=email, note=note)
    url, sent = mail.send_invitation(request, invitation, token)
    return show_once(request, _page(found), Fresh(url=url, kind="invitation", pk=invitation.pk, sent=sent))


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in_link(request: HttpRequest, member_id: int) -> HttpResponse:
    """A link with which a member signs in once, for people who lost their password and read no e-mail."""
    member = access.membership_for(request.user, member_id)
    if request.method != "POST":
        return redirect("people:cohort", member.cohort_id)
    try:
        _link, token = links.make_sign_in_link(member.user, member.cohort, person(request), timezone.now())
    except links.LinkRefused:
        messages.warning(
            request,
            _("Sign-in links are for active members who only rate. This person signs in with a password."),
        )
        return redirect("people:cohort", member.cohort_id)
    url = request.build_absolute_uri(reverse("people:link", args=[token]))
    return show_once(request, _page(member.cohort), Fresh(url=url, kind="member", pk=member.pk, sent=False))


@login_required
@require_POST
def membership_end(request: HttpRequest, member_id: int) -> HttpResponse:
    member: CohortMember = access.membership_for(request.user, member_id)
    if memberships.end(member, person(request), timezone.now()):
        messages.info(request, _("%(name)s is no longer a member. The answers stay.") % {"name": member.user})
    return redirect("people:cohort", member.cohort_id)


def _cohort_to_staff(request: HttpRequest, cohort_id: int) -> Cohort:
    """Managers are named by the team's admins; a manager cannot name another."""
    found = access.cohort_for(request.user, cohort_id, manage=True)
    if not _may_name_managers(person(request), found.team):
        raise Http404
    return found


@login_required
@require_POST
def manager_add(request: HttpRequest, cohort_id: int) -> HttpResponse:
    found = _cohort_to_staff(request, cohort_id)
    form = PersonForm(request.POST, people=_people_of(found), team=found.team)
    if form.is_valid():
        memberships.add_manager(found, form.cleaned_data["somebody"], person(request))
    else:
        messages.warning(
            request, _("Choose one person, or write the e-mail of somebody who belongs or belonged to this team.")
        )
    return redirect("people:cohort", found.pk)


@login_required
@require_POST
def manager_remove(request: HttpRequest, cohort_id: int, user_id: int) -> HttpResponse:
    found = _cohort_to_staff(request, cohort_id)
    manager = found.managers.select_related("user").filter(user_id=user_id).first()
    if manager is None:
        raise Http404
    memberships.remove_manager(found, manager.user, person(request), timezone.now())
    return redirect("people:cohort", found.pk)
