"""What becomes of an answer: kept, stamped, counted or waiting, taken back, changed."""

from datetime import timedelta
from typing import Any

import pytest

from annotation.models import Annotation, Assignment, CampaignCohort, Draft, ProblemReport, Rating, Slot, Tally
from annotation.services.answers import drafts, problem_reports, submit
from annotation.services.answers.submit import Submission
from annotation.services.campaigns import lifecycle
from annotation.services.queue import leases, next_work, recount
from jobs.models import Event
from tests.annotation.queue.factories import NOON, a_person, an_open_campaign, get_campaign_cohort, rate

pytestmark = pytest.mark.django_db
LATER = NOON + timedelta(minutes=31)


@pytest.fixture(autouse=True)
def counters_stay_true(db: None) -> object:
    yield
    assert list(recount.iter_differences()) == []


def counters(slot_id: int | None) -> tuple[int, int, int]:
    return Slot.objects.values_list("wanted", "reserved", "submitted").get(pk=slot_id)


def test_everything_that_shaped_the_answer_is_stamped_on_it() -> None:
    campaign = an_open_campaign()
    version = lifecycle.set_instructions(campaign, {"en": "Look first."}, None)
    seat = get_campaign_cohort(campaign)
    person = a_person(seat.cohort)
    hand = next_work.get_or_claim_work(person, seat, NOON).current
    assert hand
    submission = Submission({"relevance": "5"}, "key-1", NOON, 12.5, "ar", ())
    annotation = submit.submit(hand.pk, person, submission, NOON + timedelta(seconds=20)).annotation
    annotation.refresh_from_db()
    assert (annotation.sheet_version_id, annotation.instruction_version_id) == (campaign.sheet_version_id, version.pk)
    assert (annotation.rule_version, annotation.cohort_id, annotation.language) == ("on_submit", seat.cohort_id, "ar")
    assert (annotation.shown_at, annotation.submitted_at, annotation.active_seconds) == (
        NOON,
        NOON + timedelta(seconds=20),
        12.5,
    )
    assert (annotation.version, annotation.live, annotation.counted, annotation.answers["relevance"] is not None) == (
        1,
        True,
        True,
        True,
    )
    rating = Rating.objects.get(annotation=annotation)
    assert (rating.field, rating.code, rating.value, rating.counted) == ("relevance", "5", 5.0, True)
    assert (rating.unit_id, rating.rater_id, rating.cohort_id) == (hand.unit_id, person.pk, seat.cohort_id)
    assert counters(hand.slot_id) == (1, 0, 1)
    assert sum(Tally.objects.values_list("submitted", flat=True)) == 1
    event = Event.objects.get(verb="answer.submitted")
    assert (event.actor, event.scope) == (person.user, campaign.stage.benchmark.scope)


def test_a_wrong_answer_is_refused_and_changes_nothing() -> None:
    seat = get_campaign_cohort(an_open_campaign())
    person = a_person(seat.cohort)
    hand = next_work.get_or_claim_work(person, seat, NOON).current
    assert hand
    with pytest.raises(submit.InvalidAnswers) as refused:
        rate(hand, "9", at=NOON)
    assert "relevance" in refused.value.parsed.errors
    assert next_work.get_or_claim_work(person, seat, NOON).current == hand
    assert rate(hand, "5", at=NOON).annotation.counted


def test_the_same_key_again_is_the_same_answer() -> None:
    seat = get_campaign_cohort(an_open_campaign())
    person = a_person(seat.cohort)
    hand = next_work.get_or_claim_work(person, seat, NOON).current
    assert hand
    first = rate(hand, key="k", at=NOON)
    again = rate(hand, key="k", at=NOON)
    assert (first.repeated, again.repeated) == (False, True)
    assert (again.annotation, again.work.current) == (first.annotation, first.work.current)
    assert Annotation.objects.count() == 1
    with pytest.raises(submit.AlreadyAnswered):
        rate(hand, "1", key="another", at=NOON)


def test_the_key_of_an_answer_that_was_changed_is_still_known() -> None:
    """A page without a connection sends it again after the person changed the answer elsewhere."""
    seat = get_campaign_cohort(an_open_campaign())
    person = a_person(seat.cohort)
    hand = next_work.get_or_claim_work(person, seat, NOON).current
    assert hand
    first = rate(hand, "4", key="k", at=NOON)
    submit.reopen(hand.pk, person, NOON)
    second = rate(hand, "2", key="changed", at=NOON)
    again = rate(hand, "4", key="k", at=NOON)
    assert again.repeated and again.annotation == first.annotation
    assert Annotation.objects.get(live=True) == second.annotation


