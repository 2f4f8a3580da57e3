from datetime import datetime

from django.db import transaction
from django.db.models import Q

from jobs.models import record
from people.models import CohortManager, Team, TeamMember, User
from people.services import link_revocation, tokens


class LastAdmin(Exception):
    """A team keeps at least one admin."""


class LastTeamOwner(Exception):
    """A benchmark keeps at least one owner. `benchmarks` are the names of those that would have none."""

    def __init__(self, benchmarks: list[str]) -> None:
        super().__init__(", ".join(benchmarks))
        self.benchmarks = benchmarks


class PersonNeeded(Exception):
    """A service account can be no admin of a team and no reviewer."""


@transaction.atomic
def create_team(name: str, slug: str, actor: User) -> Team:
    """A new team, with its first admin: whoever makes it."""
    team = Team.objects.create(name=name, slug=slug)
    record(actor, "team.created", scope=f"team:{team.pk}", target=f"team:{team.pk}")
    add_member(team, actor, TeamMember.Role.ADMIN, actor)
    return team


@transaction.atomic
def allow_researchers_to_create_cohorts(team: Team, actor: User, *, allowed: bool) -> None:
    """Set whether owners and researchers of a benchmark may create the cohorts of its recipe."""
    changed = Team.objects.filter(pk=team.pk).exclude(researchers_make_cohorts=allowed)
    if changed.update(researchers_make_cohorts=allowed):
        scope = f"team:{team.pk}"
        record(actor, "team.settings_changed", scope=scope, target=scope, researchers_make_cohorts=allowed)
    team.researchers_make_cohorts = allowed


@transaction.atomic
def add_member(team: Team, user: User, role: TeamMember.Role, actor: User) -> TeamMember:
    """Bring a person in. A member who is invited as admin becomes admin; an admin is never lowered by it."""
    member, created = TeamMember.objects.get_or_create(team=team, user=user, defaults={"role": role})
    raised = not created and role == TeamMember.Role.ADMIN and member.role != role
    if raised:
        member.role = role
        member.save(update_fields=["role"])
    if created or raised:
        link_revocation.end_sessions_by_link(user)
        record(actor, "team.member_added", scope=f"team:{team.pk}", target=f"user:{user.pk}", role=str(role))
    return member


def _keep_an_admin(team: Team, member: TeamMember) -> None:
    """Caller holds the team's row lock, so that two admins cannot remove each other at once. The role is read under it:
    the person may have become an admin since the page was opened."""
    admins = TeamMember.objects.filter(team=team, role=TeamMember.Role.ADMIN)
    others = admins.filter(user__is_active=True).exclude(pk=member.pk)
    if admins.filter(pk=member.pk).exists() and not others.exists():
        raise LastAdmin


def _keep_owners(team: Team, user: User) -> None:
    """Locks the benchmarks, as whoever changes roles in them does."""
    owned = team.benchmarks.select_for_update().filter(roles__in=user.benchmark_roles.filter(name="owner"))
    alone = [
        benchmark.name
        for benchmark in owned.order_by("pk")
        if not benchmark.roles.filter(name="owner").exclude(user=user).exists()
    ]
    if alone:
        raise LastTeamOwner(alone)


@transaction.atomic
def change_role(member: TeamMember, role: TeamMember.Role, actor: User, at: datetime) -> None:
    """Raises LastAdmin and PersonNeeded. Who is lowered keeps no link that only an admin makes."""
    if member.user.is_service and role == TeamMember.Role.ADMIN:
        raise PersonNeeded
    team = Team.objects.select_for_update().get(pk=member.team_id)
    if role != TeamMember.Role.ADMIN:
        _keep_an_admin(team, member)
    TeamMember.objects.filter(pk=member.pk).update(role=role)
    if role == TeamMember.Role.ADMIN:
        link_revocation.end_sessions_by_link(member.user)
    else:
        link_revocation.revoke_links_by(member.user, team, actor, at, waiting=Q(team_role=TeamMember.Role.ADMIN))
    target = f"user:{member.user_id}"
    record(actor, "team.role_changed", scope=f"team:{team.pk}", target=target, role=str(role))


@transaction.atomic
def remove_member(member: TeamMember, actor: User, at: datetime) -> None:
    """Take a person out of the team, its benchmarks and its cohorts' management. Raises LastAdmin, LastTeamOwner.

    Their membership of a cohort, if they also rate, stays: it is ended on the cohort's page. A service account ends.
    """
    team = Team.objects.select_for_update().get(pk=member.team_id)
    _keep_an_admin(team, member)
    _keep_owners(team, member.user)
    roles, _by_model = member.user.benchmark_roles.filter(benchmark__team=team).delete()
    managed, _by_model = CohortManager.objects.filter(user=member.user, cohort__team=team).delete()
    target = f"user:{member.user_id}"
    member.delete()
    link_revocation.revoke_sign_in_links(member.user, at)
    link_revocation.revoke_links_by(member.user, team, actor, at, waiting=~Q(team_role=""))
    if member.user.is_service:
        User.objects.filter(pk=member.user_id).update(is_active=False)
        tokens.revoke_all(member.user, at, actor)
    record(actor, "team.member_removed", scope=f"team:{team.pk}", target=target, roles=roles, managed=managed)
