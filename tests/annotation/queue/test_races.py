"""Promises that only matter when many come at once: real threads, real transactions."""

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from threading import Barrier
from typing import TypeVar

import pytest
from django.db import connection, transaction
from django.utils import timezone

from annotation.models import Annotation, Assignment, Campaign, CampaignCohort, Slot
from annotation.services.answers import exclusions, submit
from annotation.services.answers.consent import agree, withdraw
from annotation.services.campaigns import lifecycle
from annotation.services.queue import leases, next_work, recount, units
from annotation.services.queue.next_work import Work
from people.models import Rater
from tests.annotation.queue.factories import a_person, an_open_campaign, get_campaign_cohort, rate
from tests.personas import make_consent_version

pytestmark = pytest.mark.django_db(transaction=True)
T = TypeVar("T")
PEOPLE = 16


def run_together(*deeds: Callable[[], T]) -> list[T]:
    """All of them start together, each on a connection of its own."""
    gate = Barrier(len(deeds))

    def run_deed(deed: Callable[[], T]) -> T:
        gate.wait()
        try:
            return deed()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(deeds)) as pool:
        return [done.result() for done in [pool.submit(run_deed, deed) for deed in deeds]]


@pytest.fixture(autouse=True)
def counters_stay_true(transactional_db: None) -> Iterator[None]:
    yield
    assert list(recount.iter_differences()) == []


def work_opener(person: Rater, seat: CampaignCohort) -> Callable[[], Work]:
    return lambda: next_work.get_or_claim_work(person, seat, timezone.now())


def works(person: Rater, seat: CampaignCohort, dice: random.Random) -> Callable[[], list[int]]:
    """Rates until there is nothing, and now and then skips, undoes, or looks again."""

    def deed() -> list[int]:
        unit_ids: list[int] = []
        work = next_work.get_or_claim_work(person, seat, timezone.now())
        while work.current:
            hand, luck = work.current, dice.random()
            if luck < 0.05:
                work = submit.skip(hand.pk, person, "unknown", "", timezone.now())
                continue
            work = rate(hand).work
            unit_ids.append(hand.unit_id)
            if luck < 0.15:
                try:
                    undone = submit.undo(hand.pk, person, timezone.now())
                except submit.AssignmentStateError as refused:
                    assert str(refused) == "excluded"  # between the answer and the wish to have it back
                    continue
                assert undone.current == hand
                work = rate(hand).work
        return unit_ids

    return deed


def test_sixteen_people_never_overshoot_and_meet_no_unit_twice() -> None:
    seat = get_campaign_cohort(an_open_campaign(items=40, target=3))
    people = [a_person(seat.cohort) for _ in range(PEOPLE)]
    units_by_person = run_together(*(works(person, seat, random.Random(n)) for n, person in enumerate(people)))
    for _round in range(3):  # who found all reserved looks again
        units_by_person += [works(person, seat, random.Random(1))() for person in people]
    per_unit = Counter(unit for units in units_by_person for unit in units)
    assert set(per_unit.values()) == {3} and len(per_unit) == 40
    assert set(Slot.objects.values_list("reserved", "submitted")) == {(0, 3)}
    assert all(len(set(units)) == len(units) for units in units_by_person)


def test_the_last_place_goes_to_one() -> None:
    for _ in range(5):
        seat = get_campaign_cohort(an_open_campaign(items=1))
        people = [a_person(seat.cohort) for _ in range(8)]
        works_ = run_together(*(work_opener(person, seat) for person in people))
        assert sum(work.current is not None for work in works_) == 1
        assert {work.no_work.reason for work in works_ if work.no_work} == {"all_reserved"}


def test_nobody_is_told_nothing_while_a_slot_is_only_locked() -> None:
    for _ in range(5):
        seat = get_campaign_cohort(an_open_campaign(items=8))
        people = [a_person(seat.cohort) for _ in range(8)]
        works_ = run_together(*(work_opener(person, seat) for person in people))
        ahead = sum(work.prefetched is not None for work in works_)
        assert sum(work.current is not None for work in works_) + ahead == 8


def test_two_windows_get_the_same_item() -> None:
    seat = get_campaign_cohort(an_open_campaign(items=20))
    for _ in range(5):
        person = a_person(seat.cohort)
        one, two = run_together(work_opener(person, seat), work_opener(person, seat))
        assert one.current == two.current
        assert Assignment.objects.filter(rater=person).count() <= 2