def test_a_key_used_for_another_item_is_refused() -> None:
    seat = get_campaign_cohort(an_open_campaign())
    hand = next_work.get_or_claim_work(a_person(seat.cohort), seat, NOON).current
    assert hand
    following = rate(hand, key="k", at=NOON).work.current
    assert following
    with pytest.raises(submit.AlreadyAnswered):
        rate(following, key="k", at=NOON)


def test_nobody_answers_in_anothers_name() -> None:
    seat = get_campaign_cohort(an_open_campaign())
    one, two = a_person(seat.cohort), a_person(seat.cohort)
    hand = next_work.get_or_claim_work(one, seat, NOON).current
    assert hand
    for deed in (
        lambda: submit.submit(hand.pk, two, Submission({"relevance": "1"}, "k"), NOON),
        lambda: submit.skip(hand.pk, two, "unknown", "", NOON),
        lambda: submit.undo(hand.pk, two, NOON),
        lambda: submit.reopen(hand.pk, two, NOON),
        lambda: problem_reports.report_problem(hand.pk, two, "x", NOON),
        lambda: drafts.save(hand.pk, two, {}, 0, NOON),
    ):
        with pytest.raises(submit.AssignmentStateError):
            deed()


def test_late_work_counts_where_a_place_is_free() -> None:
    seat = get_campaign_cohort(an_open_campaign(items=1))
    person = a_person(seat.cohort)
    hand = next_work.get_or_claim_work(person, seat, NOON).current
    assert hand and leases.release_expired(LATER) == 1
    assert rate(hand, at=LATER).annotation.counted
    assert counters(hand.slot_id) == (1, 0, 1)


def test_late_a_sheet_may_be_skipped_still() -> None:
    seat = get_campaign_cohort(an_open_campaign(items=2))
    person = a_person(seat.cohort)
    hand = next_work.get_or_claim_work(person, seat, NOON).current
    assert hand and leases.release_expired(LATER) == 2
    assert submit.skip(hand.pk, person, "unknown", "", LATER).current != hand
    hand.refresh_from_db()
    assert (hand.state, hand.skip_reason) == ("skipped", "unknown") and counters(hand.slot_id) == (1, 0, 0)


def test_late_work_without_a_place_is_kept_as_surplus_and_counts_when_a_place_comes_free() -> None:
    seat = get_campaign_cohort(an_open_campaign(items=1))
    one, two = a_person(seat.cohort), a_person(seat.cohort)
    late = next_work.get_or_claim_work(one, seat, NOON).current
    leases.release_expired(LATER)
    assignment = next_work.get_or_claim_work(two, seat, LATER).current
    assert late and assignment
    annotation = rate(late, at=LATER).annotation
    assert (annotation.counted, annotation.uncounted_because) == (False, "surplus")
    assert counters(late.slot_id) == (1, 1, 0)
    submit.skip(assignment.pk, two, "unknown", "", LATER)
    annotation.refresh_from_db()
    assert (annotation.counted, annotation.uncounted_because) == (True, "")
    assert annotation.ratings.get().counted
    assert counters(late.slot_id) == (1, 0, 1)


def test_of_several_surplus_answers_the_one_that_was_sent_first_gets_the_place() -> None:
    seat = get_campaign_cohort(an_open_campaign(items=1))
    first, second, holder = (a_person(seat.cohort) for _number in range(3))
    early = next_work.get_or_claim_work(first, seat, NOON).current
    leases.release_expired(LATER)
    late = next_work.get_or_claim_work(second, seat, LATER).current
    hour = LATER + timedelta(hours=1)
    leases.release_expired(hour)
    last = next_work.get_or_claim_work(holder, seat, hour).current
    assert early and late and last
    waiting = [rate(late, at=hour).annotation, rate(early, at=hour + timedelta(minutes=1)).annotation]
    assert [annotation.uncounted_because for annotation in waiting] == ["surplus", "surplus"]
    Annotation.objects.filter(pk=waiting[1].pk).update(submitted_at=hour - timedelta(minutes=1))
    submit.skip(last.pk, holder, "unknown", "", hour + timedelta(minutes=2))
    counted = Annotation.objects.filter(counted=True)
    assert [annotation.pk for annotation in counted] == [waiting[1].pk]


