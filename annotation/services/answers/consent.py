"""Agreeing and withdrawing, with what follows for the answers of the person."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet

from annotation.models import Annotation, Assignment, Participation
from annotation.models.answers import CONSENT_WITHDRAWN
from annotation.queries.consent_withdrawal import NEVER_SELECTED
from annotation.services.answers.inclusion import JOINS, SURPLUS, WITHDRAWN, CountChange, recompute_counted, slots_of
from annotation.services.queue import slots
from annotation.services.queue.leases import free_places
from annotation.services.queue.locks import lock_rater
from annotation.services.transactions import in_transaction
from jobs.queries.statements import fetch
from people.models import ConsentVersion, Rater, Team, User
from people.services import consent


@dataclass(frozen=True)
class Agreement:
    """`counted`: earlier answers that count again. `waiting`: earlier answers whose places are taken."""

    counted: int = 0
    waiting: int = 0


@in_transaction
def withdraw(user: User, team: Team, at: datetime) -> CountChange | None:
    """Withdraw every consent of a person to this team, and leave all their answers to it out of the numbers.

    Reserved places go back. Returns None if there was no consent to withdraw.
    """
    rater = Rater.objects.filter(user=user).first()
    seats = _lock(rater, team) if rater else []
    if not consent.withdraw(user, team, at):
        return None
    if rater is None:
        return CountChange()
    reserved = Assignment.objects.filter(participation__in=seats, state=Assignment.State.RESERVED)
    answers = answers_of(rater, team)
    slots.lock_slots([*slots_of(answers), *(slot for slot in reserved.values_list("slot_id", flat=True) if slot)])
    _released, freed = free_places(reserved, at)
    return recompute_counted(answers, freed)


@in_transaction
def agree(user: User, version: ConsentVersion, language: str, *, count_earlier: bool = False) -> Agreement:
    """Agree to a text. With `count_earlier`, answers that an earlier withdrawal left out count again where a place is
    free; the others wait as surplus."""
    rater = Rater.objects.filter(user=user).first()
    team = version.team
    if rater is None or not count_earlier:
        consent.agree(user, version, language)
        return Agreement()
    _lock(rater, team)
    earlier = withdrawn_answers(rater, team)
    consent.agree(user, version, language, counts_earlier=True)
    counted = recompute_counted(earlier).counted
    waiting = Annotation.objects.filter(pk__in=earlier, counted=False, uncounted_because=SURPLUS).count()
    return Agreement(counted, waiting)


def answers_of(rater: Rater, team: Team) -> list[int]:
    """The person's current answers in all benchmarks of the team."""
    rows = Annotation.objects.filter(rater=rater, live=True, assignment__campaign__stage__benchmark__team=team)
    return list(rows.order_by("pk").values_list("pk", flat=True))


def withdrawn_answers(rater: Rater, team: Team) -> list[int]:
    """Those of them that are left out because the consent was withdrawn."""
    rows = Annotation.objects.filter(pk__in=answers_of(rater, team), uncounted_because=CONSENT_WITHDRAWN)
    return list(rows.values_list("pk", flat=True))


def count_withdrawn(user: User, team: Team) -> int:
    """How many answers of the person are left out because they withdrew."""
    return _live_answers(user, team).filter(uncounted_because=CONSENT_WITHDRAWN).count()


def count_to_withdraw(user: User, team: Team) -> int:
    """How many answers a withdrawal would leave out."""
    return _live_answers(user, team).exclude(uncounted_because__in=NEVER_SELECTED).count()


def _live_answers(user: User, team: Team) -> QuerySet[Annotation]:
    return Annotation.objects.filter(rater__user=user, live=True, assignment__campaign__stage__benchmark__team=team)


def _lock(rater: Rater, team: Team) -> list[int]:
    """All seats of the person in the team's campaigns."""
    return lock_rater(rater.pk, Participation.objects.filter(cohort__campaign__stage__benchmark__team=team))


# People who withdrew, and teams of whom answers of theirs still count.
UNFOLLOWED = f"""SELECT DISTINCT r.user_id, b.team_id {JOINS}
WHERE an.live AND an.counted AND {WITHDRAWN}
  AND r.user_id IN (SELECT user_id FROM people_consent WHERE withdrawn_at IS NOT NULL) ORDER BY 1, 2"""  # noqa: S608


def follow_withdrawals() -> int:
    """Leave out the answers of people who withdrew before a withdrawal had this effect. Returns how many answers."""
    return sum(_recompute_for_team(user, team) for user, team in fetch(UNFOLLOWED, []))


@in_transaction
def _recompute_for_team(user_id: int, team_id: int) -> int:
    rater, team = Rater.objects.get(user=user_id), Team.objects.get(pk=team_id)
    _lock(rater, team)
    return recompute_counted(answers_of(rater, team)).uncounted
