"""A target that changes while people are in the middle of something: the counters stay true, step by step."""

import threading
import time
from collections.abc import Callable, Iterator

import pytest
from django.db import connection, transaction
from django.utils import timezone

from annotation.models import Assignment, CampaignCohort, Participation
from annotation.services.answers import submit
from annotation.services.campaigns import lifecycle
from annotation.services.queue import leases, locks, next_work, recount, slots
from jobs.queries.statements import fetch
from tests.annotation.queue.factories import a_person, an_open_campaign, get_campaign_cohort, rate

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def counters_stay_true(transactional_db: None) -> Iterator[None]:
    yield
    assert list(recount.iter_differences()) == []


def apply_targets(seat: CampaignCohort) -> None:
    last: int | None = 0
    while last is not None:
        last = lifecycle._retarget(seat.pk, last)


def in_the_background(deed: Callable[[], object]) -> threading.Thread:
    def run_in_thread() -> None:
        try:
            deed()
        finally:
            connection.close()

    thread = threading.Thread(target=run_in_thread)
    thread.start()
    return thread


def waiting() -> int:
    """How many connections wait for somebody's lock."""
    return int(fetch("SELECT count(DISTINCT pid) FROM pg_locks WHERE NOT granted", [])[0][0])


def wait_until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize("target", [2, 5])
def test_an_undo_between_telling_a_target_and_carrying_it_out(target: int) -> None:
    seat = get_campaign_cohort(an_open_campaign(items=4, target=3))
    person = a_person(seat.cohort)
    hand = next_work.get_or_claim_work(person, seat, timezone.now()).current
    assert hand
    rate(hand)
    lifecycle._save_target(seat, target, None)
    submit.undo(hand.pk, person, timezone.now())
    apply_targets(seat)


@pytest.mark.parametrize(("before", "new_target"), [(2, 4), (3, 1)])
def test_a_place_given_back_while_a_target_is_told_and_carried_out(before: int, new_target: int) -> None:
    """The giving back waits for a slot that the change holds, and began before the change was told."""
    seat = get_campaign_cohort(an_open_campaign(items=1, target=before))
    people = [a_person(seat.cohort) for _ in range(before)]
    hands = [next_work.get_or_claim_work(person, seat, timezone.now()).current for person in people]
    assert all(hands) and Assignment.objects.filter(state="reserved").count() == before
    gives = Participation.objects.get(rater=people[0]).pk

    @transaction.atomic
    def give_back() -> None:
        locks.lock_participation(gives)
        leases.release(gives, timezone.now())

    with transaction.atomic():
        [slot] = fetch("SELECT id FROM annotation_slot", [])[0]
        slots.lock_slots([slot])
        giving = in_the_background(give_back)
        wait_until(lambda: waiting() == 1)
        telling = in_the_background(lambda: lifecycle._save_target(seat, new_target, None))
        wait_until(lambda: waiting() == 2 or not telling.is_alive())
        early = not telling.is_alive()
        if early:  # nothing held it off
            apply_targets(seat)
    giving.join()
    telling.join()
    if not early:
        apply_targets(seat)