def test_an_expired_place_comes_back_to_the_same_person_with_its_draft() -> None:
    seat = get_campaign_cohort(an_open_campaign(items=1))
    person = a_person(seat.cohort)
    hand = next_work.get_or_claim_work(person, seat, NOON).current
    assert hand
    drafts.save(hand.pk, person, {"relevance": "2"}, 0, NOON)
    leases.release_expired(LATER)
    back = next_work.get_or_claim_work(person, seat, LATER).current
    assert back == hand and back and back.draft.answers == {"relevance": "2"}
    assert counters(hand.slot_id) == (1, 1, 0)


def test_skipping_needs_one_of_the_reasons_and_hands_the_unit_to_others() -> None:
    seat = get_campaign_cohort(an_open_campaign(items=2))
    first, second = a_person(seat.cohort), a_person(seat.cohort)
    hand = next_work.get_or_claim_work(first, seat, NOON).current
    assert hand and hand.slot
    with pytest.raises(submit.AssignmentStateError):
        submit.skip(hand.pk, first, "bored", "", NOON)
    following = submit.skip(hand.pk, first, "unknown", "a note", NOON).current
    assert following and following != hand
    assert Slot.objects.get(pk=hand.slot_id).position > 10**15  # the end of the queue
    skipped = Assignment.objects.get(pk=hand.pk)
    assert (skipped.state, skipped.skip_reason, skipped.skip_note) == ("skipped", "unknown", "a note")
    assert sum(Tally.objects.values_list("skipped", flat=True)) == 1
    theirs = next_work.get_or_claim_work(second, seat, NOON).current
    assert theirs and theirs.unit_id == hand.unit_id
    rate(following, at=NOON)
    assert next_work.get_or_claim_work(first, seat, NOON).current is None  # not the skipped one again


def test_skipping_twice_is_skipping_once_and_an_answer_still_goes_in() -> None:
    seat = get_campaign_cohort(an_open_campaign(items=1))
    person = a_person(seat.cohort)
    hand = next_work.get_or_claim_work(person, seat, NOON).current
    assert hand
    submit.skip(hand.pk, person, "unknown", "", NOON)
    submit.skip(hand.pk, person, "unknown", "", NOON)
    assert rate(hand, at=NOON).annotation.counted  # from the other window
    assert sum(Tally.objects.values_list("skipped", flat=True)) == 0
    with pytest.raises(submit.AlreadyAnswered):
        submit.skip(hand.pk, person, "unknown", "", NOON)


def test_undo_puts_the_answer_back_in_hand_and_keeps_its_place() -> None:
    seat = get_campaign_cohort(an_open_campaign(items=5))
    person = a_person(seat.cohort)
    hand = next_work.get_or_claim_work(person, seat, NOON).current
    assert hand
    done = rate(hand, "2", at=NOON)
    work = submit.undo(hand.pk, person, NOON + timedelta(seconds=10))
    assert work.current == hand and work.current and work.prefetched == done.work.current
    assert Draft.objects.get(assignment=hand).answers == done.annotation.answers
    done.annotation.refresh_from_db()
    assert (done.annotation.live, done.annotation.counted, done.annotation.uncounted_because) == (
        False,
        False,
        "undone",
    )
    assert not Rating.objects.filter(counted=True).exists()
    assert counters(hand.slot_id) == (1, 1, 0)
    assert done.work.prefetched and Assignment.objects.get(pk=done.work.prefetched.pk).state == "released"
    again = rate(work.current, "3", at=NOON).annotation
    assert (again.version, again.counted) == (2, True)
    assert Rating.objects.get(counted=True).code == "3"


def test_undo_ends_after_its_time(settings: object) -> None:
    seat = get_campaign_cohort(an_open_campaign())
    person = a_person(seat.cohort)
    hand = next_work.get_or_claim_work(person, seat, NOON).current
    assert hand
    with pytest.raises(submit.AssignmentStateError):
        submit.undo(hand.pk, person, NOON)  # nothing was submitted
    rate(hand, at=NOON)
    with pytest.raises(submit.AssignmentStateError):
        submit.undo(hand.pk, person, NOON + timedelta(seconds=31))


def test_undo_is_there_until_the_end_of_its_last_second(settings: Any) -> None:
    seat = get_campaign_cohort(an_open_campaign())
    person = a_person(seat.cohort)
    hand = next_work.get_or_claim_work(person, seat, NOON).current
    assert hand
    rate(hand, at=NOON)
    last = NOON + timedelta(seconds=settings.UNDO_SECONDS)
    with pytest.raises(submit.AssignmentStateError):
        submit.undo(hand.pk, person, last + timedelta(microseconds=1))
    assert submit.undo(hand.pk, person, last).current == hand