def test_the_same_submit_twice_at_once_is_one_answer() -> None:
    seat = get_campaign_cohort(an_open_campaign(items=10))
    person = a_person(seat.cohort)
    for n in range(5):
        hand = next_work.get_or_claim_work(person, seat, timezone.now()).current
        assert hand
        done = run_together(*[partial(rate, hand, key=f"k{n}")] * 4)
        assert sorted(one.repeated for one in done) == [False, True, True, True]
        assert len({one.annotation.pk for one in done}) == len({one.work.current for one in done}) == 1
    assert Annotation.objects.count() == 5


def test_two_windows_that_answer_differently_are_told() -> None:
    seat = get_campaign_cohort(an_open_campaign(items=3))
    hand = next_work.get_or_claim_work(a_person(seat.cohort), seat, timezone.now()).current
    assert hand

    def answer(code: str) -> bool:
        try:
            return bool(rate(hand, code).annotation.pk)
        except submit.AlreadyAnswered:
            return False

    assert sorted(run_together(lambda: answer("1"), lambda: answer("5"))) == [False, True]


def test_excluding_changing_targets_and_releasing_while_people_work() -> None:
    campaign = an_open_campaign(items=30, target=3)
    seat = get_campaign_cohort(campaign)
    people = [a_person(seat.cohort) for _ in range(8)]
    actor = people[0].user
    assert actor
    benchmark = campaign.stage.benchmark

    def meddle() -> list[int]:
        for target in (2, 4, 3):
            lifecycle.change_target(seat, target, None)
            exclusions.exclude(benchmark, people[1], "r", actor, timezone.now())
            leases.release_expired(timezone.now() + (timedelta(hours=1) if target == 4 else timedelta()))
            exclusions.lift_exclusion(benchmark, people[1], actor, timezone.now())
        return []

    run_together(meddle, *(works(person, seat, random.Random(n)) for n, person in enumerate(people)))
    for _round in range(3):
        for person in people:
            works(person, seat, random.Random(2))()
    ended = set(Slot.objects.values_list("reserved", "submitted"))
    assert ended <= {(0, 3), (0, 4)}  # four only where the fourth came while four were asked for


def test_closing_while_people_claim_leaves_nothing_reserved() -> None:
    for _ in range(3):
        campaign = an_open_campaign(items=30)
        seat = get_campaign_cohort(campaign)
        people = [a_person(seat.cohort) for _ in range(8)]
        run_together(
            partial(lifecycle.close, campaign, None, timezone.now()), *(work_opener(person, seat) for person in people)
        )
        assert not Assignment.objects.filter(campaign=campaign, state="reserved").exists()


def test_urgent_units_limits_and_retiring_hold_while_all_come_at_once() -> None:
    campaign = an_open_campaign(items=40, target=3)
    campaign.stage.retire_after_skips = 3
    campaign.stage.save()
    seat = get_campaign_cohort(campaign)
    lifecycle.set_limits(seat, 9, 7, None)
    people = [a_person(seat.cohort) for _ in range(8)]
    ids = list(Slot.objects.order_by("-position").values_list("pk", flat=True))

    def meddle() -> list[int]:
        for n in range(6):
            units.prioritise(campaign, ids[n * 6 : n * 6 + 6], None)
            units.prioritise(campaign, ids[n * 6 : n * 6 + 3], None, urgent=False)
            units.unretire(campaign, ids, None)
        return []

    given = run_together(meddle, *(works(person, seat, random.Random(n)) for n, person in enumerate(people)))[1:]
    assert max(len(units_) for units_ in given) <= 7
    assert all(len(set(units_)) == len(units_) for units_ in given)
    answered = [person.assignments.filter(state="submitted").count() for person in people]
    assert max(answered) == 7 and not Assignment.objects.filter(state="reserved").exists()
    tomorrow = timezone.now() + timedelta(days=1)
    late = run_together(*(partial(next_work.get_or_claim_work, person, seat, tomorrow) for person in people))
    for person, work in zip(people, late, strict=True):
        while work.current:
            work = rate(work.current, at=tomorrow).work
        assert person.assignments.filter(state="submitted").count() <= 9


