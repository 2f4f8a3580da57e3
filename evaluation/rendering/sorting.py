"""The order of a table's rows: read from an address, applied to rows, and offered as links in the heads of columns."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from django.http import QueryDict

PARAM = "order"  # of an address: the key of a column, with "-" before it from the highest to the lowest
NAME = "name"  # the key of the first column, whose cells are the names of the rows
Row = TypeVar("Row")


@dataclass(frozen=True)
class SortOrder:
    """`key`: of the column that the rows are sorted by."""

    key: str
    is_descending: bool = False

    @property
    def direction(self) -> Literal["ascending", "descending"]:
        return "descending" if self.is_descending else "ascending"

    @property
    def value(self) -> str:
        """As an address has it."""
        return f"-{self.key}" if self.is_descending else self.key


@dataclass(frozen=True)
class SortLink:
    """In the head of a column: the query that sorts by it. `direction`: how the rows are sorted by it now, as
    `aria-sort` says it; empty where they are sorted by something else."""

    query: str
    direction: Literal["", "ascending", "descending"] = ""


def parse_order(value: str, keys: Iterable[str], default: SortOrder) -> SortOrder:
    """The order that an address asks for; the default where it names none of `keys`."""
    order = SortOrder(value.removeprefix("-"), value.startswith("-"))
    return order if order.key in set(keys) else default


def sort_rows(
    rows: Iterable[Row], key: Callable[[Row], Any], order: SortOrder, group: Callable[[Row], Any] | None = None
) -> list[Row]:
    """The rows by `key`, within each group; groups stay in their order, and so do rows that are equal.

    A row whose key is None has no value, which is not a low one: such rows come last in both directions.
    """
    blocks: dict[Any, list[Row]] = {}
    for row in rows:
        blocks.setdefault(group(row) if group else None, []).append(row)
    return [row for block in blocks.values() for row in _sort_block(block, key, order)]


def _sort_block(rows: list[Row], key: Callable[[Row], Any], order: SortOrder) -> list[Row]:
    values = [(key(row), row) for row in rows]
    defined = [pair for pair in values if pair[0] is not None]
    defined.sort(key=lambda pair: pair[0], reverse=order.is_descending)
    return [row for _value, row in defined] + [row for value, row in values if value is None]


def sort_links(
    order: SortOrder, keys: Mapping[str, bool], params: QueryDict, drops: Iterable[str] = ()
) -> dict[str, SortLink]:
    """By the key of each column. `keys`: whether a first press sorts from the highest. `drops`: parameters of the
    address that another order makes void, as the number of a page."""
    links = {}
    for key, is_descending in keys.items():
        is_current = key == order.key
        query = params.copy()
        for name in drops:
            query.pop(name, None)
        query[PARAM] = SortOrder(key, not order.is_descending if is_current else is_descending).value
        links[key] = SortLink(query.urlencode(), order.direction if is_current else "")
    return links
