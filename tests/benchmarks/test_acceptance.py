"""Acceptance rules, on the rule of ValueGround's rubric (section 3.3): Q1 + Q2 >= 3, Q3 = 2, Q4 = 1."""

from typing import Any

import pytest

from benchmarks.rules.acceptance import Rule, RuleError, judge
from papers.valueground.recipe import RULE

PAIR = Rule.from_json(RULE)
MEANS = Rule.from_json({**RULE, "over": "means"})


def sheet(a: float, b: float, pair: float, cue: float) -> dict[str, float]:
    return {"match_a": a, "match_b": b, "pair_match": pair, "no_cue": cue}


GOOD, WEAK, CUE = sheet(2, 1, 2, 1), sheet(1, 1, 2, 1), sheet(2, 2, 2, 0)


def test_one_sheet_by_hand() -> None:
    found = judge(PAIR, [GOOD])
    assert (found.state, found.failed) == ("accepted", ())
    assert found.numbers["score"] == pytest.approx((2 / 2 + 1 / 2 + 2 / 2 + 1) / 4)  # 0.875


@pytest.mark.parametrize(
    ("given", "failed"),
    [(WEAK, ("match",)), (CUE, ("no_cue",)), (sheet(0, 0, 1, 0), ("match", "pair_match", "no_cue"))],
)
def test_a_verdict_names_the_clauses_that_failed_in_the_order_of_the_rule(given: Any, failed: tuple[str, ...]) -> None:
    found = judge(PAIR, [given])
    assert (found.state, found.failed) == ("rejected", failed)


def test_a_majority_decides_and_a_tie_does_not() -> None:
    assert judge(PAIR, [GOOD, GOOD, CUE]).state == "accepted"
    assert judge(PAIR, [GOOD, CUE, WEAK]).state == "rejected"
    tie = judge(PAIR, [GOOD, CUE])
    assert (tie.state, tie.failed) == ("undecided", ("no_cue",))
    assert tie.numbers["passed"] == tie.numbers["failed"] == 1


def test_means_are_another_rule_than_the_majority() -> None:
    """Of 2+2, 2+2 and 1+1 the means are 5/3 + 5/3 = 3.33: accepted. Of pair match 2, 2, 1 the mean is no longer 2."""
    sheets = [sheet(2, 2, 2, 1), sheet(2, 2, 2, 1), sheet(1, 1, 1, 1)]
    assert judge(PAIR, sheets).state == "accepted"
    found = judge(MEANS, sheets)
    assert (found.state, found.failed) == ("rejected", ("pair_match",))
    assert found.numbers["values"]["match_a"] == pytest.approx(5 / 3)
    assert judge(MEANS, [sheet(2, 2, 2, 1), sheet(1, 1, 2, 1)]).state == "accepted"  # each pair of sheets a tie


def test_what_is_missing_leaves_a_clause_open_and_one_that_fails_decides_all_the_same() -> None:
    unknown = {key: value for key, value in GOOD.items() if key != "no_cue"}
    assert judge(PAIR, [unknown]).state == "undecided"
    assert judge(MEANS, [unknown]).state == "undecided"
    assert judge(PAIR, [{**unknown, "pair_match": 0}]).failed == ("pair_match",)
    assert judge(PAIR, [GOOD, unknown, unknown]).state == "undecided"  # one of three is no majority


def test_a_mean_is_of_the_sheets_that_have_a_value() -> None:
    """no_cue is 1 on one sheet and missing on two: its mean is 1, not 1/3."""
    unknown = {key: value for key, value in GOOD.items() if key != "no_cue"}
    verdict = judge(MEANS, [GOOD, unknown, unknown])
    assert (verdict.state, verdict.failed) == ("accepted", ())
    assert verdict.numbers["values"]["no_cue"] == 1 and verdict.numbers["sheets"] == 3


def test_no_sheet_decides_nothing() -> None:
    assert judge(PAIR, []).state == judge(MEANS, []).state == "undecided"


def test_words_over_means_are_what_all_say() -> None:
    rule = Rule.from_json(
        {"clauses": [{"key": "keep", "expression": 'keep == "yes"', "words": {"en": "x"}}], "over": "means"}
    )
    assert judge(rule, [{"keep": "yes"}] * 2).state == "accepted"
    assert judge(rule, [{"keep": "yes"}, {"keep": "no"}]).state == "undecided"


def test_a_rule_may_say_how_many_sheets_must_pass() -> None:
    clauses = [{"key": "everyday", "expression": 'everyday == "yes"', "words": {"en": "x"}}]
    rule = Rule.from_json({"clauses": clauses, "over": "majority", "least": 2})
    yes, no, unknown = ({"everyday": code} for code in ("yes", "no", None))
    assert judge(rule, [yes, yes, no, no, no]).state == "accepted"
    assert judge(rule, [yes, no, no, no]).state == "rejected"
    assert judge(rule, [yes, no, no, unknown]).state == "undecided", "the last might say yes"
    assert judge(rule, [yes]).state == "accepted" and judge(rule, [no]).state == "rejected"
    assert judge(rule, []).state == "undecided"


def rule_of(*clauses: dict[str, Any], **more: Any) -> Rule:
    return Rule.from_json({"clauses": list(clauses), **more})


