from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from people import access
from people.forms.teams import CohortForm, TeamPersonForm
from people.models import Cohort
from people.pages.tabs import tabs_for
from people.services import cohorts, links, memberships
from people.views.one_time_link import OneTimeLink, show_once
from people.views.request_helpers import current_user


def _page(cohort: Cohort) -> str:
    """Of the cohort, with its people and what they do: it belongs to the app that knows of work."""
    return reverse("annotation:cohort", args=[cohort.pk])


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def cohort_new(request: HttpRequest, slug: str) -> HttpResponse:
    team = access.team_for(request.user, slug, admin=True)
    form = CohortForm(request.POST or None, team=team, naming=True)
    if request.method == "POST" and form.is_valid():
        cohort = cohorts.create_cohort(team, form.data_for_service, current_user(request))
        return redirect(_page(cohort))
    context = {"form": form, "team": team, "nav": tabs_for(current_user(request), "teams")}
    return render(request, "people/cohort_edit.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def cohort_edit(request: HttpRequest, cohort_id: int) -> HttpResponse:
    cohort = access.cohort_for(request.user, cohort_id, manage=True)
    naming = access.may_name_managers(current_user(request), cohort.team)
    form = CohortForm(request.POST or None, instance=cohort, team=cohort.team, naming=naming)
    if request.method == "POST" and form.is_valid():
        cohorts.update_cohort(cohort, form.data_for_service, current_user(request))
        return redirect(_page(cohort))
    context = {"form": form, "team": cohort.team, "cohort": cohort, "nav": tabs_for(current_user(request), "teams")}
    return render(request, "people/cohort_edit.html", context)


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in_link(request: HttpRequest, member_id: int) -> HttpResponse:
    """A link with which a member signs in once, for people who lost their password and read no e-mail."""
    member = access.membership_for(request.user, member_id)
    if request.method != "POST":
        return redirect(_page(member.cohort))
    try:
        _link, token = links.make_sign_in_link(member.user, member.cohort, current_user(request), timezone.now())
    except links.LinkRefused:
        messages.warning(
            request,
            _("Sign-in links are for active members who only rate. This person signs in with a password."),
        )
        return redirect(_page(member.cohort))
    url = request.build_absolute_uri(reverse("people:link", args=[token]))
    return show_once(request, _page(member.cohort), OneTimeLink(url=url, kind="member", pk=member.pk))


@login_required
@require_POST
def cohort_pause(request: HttpRequest, cohort_id: int) -> HttpResponse:
    """A rest for everybody of the cohort, in every campaign."""
    cohort = access.cohort_for(request.user, cohort_id, manage=True)
    if request.POST.get("do") == "pause":
        cohorts.pause(cohort, current_user(request), timezone.now())
        messages.info(request, _("No new work is assigned in this cohort. People can finish what is in progress."))
    elif request.POST.get("do") == "resume":
        cohorts.resume(cohort, current_user(request))
        messages.info(request, _("The cohort is active again."))
    return redirect(_page(cohort))


@login_required
@require_POST
def manager_add(request: HttpRequest, cohort_id: int) -> HttpResponse:
    cohort = access.cohort_to_staff(request.user, cohort_id)
    form = TeamPersonForm(request.POST, people=memberships.eligible_managers(cohort), team=cohort.team)
    if form.is_valid():
        memberships.add_manager(cohort, form.cleaned_data["somebody"], current_user(request))
    else:
        messages.warning(
            request, _("Choose one person, or write the e-mail of somebody who belongs or belonged to this team.")
        )
    return redirect(_page(cohort))


@login_required
@require_POST
def manager_remove(request: HttpRequest, cohort_id: int, user_id: int) -> HttpResponse:
    cohort = access.cohort_to_staff(request.user, cohort_id)
    manager = cohort.managers.select_related("user").filter(user_id=user_id).first()
    if manager is None:
        raise Http404
    memberships.remove_manager(cohort, manager.user, current_user(request), timezone.now())
    return redirect(_page(cohort))
