"""Withdrawn consent: the person's answers are out of the numbers, and everything that followed from them follows."""

from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.models import Annotation, Assignment, Campaign, CampaignCohort, Rating, Slot
from annotation.services.answers import consent, exclusions, inclusion, submit
from annotation.services.answers.submit import AssignmentStateError
from annotation.services.queue import leases, next_work, recount
from jobs.models import Event
from people.models import Consent, ConsentVersion, Rater, Team, User
from people.services.consent import agree as agree_only
from tests.annotation.queue.factories import a_person, an_open_campaign, get_campaign_cohort, rate
from tests.module_world import built_once
from tests.personas import make_consent_version

pytestmark = pytest.mark.django_db
# After the consents of this file, which are given when the test runs.
NOON = datetime.now().astimezone() + timedelta(hours=1)
LATER = NOON + timedelta(minutes=31)


@pytest.fixture(autouse=True)
def counters_stay_true(db: None) -> Iterator[None]:
    yield
    assert list(recount.iter_differences()) == []


@built_once
def campaign() -> Campaign:
    campaign = an_open_campaign(items=4, target=1)
    make_consent_version(campaign.stage.benchmark.team)
    return campaign


def a_member(campaign: Campaign) -> Rater:
    rater = a_person(get_campaign_cohort(campaign).cohort)
    agree(rater, campaign)
    return rater


def team_of(campaign: Campaign) -> Team:
    return campaign.stage.benchmark.team


def user_of(rater: Rater) -> User:
    assert rater.user
    return rater.user


def agree(rater: Rater, campaign: Campaign, at: datetime | None = None, *, count_earlier: bool = False) -> None:
    version = ConsentVersion.objects.filter(team=team_of(campaign)).latest("number")
    consent.agree(user_of(rater), version, "en", count_earlier=count_earlier)
    if at is not None:
        Consent.objects.filter(pk=Consent.objects.latest("pk").pk).update(given_at=at)


def submits(rater: Rater, seat: CampaignCohort, at: datetime = NOON) -> Annotation:
    hand = next_work.get_or_claim_work(rater, seat, at).current
    assert hand
    return rate(hand, at=at).annotation


def state_of(annotation: Annotation) -> tuple[bool, str]:
    annotation.refresh_from_db()
    flags = set(Rating.objects.filter(annotation=annotation).values_list("live", "counted"))
    assert flags == {(annotation.live, annotation.counted)}
    return annotation.counted, annotation.uncounted_because


OUT = (False, "consent_withdrawn")
IN = (True, "")


def test_withdrawing_leaves_the_answers_out_and_gives_places_back(campaign: Campaign) -> None:
    seat = get_campaign_cohort(campaign)
    leaves, stays = a_member(campaign), a_member(campaign)
    other = submits(stays, seat)
    leases.release_expired(LATER)
    mine = [submits(leaves, seat), submits(leaves, seat)]
    assert Assignment.objects.filter(rater=leaves, state="reserved").exists()
    change = consent.withdraw(user_of(leaves), team_of(campaign), NOON)
    assert change and (change.uncounted, change.counted, change.places) == (2, 0, 2)
    assert [state_of(one) for one in mine] == [OUT, OUT]
    assert state_of(other) == IN
    assert not Assignment.objects.filter(rater=leaves, state="reserved").exists()
    assert Slot.objects.filter(submitted=0, reserved=0, open=True).count() == 3  # with the one that was in hand
    assert Event.objects.filter(verb="consent.withdrawn").count() == 1


def test_withdrawing_twice_or_without_consent_changes_nothing(campaign: Campaign) -> None:
    rater = a_member(campaign)
    assert consent.withdraw(user_of(rater), team_of(campaign), NOON) is not None
    assert consent.withdraw(user_of(rater), team_of(campaign), NOON) is None
    never = a_person(get_campaign_cohort(campaign).cohort)
    assert consent.withdraw(user_of(never), team_of(campaign), NOON) is None


def test_other_teams_keep_the_answers(campaign: Campaign) -> None:
    other_campaign = an_open_campaign()
    make_consent_version(team_of(other_campaign))
    rater = a_member(campaign)
    other = a_person(get_campaign_cohort(other_campaign).cohort)
    rater.user.cohort_memberships.create(cohort=get_campaign_cohort(other_campaign).cohort)  # type: ignore[union-attr]
    agree(rater, other_campaign)
    here, elsewhere = submits(rater, get_campaign_cohort(campaign)), submits(rater, get_campaign_cohort(other_campaign))
    consent.withdraw(user_of(rater), team_of(campaign), NOON)
    assert (state_of(here), state_of(elsewhere)) == (OUT, IN)
    assert other.pk != rater.pk


