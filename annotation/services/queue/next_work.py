"""Who works on what. See docs/explanation/queue.md.

Everything a person does in a campaign is in the order of their Participation's lock: two tabs get the same item.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from annotation.models import Assignment, CampaignCohort
from annotation.queries import assignments
from annotation.queries.gate import SHUTS_OUT, Gate, Reason, check_gate
from annotation.queries.packs import reserved_places
from annotation.services.queue.claim import LockedParticipation, claim, may_have
from annotation.services.queue.leases import release_expired
from annotation.services.queue.locks import lock_participation_of
from annotation.services.transactions import in_transaction
from jobs.queries.statements import fetch
from people.models import Rater

# The one ahead comes into hand when nothing is. Told: for each that is held, whether it is in hand now.
HELD = """
WITH held AS MATERIALIZED (
  SELECT id, in_hand FROM annotation_assignment
  WHERE participation_id = %(participation)s AND state = 'reserved' AND NOT packed
), came AS (
  UPDATE annotation_assignment SET in_hand = true, lease_until = %(lease)s, shown_at = %(at)s, changed_at = %(at)s
  WHERE id IN (SELECT id FROM held) AND %(allowed)s AND NOT EXISTS (SELECT FROM held WHERE in_hand) RETURNING id
)
SELECT in_hand OR id IN (SELECT id FROM came) FROM held
"""


@dataclass(frozen=True)
class NoWork:
    """Why there is no work. `until`: when the first place that others hold comes back, or the person's next day."""

    reason: Reason
    until: datetime | None = None


@dataclass(frozen=True)
class Work:
    current: Assignment | None
    prefetched: Assignment | None
    no_work: NoWork | None


def get_or_claim_work(rater: Rater, campaign_cohort: CampaignCohort, at: datetime) -> Work:
    """What this person has in hand, taking a place for them if it is nothing. Asking twice is asking once."""
    work = _open_work(rater.pk, campaign_cohort.pk, at)
    late = work.no_work and work.no_work.until and work.no_work.until <= at
    if late:  # the task that gives expired places back has not come round yet
        release_expired(at)
        work = _open_work(rater.pk, campaign_cohort.pk, at)
    return work


@in_transaction
def _open_work(rater_id: int, cohort_id: int, at: datetime) -> Work:
    return claim_current_and_next(lock_participation_of(rater_id, cohort_id, at), at, wait=True)


def claim_current_and_next(
    seat: LockedParticipation,
    at: datetime,
    *,
    wait: bool,
    place: CampaignCohort | None = None,
    allowed: Gate | None = None,
    reserved: frozenset[bool] | None = None,
) -> Work:
    """One in hand, one ahead. Without `wait`, an empty answer may only mean that others held their slots locked.

    `reserved`: what HELD would return now, where the caller has done that.
    """
    if allowed is None or allowed.remaining is not None:  # an answer has taken of the room since
        allowed = _less_pack(check_gate(seat.cohort_id, seat.rater_id, at), seat)
    seat = replace(seat, staffing=allowed.staffing)
    lease = at + timedelta(minutes=allowed.lease_minutes)
    if allowed.refused in SHUTS_OUT:
        return Work(None, None, NoWork(allowed.refused, allowed.until))
    if reserved is None:
        reserved = _bring_into_hand(seat, lease, at, allowed)
    if allowed.refused and True not in reserved:
        return Work(None, None, NoWork(allowed.refused, allowed.until))
    if not allowed.refused:
        if True not in reserved and not _claim(seat, lease, at, wait):
            place_of_seat = Place(seat.cohort_id, seat.campaign_id, seat.staffing)
            return Work(None, None, _explain_no_work(seat.rater_id, [place_of_seat])[seat.cohort_id])
        if False not in reserved and (allowed.remaining is None or allowed.remaining > 1):
            claim(seat, in_hand=False, lease_until=lease, at=at)
    return _work(seat, at, lease, place)


def _less_pack(allowed: Gate, seat: LockedParticipation) -> Gate:
    """What a person has in a pack takes room of their limit."""
    if allowed.remaining is None or allowed.refused is not None:
        return allowed
    _reserved, packed = reserved_places(seat.id)
    room = allowed.remaining - packed
    return replace(allowed, remaining=room) if room > 0 else replace(allowed, remaining=0, refused="in_pack")


def _bring_into_hand(seat: LockedParticipation, lease: datetime, at: datetime, allowed: Gate) -> frozenset[bool]:
    params = {"participation": seat.id, "lease": lease, "at": at, "allowed": not allowed.refused}
    return frozenset(in_hand for (in_hand,) in fetch(HELD, params))


def _claim(seat: LockedParticipation, lease: datetime, at: datetime, wait: bool) -> bool:
    taken = claim(seat, in_hand=True, lease_until=lease, at=at)
    if taken is None and wait:
        taken = claim(seat, in_hand=True, lease_until=lease, at=at, wait=True)
    return taken is not None


