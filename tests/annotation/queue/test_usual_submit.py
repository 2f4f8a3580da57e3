"""The usual submit in one function of the database: the same rows as step by step, and nothing of anything unusual."""

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from time import monotonic, sleep
from typing import Any

import pytest
from django.db import IntegrityError, OperationalError, connection, transaction
from django.utils import timezone

from annotation.models import Annotation, Assignment, Campaign, CampaignCohort, Draft, ItemContributor, Slot, Tally
from annotation.services.answers import submit, usual_submit
from annotation.services.answers.submit import Submission
from annotation.services.campaigns import lifecycle
from annotation.services.queue import leases, next_work, recount
from annotation.services.queue.next_work import Work
from benchmarks.models import Stage
from people.models import Cohort, Rater
from tests.annotation.queue.factories import NOON, a_person, an_open_campaign, get_campaign_cohort, rate
from tests.annotation.queue.test_races import run_together
from tests.personas import make_consent_version

OTHERS = 40  # people who hold places beside the one who is measured
IDS_AND_TIMES = ("id", "at", "xact", "annotation_id", "saved_at")


def all_rows() -> dict[str, list[str]]:
    """Every row of every table as text, without ids, times of the clock and numbers of transactions."""
    rows = {}
    with connection.cursor() as sql:
        sql.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1")
        for (table,) in sql.fetchall():
            sql.execute(f'SELECT (to_jsonb(t) - %s::text[])::text FROM "{table}" t ORDER BY 1', [list(IDS_AND_TIMES)])
            if found := [row for (row,) in sql.fetchall()]:
                rows[table] = found
    return rows


def begun(items: int = 5, target: int = 2) -> tuple[CampaignCohort, Rater, Work]:
    seat = get_campaign_cohort(an_open_campaign(items=items, target=target))
    person = a_person(seat.cohort)
    return seat, person, next_work.get_or_claim_work(person, seat, NOON)


def ask_function(assignment: Assignment, key: str = "k", at: datetime = NOON) -> Any:
    """What the function says of an answer, whatever the page guesses before."""
    own = submit.own_assignment(assignment.pk, assignment.rater)
    given = Submission({"relevance": "4"}, key, active_seconds=3.5)
    parsed, given = submit._parse(own, given, at)
    annotation = submit._annotation(own, parsed, given, at)
    event = submit._event(own, submit.EVENT)
    return usual_submit.submit_usual(annotation, own, parsed.codes, at - timedelta(minutes=1), event)


def by_rule(seat: CampaignCohort) -> None:
    Stage.objects.filter(campaigns=seat.campaign_id).update(acceptance="by_rule")


def instructed(seat: CampaignCohort) -> None:
    lifecycle.set_instructions(seat.campaign, {"en": "Look first."}, None)


def much_earlier(seat: CampaignCohort) -> None:
    seat.participations.update(last_seen_at=NOON - timedelta(minutes=9))


def worked_elsewhere(seat: CampaignCohort) -> None:
    """Some of the seconds since the sheet was shown went to another sheet."""
    other = get_campaign_cohort(an_open_campaign(items=3))
    person = Rater.objects.get(participations__cohort=seat)
    other.cohort.members.create(user=person.user)
    hand = next_work.get_or_claim_work(person, other, NOON - timedelta(minutes=5)).current
    assert hand
    rate(hand, key="elsewhere", at=NOON + timedelta(seconds=1))


def hurried(seat: CampaignCohort) -> None:
    """The claim then looks among the urgent slots first."""
    last = seat.slots.order_by("-position")[0]
    seat.slots.filter(pk=last.pk).update(urgent=True)


def for_others(seat: CampaignCohort) -> None:
    """The claim then asks who had a part in an item."""
    Stage.objects.filter(campaigns=seat.campaign_id).update(staffing="others")
    person = Rater.objects.get(participations__cohort=seat)
    third = seat.slots.order_by("position")[2]
    ItemContributor.objects.create(item_id=third.unit.item_id, rater=person, own=True)


FULL = Submission(
    {"relevance": "2"}, "key", NOON, 12.25, "ar", (), {"view": {"device": "phone", "levels": 5}}
)  # fmt: skip


