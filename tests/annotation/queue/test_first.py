import pytest

from annotation.models import Rating, Slot
from annotation.services import allocation
from tests.annotation.queue.factories import NOON, a_person, an_open_campaign, rate, the_seat

pytestmark = pytest.mark.django_db


def test_a_person_works_until_nothing_is_left() -> None:
    campaign = an_open_campaign(items=5, target=1)
    seat = the_seat(campaign)
    person = a_person(seat.cohort)
    work = allocation.open_work(person, seat, NOON)
    seen = []
    while work.hand:
        seen.append(work.hand.unit_id)
        work = rate(work.hand, at=NOON).work
    assert work.nothing and work.nothing.reason == "cohort_full"
    assert len(set(seen)) == len(seen) == 5
    assert Rating.objects.filter(counted=True).count() == 5
    assert set(Slot.objects.values_list("reserved", "submitted", "open")) == {(0, 1, False)}
