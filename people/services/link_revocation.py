"""What somebody who lost a role could still open doors with: links they made, and links that wait for them."""

from datetime import datetime

from django.db.models import F, Q
from django.utils import timezone

from jobs.models import record
from people.models import CohortManager, Invitation, SignInLink, Team, TeamMember, User
from people.services import outgoing, tokens

NOBODY = Q(pk__in=[])


def revoke_links_by(user: User, team: Team, actor: User, at: datetime, *, waiting: Q = NOBODY) -> None:
    """Revoke the open links of this team that the person made and could not make any more.

    With `waiting`, also the invitations to their e-mail that fit it: else an earlier one would bring the role back.
    """
    mine = Q(created_by=user) & ~_allowed_links(user, team)
    to_them = Q(email__iexact=user.email) & waiting if user.email else NOBODY  # a service account has none
    opened = Invitation.objects.filter(team=team, used_at=None, revoked_at=None).filter(mine | to_them)
    for invitation in opened.select_for_update(of=("self",)):
        Invitation.objects.filter(pk=invitation.pk).update(revoked_at=at)
        outgoing.suppress_target(f"invitation:{invitation.pk}", at)
        record(actor, "invitation.revoked", scope=f"team:{team.pk}", target=f"invitation:{invitation.pk}", implied=True)
    links = SignInLink.objects.filter(used_at=None, revoked_at=None)
    links.filter(mine, cohort__team=team).update(revoked_at=at)


def revoke_links_of_former_admin(user: User, actor: User, at: datetime) -> None:
    """Of every team: the links that somebody made who is no site admin any more, or whose account was switched off."""
    invited = Invitation.objects.filter(created_by=user, used_at=None, revoked_at=None).values("team")
    linked = SignInLink.objects.filter(created_by=user, used_at=None, revoked_at=None).values("cohort__team")
    for team in Team.objects.filter(Q(pk__in=invited) | Q(pk__in=linked)).order_by("pk"):
        revoke_links_by(user, team, actor, at)


def _allowed_links(user: User, team: Team) -> Q:
    """The links this person may make: all of the team's as its admin, else those of the cohorts they manage."""
    if not user.is_active:
        return NOBODY
    if TeamMember.objects.filter(team=team, user=user, role=TeamMember.Role.ADMIN).exists():
        return ~NOBODY
    managed = CohortManager.objects.filter(user=user, cohort__team=team).values("cohort")
    return Q(cohort__in=managed)


def end_sessions_by_link(user: User, team: Team | None = None) -> None:
    """Whoever was let in by a link is let out: what the person may see from now on is not for the link's maker.

    With `team`, the new thing is membership of one of its cohorts, and links made in that team are no concern.
    """
    used = SignInLink.objects.filter(user=user, used_at__isnull=False)
    used = used.exclude(cohort__team=team) if team else used
    if used.exists():
        User.objects.filter(pk=user.pk).update(sessions_ended=F("sessions_ended") + 1)
        tokens.revoke_all(user, timezone.now())


def revoke_sign_in_links(user: User, at: datetime) -> int:
    """Revoke the open links with which this person could be signed in. Says how many there were."""
    return SignInLink.objects.filter(user=user, used_at=None, revoked_at=None).update(revoked_at=at)
