"""Answers that come when their author or their campaign has no say any more, and changes taken back."""

from datetime import timedelta

import pytest

from annotation.models import Annotation, Assignment, CampaignCohort, Draft, ProblemReport, Rating, Slot, Tally
from annotation.services.answers import drafts, exclusions, problem_reports, submit, undo_and_conflicts
from annotation.services.answers.submit import Submission
from annotation.services.campaigns import lifecycle
from annotation.services.queue import next_work, recount
from people.models import CohortMember, ConsentVersion, Rater
from tests.annotation.queue.factories import NOON, a_person, an_open_campaign, get_campaign_cohort, rate

pytestmark = pytest.mark.django_db
SOON = NOON + timedelta(seconds=20)


@pytest.fixture(autouse=True)
def counters_stay_true(db: None) -> object:
    yield
    assert list(recount.iter_differences()) == []


def claim_sheet(person: Rater, seat: CampaignCohort) -> Assignment:
    hand = next_work.get_or_claim_work(person, seat, NOON).current
    assert hand
    return hand


def numbers() -> tuple[int, list[str]]:
    """What the tally says, and the codes that count."""
    codes = Rating.objects.filter(counted=True, live=True).order_by("code").values_list("code", flat=True)
    return sum(Tally.objects.values_list("submitted", flat=True)), list(codes)


def leave_cohort(seat: CampaignCohort, person: Rater) -> None:
    CohortMember.objects.filter(cohort=seat.cohort, user=person.user).update(left_at=NOON)


def is_not_asked(seat: CampaignCohort, person: Rater) -> None:
    """The first text of the team is published, and the person has not agreed to it."""
    ConsentVersion.objects.create(team=seat.cohort.team, number=1, published_at=NOON)


def close_campaign(seat: CampaignCohort, person: Rater) -> None:
    lifecycle.close(seat.campaign, None, NOON)


ENDS = {"not_a_member": leave_cohort, "no_consent": is_not_asked, "closed": close_campaign}


def test_an_undo_asked_twice_takes_back_one_answer() -> None:
    seat = get_campaign_cohort(an_open_campaign(items=2))
    person = a_person(seat.cohort)
    hand = claim_sheet(person, seat)
    rate(hand, "2", at=NOON)
    submit.reopen(hand.pk, person, SOON)
    rate(hand, "5", at=SOON)
    with pytest.raises(submit.AssignmentStateError):
        submit.undo(hand.pk, person, SOON, version=1)  # by a window that is behind
    assert numbers() == (1, ["5"])
    submit.undo(hand.pk, person, SOON, version=2)
    with pytest.raises(submit.AssignmentStateError):
        submit.undo(hand.pk, person, SOON, version=2)
    assert numbers() == (1, ["2"])


def test_a_change_taken_back_leaves_the_first_answer_standing() -> None:
    seat = get_campaign_cohort(an_open_campaign(items=2))
    person = a_person(seat.cohort)
    hand = claim_sheet(person, seat)
    following = rate(hand, "2", at=NOON).work.current
    submit.reopen(hand.pk, person, SOON)
    rate(hand, "5", at=SOON)
    assert numbers() == (1, ["5"])
    work = submit.undo(hand.pk, person, SOON)
    assert (work.current, work.prefetched) == (hand, following)
    first = Annotation.objects.get(version=1)
    assert (first.live, first.counted, first.uncounted_because) == (True, True, "")
    assert Annotation.objects.get(version=2).uncounted_because == "undone"
    assert numbers() == (1, ["2"])
    assert Draft.objects.get().answers == {"relevance": "5"}
    stored = Assignment.objects.get(pk=hand.pk)
    assert (stored.state, stored.changed_at) == ("submitted", first.submitted_at)
    assert Slot.objects.values_list("reserved", "submitted").get(pk=hand.slot_id) == (0, 1)
    again = rate(hand, "4", at=SOON)
    assert (again.annotation.version, again.changed) == (3, True)
    assert numbers() == (1, ["4"])


def test_a_first_answer_taken_back_leaves_none() -> None:
    seat = get_campaign_cohort(an_open_campaign(items=2))
    person = a_person(seat.cohort)
    hand = claim_sheet(person, seat)
    assert not rate(hand, "2", at=NOON).changed
    submit.undo(hand.pk, person, NOON)
    assert numbers() == (0, [])
    assert not rate(hand, "3", at=NOON).changed


