"""The only place where an id or a slug from a URL becomes an object of this app, for a person who may have it."""

from collections.abc import Iterable

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db.models import Q, QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404

from jobs.models import record
from people.models import (
    ApiToken,
    Cohort,
    CohortMember,
    InterfaceLanguage,
    Invitation,
    LanguageSpeaker,
    Message,
    Team,
    TeamMember,
    User,
)

Person = User | AnonymousUser


def is_site_admin_access(user: Person, scope: str) -> bool:
    """Site admins see what others own; each such look is an event."""
    if not (user.is_active and user.is_staff):
        return False
    record(user, "admin.looked", scope=scope)
    return True


def is_team_admin(user: Person, team: Team) -> bool:
    return user.is_active and TeamMember.objects.filter(team=team, user_id=user.pk, role=TeamMember.Role.ADMIN).exists()


def teams_with_admin(teams: Iterable[Team], user: User) -> dict[int, bool]:
    """True for those of these teams whose admin this person is. One query."""
    rows = TeamMember.objects.filter(team__in=teams, user=user, user__is_active=True, role=TeamMember.Role.ADMIN)
    return dict.fromkeys(rows.values_list("team", flat=True), True)


def may_name_managers(user: User, team: Team) -> bool:
    return user.is_staff or is_team_admin(user, team)


def visible_teams(user: User) -> QuerySet[Team]:
    """Teams whose page this person may open without being a site admin."""
    return Team.objects.filter(members__user=user).order_by("name")


def visible_cohorts(user: User) -> QuerySet[Cohort]:
    """Cohorts this person manages."""
    return Cohort.objects.filter(managers__user=user).select_related("team").order_by("label")


def team_for(user: Person, slug: str, *, admin: bool = False) -> Team:
    """A team for its members; with `admin`, for its admins. A stranger learns nothing: 404."""
    team = Team.objects.filter(slug=slug).first()
    if team is None or not user.is_authenticated or not user.is_active:
        raise Http404
    member = TeamMember.objects.filter(team=team, user=user).first()
    if member and (not admin or member.role == TeamMember.Role.ADMIN):
        return team
    if is_site_admin_access(user, f"team:{team.pk}"):
        return team
    raise Http404


def team_for_inviting(user: Person, slug: str) -> Team:
    """A team for those who invite people to some cohort of it: its admins, and who manages a cohort."""
    managed = Team.objects.filter(slug=slug, cohorts__managers__user_id=user.pk).first() if user.is_active else None
    return managed or team_for(user, slug, admin=True)


def cohort_for(user: Person, cohort_id: int, *, manage: bool = False) -> Cohort:
    """A cohort for its managers and its team's members; with `manage`, for its managers and the team's admins."""
    if not user.is_authenticated or not user.is_active:
        raise Http404
    of_team = Q(team__members__user=user)
    if manage:
        of_team &= Q(team__members__role=TeamMember.Role.ADMIN)
    cohorts = Cohort.objects.select_related("team")
    cohort = cohorts.filter(pk=cohort_id).filter(of_team | Q(managers__user=user)).distinct().first()
    if cohort is not None:
        return cohort
    cohort = cohorts.filter(pk=cohort_id).first()
    if cohort is not None and is_site_admin_access(user, f"team:{cohort.team_id}"):
        return cohort
    raise Http404


def cohort_to_staff(user: Person, cohort_id: int) -> Cohort:
    """A cohort for those who name its managers: the admins of its team. A manager cannot name another."""
    cohort = cohort_for(user, cohort_id, manage=True)
    if not isinstance(user, User) or not may_name_managers(user, cohort.team):
        raise Http404
    return cohort


def may_manage(user: Person, cohort: Cohort) -> bool:
    """For showing a link or not: its managers, and the admins of its team."""
    return is_team_admin(user, cohort.team) or (user.is_active and cohort.managers.filter(user_id=user.pk).exists())


