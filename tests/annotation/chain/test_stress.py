"""Fifty people, two derivation steps, real threads: nobody is ever offered what they had a part in."""

import random
import time
from collections import Counter
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from annotation.models import Annotation, Assignment, Campaign, Due, ItemContributor, Slot
from annotation.services.answers import submit
from annotation.services.answers.submit import Submission
from annotation.services.derivation import derived_items
from annotation.services.queue import leases, next_work, recount
from annotation.services.review import reviews
from people.models import Cohort, Rater, User
from tests.annotation.chain.factories import (
    ANSWER,
    ASKED,
    GOOD,
    QUESTION,
    RULE,
    a_benchmark,
    a_stage,
    answer,
    claim_sheet,
    create_open_campaign,
    create_question_stages,
    items,
)
from tests.annotation.queue.factories import a_cohort, a_person
from tests.annotation.queue.test_races import run_together

pytestmark = pytest.mark.django_db(transaction=True)
PEOPLE, COHORTS, OVERLAP = 50, 4, 5
THREADS = 10


def a_chain() -> tuple[list[Campaign], list[Cohort]]:
    """Writing (one answer of each cohort), replying by others, checking the reply by others still, five of each."""
    benchmark = a_benchmark()
    cohorts = [a_cohort(benchmark.team) for _ in range(COHORTS)]
    ask = a_stage(benchmark, "ask", QUESTION)
    reply = a_stage(benchmark, "reply", ANSWER, staffing="others", derivation=ASKED)
    derived = {"kind": "promote", "from": ["reply"], "params": {"text": "answer"}}
    rule = {"acceptance": "by_rule", "acceptance_rule": RULE}
    check = a_stage(benchmark, "check", GOOD, staffing="others", derivation=derived, **rule)
    items(ask, 2)
    campaigns = [
        create_open_campaign(ask, *cohorts),
        create_open_campaign(reply, cohorts[0]),
        create_open_campaign(check, *cohorts, target=OVERLAP),
    ]
    return campaigns, cohorts


def give_answer(assignment: Assignment, dice: random.Random) -> next_work.Work:
    fields = [one["key"] for one in assignment.campaign.sheet_version.definition["fields"]]
    raw = {key: str(dice.randint(0, 1)) if key == "good" else f"{key} of {assignment.pk}" for key in fields}
    submission = Submission(raw=raw, client_key=f"k{assignment.pk}-{dice.random()}")
    return submit.submit(assignment.pk, assignment.rater, submission, timezone.now()).work


def works(person: Rater, campaigns: list[Campaign], cohort: Cohort, dice: random.Random) -> None:
    """What is open to them, now and then undone or skipped and done again."""
    for campaign in campaigns:
        place = campaign.cohorts.select_related("campaign__stage", "cohort").filter(cohort=cohort).first()
        if place is None:
            continue
        work = next_work.get_or_claim_work(person, place, timezone.now())
        for _n in range(4):
            if work.current is None:
                break
            hand = work.current
            work = give_answer(hand, dice)
            if dice.random() < 0.1:
                submit.undo(hand.pk, person, timezone.now())
                work = give_answer(hand, dice)


def work_in_turn(people: list[tuple[Rater, Cohort]], campaigns: list[Campaign], seed: int) -> Callable[[], None]:
    def deed() -> None:
        dice = random.Random(seed)
        for person, cohort in people:
            works(person, campaigns, cohort, dice)

    return deed


def derives(until: float) -> Callable[[], None]:
    def deed() -> None:
        while time.monotonic() < until:
            derived_items.process_due(timezone.now())
            time.sleep(0.02)

    return deed


def is_filled(campaigns: list[Campaign]) -> bool:
    slots = Slot.objects.filter(cohort__campaign__in=campaigns, unit__item__withdrawn_at=None)
    return bool(slots.exists()) and not slots.filter(open=True).exists() and not slots.filter(reserved__gt=0).exists()


def test_fifty_people_two_steps_overlap_five_by_four_cohorts() -> None:
    campaigns, cohorts = a_chain()
    people = [(a_person(cohorts[n % COHORTS]), cohorts[n % COHORTS]) for n in range(PEOPLE)]
    for turn in range(12):
        groups = [people[n::THREADS] for n in range(THREADS)]
        until = time.monotonic() + 2
        run_together(
            derives(until),
            derives(until),
            *(work_in_turn(one, campaigns, 100 * turn + n) for n, one in enumerate(groups)),
        )
        leases.release_expired(timezone.now() + timedelta(hours=1))
        derived_items.process_due(timezone.now())
        if is_filled(campaigns):
            break
    connection.close()
    assert is_filled(campaigns) and not Due.objects.exists()
    own = Assignment.objects.filter(campaign__in=campaigns)
    offered = set(own.values_list("rater", "unit__item"))
    assert offered & set(ItemContributor.objects.values_list("rater", "item")) == set()
    check = campaigns[-1]
    counted = Annotation.objects.filter(
        counted=True, assignment__campaign=check, assignment__unit__item__withdrawn_at=None
    )
    per_place = Counter(counted.values_list("assignment__unit", "cohort"))
    assert set(per_place.values()) == {OVERLAP} and len(per_place) == COHORTS * 2 * COHORTS
    assert check.outcomes.count() >= 2 * COHORTS
    assert list(recount.iter_differences()) == []


def test_two_reviewers_at_once_decide_once() -> None:
    ask, _reply, cohort = create_question_stages("by_review")
    annotation = answer(
        claim_sheet(a_person(cohort), create_open_campaign(ask, cohort), cohort), question="What?", answer="Tea"
    )
    both = [User.objects.create(email=f"r{n}@example.org", name=f"R{n}") for n in range(2)]

    def decides(reviewer: User) -> Callable[[], str]:
        def deed() -> str:
            try:
                return reviews.decide(annotation.pk, reviewer, "accept", timezone.now()).decision
            except reviews.ReviewRefused as refused:
                return refused.reason

        return deed

    assert sorted(run_together(*(decides(one) for one in both))) == ["accept", "decided"]


def test_two_answers_at_once_are_both_judged() -> None:
    """Each fills the last place of another cohort: whoever judges sees both."""
    for _ in range(3):
        benchmark = a_benchmark()
        rate = a_stage(benchmark, "rate", GOOD, acceptance="by_rule", acceptance_rule=RULE)
        items(rate, 1)
        cohorts = [a_cohort(benchmark.team) for _ in range(2)]
        campaign = create_open_campaign(rate, *cohorts)
        hands = [claim_sheet(a_person(cohort), campaign, cohort) for cohort in cohorts]

        def gives(one: Assignment | None) -> Callable[[], None]:
            def deed() -> None:
                answer(one, good="1")
                derived_items.process_due(timezone.now())

            return deed

        run_together(*(gives(one) for one in hands))
        assert campaign.outcomes.get().answers == 2 and not Due.objects.exists()
