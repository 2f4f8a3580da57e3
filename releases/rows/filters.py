"""What narrows rows: one declared list of filters per kind of rows, which says how a value of each is read."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, Literal

from django.utils.translation import gettext as _

from benchmarks.queries.item_words import word_query
from jobs.formats.numbers import parse_int

MAX_ID = 2**63 - 1
MAX_VALUES = 1000


class RowFilterError(ValueError):
    """A value cannot be used; `name` is the filter's, and `message` says what can."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name
        self.message = message


@dataclass(frozen=True)
class Condition:
    sql: str
    params: tuple[Any, ...]


@dataclass(frozen=True)
class RowFilter:
    """`sql` has one placeholder. Of type id, text and person it is a list, so a filter may be repeated. `default` is
    what holds where nothing is asked; `all` switches a filter of type bool off. Of type words the value becomes a query
    of their beginnings. Of type fact the name of the filter is the beginning of a parameter's name, and the rest of
    that is the first placeholder.

    Attributes:
        choices: the values there are; empty: any.
        scope: what a token needs to narrow rows by it.
    """

    sql: str
    type: Literal["id", "text", "bool", "since", "until", "person", "words", "fact"]
    meaning: str
    default: str = ""
    choices: tuple[str, ...] = ()
    scope: str = ""

    @property
    def is_repeatable(self) -> bool:
        return self.type not in ("bool", "words")

    def condition(self, name: str, values: Sequence[str], raters: Callable[[], Mapping[str, list[int]]]) -> Condition:
        """Raises RowFilterError. `raters`: the ids behind each pseudonym and each model's name."""
        if len(values) > MAX_VALUES:
            raise RowFilterError(name, _("At most %(n)s values may be given.") % {"n": MAX_VALUES})
        if unknown := [value for value in values if self.choices and value not in self.choices]:
            text = _("There is no “%(value)s”. There are: %(names)s.")
            raise RowFilterError(name, text % {"value": unknown[0][:60], "names": ", ".join(self.choices)})
        if self.type == "text":
            return Condition(self.sql, ([value.replace("\0", "") for value in values],))
        if self.type == "id":
            return Condition(self.sql, ([_id(name, value) for value in values],))
        if self.type == "person":
            known = raters()
            return Condition(self.sql, ([pk for value in values for pk in known.get(value, ())],))
        if self.type == "fact":
            key, *texts = (text.replace("\0", "") for text in (name.partition(".")[2], *values))
            return Condition(self.sql, (key, texts))
        if len(values) > 1:
            raise RowFilterError(name, _("This may be given only once."))
        if self.type == "words":
            query = word_query(values[0].replace("\0", ""))
            return Condition(self.sql, (query,)) if query else Condition("false", ())
        return Condition(self.sql, (_single_value(self.type, name, values[0]),))


def conditions_of(
    filters: Mapping[str, RowFilter],
    query: Mapping[str, Sequence[str]],
    raters: Callable[[], Mapping[str, list[int]]] = dict,
) -> list[Condition]:
    """The conditions that a query asks for, with those that hold by default. Raises RowFilterError."""
    conditions = []
    for name, row_filter in _asked(filters, query):
        values = [value for value in query.get(name, ()) if value] or [value for value in [row_filter.default] if value]
        if values and not (row_filter.type == "bool" and list(values) == ["all"]):
            conditions.append(row_filter.condition(name, values, raters))
    return conditions


def is_filter(filters: Mapping[str, RowFilter], name: str) -> bool:
    """Whether a parameter of an address is one of these filters."""
    known = filters.get(name)
    if known is not None:
        return known.type != "fact"
    return any(known.type == "fact" and name.startswith(prefix) for prefix, known in filters.items())


def filter_names(filters: Mapping[str, RowFilter]) -> list[str]:
    """As a description of the parameters has them."""
    return [f"{name}<key>" if known.type == "fact" else name for name, known in filters.items()]


def _asked(filters: Mapping[str, RowFilter], query: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, RowFilter]]:
    """Each filter under the name of its parameter; one of type fact as often as it is asked for."""
    for name, known in filters.items():
        if known.type == "fact":
            yield from ((asked, known) for asked in query if asked.startswith(name))
        else:
            yield name, known


def _id(name: str, value: str) -> int:
    number = parse_int(value, default=None, maximum=MAX_ID)
    if number is None:
        raise RowFilterError(name, _("“%(value)s” is not a number.") % {"value": value[:60]})
    return number


def _single_value(kind: str, name: str, value: str) -> bool | datetime:
    if kind == "bool":
        if value not in ("true", "false"):
            raise RowFilterError(name, _("“%(value)s” is not true, false or all.") % {"value": value[:60]})
        return value == "true"
    try:
        if len(value) == len("2026-03-01"):  # a day, by UTC as all times of rows; `until` has the whole day
            start = datetime.combine(date.fromisoformat(value), datetime.min.time(), UTC)
            return start + timedelta(days=1) if kind == "until" else start
        at = datetime.fromisoformat(value)
    except (ValueError, OverflowError) as error:
        raise RowFilterError(name, _NO_TIME % {"value": value[:60]}) from error
    if at.tzinfo is None:
        raise RowFilterError(name, _NO_TIME % {"value": value[:60]})
    return at


_NO_TIME = "“%(value)s” is neither a day such as 2026-03-01 nor a time such as 2026-03-01T12:00:00Z."