def test_undoing_a_surplus_answer_takes_no_place() -> None:
    seat = get_campaign_cohort(an_open_campaign(items=1))
    first, second = a_person(seat.cohort), a_person(seat.cohort)
    late = next_work.get_or_claim_work(first, seat, NOON).current
    leases.release_expired(LATER)
    next_work.get_or_claim_work(second, seat, LATER)
    assert late
    rate(late, at=LATER)
    work = submit.undo(late.pk, first, LATER)
    assert work.current == late and work.current and work.current.state == "released"
    assert counters(late.slot_id) == (1, 1, 0)
    assert rate(late, "1", at=LATER).annotation.version == 2


def test_an_answer_opened_from_the_history_counts_until_the_new_one_takes_its_place() -> None:
    seat = get_campaign_cohort(an_open_campaign(items=2))
    person = a_person(seat.cohort)
    hand = next_work.get_or_claim_work(person, seat, NOON).current
    assert hand
    following = rate(hand, "2", at=NOON).work.current
    work = submit.reopen(hand.pk, person, NOON + timedelta(days=1))
    assert (work.current, work.prefetched) == (hand, following)
    assert Rating.objects.get(counted=True).code == "2"
    drafts.save(hand.pk, person, {"relevance": "4"}, Draft.objects.get().version, NOON)
    again = rate(hand, "4", at=NOON + timedelta(days=1))
    assert (again.annotation.version, again.work.current) == (2, following)
    assert Rating.objects.get(counted=True).code == "4"
    assert Annotation.objects.get(version=1).uncounted_because == "superseded"
    assert counters(hand.slot_id) == (1, 0, 1)
    with pytest.raises(submit.AlreadyAnswered):
        rate(hand, "5", at=NOON)  # not opened again


def test_a_problem_is_reported_and_the_item_stays_in_hand() -> None:
    seat = get_campaign_cohort(an_open_campaign())
    person = a_person(seat.cohort)
    hand = next_work.get_or_claim_work(person, seat, NOON).current
    assert hand
    with pytest.raises(submit.AssignmentStateError):
        problem_reports.report_problem(hand.pk, person, "  ", NOON)
    problem_reports.report_problem(hand.pk, person, "The picture is upside down", NOON)
    assert ProblemReport.objects.get().assignment == hand
    assert next_work.get_or_claim_work(person, seat, NOON).current == hand


def test_drafts_are_kept_in_order_and_an_older_window_overwrites_nothing() -> None:
    seat = get_campaign_cohort(an_open_campaign())
    person = a_person(seat.cohort)
    hand = next_work.get_or_claim_work(person, seat, NOON).current
    assert hand
    first = drafts.save(hand.pk, person, {"relevance": "1"}, 0, NOON)
    second = drafts.save(hand.pk, person, {"relevance": "2"}, first.version, NOON)
    assert second.version > first.version
    assert drafts.save(hand.pk, person, {"relevance": "2"}, first.version, NOON).version == second.version  # sent again
    with pytest.raises(drafts.DraftConflict) as conflict:
        drafts.save(hand.pk, person, {"relevance": "5"}, first.version, NOON)
    assert conflict.value.current.answers == {"relevance": "2"}
    rate(hand, "2", at=NOON)
    assert not Draft.objects.exists()
    with pytest.raises(submit.AlreadyAnswered):
        drafts.save(hand.pk, person, {"relevance": "5"}, second.version, NOON)  # it was on its way


def test_typing_renews_the_lease() -> None:
    seat = get_campaign_cohort(an_open_campaign())
    person = a_person(seat.cohort)
    hand = next_work.get_or_claim_work(person, seat, NOON).current
    assert hand
    drafts.save(hand.pk, person, {"relevance": "1"}, 0, NOON + timedelta(minutes=20))
    leases.release_expired(LATER)
    assert Assignment.objects.get(pk=hand.pk).state == "reserved"


def test_typing_in_the_first_half_of_a_lease_leaves_its_end() -> None:
    seat = get_campaign_cohort(an_open_campaign())
    person = a_person(seat.cohort)
    hand = next_work.get_or_claim_work(person, seat, NOON).current
    assert hand
    drafts.save(hand.pk, person, {"relevance": "1"}, 0, NOON + timedelta(minutes=14))
    assert Assignment.objects.get(pk=hand.pk).lease_until == NOON + timedelta(minutes=30)
    drafts.save(hand.pk, person, {"relevance": "2"}, 1, NOON + timedelta(minutes=16))
    assert Assignment.objects.get(pk=hand.pk).lease_until == NOON + timedelta(minutes=46)


