from django.db import transaction

from jobs.models import record
from people.models import Team, TeamMember, User


class LastAdmin(Exception):
    """A team keeps at least one admin."""


@transaction.atomic
def create_team(name: str, slug: str, actor: User) -> Team:
    """A new team, with its first admin: whoever makes it."""
    team = Team.objects.create(name=name, slug=slug)
    record(actor, "team.created", scope=f"team:{team.pk}", target=f"team:{team.pk}")
    add_member(team, actor, TeamMember.Role.ADMIN, actor)
    return team


@transaction.atomic
def add_member(team: Team, user: User, role: TeamMember.Role, actor: User) -> TeamMember:
    """Bring a person in. A member who is invited as admin becomes admin; an admin is never lowered by it."""
    member, made = TeamMember.objects.get_or_create(team=team, user=user, defaults={"role": role})
    raised = not made and role == TeamMember.Role.ADMIN and member.role != role
    if raised:
        member.role = role
        member.save(update_fields=["role"])
    if made or raised:
        record(actor, "team.member_added", scope=f"team:{team.pk}", target=f"user:{user.pk}", role=str(role))
    return member


def _keep_an_admin(team: Team, member: TeamMember) -> None:
    """Caller holds the team's row lock, so that two admins cannot remove each other at once."""
    others = TeamMember.objects.filter(team=team, role=TeamMember.Role.ADMIN, user__is_active=True)
    if member.role == TeamMember.Role.ADMIN and not others.exclude(pk=member.pk).exists():
        raise LastAdmin


@transaction.atomic
def change_role(member: TeamMember, role: TeamMember.Role, actor: User) -> None:
    team = Team.objects.select_for_update().get(pk=member.team_id)
    if role != TeamMember.Role.ADMIN:
        _keep_an_admin(team, member)
    TeamMember.objects.filter(pk=member.pk).update(role=role)
    target = f"user:{member.user_id}"
    record(actor, "team.role_changed", scope=f"team:{team.pk}", target=target, role=str(role))


@transaction.atomic
def remove_member(member: TeamMember, actor: User) -> None:
    """Take a person out of the team, and out of the roles they hold in its benchmarks."""
    team = Team.objects.select_for_update().get(pk=member.team_id)
    _keep_an_admin(team, member)
    roles, _by_model = member.user.benchmark_roles.filter(benchmark__team=team).delete()
    target = f"user:{member.user_id}"
    member.delete()
    record(actor, "team.member_removed", scope=f"team:{team.pk}", target=target, roles=roles)
