"""Which column of a table is what, as it is stored with the job, and the rows of a manifest made by it."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from typing import Any, BinaryIO

from django.utils.translation import gettext as _

from benchmarks.imports.problems import RowProblem
from benchmarks.imports.tables.objects import NumberedRow, TableRow
from benchmarks.imports.tables.roles import MISSING
from benchmarks.imports.tables.table import SAMPLE_ROWS, TableFormat, read_table

TEXT_ROLES = ("text",)
NAMIBIA = "NA"
"""The code of a country, and what programs write where a value is missing."""
MOST_MISSING = 50
ITEM_ROLES = ("file", "key", "role", "concept", "country", "origin", "condition", "source", "licence", "alt", "text")
"""Columns of a manifest that one column of the table gives."""
OTHER_ROLES = ("rater", "target", "cohort", "time")
ManifestRow = tuple[int, Mapping[str, Any] | RowProblem]


class MappingError(ValueError):
    """A mapping that is no mapping, or one of other columns. `name`: the member that is wrong."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name, self.message = name, message


@dataclass(frozen=True)
class ColumnMapping:
    """`columns`: role to column. `context`: columns that stay with the item; None: all that have no role. `facts`
    and `answers`: name of the fact, or key of the question, to column. `missing`: what counts as empty in columns that
    are no text; None: the values of MISSING."""

    columns: Mapping[str, str]
    context: tuple[str, ...] | None = None
    facts: Mapping[str, str] = field(default_factory=dict)
    answers: Mapping[str, str] = field(default_factory=dict)
    missing: tuple[str, ...] | None = None

    @classmethod
    def from_json(cls, data: Any) -> "ColumnMapping":
        """Raises MappingError.

        >>> ColumnMapping.from_json({"file": "img_file", "context": ["País"]}).to_json()
        {'file': 'img_file', 'context': ['País']}
        >>> ColumnMapping.from_json({"colour": "x"})
        Traceback (most recent call last):
        ...
        benchmarks.imports.tables.mapping.MappingError: There is no role “colour”.
        """
        if not isinstance(data, Mapping):
            raise MappingError("", _("A mapping is an object: role to column."))
        columns: dict[str, str] = {}
        for role, value in data.items():
            if role in ("context", "facts", "answers", "missing"):
                continue
            if role not in ITEM_ROLES + OTHER_ROLES:
                raise MappingError(str(role), _("There is no role “%(name)s”.") % {"name": role})
            if not isinstance(value, str) or not value:
                raise MappingError(role, _("The role “%(name)s” needs the name of a column.") % {"name": role})
            columns[role] = value
        context, missing = data.get("context"), data.get("missing")
        if context is not None and not _are_texts(context):
            raise MappingError("context", _("“context” is a list of columns."))
        if missing is not None and (not _are_texts(missing) or len(missing) > MOST_MISSING):
            raise MappingError("missing", _("“missing” is a list of at most 50 values."))
        pairs = {name: data.get(name) or {} for name in ("facts", "answers")}
        for name, entries in pairs.items():
            if not isinstance(entries, Mapping) or not _are_texts([*entries, *entries.values()]):
                raise MappingError(name, _("“%(name)s” is an object: name to column.") % {"name": name})
        lists = (None if entries is None else tuple(entries) for entries in (context, missing))
        return cls(columns, next(lists), **pairs, missing=next(lists))

    def to_json(self) -> dict[str, Any]:
        data: dict[str, Any] = dict(self.columns)
        if self.context is not None:
            data["context"] = list(self.context)
        for name, entries in (("facts", self.facts), ("answers", self.answers)):
            if entries:
                data[name] = dict(entries)
        if self.missing is not None:
            data["missing"] = list(self.missing)
        return data

    def is_missing(self, value: str) -> bool:
        return value.strip() in (MISSING if self.missing is None else self.missing)

    def with_named_columns(self, names: Iterable[str]) -> "ColumnMapping":
        """The same, and columns that are named as those of a manifest are what they are called, unless the mapping says
        what becomes of them.

        >>> ColumnMapping.from_json({"file": "img"}).with_named_columns(["img", "country", "n"]).to_json()
        {'file': 'img', 'country': 'country'}
        >>> ColumnMapping.from_json({"country": "where"}).with_named_columns(["where", "country"]).to_json()
        {'country': 'where'}
        """
        if self.context is not None:
            return self
        free = [name for name in names if name in ITEM_ROLES and name not in self.used and name not in self.columns]
        return replace(self, columns={**self.columns, **{name: name for name in free}})

    @property
    def used(self) -> set[str]:
        """Every column that has a role."""
        return {*self.columns.values(), *self.facts.values(), *self.answers.values()}

    def check(self, columns: tuple[str, ...]) -> None:
        """Raises MappingError for a column that the table lacks."""
        for role, column in [*self.columns.items(), *self.facts.items(), *self.answers.items()]:
            if column not in columns:
                raise MappingError(role, _missing(column, columns))
        for column in self.context or ():
            if column not in columns:
                raise MappingError("context", _missing(column, columns))


