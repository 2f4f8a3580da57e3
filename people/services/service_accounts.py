"""Programs of a team that have tokens of their own, so that a token outlives the membership of whoever made it."""

from datetime import datetime

from django.db import transaction

from jobs.models import record
from people.models import Team, TeamMember, User
from people.services import teams
from people.services.tokens import Scope

SCOPES = (Scope.READ, Scope.EXPORT, Scope.WRITE)
"""What a token of a service account may do. It manages no people, publishes nothing, and answers nothing."""


@transaction.atomic
def create_service_account(team: Team, name: str, actor: User) -> User:
    """A member of the team without e-mail and password: nobody can sign in as it."""
    account = User.objects.create_user("", name, sign_in=User.SignIn.SERVICE)
    target = f"user:{account.pk}"
    record(actor, "account.created", scope=f"team:{team.pk}", target=target, service=True)
    teams.add_member(team, account, TeamMember.Role.MEMBER, actor)
    return account


def delete_service_account(team: Team, account: User, actor: User, at: datetime) -> None:
    """It leaves the team and its tokens are revoked; what it wrote stays under its name. Raises LastTeamOwner."""
    teams.remove_member(team.members.select_related("user").get(user=account), actor, at)
