"""The order of a table's rows: who has no value comes last in both directions, and a foreign order is the default."""

import pytest
from django.http import QueryDict

from evaluation.rendering.sorting import SortOrder, parse_order, sort_links, sort_rows

DEFAULT = SortOrder("name")
ROWS = [("a", 0.5), ("b", None), ("c", -0.25), ("d", 0.5), ("e", 0.0), ("f", None)]


def names(order: SortOrder) -> str:
    return "".join(name for name, _value in sort_rows(ROWS, lambda row: row[1], order))


def test_rows_without_a_value_come_last_in_both_directions() -> None:
    assert names(SortOrder("value")) == "ceadbf"
    assert names(SortOrder("value", is_descending=True)) == "adecbf", "equal rows keep their order"


def test_groups_stay_in_their_order() -> None:
    rows = [("x", 1), ("x", 3), ("y", 2), ("y", None), ("y", 4)]
    ordered = sort_rows(rows, lambda row: row[1], SortOrder("v", is_descending=True), group=lambda row: row[0])
    assert ordered == [("x", 3), ("x", 1), ("y", 4), ("y", 2), ("y", None)]


@pytest.mark.parametrize("value", ["", "-", "--done", "done ", "Done", "-name-", "__class__", "'; DROP", "\x00", "١"])
def test_an_order_that_is_not_offered_is_the_default(value: str) -> None:
    assert parse_order(value, ["name", "done"], DEFAULT) == DEFAULT


def test_an_order_is_read_as_it_is_written() -> None:
    for order in (SortOrder("done"), SortOrder("done", is_descending=True)):
        assert parse_order(order.value, ["name", "done"], DEFAULT) == order


def test_a_second_press_turns_the_order_round() -> None:
    params = QueryDict("cohort=3&page=4&order=done")
    links = sort_links(SortOrder("done"), {"name": False, "done": True, "seen": True}, params, drops=["page"])
    assert {key: link.query for key, link in links.items()} == {
        "name": "cohort=3&order=name",
        "done": "cohort=3&order=-done",
        "seen": "cohort=3&order=-seen",
    }
    assert [link.direction for link in links.values()] == ["", "ascending", ""]
    assert params.urlencode() == "cohort=3&page=4&order=done", "the address itself is left as it is"
