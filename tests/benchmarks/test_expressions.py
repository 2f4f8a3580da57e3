"""Expressions over a sheet's values. Chromium evaluates the same examples in tests/browser/test_rules.py."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from benchmarks.rules.expressions import MOST_STEPS, Expression, ExpressionError

EXAMPLES = json.loads((Path(__file__).parent.parent / "data" / "expressions.json").read_text())


@pytest.mark.parametrize(("text", "values", "wanted"), EXAMPLES)
def test_every_example_is_what_it_says(text: str, values: dict[str, Any], wanted: Any) -> None:
    if isinstance(wanted, str) and wanted.startswith("error "):
        with pytest.raises(ExpressionError) as error:
            Expression.parse(text)
        assert error.value.position == int(wanted.removeprefix("error ")) - 1
        return
    found = Expression.parse(text).evaluate(values)
    assert found == wanted and isinstance(found, bool) == isinstance(wanted, bool)


def test_it_says_which_names_it_needs() -> None:
    found = Expression.parse('q1 + region.area > 2 and not keep in ("q9")')
    assert found.names == {"q1", "region.area", "keep"}


def test_what_is_too_long_or_too_deep_is_refused() -> None:
    with pytest.raises(ExpressionError, match="longer than 500"):
        Expression.parse("1" * 501)
    with pytest.raises(ExpressionError, match="too many parentheses"):
        Expression.parse("(" * 200 + "1" + ")" * 200)


@pytest.mark.parametrize(("before", "after"), [("not ", ""), ("-", ""), ("", "+1"), ("", "*1")])
def test_what_is_deep_without_parentheses_is_refused_too(before: str, after: str) -> None:
    """It would be accepted, and then stop every answer where the stack ends."""
    value = "1" if after in ("+1", "*1") or before == "-" else "1 == 1"
    assert Expression.parse(before * 40 + value + after * 40).evaluate({}) is not None
    with pytest.raises(ExpressionError, match="one in another"):
        Expression.parse(before * (MOST_STEPS + 1) + value + after * (MOST_STEPS + 1))


def test_a_number_that_no_number_can_hold_is_refused() -> None:
    assert Expression.parse("9" * 300 + " > 1").evaluate({}) is True
    with pytest.raises(ExpressionError, match="too large") as error:
        Expression.parse("1 < " + "9" * 400)
    assert error.value.position == 4


@given(some.text(alphabet='q1.()+-*/<>=!"andorti ', max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        Expression.parse(text).evaluate({"q1": 2.0})
    except ExpressionError as error:
        assert 0 <= error.position <= len(text)
