"""Our own statements reach PostgreSQL with its marks for values, whichever marks they were written with."""

import pytest

from jobs.queries.statements import _numbered, fetch


@pytest.mark.django_db
def test_named_and_unnamed_values_and_percent_signs_arrive() -> None:
    assert fetch("SELECT %s::int, %s::text, 'a%%b' LIKE 'a%%'", [1, "two"]) == [(1, "two", True)]
    assert fetch("SELECT %(a)s::int, %(b)s::text, %(a)s::int + 1", {"b": "x", "a": 5, "unused": 0}) == [(5, "x", 6)]
    assert fetch("SELECT 1", []) == [(1,)]


def test_a_named_value_has_one_number_wherever_it_stands() -> None:
    assert _numbered("%(a)s %(b)s %(a)s %%") == ("$1 $2 $1 %", ("a", "b"))
    assert _numbered("%s, %s") == ("$1, $2", None)
    with pytest.raises(AssertionError, match="named and unnamed"):
        _numbered("%s %(a)s")