def test_withdrawal_during_eight_submits_leaves_no_counted_answer() -> None:
    """Eight sheets of one person in eight campaigns are sent at the moment of the withdrawal."""
    first = get_campaign_cohort(an_open_campaign(items=3, target=2))
    team = first.cohort.team
    version = make_consent_version(team)
    seats = [first, *(get_campaign_cohort(_another_round(first, number)) for number in range(7))]
    person, other = a_person(first.cohort), a_person(first.cohort)
    for each in (person, other):
        assert each.user
        agree(each.user, version, "en")
    user = person.user
    assert user
    hands = [work_opener(person, seat)().current for seat in seats]
    submits = [partial(rate, hand) for hand in hands if hand]
    assert len(submits) == 8
    run_together(*submits, lambda: withdraw(user, team, timezone.now()))
    mine = Annotation.objects.filter(rater=person)
    assert mine.count() == 8  # nothing that was sent is lost
    assert not mine.filter(counted=True).exists()
    assert set(mine.values_list("uncounted_because", flat=True)) <= {"consent_withdrawn", "no_consent"}
    assert not Assignment.objects.filter(rater=person, state="reserved").exists()
    taken = work_opener(other, first)().current
    assert taken and rate(taken).annotation.counted


def _another_round(seat: CampaignCohort, number: int) -> Campaign:
    stage = seat.campaign.stage
    campaign = lifecycle.create(stage, f"Round {number + 2}", None, {seat.cohort: 2}, seed=number)
    lifecycle.open_campaign(campaign, None, timezone.now())
    return campaign


def test_first_visit_during_a_withdrawal_adds_no_counted_answer() -> None:
    seat = get_campaign_cohort(an_open_campaign(items=3))
    team = seat.cohort.team
    version = make_consent_version(team)
    for _round in range(5):
        person = a_person(seat.cohort)
        user = person.user
        assert user
        agree(user, version, "en")

        def visits(person: Rater = person) -> None:
            hand = work_opener(person, seat)().current
            if hand:
                rate(hand)

        run_together(visits, partial(withdraw, user, team, timezone.now()))
        assert not Annotation.objects.filter(rater=person, counted=True).exists()
        units_held = Assignment.objects.filter(rater=person, state="reserved")
        leases.release_expired(timezone.now() + timedelta(days=1))
        assert not units_held.exists()


def test_somebody_who_was_never_here_is_excluded_once_by_two_windows() -> None:
    benchmark = an_open_campaign().stage.benchmark
    person, actor = a_person(), a_person().user
    assert actor is not None
    exclude = partial(exclusions.exclude, benchmark, person, "Two accounts", actor, timezone.now())
    first, second, third = run_together(exclude, exclude, exclude)
    assert first == second == third


@pytest.mark.parametrize("reason", ["excluded", "no_consent"])
def test_a_first_visit_waits_for_an_exclusion_or_a_withdrawal_and_gets_nothing(reason: str) -> None:
    seat = get_campaign_cohort(an_open_campaign(items=4))
    person, actor, at = a_person(seat.cohort), a_person().user, timezone.now()
    assert actor is not None and person.user is not None
    agree(person.user, make_consent_version(seat.cohort.team), "en")
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            if reason == "excluded":
                exclusions.exclude(seat.campaign.stage.benchmark, person, "Two accounts", actor, at)
            else:
                withdraw(person.user, seat.cohort.team, at)
            visit = pool.submit(run_together, work_opener(person, seat))
            time.sleep(0.3)  # enough for a visit that does not wait
        [work] = visit.result()
    assert work.no_work is not None and work.no_work.reason == reason
    assert not Assignment.objects.filter(rater=person, state="reserved").exists()


def test_a_first_visit_and_a_change_of_the_target_do_not_wait_for_each_other() -> None:
    """The visit waits for the campaign and holds nothing that the change needs, or each waits for the other."""
    seat = get_campaign_cohort(an_open_campaign(items=4))
    person = a_person(seat.cohort)
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            Campaign.objects.select_for_update(no_key=True).get(pk=seat.campaign_id)
            visit = pool.submit(run_together, work_opener(person, seat))
            time.sleep(0.3)  # until the visit waits
            CampaignCohort.objects.select_for_update(no_key=True, nowait=True).get(pk=seat.pk)
        [work] = visit.result()
    assert work.current is not None