def test_the_newest_change_taken_back_leaves_the_one_before_it() -> None:
    seat = get_campaign_cohort(an_open_campaign(items=2))
    person = a_person(seat.cohort)
    hand = claim_sheet(person, seat)
    rate(hand, "1", at=NOON)
    for code in ("2", "3"):
        submit.reopen(hand.pk, person, NOON)
        rate(hand, code, at=SOON)
    submit.undo(hand.pk, person, SOON)
    assert Annotation.objects.get(live=True).version == 2 and numbers() == (1, ["2"])


def test_an_answer_after_an_undo_changes_none_however_often_it_is_sent() -> None:
    seat = get_campaign_cohort(an_open_campaign(items=2))
    person = a_person(seat.cohort)
    hand = claim_sheet(person, seat)
    rate(hand, "2", at=NOON)
    submit.undo(hand.pk, person, NOON)
    sent = [rate(hand, "3", key="k", at=NOON) for _time in range(2)]
    assert [(result.repeated, result.changed) for result in sent] == [(False, False), (True, False)]
    submit.reopen(hand.pk, person, NOON)
    sent = [rate(hand, "4", key="l", at=NOON) for _time in range(2)]
    assert [(result.repeated, result.changed) for result in sent] == [(False, True), (True, True)]


def test_what_another_window_wrote_is_a_draft_that_no_earlier_page_saves_over() -> None:
    seat = get_campaign_cohort(an_open_campaign(items=2))
    person = a_person(seat.cohort)
    hand = claim_sheet(person, seat)
    rate(hand, "2", at=NOON)
    submit.reopen(hand.pk, person, NOON)
    read = Draft.objects.get().version
    undo_and_conflicts.save_conflicting_answer(hand.pk, person, {"relevance": "5"}, {}, SOON)
    with pytest.raises(drafts.DraftConflict):
        drafts.save(hand.pk, person, {"relevance": "3"}, read, SOON)
    assert Draft.objects.get().answers == {"relevance": "5"} and numbers() == (1, ["2"])


def test_a_change_that_an_excluded_person_had_begun_is_kept_and_does_not_count() -> None:
    seat = get_campaign_cohort(an_open_campaign(items=2))
    person, by = a_person(seat.cohort), a_person().user
    assert by
    hand = claim_sheet(person, seat)
    rate(hand, "2", at=NOON)
    submit.reopen(hand.pk, person, NOON)
    exclusions.exclude(seat.campaign.stage.benchmark, person, "two accounts", by, NOON)
    changed = rate(hand, "5", at=SOON).annotation
    assert (changed.version, changed.live, changed.uncounted_because) == (2, True, "excluded")
    assert numbers() == (0, [])


def test_an_uncounted_change_taken_back_stays_uncounted() -> None:
    seat = get_campaign_cohort(an_open_campaign(items=1))
    person = a_person(seat.cohort)
    hand = claim_sheet(person, seat)
    rate(hand, "2", at=NOON)
    submit.reopen(hand.pk, person, SOON)
    rate(hand, "5", at=SOON)
    benchmark = seat.campaign.stage.benchmark
    by = a_person().user
    assert by
    exclusions.exclude(benchmark, person, "two accounts", by, SOON)
    with pytest.raises(submit.AssignmentStateError):
        submit.undo(hand.pk, person, SOON)  # it would show the picture
    assert numbers() == (0, [])
    exclusions.lift_exclusion(benchmark, person, by, SOON)
    submit.undo(hand.pk, person, SOON)
    assert numbers() == (1, ["2"])


@pytest.mark.parametrize("why", ENDS)
def test_what_is_in_hand_is_kept_and_does_not_count(why: str) -> None:
    seat = get_campaign_cohort(an_open_campaign(items=3))
    person = a_person(seat.cohort)
    done = claim_sheet(person, seat)
    hand = rate(done, "1", at=NOON).work.current
    assert hand
    ENDS[why](seat, person)
    result = rate(hand, "5", at=SOON)
    assert (result.annotation.counted, result.annotation.uncounted_because) == (False, why)
    assert result.annotation.live and not result.annotation.ratings.get().counted
    assert (result.work.current, result.work.prefetched) == (None, None)
    assert numbers() == (1, ["1"])
    hand.refresh_from_db()
    assert hand.state == "submitted"
    again = rate(hand, "5", key=result.annotation.client_key, at=SOON)
    assert again.repeated and again.work.current is None


