"""What the database itself refuses, whatever the code above it does."""

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from django.db.models import Model

from annotation.models import Annotation, Assignment, Participation, Rating, Slot, Tally
from annotation.services.queue import next_work, recount
from tests.annotation.queue.factories import NOON, a_person, an_open_campaign, get_campaign_cohort, rate

pytestmark = pytest.mark.django_db


def refuses(name: str, row: Model, **changes: object) -> None:
    for field, value in changes.items():
        setattr(row, field, value)
    with pytest.raises(IntegrityError, match=name), transaction.atomic():
        row.save()


@pytest.fixture
def hand(db: None) -> Assignment:
    seat = get_campaign_cohort(an_open_campaign(items=4, target=2))
    found = next_work.get_or_claim_work(a_person(seat.cohort), seat, NOON).current
    assert found
    return found


def test_a_slot_never_overshoots_and_never_counts_below_nothing(hand: Assignment) -> None:
    slot = Slot.objects.get(pk=hand.slot_id)
    slot.submitted = 1
    slot.save()  # 1 + 1 of 2 fits
    refuses("slot_never_overshoots", slot, submitted=2)
    refuses("slot_reserved_not_negative", slot, submitted=0, reserved=-1)
    refuses("slot_submitted_not_negative", slot, submitted=-1, reserved=0)


def test_one_live_annotation_each_assignment_and_one_row_each_key(hand: Assignment) -> None:
    kept = rate(hand, key="k", at=NOON).annotation
    again = Annotation.objects.get(pk=kept.pk)
    again.pk = None
    again._state.adding = True
    refuses("annotation_live_once", again, version=2, client_key="other")
    refuses(
        "annotation_submit_once", again, version=2, live=False, counted=False, uncounted_because="x", client_key="k"
    )
    again.client_key = "other"
    again.save()  # superseded versions may be many


def test_what_counts_is_live_and_what_does_not_count_says_why(hand: Assignment) -> None:
    kept = rate(hand, at=NOON).annotation
    refuses("annotation_counted_is_live", kept, live=False)
    refuses("annotation_uncounted_has_reason", kept, counted=False)


def test_one_in_hand_and_one_ahead(hand: Assignment) -> None:
    ahead = Assignment.objects.get(participation=hand.participation, in_hand=False)
    refuses("one_in_hand_one_ahead", ahead, in_hand=True)
    refuses("reserved_has_lease", hand, lease_until=None)
    refuses("skipped_has_reason", ahead, in_hand=False, state="skipped")


def test_a_unit_once_to_a_person(hand: Assignment) -> None:
    copy = Assignment.objects.get(pk=hand.pk)
    copy.pk = None
    copy._state.adding = True
    refuses("assignment_once", copy, state="released")


def test_the_recount_finds_and_repairs_a_drift(hand: Assignment) -> None:
    rate(hand, at=NOON)
    call_command("recount_slots")
    Slot.objects.filter(pk=hand.slot_id).update(submitted=0)
    Tally.objects.filter(shard=3).update(skipped=5)
    Rating.objects.update(counted=False)
    Participation.objects.update(cursor=10**15)
    found = {one.check for one in recount.iter_differences()}
    assert found == {"places of a slot", "tally of a cohort", "flags of a rating", "cursor past work never had"}
    with pytest.raises(CommandError):
        call_command("recount_slots")
    call_command("recount_slots", repair=True)
    assert list(recount.iter_differences()) == []
    call_command("recount_slots")