def _missing(column: str, columns: tuple[str, ...]) -> str:
    text = _("The table has no column “%(name)s”. There are: %(known)s.")
    return text % {"name": column, "known": ", ".join(columns)[:500]}


def _are_texts(values: Any) -> bool:
    return isinstance(values, list | tuple) and all(isinstance(value, str) for value in values)


@dataclass(frozen=True)
class MappedTable:
    """How a table is read and what its columns are, as a job keeps it."""

    format: TableFormat
    mapping: ColumnMapping
    columns: tuple[str, ...]

    def to_params(self) -> dict[str, Any]:
        return {"table": asdict(self.format), "mapping": self.mapping.to_json(), "columns": list(self.columns)}

    @classmethod
    def from_params(cls, params: Mapping[str, Any]) -> "MappedTable | None":
        """None of a job whose manifest has our own columns."""
        if not params.get("mapping"):
            return None
        mapping = ColumnMapping.from_json(params["mapping"])
        return cls(TableFormat(**params["table"]), mapping, tuple(params["columns"]))

    def item_rows(self, file: BinaryIO, pulse: Callable[[], None]) -> Iterator[ManifestRow]:
        """The rows of a manifest, from the start of the file."""
        has_codes = "country" in self.mapping.columns and _lists_codes(self._first_rows(file), self.mapping)
        return item_rows(read_table(file, self.format, pulse), self.mapping, has_codes=has_codes)

    def _first_rows(self, file: BinaryIO) -> list[TableRow | RowProblem]:
        return [row for _number, row in islice(read_table(file, self.format), SAMPLE_ROWS)]


def _lists_codes(rows: Iterable[TableRow | RowProblem], mapping: ColumnMapping) -> bool:
    """Whether the countries of a table are codes of two letters, of which NA is Namibia."""
    column = mapping.columns["country"]
    values = {row.get(column, "").strip() for row in rows if not isinstance(row, RowProblem)}
    known = [value for value in values if value and not mapping.is_missing(value)]
    return bool(known) and all(len(value) == 2 and value.isascii() and value.isupper() for value in known)


def item_rows(rows: Iterator[NumberedRow], mapping: ColumnMapping, *, has_codes: bool = False) -> Iterator[ManifestRow]:
    """The rows of a manifest. Where each answer has a row, the first row of a key is its item. `has_codes`: countries
    are codes of two letters, so that NA among them is a country as likely as nothing.

    >>> mapping = ColumnMapping.from_json({"key": "Image ID", "file": "img", "rater": "who"})
    >>> rows = [(2, {"Image ID": "1", "img": "a.png", "who": "x", "n": "3"}), (3, {"Image ID": "1", "who": "y"})]
    >>> list(item_rows(iter(rows), mapping))
    [(2, {'file': 'a.png', 'key': '1', 'n': '3'})]
    """
    keys: set[str] = set()
    by_answer = "rater" in mapping.columns and "key" in mapping.columns
    for number, row in rows:
        if isinstance(row, RowProblem):
            yield number, row
            continue
        if by_answer:
            key = row.get(mapping.columns["key"], "").strip()
            if key in keys:
                continue
            keys.add(key)
        country = row.get(mapping.columns.get("country", ""), "").strip()
        if has_codes and country == NAMIBIA and mapping.is_missing(country):
            yield number, _ambiguous_country()
        else:
            yield number, _item_row(row, mapping)


def _ambiguous_country() -> RowProblem:
    text = _(
        "“NA” among codes of countries is Namibia, or a value that is missing. Write Namibia or leave the cell empty;"
        " or take NA out of the values that mean “missing”."
    )
    return RowProblem("ambiguous_country", text)


def _item_row(row: Mapping[str, str], mapping: ColumnMapping) -> dict[str, Any]:
    item: dict[str, Any] = {}
    for role in ITEM_ROLES:
        if role in mapping.columns:
            value = row.get(mapping.columns[role], "")
            item[role] = "" if role not in TEXT_ROLES and mapping.is_missing(value) else value
    for name, column in mapping.facts.items():
        value = row.get(column, "")
        item[f"fact.{name}"] = "" if mapping.is_missing(value) else value
    context = [name for name in row if name not in mapping.used] if mapping.context is None else mapping.context
    for name in context:
        item[name if name not in ITEM_ROLES else f"{name}_"] = row.get(name, "")
    return item