def test_the_oldest_surplus_answer_takes_the_place() -> None:
    """Also where it is not the one with the lowest id."""
    campaign = an_open_campaign(items=1, target=1)
    make_consent_version(team_of(campaign))
    seat = get_campaign_cohort(campaign)
    quick, second, third = a_member(campaign), a_member(campaign), a_member(campaign)
    hands = []
    for rater in (second, third):
        hands.append(next_work.get_or_claim_work(rater, seat, NOON).current)
        leases.release_expired(LATER)
    counted = submits(quick, seat, LATER)
    waits = [rate(hand, at=LATER).annotation for hand in hands if hand]
    assert [state_of(one) for one in waits] == [(False, "surplus"), (False, "surplus")]
    Annotation.objects.filter(pk=waits[1].pk).update(submitted_at=LATER - timedelta(minutes=5))
    change = consent.withdraw(user_of(quick), team_of(campaign), LATER)
    assert change and change.places == 0
    assert state_of(counted) == OUT
    assert [state_of(one) for one in waits] == [(False, "surplus"), IN]


def test_what_is_sent_after_the_withdrawal_is_kept_and_not_counted(campaign: Campaign) -> None:
    seat = get_campaign_cohort(campaign)
    rater = a_member(campaign)
    hand = next_work.get_or_claim_work(rater, seat, NOON).current
    consent.withdraw(user_of(rater), team_of(campaign), NOON)
    assert hand
    late = rate(hand, at=LATER).annotation
    assert (late.live, late.at_submit, state_of(late)) == (True, "no_consent", (False, "no_consent"))
    nothing = next_work.get_or_claim_work(rater, seat, LATER).no_work
    assert nothing and nothing.reason == "no_consent"
    inclusion.recompute_counted([late.pk])
    assert state_of(late) == (False, "no_consent")  # the reason stays when it is looked at again


def test_agreeing_again_leaves_earlier_answers_out_unless_asked_for(campaign: Campaign) -> None:
    seat = get_campaign_cohort(campaign)
    rater = a_member(campaign)
    early = submits(rater, seat)
    consent.withdraw(user_of(rater), team_of(campaign), NOON)
    agree(rater, campaign, NOON + timedelta(minutes=1))
    assert state_of(early) == OUT
    new = submits(rater, seat, LATER)
    assert state_of(new) == IN
    inclusion.recompute_counted([early.pk, new.pk])
    assert (state_of(early), state_of(new)) == (OUT, IN)


def test_earlier_answers_count_again_where_a_place_is_free() -> None:
    campaign = an_open_campaign(items=2)
    make_consent_version(team_of(campaign))
    seat = get_campaign_cohort(campaign)
    rater, other = a_member(campaign), a_member(campaign)
    early = [submits(rater, seat), submits(rater, seat)]
    consent.withdraw(user_of(rater), team_of(campaign), NOON)
    taken = submits(other, seat)
    leases.release_expired(LATER)
    version = ConsentVersion.objects.get(team=team_of(campaign))
    agreement = consent.agree(user_of(rater), version, "en", count_earlier=True)
    assert (agreement.counted, agreement.waiting) == (1, 1)
    states = {one.assignment.unit_id: state_of(one) for one in early}
    assert states.pop(taken.assignment.unit_id) == (False, "surplus")
    assert list(states.values()) == [IN]
    assert Consent.objects.filter(counts_earlier=True).count() == 1


def test_a_second_withdrawal_takes_them_out_again(campaign: Campaign) -> None:
    rater = a_member(campaign)
    early = submits(rater, get_campaign_cohort(campaign))
    consent.withdraw(user_of(rater), team_of(campaign), NOON)
    agree(rater, campaign, NOON + timedelta(minutes=1), count_earlier=True)
    assert state_of(early) == IN
    consent.withdraw(user_of(rater), team_of(campaign), LATER)
    assert state_of(early) == OUT
    agree(rater, campaign, LATER + timedelta(minutes=1))
    inclusion.recompute_counted([early.pk])
    assert state_of(early) == OUT


def test_a_newer_text_that_was_agreed_to_changes_nothing(campaign: Campaign) -> None:
    rater = a_member(campaign)
    early = submits(rater, get_campaign_cohort(campaign))
    make_consent_version(team_of(campaign), 2)
    agree(rater, campaign, LATER)
    inclusion.recompute_counted([early.pk])
    assert state_of(early) == IN
    consent.withdraw(user_of(rater), team_of(campaign), LATER)
    assert state_of(early) == OUT


def test_withdrawal_comes_before_exclusion_and_both_are_remembered(campaign: Campaign) -> None:
    seat, benchmark = get_campaign_cohort(campaign), campaign.stage.benchmark
    rater, actor = a_member(campaign), user_of(a_person())
    answer = submits(rater, seat)
    exclusions.exclude(benchmark, rater, "Always the same", actor, NOON)
    assert state_of(answer) == (False, "excluded")
    consent.withdraw(user_of(rater), team_of(campaign), NOON)
    assert state_of(answer) == OUT
    assert exclusions.lift_exclusion(benchmark, rater, actor, NOON) == 0
    assert state_of(answer) == OUT
    exclusions.exclude(benchmark, rater, "Again", actor, NOON)
    agree(rater, campaign, LATER, count_earlier=True)
    assert state_of(answer) == (False, "excluded")
    assert exclusions.lift_exclusion(benchmark, rater, actor, LATER) == 1
    assert state_of(answer) == IN