@pytest.mark.parametrize("letter", ["x", "é"])
def test_a_draft_holds_64_kilobytes_and_no_more(letter: str) -> None:
    seat = get_campaign_cohort(an_open_campaign())
    person = a_person(seat.cohort)
    hand = next_work.get_or_claim_work(person, seat, NOON).current
    assert hand
    room = 64 * 1024 - len('{"relevance": ""}')
    text = letter * (room // len(letter.encode())) + "x" * (room % len(letter.encode()))
    with pytest.raises(drafts.DraftTooLong):
        drafts.save(hand.pk, person, {"relevance": text + "x"}, 0, NOON)
    assert not Draft.objects.exists()
    assert drafts.save(hand.pk, person, {"relevance": text}, 0, NOON).version == 1


def test_a_draft_that_begins_again_has_a_higher_number_than_the_page_that_saves_it() -> None:
    seat = get_campaign_cohort(an_open_campaign())
    person = a_person(seat.cohort)
    hand = next_work.get_or_claim_work(person, seat, NOON).current
    assert hand
    assert drafts.save(hand.pk, person, {"relevance": "1"}, 1000, NOON).version == 1001


def test_what_is_opened_after_the_last_letter_is_kept_with_the_draft() -> None:
    seat = get_campaign_cohort(an_open_campaign())
    person = a_person(seat.cohort)
    hand = next_work.get_or_claim_work(person, seat, NOON).current
    assert hand
    typed = {"relevance": "1"}
    row = {"part": "hint", "at": NOON.isoformat(), "seconds": 3.0, "gate_answered": True, "text_typed": False}
    first = drafts.save(hand.pk, person, typed, 0, NOON)
    second = drafts.save(hand.pk, person, typed, first.version, NOON, {"opened": [row]})
    assert second.version > first.version and Draft.objects.get().trace == {"opened": [row]}
    again = drafts.save(hand.pk, person, typed, first.version, NOON, {"opened": [row]})
    assert again.version == second.version, "sent again"
    other = {**row, "at": (NOON + timedelta(minutes=1)).isoformat()}
    for version in (first.version, second.version + 1):
        with pytest.raises(drafts.DraftConflict):
            drafts.save(hand.pk, person, typed, version, NOON, {"opened": [other]})
    assert rate(hand, "1", at=NOON).annotation.trace == {"opened": [row]}


def test_a_long_note_to_a_skip_is_cut() -> None:
    seat = get_campaign_cohort(an_open_campaign())
    person = a_person(seat.cohort)
    hand = next_work.get_or_claim_work(person, seat, NOON).current
    assert hand
    submit.skip(hand.pk, person, "unknown", "n" * 301, NOON)
    assert Assignment.objects.get(pk=hand.pk).skip_note == "n" * 300


def test_an_answer_is_shown_no_later_than_it_is_sent() -> None:
    """The clock of a device may be ahead."""
    seat = get_campaign_cohort(an_open_campaign())
    person = a_person(seat.cohort)
    hand = next_work.get_or_claim_work(person, seat, NOON).current
    assert hand
    submission = Submission({"relevance": "5"}, "k", NOON + timedelta(hours=1), 12.5)
    assert submit.submit(hand.pk, person, submission, NOON).annotation.shown_at == NOON
    assert Annotation.objects.get().shown_at == NOON


def test_an_answer_that_a_limit_left_without_a_place_takes_none_by_a_change() -> None:
    seat = get_campaign_cohort(an_open_campaign(items=3))
    CampaignCohort.objects.filter(pk=seat.pk).update(most_per_person=1)
    person = a_person(seat.cohort)
    skipped = next_work.get_or_claim_work(person, get_campaign_cohort(seat.campaign), NOON).current
    assert skipped and submit.skip(skipped.pk, person, "unknown", "", NOON).current
    assert rate(skipped, "2", at=NOON).annotation.uncounted_because == "surplus"
    CampaignCohort.objects.filter(pk=seat.pk).update(most_per_person=None)
    submit.reopen(skipped.pk, person, NOON)
    changed = rate(skipped, "3", at=NOON).annotation
    assert (changed.version, changed.counted, changed.uncounted_because) == (2, False, "surplus")
