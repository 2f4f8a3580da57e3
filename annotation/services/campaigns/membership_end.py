"""A person who is in a cohort no longer gives back the places they hold. What they wrote stays."""

from datetime import datetime

from annotation.models import Participation
from annotation.services.queue.leases import release
from annotation.services.queue.locks import lock_participation
from annotation.services.transactions import in_transaction
from people.models import CohortMember, User
from people.services import memberships


def end_membership_and_release(member: CohortMember, actor: User, at: datetime) -> int | None:
    """End a membership, then give back what the person holds there: how many places, or None if it had ended before.

    Ended first: a claim that began before is waited for by the lock, one that begins after finds no member.
    """
    if not memberships.end_membership(member, actor, at):
        return None
    theirs = Participation.objects.filter(rater__user_id=member.user_id, cohort__cohort_id=member.cohort_id)
    return sum(_release(pk, at) for pk in theirs.order_by("pk").values_list("pk", flat=True))


@in_transaction
def _release(participation_id: int, at: datetime) -> int:
    lock_participation(participation_id)
    return release(participation_id, at)