def test_lifted_exclusion_does_not_count_answers_after_the_close(campaign: Campaign) -> None:
    seat, benchmark = get_campaign_cohort(campaign), campaign.stage.benchmark
    rater, actor = a_member(campaign), user_of(a_person())
    hand = next_work.get_or_claim_work(rater, seat, NOON).current
    exclusions.exclude(benchmark, rater, "Always the same", actor, NOON)
    Campaign.objects.filter(pk=campaign.pk).update(state="closed")
    assert hand
    late = rate(hand, at=LATER).annotation
    assert state_of(late) == (False, "excluded")
    assert exclusions.lift_exclusion(benchmark, rater, actor, LATER) == 0
    assert state_of(late) == (False, "closed")


def test_after_the_close_nothing_counts_under_an_older_text_either(campaign: Campaign) -> None:
    rater = a_member(campaign)
    hand = next_work.get_or_claim_work(rater, get_campaign_cohort(campaign), NOON).current
    make_consent_version(team_of(campaign), 2)
    Campaign.objects.filter(pk=campaign.pk).update(state="closed")
    assert hand
    assert state_of(rate(hand, at=LATER).annotation) == (False, "closed")


def test_undoing_a_correction_brings_no_withdrawn_answer_into_the_numbers(campaign: Campaign) -> None:
    seat = get_campaign_cohort(campaign)
    rater = a_member(campaign)
    early = submits(rater, seat)
    consent.withdraw(user_of(rater), team_of(campaign), NOON)
    agree(rater, campaign, NOON + timedelta(minutes=1))
    submit.reopen(early.assignment_id, rater, LATER)
    corrected = rate(early.assignment, "2", at=LATER).annotation
    assert state_of(corrected) == IN
    submit.undo(early.assignment_id, rater, LATER)
    assert state_of(early) == OUT
    assert Slot.objects.get(pk=early.assignment.slot_id).submitted == 0  # type: ignore[misc]


def test_withdrawals_from_before_this_had_an_effect_are_followed(campaign: Campaign) -> None:
    rater, other = a_member(campaign), a_member(campaign)
    mine, theirs = submits(rater, get_campaign_cohort(campaign)), submits(other, get_campaign_cohort(campaign))
    Consent.objects.filter(user=rater.user).update(withdrawn_at=NOON)
    assert {one.check for one in recount.iter_differences()} == {"whether an answer counts"}
    assert consent.follow_withdrawals() == 1
    assert (state_of(mine), state_of(theirs)) == (OUT, IN)
    assert consent.follow_withdrawals() == 0


def test_a_recount_puts_a_forgotten_withdrawal_right(campaign: Campaign) -> None:
    rater = a_member(campaign)
    mine = submits(rater, get_campaign_cohort(campaign))
    Consent.objects.filter(user=rater.user).update(withdrawn_at=NOON)
    recount.repair()
    assert state_of(mine) == OUT


def test_the_withdrawal_is_one_transaction(campaign: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    rater = a_member(campaign)
    mine = submits(rater, get_campaign_cohort(campaign))

    def fails(*_args: object) -> None:
        raise RuntimeError("the database is gone")

    monkeypatch.setattr(inclusion, "_tally", fails)
    with pytest.raises(RuntimeError):
        consent.withdraw(user_of(rater), team_of(campaign), NOON)
    assert not Consent.objects.filter(withdrawn_at__isnull=False).exists()
    assert state_of(mine) == IN
    assert Assignment.objects.filter(rater=rater, state="reserved").exists()


def test_the_number_of_queries_does_not_grow_with_the_answers() -> None:
    counts = []
    for items in (3, 12):
        campaign = an_open_campaign(items=items)
        make_consent_version(team_of(campaign))
        rater = a_member(campaign)
        for _ in range(items - 2):
            submits(rater, get_campaign_cohort(campaign))
        with CaptureQueriesContext(
            connection,
        ) as queries:
            change = consent.withdraw(user_of(rater), team_of(campaign), NOON)
        assert change and change.uncounted == items - 2
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_a_change_of_an_answer_is_refused_without_consent(campaign: Campaign) -> None:
    rater = a_member(campaign)
    mine = submits(rater, get_campaign_cohort(campaign))
    consent.withdraw(user_of(rater), team_of(campaign), NOON)
    with pytest.raises(AssignmentStateError, match="no_consent"):
        submit.reopen(mine.assignment_id, rater, NOON)


def test_people_agree_as_before_where_they_never_answered(campaign: Campaign) -> None:
    user = User.objects.create(email="new@example.org", name="New")
    version = ConsentVersion.objects.get(team=team_of(campaign))
    assert consent.agree(user, version, "en", count_earlier=True).counted == 0
    assert agree_only(user, version, "en").user == user
