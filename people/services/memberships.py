"""Who belongs to a cohort, and who manages it."""

from datetime import datetime

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from jobs.models import Event, record
from people.models import Cohort, CohortManager, CohortMember, Team, User
from people.services import link_revocation


def active_cohorts(user: User) -> QuerySet[Cohort]:
    """The cohorts a person works in now. Nobody who was switched off works anywhere."""
    return (
        Cohort.objects.filter(members__user_id=user.pk, members__left_at__isnull=True, members__user__is_active=True)
        .select_related("team")
        .order_by("label")
    )


def has_ever_belonged(user: User, team: Team) -> bool:
    """Whether the person is or was of this team: as its member, in one of its cohorts, or managing one."""
    cohorts = Q(members__user=user) | Q(managers__user=user)
    if team.members.filter(user=user).exists() or team.cohorts.filter(cohorts).exists():
        return True
    verbs = ("team.member_added", "team.member_removed", "cohort.manager_added", "cohort.manager_removed")
    return Event.objects.filter(scope=f"team:{team.pk}", target=f"user:{user.pk}", verb__in=verbs).exists()


def active_members(cohort: Cohort) -> QuerySet[CohortMember]:
    return cohort.members.filter(left_at__isnull=True, user__is_active=True).select_related("user")


def eligible_managers(cohort: Cohort) -> set[int]:
    """Who is offered as manager: people of the team, and of the cohort. Others of the team are named by e-mail."""
    members = cohort.team.members.filter(user__sign_in=User.SignIn.ACCOUNT).values_list("user_id", flat=True)
    return {*members, *active_members(cohort).values_list("user_id", flat=True)}


@transaction.atomic
def join(cohort: Cohort, user: User, actor: User, *, undo: bool = False) -> CohortMember:
    """Join, or come back: the row of an ended membership is used again. It begins anew, and with it what is said to the
    members; with `undo` it goes on as if it had not ended."""
    member, created = CohortMember.objects.get_or_create(cohort=cohort, user=user)
    if created or member.left_at is not None:
        member.joined_at = member.joined_at if created or undo else timezone.now()
        member.left_at = member.ended_by = None
        member.save(update_fields=["joined_at", "left_at", "ended_by"])
        link_revocation.end_sessions_by_link(user, cohort.team)
        record(actor, "cohort.joined", scope=f"team:{cohort.team_id}", target=f"user:{user.pk}", cohort=cohort.pk)
    return member


@transaction.atomic
def end_membership(member: CohortMember, actor: User, at: datetime) -> bool:
    """End a membership; answers keep their cohort, open links end. False when it had ended before."""
    by = None if actor == member.user else actor
    ended = CohortMember.objects.filter(pk=member.pk, left_at__isnull=True).update(left_at=at, ended_by=by)
    if not ended:
        return False
    cohort = member.cohort
    link_revocation.revoke_sign_in_links(member.user, at)
    link_revocation.revoke_links_by(member.user, cohort.team, actor, at, waiting=Q(cohort=cohort))
    record(actor, "cohort.left", scope=f"team:{cohort.team_id}", target=f"user:{member.user_id}", cohort=cohort.pk)
    return True


@transaction.atomic
def reactivate(member: CohortMember, actor: User) -> bool:
    """Undo that a manager ended a membership. False for who left by themselves: they are asked by an invitation."""
    ended = CohortMember.objects.filter(pk=member.pk, left_at__isnull=False, ended_by__isnull=False)
    if not ended.exists():
        return False
    join(member.cohort, member.user, actor, undo=True)
    return True


@transaction.atomic
def add_manager(cohort: Cohort, user: User, actor: User) -> CohortManager:
    manager, created = CohortManager.objects.get_or_create(cohort=cohort, user=user)
    if created:
        link_revocation.end_sessions_by_link(user)
        target = f"user:{user.pk}"
        record(actor, "cohort.manager_added", scope=f"team:{cohort.team_id}", target=target, cohort=cohort.pk)
    return manager


@transaction.atomic
def remove_manager(cohort: Cohort, user: User, actor: User, at: datetime) -> bool:
    """The person manages the cohort no longer, and the open links they made for it end."""
    removed, _by_model = CohortManager.objects.filter(cohort=cohort, user=user).delete()
    if removed:
        link_revocation.revoke_links_by(user, cohort.team, actor, at)
        target = f"user:{user.pk}"
        record(actor, "cohort.manager_removed", scope=f"team:{cohort.team_id}", target=target, cohort=cohort.pk)
    return bool(removed)