@pytest.mark.django_db
@pytest.mark.parametrize("world", [None, by_rule, instructed, much_earlier, worked_elsewhere, hurried, for_others])
@pytest.mark.parametrize("sent", [FULL, Submission({"relevance": "5"}, "bare")])
def test_the_function_and_the_steps_leave_the_same_rows(
    world: Callable[[CampaignCohort], None] | None, sent: Submission, monkeypatch: pytest.MonkeyPatch
) -> None:
    seat, person, work = begun()
    if world:
        world(seat)
    assert work.current
    left, replies, calls = [], [], []
    real = usual_submit.submit_usual

    def counted(*given: Any) -> Any:
        calls.append(real(*given))
        return calls[-1]

    monkeypatch.setattr(usual_submit, "submit_usual", counted)
    for by_function in (True, False):
        with transaction.atomic(), monkeypatch.context() as patch:
            if not by_function:
                patch.setattr(usual_submit, "may_be_usual", lambda _assignment: False)
            done = submit.submit(work.current.pk, person, sent, NOON + timedelta(seconds=20))
            assert done.work.current and done.work.prefetched
            units = done.work.current.unit_id, done.work.prefetched.unit_id
            leases_until = done.work.current.lease_until, done.work.prefetched.lease_until
            replies.append((done.progress, done.annotation.active_seconds, done.changed, done.repeated, units))
            replies[-1] += (leases_until, done.annotation.version, done.annotation.instruction_version_id)
            stored = Annotation.objects.get(pk=done.annotation.pk)
            for field in Annotation._meta.concrete_fields:
                assert getattr(stored, field.attname) == getattr(done.annotation, field.attname), field.name
            left.append(all_rows())
            assert list(recount.iter_differences()) == []
            transaction.set_rollback(True)
    assert [call is not None for call in calls] == [True], "the first went by the function, the second did not"
    assert replies[0] == replies[1]
    assert left[0] == left[1]
    assert ("annotation_due" in left[0]) == (world is by_rule)


def _update(model: Any, **values: Any) -> Callable[[Any], None]:
    return lambda _case: model.objects.update(**values)


def _released(case: Any) -> None:
    leases.release_expired(NOON + timedelta(hours=1))


def _draft(case: Any) -> None:
    Draft.objects.create(assignment=case[2].current, answers={}, version=1, saved_at=NOON)


def _left(case: Any) -> None:
    case[0].cohort.members.update(left_at=NOON)


def _excluded(case: Any) -> None:
    from annotation.services.answers import exclusions

    exclusions.exclude(case[0].campaign.stage.benchmark, case[1], "test", a_person().user, NOON)


def _asked_for_consent(case: Any) -> None:
    make_consent_version(case[0].cohort.team)


def _withdrew(case: Any) -> None:
    from annotation.services.answers.consent import agree, withdraw

    agree(case[1].user, make_consent_version(case[0].cohort.team), "en")
    withdraw(case[1].user, case[0].cohort.team, timezone.now())


def _suspended(case: Any) -> None:
    type(case[1].user).objects.filter(pk=case[1].user_id).update(is_active=False)


def _to_go_through(case: Any) -> None:
    lifecycle.set_instructions(case[0].campaign, {"en": "Look first."}, None)
    case[0].campaign.instruction_versions.update(required=True)


UNUSUAL: dict[str, Callable[[Any], Any]] = {
    "the lease is over": _released,
    "it was skipped": lambda case: submit.skip(case[2].current.pk, case[1], "unknown", "", NOON),
    "it has a draft": _draft,
    "the same key again": lambda case: rate(case[2].current, key="k", at=NOON),
    "answered in another window": lambda case: rate(case[2].current, at=NOON),
    "the campaign is paused": _update(Campaign, state="paused"),
    "the campaign is closed": _update(Campaign, state="closed"),
    "the campaign begins on a day": _update(Campaign, opens_on=NOON.date()),
    "the campaign ends on a day": _update(Campaign, closes_on=NOON.date()),
    "the cohort is paused here": _update(CampaignCohort, paused=True),
    "the cohort is paused everywhere": _update(Cohort, paused_at=NOON),
    "a limit in all": _update(CampaignCohort, most_per_person=9),
    "a limit on a day": _update(CampaignCohort, most_per_day=9),
    "the person left": _left,
    "the person is suspended": _suspended,
    "the person is excluded": _excluded,
    "the person has not consented": _asked_for_consent,
    "the consent is withdrawn": _withdrew,
    "instructions to go through": _to_go_through,
}


