"""The usual answer is written, counted and followed by the one ahead in one statement; the rows are as step by step."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.models import Assignment, CampaignCohort, Slot, Tally
from annotation.queries.progress import Progress, progress_of
from annotation.services.answers import submit as answers
from annotation.services.answers import usual_submit
from annotation.services.queue import next_work, recount
from jobs.models import Event
from tests.annotation.queue.factories import NOON, a_person, an_open_campaign, get_campaign_cohort, rate

pytestmark = pytest.mark.django_db
MOST_STATEMENTS = 4  # the function and the two sheets, and a savepoint and its release that only a test has


def rows_of(seat: CampaignCohort) -> tuple[Any, ...]:
    """All that a submit changes, but for ids and times."""
    assignments = Assignment.objects.filter(participation__cohort=seat).order_by("slot__position")
    tallies = Tally.objects.filter(cohort=seat).values_list("submitted", "wanted", "skipped")  # shards by ids
    return (
        list(assignments.values_list("state", "in_hand", "lease_until", "changed_at", "shown_at")),
        list(Slot.objects.filter(cohort=seat).order_by("position").values_list("reserved", "submitted", "wanted")),
        [sum(counts) for counts in zip(*tallies, strict=True)],
    )


def test_one_statement_leaves_the_same_rows_as_several(monkeypatch: pytest.MonkeyPatch) -> None:
    results = []
    for at_once in (True, False):
        seat = get_campaign_cohort(an_open_campaign(items=4, target=2))
        work = next_work.get_or_claim_work(a_person(seat.cohort), seat, NOON)
        with monkeypatch.context() as patch:
            patch.setattr(usual_submit, "may_be_usual", lambda _assignment: False)
            if not at_once:
                patch.setattr(answers, "_advance", lambda *_values: None)
            for _ in range(3):
                assert work.current is not None
                work = rate(work.current, at=NOON).work
        assert recount.find_differences() == []
        results.append(rows_of(seat))
    assert results[0] == results[1]


def test_the_answer_and_its_event_take_few_statements() -> None:
    seat = get_campaign_cohort(an_open_campaign(items=4, target=1))
    work = next_work.get_or_claim_work(a_person(seat.cohort), seat, NOON)
    assert work.current is not None
    with CaptureQueriesContext(connection) as queries:
        done = rate(work.current, at=NOON)
    read_first = 3  # the person, for whom this test asks, and the assignment with its place
    assert len(queries) <= MOST_STATEMENTS + read_first, [query["sql"][:90] for query in queries]
    assert done.progress == Progress(1, 4) == progress_of([seat.pk])[seat.pk]
    assert Event.objects.filter(verb="answer.submitted", target=f"assignment:{work.current.pk}").count() == 1


def test_the_one_ahead_answered_first_leaves_the_one_in_hand_in_hand() -> None:
    """As when the line was down, and the sheet ahead arrives before the one in hand."""
    seat = get_campaign_cohort(an_open_campaign(items=4, target=1))
    work = next_work.get_or_claim_work(a_person(seat.cohort), seat, NOON)
    assert work.current is not None
    assert work.prefetched is not None
    after = rate(work.prefetched, at=NOON).work
    assert after.current is not None
    assert after.current.pk == work.current.pk
    assert after.prefetched is not None
    assert after.prefetched.pk not in (work.current.pk, work.prefetched.pk)


def test_the_last_answer_leaves_nothing_in_hand() -> None:
    seat = get_campaign_cohort(an_open_campaign(items=2, target=1))
    work = next_work.get_or_claim_work(a_person(seat.cohort), seat, NOON)
    assert work.current is not None
    second = rate(work.current, at=NOON).work
    assert second.current is not None
    assert second.prefetched is None
    done = rate(second.current, at=NOON)
    assert done.work.current is None
    assert done.progress == Progress(2, 2)
    assert list(Slot.objects.values_list("reserved", "submitted")) == [(0, 1), (0, 1)]
