"""Who may do what in one benchmark."""

from django.db import transaction
from django.db.models import QuerySet

from benchmarks.models import Benchmark, Role
from jobs.models import record
from people.models import TeamMember, User
from people.services.teams import PersonNeeded


class NotATeamMember(Exception):
    """Only members of the benchmark's team can have a role in it."""


class LastOwner(Exception):
    """A benchmark always has an owner: name another first."""


def set_role(benchmark: Benchmark, user: User, name: Role.Name, actor: User) -> Role:
    """Give a team member a role, or another one. Locks the benchmark's roles.

    Raises NotATeamMember, LastOwner, and PersonNeeded: a service account reviews nothing.
    """
    if user.is_service and name == Role.Name.REVIEWER:
        raise PersonNeeded
    with transaction.atomic():
        roles = _lock_roles(benchmark)
        if not TeamMember.objects.filter(team=benchmark.team, user=user).exists():
            raise NotATeamMember
        role = roles.filter(user=user).first() or Role(benchmark=benchmark, user=user)
        if role.pk and name != Role.Name.OWNER:
            _keep_an_owner(roles, role)
        role.name = name
        role.save()
        record(actor, "role.given", scope=benchmark.scope, target=f"user:{user.pk}", role=str(name))
    return role


def remove_role(benchmark: Benchmark, user: User, actor: User) -> None:
    """Take a role away; someone without one is left alone. Raises LastOwner. Locks the benchmark's roles."""
    with transaction.atomic():
        roles = _lock_roles(benchmark)
        role = roles.filter(user=user).first()
        if role is None:
            return
        _keep_an_owner(roles, role)
        record(actor, "role.taken", scope=benchmark.scope, target=f"user:{user.pk}", role=role.name)
        role.delete()


def _lock_roles(benchmark: Benchmark) -> QuerySet[Role]:
    Benchmark.objects.select_for_update().get(pk=benchmark.pk)
    return Role.objects.filter(benchmark=benchmark)


def _keep_an_owner(roles: QuerySet[Role], leaving: Role) -> None:
    if leaving.name == Role.Name.OWNER and not roles.filter(name=Role.Name.OWNER).exclude(pk=leaving.pk).exists():
        raise LastOwner
