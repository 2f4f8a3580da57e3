"""The lock of a Participation: everything that one person does in a campaign is done in its order."""

from datetime import datetime, timedelta
from typing import Any

from django.db.models import QuerySet

from annotation.models import Participation
from annotation.services.queue.claim import LockedParticipation
from jobs.queries.statements import fetch

SEEN_EVERY = timedelta(minutes=1)

# The lock is the first statement of a transaction of the queue. What follows it there, and nothing else, runs with
# plans that a connection makes once, for planning a claim costs more than running it. A plan that was made while a
# table was small must be good when it is large: it uses indexes. Compiling it would take longer than any claim.
PLANS = {"plan_cache_mode": "force_generic_plan", "enable_seqscan": "off", "jit": "off"}
SEAT_COLUMNS = "p.id, cc.campaign_id, p.cohort_id, p.rater_id, p.cursor, p.urgent_cursor, p.last_seen_at"
SEAT_SOURCES = """FROM annotation_participation p JOIN annotation_campaigncohort cc ON cc.id = p.cohort_id
WHERE p.{} FOR NO KEY UPDATE OF p"""
LOCK = f"""
SELECT {SEAT_COLUMNS}, {", ".join(f"set_config('{name}', '{value}', true)" for name, value in PLANS.items())}
{SEAT_SOURCES}
"""
LOCK_BY_ID = LOCK.format("id = %s")
LOCK_BY_PERSON = LOCK.format("rater_id = %s AND p.cohort_id = %s")


def lock_participation_of(rater_id: int, cohort_id: int, at: datetime) -> LockedParticipation:
    """Lock this person's Participation, making it at their first visit."""
    rows = fetch(LOCK_BY_PERSON, [rater_id, cohort_id])
    if not rows:
        lock_campaign_of(cohort_id)
        fetch("SELECT id FROM annotation_campaigncohort WHERE id = %s FOR SHARE", [cohort_id])
        # Waits for an exclusion or a withdrawal, see `lock_rater`: the reference alone is checked when all is done.
        fetch("SELECT id FROM people_rater WHERE id = %s FOR KEY SHARE", [rater_id])
        new = Participation(rater_id=rater_id, cohort_id=cohort_id, last_seen_at=at)
        Participation.objects.bulk_create([new], ignore_conflicts=True)
        rows = fetch(LOCK_BY_PERSON, [rater_id, cohort_id])
    return _lock_row(rows[0], at)


def lock_campaign_of(cohort_id: int) -> None:
    """Hold off a pause or a close, which would not see a new row of a person and the places it takes.

    Whoever locks a campaign and a cohort of it begins with the campaign: a change of the target does, so it would wait
    for a visit that waits for it.
    """
    fetch(
        """SELECT id FROM annotation_campaign
           WHERE id = (SELECT campaign_id FROM annotation_campaigncohort WHERE id = %s) FOR SHARE""",
        [cohort_id],
    )


def lock_participation(participation_id: int, at: datetime | None = None) -> LockedParticipation:
    """The order of everything this person does. What was read before this lock may be old."""
    return _lock_row(fetch(LOCK_BY_ID, [participation_id])[0], at)


def lock_rater(rater_id: int, seats: QuerySet[Participation]) -> list[int]:
    """Lock these seats of a rater, and hold off new ones until the transaction ends.

    A submit in progress is waited for, and its answer is found. A first visit to a campaign takes a lock of the rater
    before it makes a seat, so it waits; one that was finished before this lock is read afterwards.
    """
    locked: list[int] = []
    for active in (False, True):
        if active:
            fetch("SELECT id FROM people_rater WHERE id = %s FOR UPDATE", [rater_id])
        new = seats.filter(rater=rater_id).exclude(pk__in=locked).order_by("pk").values_list("pk", flat=True)
        locked += [lock_participation(pk).id for pk in list(new)]
    return locked


def lock_all_participations(cohort_id: int) -> None:
    """Wait until nobody of a campaign's cohort is in the middle of a deed, and let nobody begin one.

    A statement that waits for a slot reads what else it needs as it was when the statement began: a target that was
    told and carried out in the meantime, it would never see. Holds off first visits, too: take the cohort's row first.
    """
    fetch("SELECT id FROM annotation_participation WHERE cohort_id = %s ORDER BY id FOR NO KEY UPDATE", [cohort_id])


def _lock_row(row: tuple[Any, ...], at: datetime | None) -> LockedParticipation:
    """With `at`, the person was here; written only now and then, for it moves an index entry."""
    if at is not None and row[6] < at - SEEN_EVERY:
        Participation.objects.filter(pk=row[0]).update(last_seen_at=at)
    return LockedParticipation(*row[:6])
