"""The queue's statements run with plans that are made once; all others with plans for their values."""

import pytest
from django.db import connection, transaction

from annotation.services.answers import usual_submit
from annotation.services.queue import next_work
from annotation.services.queue.locks import lock_participation_of
from jobs.queries.statements import fetch
from tests.annotation.queue.factories import NOON, a_person, an_open_campaign, get_campaign_cohort, rate

pytestmark = pytest.mark.django_db(transaction=True)  # psycopg forgets its statements with a rollback

ITEMS = 9
REPORT = "SELECT count(*) FROM annotation_slot WHERE cohort_id = %s AND submitted >= %s"


@pytest.fixture(autouse=True)
def _new_connection(transactional_db: None) -> None:
    connection.close()  # its statements are of other tests


def plan_counts(part: str) -> tuple[int, int]:
    """Generic and custom plans of the statements of this connection that contain `part`."""
    with connection.cursor() as sql:
        sql.execute(
            "SELECT sum(generic_plans), sum(custom_plans) FROM pg_prepared_statements WHERE statement LIKE %s",
            [f"%{part}%"],
        )
        generic, custom = sql.fetchone()
    return int(generic or 0), int(custom or 0)


def settings_now() -> list[str]:
    with connection.cursor() as sql:
        sql.execute(
            "SELECT current_setting('plan_cache_mode'), current_setting('enable_seqscan'), current_setting('jit')"
        )
        return list(sql.fetchone())


def test_a_claim_is_never_planned_again_and_a_report_is_planned_for_its_values(monkeypatch: pytest.MonkeyPatch) -> None:
    """Step by step; plans inside the function of the usual submit: test_usual_submit.py."""
    monkeypatch.setattr(usual_submit, "may_be_usual", lambda _assignment: False)
    seat = get_campaign_cohort(an_open_campaign(items=ITEMS, target=1))
    person = a_person(seat.cohort)
    work = next_work.get_or_claim_work(person, seat, NOON)
    while work.current:
        work = rate(work.current, at=NOON).work
        fetch(REPORT, [seat.pk, 0])
    for part in ("first_urgent AS MATERIALIZED", "fitting AS MATERIALIZED", "INSERT INTO annotation_annotation"):
        generic, custom = plan_counts(part)
        assert generic >= ITEMS, part
        assert custom == 0, part
    _generic, custom = plan_counts("submitted >= $2")
    assert custom == 5, "PostgreSQL plans the first five for their values, and then compares"


def test_the_settings_of_the_queue_end_with_its_transaction() -> None:
    seat = get_campaign_cohort(an_open_campaign(items=1, target=1))
    person, before = a_person(seat.cohort), settings_now()
    assert before[0] == "auto"
    with transaction.atomic():
        lock_participation_of(person.pk, seat.pk, NOON)
        assert settings_now() == ["force_generic_plan", "off", "off"]
    assert settings_now() == before


def test_the_plan_of_a_small_campaign_uses_indexes() -> None:
    """A plan is kept while the tables grow: reading them whole would be right for a few rows only."""
    seat = get_campaign_cohort(an_open_campaign(items=3, target=1))
    person = a_person(seat.cohort)
    with connection.cursor() as sql:
        sql.execute("ANALYZE annotation_slot, annotation_assignment, annotation_participation, people_rater")
    next_work.get_or_claim_work(person, seat, NOON)
    with connection.cursor() as sql:
        sql.execute(
            "SELECT name, cardinality(parameter_types) FROM pg_prepared_statements "
            "WHERE statement LIKE %s AND statement LIKE %s",
            ["%first_urgent AS MATERIALIZED%", "%SKIP LOCKED%"],
        )
        name, count = sql.fetchone()
        sql.execute("SET plan_cache_mode = force_generic_plan")
        sql.execute(f"EXPLAIN EXECUTE {name}({', '.join(['NULL'] * count)})")
        plan = "\n".join(line for (line,) in sql.fetchall())
        sql.execute("RESET plan_cache_mode")
    assert "Index Scan" in plan
    assert "Seq Scan" not in plan