@pytest.mark.parametrize("why", ENDS)
def test_nothing_that_was_given_is_changed_then(why: str) -> None:
    seat = get_campaign_cohort(an_open_campaign(items=3))
    person = a_person(seat.cohort)
    done, opened = claim_sheet(person, seat), None
    opened = rate(done, "1", at=NOON).work.current
    assert opened
    rate(opened, "2", at=NOON)
    submit.reopen(opened.pk, person, NOON)
    ENDS[why](seat, person)
    for deed in (submit.undo, submit.reopen):
        with pytest.raises(submit.AssignmentStateError):
            deed(done.pk, person, SOON)
    with pytest.raises(submit.AssignmentStateError) as refused:
        rate(opened, "5", at=SOON)  # its sheet was still open
    assert refused.value.reason in {why, "campaign_closed"}
    assert numbers() == (2, ["1", "2"])


@pytest.mark.parametrize("why", ENDS)
def test_a_sheet_with_mistakes_does_not_come_back_then(why: str) -> None:
    seat = get_campaign_cohort(an_open_campaign(items=1))
    person = a_person(seat.cohort)
    hand = claim_sheet(person, seat)
    with pytest.raises(submit.InvalidAnswers):
        rate(hand, "9", at=SOON)
    ENDS[why](seat, person)
    with pytest.raises(submit.AssignmentStateError):
        rate(hand, "9", at=SOON)


def test_a_place_freed_by_a_late_answer_goes_to_the_next() -> None:
    seat = get_campaign_cohort(an_open_campaign(items=1))
    gone, other = a_person(seat.cohort), a_person(seat.cohort)
    hand = claim_sheet(gone, seat)
    leave_cohort(seat, gone)
    rate(hand, at=SOON)
    theirs = claim_sheet(other, seat)
    assert theirs.unit_id == hand.unit_id
    assert rate(theirs, "3", at=SOON).annotation.counted


def test_a_change_can_be_left() -> None:
    seat = get_campaign_cohort(an_open_campaign(items=2))
    person = a_person(seat.cohort)
    hand = claim_sheet(person, seat)
    with pytest.raises(submit.AssignmentStateError):
        submit.cancel_change(hand.pk, person, NOON)  # there is no answer to leave as it is
    rate(hand, "2", at=NOON)
    submit.reopen(hand.pk, person, NOON)
    drafts.save(hand.pk, person, {"relevance": "5"}, Draft.objects.get().version, NOON)
    submit.cancel_change(hand.pk, person, NOON)
    assert not Draft.objects.exists()
    assert numbers() == (1, ["2"])
    with pytest.raises(submit.AlreadyAnswered):
        rate(hand, "5", at=NOON)


@pytest.mark.parametrize(("reported_seconds", "counted_seconds"), [(None, None), (12.5, 12.5), (40000.0, 20.0)])
def test_time_at_work_is_no_more_than_the_sheet_was_there(
    reported_seconds: float | None, counted_seconds: float | None
) -> None:
    seat = get_campaign_cohort(an_open_campaign(items=1))
    person = a_person(seat.cohort)
    hand = claim_sheet(person, seat)
    done = submit.submit(hand.pk, person, Submission({"relevance": "1"}, "k", NOON, reported_seconds), SOON)
    assert done.annotation.active_seconds == counted_seconds


def test_time_at_work_is_no_more_than_an_hour() -> None:
    seat = get_campaign_cohort(an_open_campaign(items=1))
    person = a_person(seat.cohort)
    hand = claim_sheet(person, seat)
    done = submit.submit(hand.pk, person, Submission({"relevance": "1"}, "k", NOON, 9e4), NOON + timedelta(days=2))
    assert done.annotation.active_seconds == 3600


