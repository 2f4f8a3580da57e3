from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from people import access
from people.forms.teams import ConsentTextsForm, InviteToTeamForm, TeamForm, TeamSettingsForm
from people.models import Team, TeamMember, User
from people.pages.tabs import tabs_for
from people.queries import mail_status
from people.services import consent, links, teams
from people.services.inviting import invite_lists
from people.views.one_time_link import OneTimeLink, clear_link, one_time_context, show_once
from people.views.request_helpers import current_user, link_maker, listed_invitations

SHOWN = 100  # of the latest invitations


@login_required
@require_safe
def team_list(request: HttpRequest) -> HttpResponse:
    """My teams, and the cohorts I manage. Site admins find every team."""
    user = current_user(request)
    every = user.is_staff and access.is_site_admin_access(user, "teams")
    context = {
        "teams": Team.objects.order_by("name") if every else access.visible_teams(user),
        "cohorts": access.visible_cohorts(user),
        "may_create": user.is_staff,
        "nav": tabs_for(user, "teams"),
    }
    return render(request, "people/teams.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def team_new(request: HttpRequest) -> HttpResponse:
    """Only site admins make teams. `then`: on an empty site the first benchmark follows."""
    user = current_user(request)
    if not user.is_staff:
        raise Http404
    form, then = TeamForm(request.POST or None), request.POST.get("then", "")
    if request.method == "POST" and form.is_valid():
        team = teams.create_team(form.cleaned_data["name"], form.cleaned_data["slug"], user)
        return redirect("benchmarks:create") if then == "benchmark" else redirect("people:team", team.slug)
    return render(request, "people/team_new.html", {"form": form, "then": then, "nav": tabs_for(user, "teams")})


def _team_page(request: HttpRequest, team: Team, form: InviteToTeamForm, **extra: Any) -> HttpResponse:
    user, at = current_user(request), timezone.now()
    manages = user.is_staff or access.is_team_admin(user, team)
    invitations = team.invitations.select_related("cohort", "created_by", "used_by").order_by("-pk")[:SHOWN]
    context = {
        "team": team,
        "manages": manages,
        "members": team.members.filter(user__sign_in=User.SignIn.ACCOUNT).select_related("user").order_by("user__name"),
        "admins": team.members.filter(role=TeamMember.Role.ADMIN).count(),
        "roles": TeamMember.Role.choices,
        "cohorts": team.cohorts.order_by("label"),
        "version": consent.current_version(team),
        "versions": team.consent_versions.prefetch_related("texts").order_by("-number"),
        "invitations": listed_invitations(invitations, at) if manages else [],
        "no_mail_server": not mail_status.has_mail_server(),
        "form": form,
        "settings_form": TeamSettingsForm(instance=team),
        "nav": tabs_for(user, "teams"),
        "who_place": team.name,
    }
    return render(request, "people/team.html", context | extra)


@login_required
@require_safe
def team(request: HttpRequest, slug: str) -> HttpResponse:
    team = access.team_for(request.user, slug)
    return clear_link(request, _team_page(request, team, InviteToTeamForm(), **one_time_context(request)))


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def team_invite(request: HttpRequest, slug: str) -> HttpResponse:
    """The link is on the page that follows, once, and nowhere else."""
    team = access.team_for(request.user, slug, admin=True)
    if request.method != "POST":
        return redirect("people:team", team.slug)
    form = InviteToTeamForm(request.POST)
    if not form.is_valid():
        return _team_page(request, team, form)
    person, role = (form.cleaned_data["email"], form.cleaned_data["note"]), form.cleaned_data["team_role"]
    actor, at = current_user(request), timezone.now()
    invitation, url = invite_lists.invite_to_team(team, actor, role, person, link_maker(request), at)
    page = reverse("people:team", args=[team.slug])
    return show_once(request, page, OneTimeLink(url=url, kind="invitation", pk=invitation.pk))


@login_required
@require_POST
def team_settings(request: HttpRequest, slug: str) -> HttpResponse:
    team = access.team_for(request.user, slug, admin=True)
    form = TeamSettingsForm(request.POST)
    if form.is_valid():
        allowed = form.cleaned_data["researchers_make_cohorts"]
        teams.allow_researchers_to_create_cohorts(team, current_user(request), allowed=allowed)
        messages.success(request, _("The settings are saved."))
    return redirect("people:team", team.slug)


def _member(team: Team, user_id: int) -> TeamMember:
    return get_object_or_404(TeamMember.objects.select_related("user"), team=team, user_id=user_id)


@login_required
@require_POST
def member_role(request: HttpRequest, slug: str, user_id: int) -> HttpResponse:
    team = access.team_for(request.user, slug, admin=True)
    role = request.POST.get("role", "")
    if role not in TeamMember.Role.values:
        raise BadRequest
    try:
        teams.change_role(_member(team, user_id), TeamMember.Role(role), current_user(request), timezone.now())
    except teams.LastAdmin:
        messages.warning(request, _("A team needs an admin. Change another member's role to admin first."))
    except teams.PersonNeeded:
        messages.warning(request, _("A service account cannot be an admin of a team."))
    return redirect("people:team", team.slug)


@login_required
@require_POST
def member_remove(request: HttpRequest, slug: str, user_id: int) -> HttpResponse:
    team = access.team_for(request.user, slug, admin=True)
    member = _member(team, user_id)
    try:
        teams.remove_member(member, current_user(request), timezone.now())
    except teams.LastAdmin:
        messages.warning(request, _("A team needs an admin. Change another member's role to admin first."))
    except teams.LastTeamOwner as refused:
        details = {"name": member.user, "benchmarks": ", ".join(refused.benchmarks)}
        messages.warning(
            request,
            _("%(name)s is the only owner of %(benchmarks)s. Change another member's role to owner there first.")
            % details,
        )
    if user_id == request.user.pk and member.pk is None:
        return redirect("people:teams")
    return redirect("people:team", team.slug)


@login_required
@require_POST
def invitation_revoke(request: HttpRequest, invitation_id: int) -> HttpResponse:
    user = current_user(request)
    invitation = access.invitation_for(user, invitation_id)
    links.revoke(invitation, user, timezone.now())
    if invitation.cohort and not TeamMember.objects.filter(team=invitation.team, user=user).exists():
        return redirect("people:cohort_invite", invitation.cohort.pk)
    return redirect("people:team", invitation.team.slug)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def consent_texts(request: HttpRequest, slug: str) -> HttpResponse:
    """Write the next version. With the button that publishes, it comes into force and everybody is asked again."""
    team = access.team_for(request.user, slug, admin=True)
    user = current_user(request)
    version = team.consent_versions.order_by("-number").first()
    texts = {text.language: text.body for text in version.texts.all()} if version else {}
    spoken = {code for cohort in team.cohorts.all() for code in cohort.languages}
    form = ConsentTextsForm(request.POST or None, texts=texts, languages=sorted(spoken))
    if request.method == "POST" and form.is_valid():
        if "publish" not in request.POST:
            consent.draft(team, form.texts(), user)
            messages.info(request, _("The draft is saved. It is not published yet."))
            return redirect("people:consent_texts", team.slug)
        if _publish_text(request, team, form.texts(), user):
            return redirect("people:team", team.slug)
    drafted = version is not None and version.published_at is None
    context = {"team": team, "form": form, "drafted": drafted, "version": version, "nav": tabs_for(user, "teams")}
    return render(request, "people/consent_texts.html", context)


def _publish_text(request: HttpRequest, team: Team, texts: dict[str, str], user: User) -> bool:
    try:
        consent.publish_text(team, texts, user, timezone.now())
    except consent.ConsentRefused:
        messages.warning(request, _("There is no text yet. Write it in one language at least."))
        return False
    messages.info(request, _("The new version is published. People are asked to agree before they continue."))
    return True


@login_required
@require_safe
def consent_version(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """Read one version in all its languages."""
    team = access.team_for(request.user, slug)
    version = get_object_or_404(team.consent_versions, number=number)
    context = {"team": team, "version": version, "texts": version.texts.order_by("language")}
    return render(request, "people/consent_version.html", context | {"nav": tabs_for(current_user(request), "teams")})