def membership_for(user: Person, member_id: int) -> CohortMember:
    """A membership for whoever manages its cohort."""
    member = get_object_or_404(CohortMember.objects.select_related("cohort__team", "user"), pk=member_id)
    cohort_for(user, member.cohort_id, manage=True)
    return member


def token_for(user: User, token_id: int) -> ApiToken:
    """A token for the person whose it is, and nobody else."""
    return get_object_or_404(ApiToken, pk=token_id, user=user)


def service_accounts_of(team: Team) -> QuerySet[User]:
    """The programs of a team that the person has been let into, by name."""
    rows = User.objects.filter(team_memberships__team=team, sign_in=User.SignIn.SERVICE, is_active=True)
    return rows.order_by("name", "pk")


def service_account_for(user: Person, slug: str, account_id: int) -> tuple[Team, User]:
    """A program of a team, for the team's admins."""
    team = team_for(user, slug, admin=True)
    return team, get_object_or_404(service_accounts_of(team), pk=account_id)


def message_for(user: Person, message_id: int) -> Message:
    """A message for whoever manages its cohort."""
    message = get_object_or_404(Message.objects.select_related("cohort__team", "author"), pk=message_id)
    cohort_for(user, message.cohort_id, manage=True)
    return message


def received_message(user: Person, message_id: int) -> Message:
    """A message for those it is said to: members of its cohort now."""
    to = Q(cohort__members__user_id=user.pk, cohort__members__left_at=None)
    message = Message.objects.filter(to, pk=message_id, withdrawn_at=None).first() if user.is_active else None
    if message is None:
        raise Http404
    return message


def invitation_for(user: Person, invitation_id: int) -> Invitation:
    """An invitation for those who could have made it: the cohort's managers, or the team's admins."""
    invitation = get_object_or_404(Invitation.objects.select_related("team", "cohort"), pk=invitation_id)
    if invitation.cohort_id and not invitation.team_role:
        cohort_for(user, invitation.cohort_id, manage=True)
    else:
        team_for(user, invitation.team.slug, admin=True)
    return invitation


def invitations_of(user: User, team: Team) -> QuerySet[Invitation]:
    """Those of a team that the person has been let into for inviting, and could have made: all for its admins, else
    those of the cohorts that they manage."""
    rows = Invitation.objects.filter(team=team)
    if user.is_staff or is_team_admin(user, team):
        return rows
    return rows.filter(team_role="", cohort__managers__user=user)


def team_for_consent(user: Person, team_id: int) -> Team:
    """A team whose consent text concerns this person: a member of one of its cohorts, now or before, or of the team."""
    concerned = (
        Q(cohorts__members__user_id=user.pk)
        | Q(members__user_id=user.pk)
        | Q(consent_versions__consents__user_id=user.pk)
    )
    team = Team.objects.filter(concerned, pk=team_id).distinct().first() if user.is_authenticated else None
    if team is None:
        raise Http404
    return team


def visible_languages(user: Person) -> list[str]:
    """The languages of the interface whose texts a person may read on the pages for speakers: all for site admins."""
    codes = [code for code, _name in settings.LANGUAGES if code != "en"]
    if not user.is_authenticated or not user.is_active:
        return []
    if user.is_staff:
        return codes
    spoken = set(LanguageSpeaker.objects.filter(user_id=user.pk).values_list("language__code", flat=True))
    return [code for code in codes if code in spoken]


def language_for(user: Person, code: str, *, admin: bool = False, speaks: bool = False) -> InterfaceLanguage:
    """A language for its speakers and the site admins; with `admin` or `speaks`, for those alone."""
    if code not in visible_languages(user) or (admin and not user.is_staff):
        raise Http404
    language, _created = InterfaceLanguage.objects.get_or_create(code=code)
    if speaks and not may_confirm_texts(user, language):
        raise Http404
    return language


def may_confirm_texts(user: Person, language: InterfaceLanguage) -> bool:
    """Whether a person was named as a speaker. A site admin is none without being named."""
    return user.is_active and language.speakers.filter(user_id=user.pk).exists()