def test_sheets_side_by_side_take_no_more_time_than_there_was() -> None:
    """The second was before the person when the first was sent, as when a line was down: what is left is theirs."""
    seat = get_campaign_cohort(an_open_campaign(items=4))
    person = a_person(seat.cohort)
    work = next_work.get_or_claim_work(person, seat, NOON)
    assert work.current and work.prefetched
    later = NOON + timedelta(seconds=100)
    first = submit.submit(work.current.pk, person, Submission({"relevance": "1"}, "a", NOON, 30.0), later)
    again = Submission({"relevance": "1"}, "b", NOON + timedelta(seconds=30), 60.0)
    second = submit.submit(work.prefetched.pk, person, again, later + timedelta(seconds=1))
    assert (first.annotation.active_seconds, second.annotation.active_seconds) == (30.0, 41.0)


def test_prefetched_sheet_keeps_its_own_time() -> None:
    """A page keeps time in whole milliseconds: it was shown a moment before the answer before it was written down."""
    seat = get_campaign_cohort(an_open_campaign(items=4))
    person = a_person(seat.cohort)
    work = next_work.get_or_claim_work(person, seat, NOON)
    assert work.current and work.prefetched
    sent = NOON + timedelta(seconds=2, microseconds=345_678)
    submit.submit(work.current.pk, person, Submission({"relevance": "1"}, "a", NOON, 2.3), sent)
    shown, later = sent - timedelta(microseconds=678), sent + timedelta(seconds=4)
    second = submit.submit(work.prefetched.pk, person, Submission({"relevance": "1"}, "b", shown, 3.5), later)
    assert second.annotation.active_seconds == 3.5


def test_an_hour_is_not_told_twice() -> None:
    seat = get_campaign_cohort(an_open_campaign(items=9))
    person = a_person(seat.cohort)
    skipped = []
    for _time in range(4):
        skipped.append(claim_sheet(person, seat))
        submit.skip(skipped[-1].pk, person, "unknown", "", NOON)
    later = NOON + timedelta(hours=1)
    told = [Submission({"relevance": "1"}, f"k{one.pk}", NOON, 3600.0) for one in skipped]
    done = [submit.submit(one.pk, person, submission, later) for one, submission in zip(skipped, told, strict=True)]
    assert [one.annotation.active_seconds for one in done] == [3600.0, 0.0, 0.0, 0.0]


def test_an_answer_with_a_later_time_takes_nothing_from_an_earlier_one() -> None:
    """A clock may be set back between two answers, and a demo tells its days in any order."""
    seat = get_campaign_cohort(an_open_campaign(items=4))
    person = a_person(seat.cohort)
    work = next_work.get_or_claim_work(person, seat, NOON)
    assert work.current and work.prefetched
    evening = NOON + timedelta(hours=7)
    shown = evening - timedelta(seconds=30)
    submit.submit(work.current.pk, person, Submission({"relevance": "1"}, "a", shown, 25.0), evening)
    earlier = Submission({"relevance": "1"}, "b", NOON, 12.0)
    second = submit.submit(work.prefetched.pk, person, earlier, NOON + timedelta(seconds=15))
    assert second.annotation.active_seconds == 12.0


def test_a_person_cannot_answer_under_the_key_of_a_file() -> None:
    seat = get_campaign_cohort(an_open_campaign(items=2))
    person = a_person(seat.cohort)
    hand = claim_sheet(person, seat)
    with pytest.raises(submit.AssignmentStateError):
        rate(hand, key="file:0123:1:7", at=NOON)
    assert rate(hand, key="files:0123:1:7", at=NOON).annotation.counted


def test_a_person_reports_an_item_five_times_at_most() -> None:
    seat = get_campaign_cohort(an_open_campaign(items=2))
    person = a_person(seat.cohort)
    hand = claim_sheet(person, seat)
    for time in range(5):
        problem_reports.report_problem(hand.pk, person, f"It is dark, {time}", NOON)
    with pytest.raises(submit.AssignmentStateError):
        problem_reports.report_problem(hand.pk, person, "It is dark", NOON)
    assert (
        problem_reports.report_problem(hand.pk, person, " It is dark, 4 ", NOON).text == "It is dark, 4"
    )  # said already
    assert ProblemReport.objects.count() == 5
    other = rate(hand, at=NOON).work.current
    assert other
    problem_reports.report_problem(other.pk, person, "This one, too", NOON)