@pytest.mark.django_db
@pytest.mark.parametrize("name", UNUSUAL)
def test_of_anything_unusual_the_function_changes_nothing(name: str) -> None:
    case = begun()
    UNUSUAL[name](case)
    before = all_rows()
    assert case[2].current
    assert ask_function(case[2].current) is None
    assert all_rows() == before


@pytest.mark.django_db
def test_the_sheet_ahead_and_the_last_sheet_are_unusual() -> None:
    _seat, _person, work = begun()
    assert work.current and work.prefetched
    assert ask_function(work.prefetched) is None
    _seat, _person, alone = begun(items=1)
    assert alone.current and ask_function(alone.current) is None


@pytest.mark.django_db
def test_a_key_of_another_answer_is_refused_and_changes_nothing() -> None:
    _seat, _person, work = begun()
    assert work.current
    following = rate(work.current, key="k", at=NOON).work.current
    assert following
    before = all_rows()
    with pytest.raises(IntegrityError), transaction.atomic():
        ask_function(following, "k")
    with pytest.raises(submit.AlreadyAnswered):
        rate(following, key="k", at=NOON)
    assert all_rows() == before
    assert ask_function(following, "other") is not None, "the same one is usual with a key of its own"


TABLES = "^annotation_(slot|assignment|annotation|rating|participation)$"


def forget_statistics() -> None:
    """Of tables that other tests have filled: as in a new database."""
    indexes = f"SELECT indexrelid FROM pg_index WHERE indrelid::regclass::text ~ '{TABLES}'"
    with connection.cursor() as sql:
        sql.execute("SELECT usesuper FROM pg_user WHERE usename = current_user")
        if not sql.fetchone()[0]:
            pytest.skip("only a superuser can forget statistics")
        sql.execute(f"DELETE FROM pg_statistic WHERE starelid::regclass::text ~ '{TABLES}'")
        sql.execute(
            "UPDATE pg_class SET reltuples = -1, relpages = 0"
            f" WHERE oid::regclass::text ~ '{TABLES}' OR oid IN ({indexes})"
        )


def count_entries() -> int:
    """Entries that scans of indexes of answers and places gave in this transaction."""
    with connection.cursor() as sql:
        sql.execute(
            """SELECT sum(pg_stat_get_xact_tuples_returned(indexrelid)) FROM pg_index
          WHERE indrelid::regclass::text ~ %s""",
            [TABLES],
        )
        return int(sql.fetchone()[0])


@pytest.mark.slow  # alone: while another connection has an old snapshot, indexes keep what was deleted since
@pytest.mark.django_db(transaction=True)  # PostgreSQL passes by what earlier transactions deleted, not this one
def test_what_it_reads_grows_neither_with_what_the_person_answered_nor_with_what_others_hold() -> None:
    """With plans that were made while the tables were empty, as on a new site."""
    forget_statistics()
    connection.close()  # its plans are of other tests
    seat, person, work = begun(items=160)
    place = seat.participations.get(rater=person)
    reads = []
    for number in range(150):
        if number == 140:
            for _other in range(OTHERS):
                next_work.get_or_claim_work(a_person(seat.cohort), seat, NOON)
        assert work.current
        with transaction.atomic():
            before = count_entries()
            assert ask_function(work.current, f"key {number}", NOON + timedelta(minutes=number)) is not None
            reads.append(count_entries() - before)
        work = next_work.held_work(place.pk, seat)
    assert max(reads[100:140]) <= max(reads[5:25]) + 10, reads
    assert max(reads[140:]) <= max(reads[5:25]) + 10, reads


@pytest.mark.django_db
def test_the_database_has_the_function_that_the_code_would_make() -> None:
    """Where this fails, a statement that the function is made of was changed. Add a migration: DROP FUNCTION, then
    `usual_submit.CREATE`, as annotation/migrations/0016_submit_usual.py does."""
    with connection.cursor() as sql:
        sql.execute("SELECT pg_get_functiondef(oid), prosrc FROM pg_proc WHERE proname = %s", [usual_submit.NAME])
        [(stored, body)] = sql.fetchall()
        assert body == usual_submit.BODY
        sql.execute(f"DROP FUNCTION {usual_submit.NAME}")
        sql.execute(usual_submit.CREATE)
        sql.execute("SELECT pg_get_functiondef(oid) FROM pg_proc WHERE proname = %s", [usual_submit.NAME])
        assert sql.fetchone() == (stored,)


