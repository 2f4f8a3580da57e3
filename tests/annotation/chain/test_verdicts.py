"""What a researcher reads of a rule's verdict on an item's page."""

import pytest

from annotation import verdicts
from benchmarks.models import Item
from tests.annotation.chain.factories import GOOD, RULE, a_benchmark, a_stage, answer, hand, items, opened, settle
from tests.annotation.queue.factories import a_cohort, a_person

pytestmark = pytest.mark.django_db


def judged(over: str, *codes: str) -> Item:
    benchmark = a_benchmark()
    rule = {**RULE, "over": over, "score": {"expression": "good", "most": 1}}
    stage = a_stage(benchmark, "rate", GOOD, acceptance="by_rule", acceptance_rule=rule)
    items(stage, 1)
    cohort = a_cohort(benchmark.team)
    campaign = opened(stage, cohort, target=len(codes))
    for code in codes:
        answer(hand(a_person(cohort), campaign, cohort), good=code)
    settle()
    return stage.items.get()


def test_a_clause_that_failed_is_named_with_how_many_answers_failed_it() -> None:
    [said] = verdicts.facts(judged("majority", "0", "1", "0")) or []
    assert said.outcome.state == "rejected"
    assert [(one.words, one.answers) for one in said.failed] == [("It is good", 2)]
    assert said.score == pytest.approx(1 / 3) and said.most == 1


def test_where_means_decide_no_answer_is_said_to_have_failed_it() -> None:
    [said] = verdicts.facts(judged("means", "0", "1", "1")) or []
    assert [(one.words, one.answers) for one in said.failed] == [("It is good", None)]


def test_what_was_accepted_names_nothing_and_what_was_not_judged_is_not_there() -> None:
    [said] = verdicts.facts(judged("majority", "1", "1", "0")) or []
    assert (said.outcome.state, said.failed) == ("accepted", [])
    assert verdicts.facts(items(a_stage(a_benchmark(), "other", GOOD), 1)[0]) is None