def _work(seat: LockedParticipation, at: datetime, lease: datetime, place: CampaignCohort | None) -> Work:
    """Read both back with all that a sheet needs; a lease half gone is renewed, for the person is here."""
    rows = assignments.reserved_assignments(seat.id, place or assignments.load_campaign_cohort(seat.cohort_id))
    half = at + (lease - at) / 2
    old = [row.pk for row in rows if row.lease_until is not None and row.lease_until < half]
    if old:
        Assignment.objects.filter(pk__in=old).update(lease_until=lease)
    return _held(rows)


def held_work(participation_id: int, place: CampaignCohort) -> Work:
    """What a person has in hand and ahead, as it is now. Takes no place and no lock."""
    return _held(assignments.reserved_assignments(participation_id, place))


def _held(rows: Sequence[Assignment]) -> Work:
    by_hand = {row.in_hand: row for row in rows}
    return Work(by_hand.get(True), by_hand.get(False), None)


MAY_HAVE_THERE = may_have("place.campaign", "place.staffing", "%(rater)s")
PLACES = """unnest(%(cohorts)s::bigint[], %(campaigns)s::bigint[], %(staffings)s::text[])
  AS place(cohort, campaign, staffing)"""
# As the claim finds: what the person has, what they lost and may have again, the first open slot they never had.
LEFT = f"""
SELECT place.cohort FROM {PLACES}
  LEFT JOIN annotation_participation seat ON seat.cohort_id = place.cohort AND seat.rater_id = %(rater)s
WHERE EXISTS (SELECT FROM annotation_assignment a WHERE a.participation_id = seat.id AND a.state = 'reserved')
  OR EXISTS (SELECT FROM annotation_assignment a JOIN annotation_slot s ON s.id = a.slot_id
    WHERE a.participation_id = seat.id AND a.state = 'released' AND s.open)
  OR (SELECT s.id FROM annotation_slot s WHERE s.cohort_id = place.cohort AND s.open
      AND s.position >= coalesce(seat.cursor, 0) AND {MAY_HAVE_THERE}
    ORDER BY s.position LIMIT 1) IS NOT NULL
"""  # noqa: S608  (a constant)
# Why nothing is left: when the first place that others hold comes back, and what the tallies say.
WHY = f"""
SELECT place.cohort, (SELECT min(a.lease_until) FROM annotation_assignment a JOIN annotation_slot s ON s.id = a.slot_id
    WHERE a.state = 'reserved' AND s.cohort_id = place.cohort AND {MAY_HAVE_THERE}),
  NOT EXISTS (SELECT FROM annotation_slot WHERE cohort_id = place.cohort),
  coalesce(tally.submitted >= nullif(tally.wanted, 0), false), coalesce(tally.wanted, 0) = 0,
  EXISTS (SELECT FROM annotation_participation p JOIN annotation_assignment a ON a.participation_id = p.id
    WHERE p.cohort_id = place.cohort AND p.rater_id = %(rater)s)
FROM {PLACES}, LATERAL (SELECT sum(submitted) AS submitted, sum(wanted) AS wanted
  FROM annotation_tally WHERE cohort_id = place.cohort) tally
"""  # noqa: S608  (a constant)


@dataclass(frozen=True)
class Place:
    """What a person may be given is read for a cohort of a campaign."""

    cohort_id: int
    campaign_id: int
    staffing: str


def no_work_reason(rater: Rater, place: CampaignCohort, at: datetime) -> NoWork | None:
    """Why opening this now would bring no work. Takes no place and no lock."""
    return no_work_reasons(rater, [place], at).get(place.pk)


def no_work_reasons(rater: Rater, places: Iterable[CampaignCohort], at: datetime) -> dict[int, NoWork]:
    """By its id, each of these places where opening it now would bring no work, and why. Two queries."""
    wanted = [Place(place.pk, place.campaign_id, place.campaign.stage.staffing) for place in places]
    with_work = {cohort for (cohort,) in fetch(LEFT, _params(rater.pk, wanted))} if wanted else set()
    reasons = _explain_no_work(rater.pk, [place for place in wanted if place.cohort_id not in with_work])
    return {cohort: why for cohort, why in reasons.items() if why.until is None or why.until > at}


def _params(rater_id: int, places: Sequence[Place]) -> dict[str, Any]:
    return {
        "rater": rater_id, "cohorts": [place.cohort_id for place in places],
        "campaigns": [place.campaign_id for place in places], "staffings": [place.staffing for place in places],
    }  # fmt: skip


def _explain_no_work(rater_id: int, places: Sequence[Place]) -> dict[int, NoWork]:
    """Of each place by its cohort, as it is in this transaction."""
    rows = fetch(WHY, _params(rater_id, places)) if places else []
    return {cohort: _reason(*why) for cohort, *why in rows}


def _reason(until: datetime | None, empty: bool, full: bool, nothing_wanted: bool, begun: bool) -> NoWork:
    """Others' reservations first, for those may come back."""
    if until is not None:
        return NoWork("all_reserved", until)
    if empty or full:
        return NoWork("nothing_yet" if empty else "cohort_full")
    if begun:
        return NoWork("all_done")
    return NoWork("cohort_full" if nothing_wanted else "for_others")