@pytest.mark.django_db
def test_its_plans_read_no_table_from_end_to_end() -> None:
    """They are made while tables are small, and used when they are large."""
    _seat, _person, work = begun()
    scanned = """SELECT relname, seq_scan FROM pg_stat_xact_user_tables WHERE seq_scan > 0
      AND relname ~ 'annotation_(slot|assignment|annotation|rating|participation|exclusion|due)$'"""
    with connection.cursor() as sql:
        sql.execute("DISCARD PLANS")
        sql.execute(scanned)
        before = sql.fetchall()
        assert work.current and ask_function(work.current) is not None
        sql.execute(scanned)
        assert sql.fetchall() == before


@pytest.mark.django_db(transaction=True)
def test_a_connection_that_ends_in_the_middle_leaves_nothing_and_the_same_key_is_stored_once() -> None:
    seat, _person, work = begun()
    assert work.current
    at = NOON + timedelta(seconds=5)
    before = all_rows()

    def send() -> str:
        try:
            rate(work.current, key="k", at=at)  # type: ignore[arg-type]
        except OperationalError as error:
            return re.sub(r"\s+", " ", str(error))
        finally:
            connection.close()
        return "stored"

    with ThreadPoolExecutor(1) as pool, connection.cursor() as sql:
        with transaction.atomic():
            list(Tally.objects.select_for_update().filter(cohort=seat))  # the last lock of a submit
            sent, end = pool.submit(send), monotonic() + 20
            ended: list[tuple[bool]] = []
            while not ended and monotonic() < end:
                sql.execute("SELECT pg_stat_clear_snapshot()")
                sql.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
                    " AND datname = current_database() AND query LIKE %s",
                    [f"%{usual_submit.NAME}%"],
                )
                ended = sql.fetchall()
                sleep(0.02)
        assert ended, "it waited in the function, with the answer written"
        assert "terminat" in sent.result() or "closed" in sent.result()
    assert all_rows() == before
    first, again = rate(work.current, key="k", at=at), rate(work.current, key="k", at=at)
    assert (first.repeated, again.repeated) == (False, True)
    assert Annotation.objects.count() == 1
    assert list(recount.iter_differences()) == []


@pytest.fixture
def answered_by(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Of each call of the function, whether it took the answer."""
    real, taken = usual_submit.submit_usual, []

    def noted(*given: Any) -> Any:
        done = real(*given)
        taken.append(done is not None)
        return done

    monkeypatch.setattr(usual_submit, "submit_usual", noted)
    return taken


@pytest.mark.django_db(transaction=True)
def test_two_windows_that_send_one_key_at_once_store_one_answer(answered_by: list[bool]) -> None:
    _seat, _person, work = begun()
    assert work.current
    hand = work.current
    results = run_together(*[lambda: rate(hand, key="k", at=NOON)] * 4)
    assert sorted(done.repeated for done in results) == [False, True, True, True]
    assert answered_by.count(True) == 1
    assert len({done.annotation.pk for done in results}) == len({done.work.current for done in results}) == 1
    assert Annotation.objects.count() == 1
    assert list(recount.iter_differences()) == []


@pytest.mark.django_db(transaction=True)
def test_of_two_who_submit_at_once_one_gets_the_last_place(answered_by: list[bool]) -> None:
    seat = get_campaign_cohort(an_open_campaign(items=5, target=1))
    people = [a_person(seat.cohort) for _ in range(2)]
    hands = [next_work.get_or_claim_work(person, seat, NOON).current for person in people]
    seat.participations.update(last_seen_at=NOON - timedelta(hours=1))  # else the last is kept for whoever comes
    results = run_together(*[lambda hand=hand: rate(hand, at=NOON) for hand in hands])
    assert answered_by == [True, True]
    assert sorted(done.work.prefetched is None for done in results) == [False, True]
    held = Slot.objects.filter(cohort=seat).values_list("reserved", "submitted")
    assert sorted(held) == [(0, 1), (0, 1), (1, 0), (1, 0), (1, 0)]
    assert list(recount.iter_differences()) == []
