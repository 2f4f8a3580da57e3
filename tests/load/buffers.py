"""Buffers that one claim touches, counted by PostgreSQL itself, in campaigns as their walk has left them."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from django.db import connection, transaction
from django.utils import timezone

from annotation.models import Assignment, Participation
from annotation.services.queue import claim
from annotation.services.queue.locks import lock_participation_of
from people.models import Rater
from tests.annotation.queue.factories import a_person


def measure(campaign: Any) -> dict[str, int]:
    """Median of five claims each: in a fresh campaign, half way, with one item left, with 99 % full."""
    seat = campaign.cohorts.get()
    sql = connection.cursor()
    sql.execute("DELETE FROM annotation_rating; DELETE FROM annotation_annotation; DELETE FROM annotation_assignment")
    sql.execute("UPDATE annotation_participation SET cursor = 0")
    sql.execute("UPDATE annotation_slot SET reserved = 0, submitted = 0 WHERE cohort_id = %s", [seat.pk])
    vacuum()
    counts = {"a newcomer": claims(a_person(seat.cohort), seat)}
    half = walked(campaign, seat, 0.5)
    counts["half way through"] = claims(half, seat)
    last = walked(campaign, seat, 1)
    counts["one item left"] = claims(last, seat)
    sql.execute(
        "UPDATE annotation_slot SET submitted = wanted WHERE cohort_id = %s AND position %% 100 <> 0", [seat.pk]
    )
    counts["99 % full, half way, not vacuumed"] = claims(half, seat)
    vacuum()
    counts["99 % full, half way"] = claims(half, seat)
    counts["99 % full, a newcomer"] = claims(a_person(seat.cohort), seat)
    counts["99 % full, one item left"] = claims(last, seat)
    return counts


def vacuum() -> None:
    with connection.cursor() as sql:
        sql.execute("VACUUM (ANALYZE) annotation_slot, annotation_assignment, annotation_participation")


def walked(campaign: Any, seat: Any, share: float) -> Rater:
    """A person who had this share of the units in order; of all of them, all but the last one."""
    person = a_person(seat.cohort)
    place = Participation.objects.create(cohort=seat, rater=person, last_seen_at=timezone.now())
    with connection.cursor() as sql:
        sql.execute(
            """INSERT INTO annotation_assignment (campaign_id, participation_id, slot_id, unit_id, rater_id, state,
                 in_hand, reserved_at, changed_at, skip_reason, skip_note)
               SELECT %s, %s, id, unit_id, %s, 'submitted', false, now(), now(), '', '' FROM annotation_slot,
                 (SELECT max(position) AS last FROM annotation_slot WHERE cohort_id = %s) s
               WHERE cohort_id = %s AND position <= %s * last AND position < last""",
            [campaign.pk, place.pk, person.pk, seat.pk, seat.pk, share],
        )
        sql.execute("ANALYZE annotation_assignment")
    first = f"""SELECT min(s.position) FROM annotation_slot s WHERE s.cohort_id = %(cohort)s AND {claim.NOT_HAD}"""
    [(cursor,)] = claim.fetch(first, {"cohort": seat.pk, "campaign": campaign.pk, "rater": person.pk})
    Participation.objects.filter(pk=place.pk).update(cursor=cursor)
    return person


def claims(person: Rater, seat: Any) -> int:
    return sorted(one_claim(person, seat) for _ in range(5))[2]


def one_claim(person: Rater, seat: Any) -> int:
    """Run it, count, and take it back."""
    at = timezone.now()
    with transaction.atomic():
        place = lock_participation_of(person.pk, seat.pk, at)
        with connection.cursor() as sql:
            sql.execute(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {claim.CLAIM}", params_of(place, at))
            [(plan,)] = sql.fetchall()
        taken = Assignment.objects.filter(participation_id=place.id, state="reserved").exists()
        assert taken, "there was nothing to claim"
        transaction.set_rollback(True)
    return buffers_of((json.loads(plan) if isinstance(plan, str) else plan)[0]["Plan"])


def params_of(place: claim.LockedParticipation, at: Any) -> dict[str, Any]:
    caught: dict[str, Any] = {}
    real: Callable[..., Any] = claim.fetch

    def catch(_sql: str, params: dict[str, Any]) -> list[tuple[int, None]]:
        caught.update(params)
        return [(0, None)]

    claim.fetch = catch  # type: ignore[assignment]
    try:
        claim.claim(place, in_hand=True, lease_until=at, at=at)
    finally:
        claim.fetch = real
    return caught


def buffers_of(plan: Mapping[str, Any]) -> int:
    """The root holds what ran below it; writes that nothing reads run after it and hold their own."""
    apart = [one for one in plan.get("Plans", []) if one.get("Subplan Name") in ("CTE taken", "CTE moved")]
    return sum(int(one["Shared Hit Blocks"]) + int(one["Shared Read Blocks"]) for one in (plan, *apart))


def report(touched: Mapping[int, Mapping[str, int]]) -> None:
    sizes = list(touched)
    print("\nbuffers touched by one claim" + "".join(f"{size:>14,} items" for size in sizes) + "      ratio")
    for name in touched[sizes[0]]:
        row = [touched[size][name] for size in sizes]
        print(f"  {name:<36}" + "".join(f"{one:>12}" for one in row) + f"{row[-1] / row[0]:>14.2f}")
