"""Of what a campaign's cohort shares, a process draws sheets for two seconds; what decides is read each time."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from annotation.models import Campaign, CampaignCohort
from annotation.queries import assignments, progress, recent_rows
from annotation.queries.progress import Progress
from annotation.services.answers.locked_state import lock_assignment
from annotation.services.queue import next_work
from benchmarks.models import Item, Stage
from people.models import CohortMember
from tests.annotation.queue.factories import NOON, a_person, an_open_campaign, get_campaign_cohort, rate

pytestmark = pytest.mark.django_db(transaction=True)  # nothing is kept that is read within a transaction


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch, settings: Any) -> Iterator[list[float]]:
    """Seconds, which the test moves on."""
    seconds = [1000.0]
    settings.PLACE_SECONDS = 2
    for rows in (assignments.PLACES, progress.UNUSABLE_SUMS):
        monkeypatch.setattr(rows, "_rows", {})
    monkeypatch.setattr(recent_rows.time, "monotonic", lambda: seconds[0])
    yield seconds


@pytest.fixture
def seat() -> CampaignCohort:
    return get_campaign_cohort(an_open_campaign(items=6, target=1))


def test_a_sheet_is_drawn_with_new_words_two_seconds_later(clock: list[float], seat: CampaignCohort) -> None:
    before = assignments.load_campaign_cohort(seat.pk).campaign.name
    Campaign.objects.filter(pk=seat.campaign_id).update(name="Renamed")
    clock[0] += 1.9
    assert assignments.load_campaign_cohort(seat.pk).campaign.name == before
    clock[0] += 0.1
    assert assignments.load_campaign_cohort(seat.pk).campaign.name == "Renamed"


def test_each_reader_has_objects_of_its_own(clock: list[float], seat: CampaignCohort) -> None:
    first = assignments.load_campaign_cohort(seat.pk)
    first.campaign.name = "Only here"
    first.campaign.stage.skip_reasons.clear()
    second = assignments.load_campaign_cohort(seat.pk)
    assert second.campaign.name != "Only here"
    assert second.campaign.stage.skip_reasons


def test_what_a_transaction_may_take_back_is_not_kept(clock: list[float], seat: CampaignCohort) -> None:
    with transaction.atomic():
        Campaign.objects.filter(pk=seat.campaign_id).update(name="Never")
        assert assignments.load_campaign_cohort(seat.pk).campaign.name == "Never"
        transaction.set_rollback(True)
    assert assignments.load_campaign_cohort(seat.pk).campaign.name != "Never"


def test_withdrawn_items_leave_the_progress_two_seconds_later(clock: list[float], seat: CampaignCohort) -> None:
    assert progress.usable_progress(seat.pk, Progress(0, 6)) == Progress(0, 6)
    Item.objects.filter(pk=Item.objects.values("pk")[:1]).update(withdrawn_at=timezone.now())
    clock[0] += 1.9
    assert progress.usable_progress(seat.pk, Progress(0, 6)) == Progress(0, 6)
    clock[0] += 0.1
    assert progress.usable_progress(seat.pk, Progress(0, 6)) == Progress(0, 5)
    assert progress.progress_of([seat.pk])[seat.pk] == Progress(0, 5), "pages of managers never wait"


def test_pauses_and_ended_memberships_hold_at_once(clock: list[float], seat: CampaignCohort) -> None:
    person, other = a_person(seat.cohort), a_person(seat.cohort)
    works = [next_work.get_or_claim_work(who, seat, NOON) for who in (person, other)]
    work = works[0]
    assert work.current is not None
    assignments.load_own_assignment(work.current.pk, person.user_id)  # keeps the place
    Campaign.objects.filter(pk=seat.campaign_id).update(state=Campaign.State.PAUSED)
    done = rate(work.current, at=NOON)
    assert done.annotation.counted
    assert done.work.no_work is None or done.work.no_work.reason == "campaign_paused"
    assert done.work.current is None or done.work.prefetched is None, "nothing new is given"
    Campaign.objects.filter(pk=seat.campaign_id).update(state=Campaign.State.OPEN)
    CohortMember.objects.filter(user_id=other.user_id).update(left_at=timezone.now())
    assert works[1].current is not None
    late = rate(works[1].current, at=NOON)
    assert not late.annotation.counted
    assert late.annotation.uncounted_because == "not_a_member"


def test_a_rule_that_is_set_meanwhile_is_followed(clock: list[float], seat: CampaignCohort) -> None:
    person = a_person(seat.cohort)
    work = next_work.get_or_claim_work(person, seat, NOON)
    assert work.current is not None
    own = assignments.load_own_assignment(work.current.pk, person.user_id)
    assert own is not None
    with transaction.atomic():
        assert not lock_assignment(own).matters
    for changed in ({"acceptance": Stage.Acceptance.BY_RULE}, {"coverage": {"stop_when_full": True}}):
        Stage.objects.filter(pk=own.campaign.stage_id).update(**changed)
        with transaction.atomic():
            assert lock_assignment(own).matters
        Stage.objects.filter(pk=own.campaign.stage_id).update(acceptance=Stage.Acceptance.ON_SUBMIT, coverage={})