def clause(**members: Any) -> dict[str, Any]:
    return {"key": "fits", "expression": "a >= 2", "words": {"en": "It fits"}, **members}


def test_the_numbers_of_a_verdict_say_how_many_sheets_failed_each_clause() -> None:
    verdict = judge(PAIR, [GOOD, WEAK, sheet(1, 1, 2, 0)])
    assert verdict.state == "rejected" and verdict.failed == ("match", "no_cue")
    assert verdict.numbers["clauses"] == {"match": 2, "pair_match": 0, "no_cue": 1}
    assert (verdict.numbers["sheets"], verdict.numbers["passed"], verdict.numbers["failed"]) == (3, 1, 2)
    assert verdict.numbers["values"] == {"match_a": 4 / 3, "match_b": 1, "pair_match": 2, "no_cue": 2 / 3}


def test_what_was_accepted_names_no_clause_that_failed_and_keeps_how_many_sheets_failed_it() -> None:
    verdict = judge(PAIR, [GOOD, GOOD, CUE])
    assert (verdict.state, verdict.failed, verdict.numbers["clauses"]["no_cue"]) == ("accepted", (), 1)


def test_a_score_is_the_mean_of_the_sheets_that_have_one_and_is_absent_where_none_has() -> None:
    rule = rule_of(clause(), score={"expression": "a + b", "most": 4})
    assert judge(rule, [{"a": 2, "b": 1}, {"a": 2, "b": 2}, {"a": 2}]).numbers["score"] == 3.5
    assert "score" not in judge(rule, [{"a": 2}]).numbers and "score" not in judge(rule, []).numbers
    assert "score" not in judge(rule_of(clause(), score={"expression": "a > 1", "most": 1}), [{"a": 2}]).numbers
    assert "score" not in judge(rule_of(clause()), [{"a": 2}]).numbers
    means = rule_of(clause(), score={"expression": "a + b", "most": 4}, over="means")
    assert judge(means, [{"a": 2, "b": 1}, {"a": 4}]).numbers["score"] == 4


def test_a_clause_at_its_edge_holds_and_just_below_it_does_not() -> None:
    for over in ("majority", "means"):
        rule = rule_of(clause(), over=over)
        assert [judge(rule, [{"a": value}]).state for value in (2, 1.999)] == ["accepted", "rejected"]


def test_what_a_rule_says_and_reads() -> None:
    rule = rule_of(
        clause(expression='facts.kind == "a" and facts.size >= 3'), clause(key="b", words={"en": "B", "ar": "ب"}),
        score={"expression": "facts.score * 2", "most": 2},
    )  # fmt: skip
    assert rule.facts == {"kind", "size", "score"} and rule.number_facts == {"size", "score"}
    assert rule.names == {"facts.kind", "facts.size", "facts.score", "a"}
    assert rule.words("b") == {"en": "B", "ar": "ب"} and rule.words("c") == {}
    assert rule.score is not None and rule.score.maximum == 2 and (rule.over, rule.least) == ("majority", 0)
    assert rule_of(clause(key="k" * 60), least=1).least == 1


@pytest.mark.parametrize(
    ("data", "path"),
    [
        (None, "rule"),
        ([], "rule"),
        ({"clauses": "abc"}, "rule.clauses"),
        ({"clauses": []}, "rule.clauses"),
        ({"clauses": [clause(), "x"]}, "rule.clauses[1]"),
        *(({"clauses": [clause(key=key)]}, "rule.clauses[0].key") for key in ("", "A", "1a", "a-b", "k" * 61, 3)),
        *(
            ({"clauses": [clause(words=words)]}, "rule.clauses[0].words")
            for words in ("x", {}, {"ar": "x"}, {"en": " "})
        ),
        ({"clauses": [clause(expression=3)]}, "rule.clauses[0].expression"),
        ({"clauses": [clause()], "score": "a"}, "rule.score"),
        *(
            ({"clauses": [clause()], "score": {"expression": "a", "most": most}}, "rule.score.most")
            for most in (None, "4", True, -1)
        ),
        ({"clauses": [clause()], "score": {"expression": "a +", "most": 1}}, "rule.score.expression"),
        *(({"clauses": [clause()], "least": least}, "rule.least") for least in (True, 1.5, "2", -1)),
        ({}, "rule.clauses"),
        ({**RULE, "over": "majority", "least": 0}, "rule.least"),
        ({**RULE, "over": "means", "least": 2}, "rule.least"),
        ({**RULE, "over": "mean"}, "rule.over"),
        ({**RULE, "extra": 1}, "rule.extra"),
        ({**RULE, "clauses": [{**RULE["clauses"][0], "expression": "1 +"}]}, "rule.clauses[0].expression"),  # type: ignore[index]
        ({**RULE, "clauses": [RULE["clauses"][0]] * 2}, "rule.clauses[1].key"),  # type: ignore[index]
        ({**RULE, "score": {"expression": "1", "most": 0}}, "rule.score.most"),
    ],
)
def test_a_rule_written_wrongly_says_where(data: Any, path: str) -> None:
    with pytest.raises(RuleError) as error:
        Rule.from_json(data)
    assert error.value.path == path
