"""Single-use links: invitations and sign-in links. The token is shown once; the database keeps its hash.

Using one is a conditional update whose rows are counted, so two requests at once cannot both succeed.
"""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from django.db import IntegrityError, transaction
from django.db.models import Q

from jobs.models import record
from people.models import Cohort, EmailConfirmation, Invitation, Rater, SignInLink, Team, TeamMember, User
from people.services import link_revocation, memberships, outgoing, teams

INVITATION_DAYS = 14
SIGN_IN_HOURS = 24

AnyLink = Invitation | SignInLink | EmailConfirmation
Reason = Literal["unknown", "used", "revoked", "expired", "not_for_links", "registered"]


class LinkRefused(Exception):
    """The link cannot be used, and why."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason: Reason = reason


@dataclass(frozen=True)
class NewPerson:
    """What somebody who accepts an invitation says about themselves."""

    email: str
    name: str
    password: str
    language: str
    time_zone: str


def hash_of(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def link_state(link: AnyLink, at: datetime) -> Literal["used", "revoked", "expired", "open"]:
    if link.used_at:
        return "used"
    if link.revoked_at:
        return "revoked"
    return "open" if link.expires_at > at else "expired"


def require_open(link: AnyLink, at: datetime) -> None:
    """Raises LinkRefused with the reason."""
    state = link_state(link, at)
    if state != "open":
        raise LinkRefused(state)


def consume(link: AnyLink, at: datetime) -> None:
    """Use the link up, or raise. Must run inside the transaction that does what the link is for."""
    unused = Q(pk=link.pk, used_at=None, revoked_at=None, expires_at__gt=at)
    if not type(link).objects.filter(unused).update(used_at=at):
        link.refresh_from_db()
        state = link_state(link, at)
        raise LinkRefused("used" if state == "open" else state)


# Invitations


@transaction.atomic
def invite(
    team: Team,
    actor: User,
    at: datetime,
    *,
    cohort: Cohort | None = None,
    team_role: str = "",
    email: str = "",
    note: str = "",
) -> tuple[Invitation, str]:
    """An invitation and its token, which is not kept. It is to a cohort, or to the team with a role."""
    if (cohort is None) == (not team_role) or (cohort is not None and cohort.team_id != team.pk):
        raise ValueError("An invitation is to one cohort of the team, or to the team with a role.")
    token = secrets.token_urlsafe(32)
    invitation = Invitation.objects.create(
        team=team,
        cohort=cohort,
        team_role=team_role,
        email=email,
        note=note,
        token_hash=hash_of(token),
        created_by=actor,
        expires_at=at + timedelta(days=INVITATION_DAYS),
    )
    record(actor, "invitation.made", scope=f"team:{team.pk}", target=f"invitation:{invitation.pk}")
    return invitation, token


def find_invitation(token: str, at: datetime) -> Invitation:
    """The open invitation of this token, or LinkRefused."""
    invitation = (
        Invitation.objects.select_related("team", "cohort", "created_by").filter(token_hash=hash_of(token)).first()
    )
    if invitation is None:
        raise LinkRefused("unknown")
    require_open(invitation, at)
    return invitation


@transaction.atomic
def accept(invitation: Invitation, user: User, at: datetime) -> None:
    """A person who is signed in joins what the invitation is to."""
    consume(invitation, at)
    Invitation.objects.filter(pk=invitation.pk).update(used_by=user)
    outgoing.suppress_target(f"invitation:{invitation.pk}", at)
    if invitation.cohort is not None:
        memberships.join(invitation.cohort, user, user)
    else:
        teams.add_member(invitation.team, user, TeamMember.Role(invitation.team_role), user)
    scope, target = f"team:{invitation.team_id}", f"invitation:{invitation.pk}"
    record(user, "invitation.accepted", scope=scope, target=target)


@transaction.atomic
def register(invitation: Invitation, person: NewPerson, at: datetime) -> User:
    """Make the account of a new person and let them join. An e-mail that is taken must sign in instead."""
    try:
        user = User.objects.create_user(
            person.email, person.name, person.password, language=person.language, time_zone=person.time_zone
        )
    except IntegrityError as error:  # the e-mail is unique, whatever its capitals
        raise LinkRefused("registered") from error
    accept(invitation, user, at)
    return user


@transaction.atomic
def revoke(invitation: Invitation, actor: User, at: datetime) -> bool:
    """Make an open invitation useless. False when there was nothing left to revoke."""
    revoked = Invitation.objects.filter(pk=invitation.pk, used_at=None, revoked_at=None).update(revoked_at=at)
    if revoked:
        scope, target = f"team:{invitation.team_id}", f"invitation:{invitation.pk}"
        outgoing.suppress_target(target, at)
        record(actor, "invitation.revoked", scope=scope, target=target)
    return bool(revoked)


# Sign-in links


def may_sign_in_by_link(user: User, team: Team) -> bool:
    """Only a person who rates and nothing else, for this team alone: whoever holds the link is that person. Texts of a
    speaker are shown on the whole site."""
    if not user.is_active or user.is_staff or user.is_superuser or user.spoken_languages.exists():
        return False
    if user.team_memberships.exists() or user.managed_cohorts.exists() or user.benchmark_roles.exists():
        return False
    here_memberships = user.cohort_memberships.filter(left_at__isnull=True, cohort__team=team)
    return here_memberships.exists() and not _is_known_elsewhere(user, team)


def _is_known_elsewhere(user: User, team: Team) -> bool:
    """Whether the account leads to anything of another team, however long ago: that team never agreed to the link."""
    if user.cohort_memberships.exclude(cohort__team=team).exists():
        return True
    if user.consents.exclude(version__team=team).exists():
        return True
    if Invitation.objects.filter(used_by=user).exclude(team=team).exists():
        return True
    rater = Rater.objects.filter(user=user).first()
    return rater is not None and rater.assignments.exclude(campaign__stage__benchmark__team=team).exists()


def _can_use_link(user: User, cohort: Cohort) -> bool:
    return may_sign_in_by_link(user, cohort.team) and memberships.active_members(cohort).filter(user=user).exists()


@transaction.atomic
def make_sign_in_link(user: User, cohort: Cohort, actor: User, at: datetime) -> tuple[SignInLink, str]:
    """A link with which a member of the cohort signs in once. Earlier unused ones stop working."""
    if not _can_use_link(user, cohort):
        raise LinkRefused("not_for_links")
    link_revocation.revoke_sign_in_links(user, at)
    token = secrets.token_urlsafe(32)
    link = SignInLink.objects.create(
        user=user,
        cohort=cohort,
        token_hash=hash_of(token),
        created_by=actor,
        expires_at=at + timedelta(hours=SIGN_IN_HOURS),
    )
    record(actor, "sign_in_link.made", scope=f"team:{cohort.team_id}", target=f"user:{user.pk}", cohort=cohort.pk)
    return link, token


def find_sign_in_link(token: str, at: datetime) -> SignInLink:
    """The open link of this token. Looking does not use it up: previews of messengers look too."""
    link = SignInLink.objects.select_related("user", "cohort__team").filter(token_hash=hash_of(token)).first()
    if link is None:
        raise LinkRefused("unknown")
    require_open(link, at)
    if link.cohort is None:  # made before links knew their cohort
        raise LinkRefused("revoked")
    if link.user.credentials_since and link.created_at < link.user.credentials_since:
        raise LinkRefused("revoked")
    if not _can_use_link(link.user, link.cohort):
        raise LinkRefused("not_for_links")
    return link


@transaction.atomic
def use_sign_in_link(link: SignInLink, at: datetime) -> User:
    """The person the link is for; the caller signs them in."""
    consume(link, at)
    record(link.user, "sign_in_link.used", target=f"user:{link.user_id}", link=link.pk, made_by=link.created_by_id)
    return link.user
