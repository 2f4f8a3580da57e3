"""A column of the rows that leave the site, whatever the format: CSV, JSON Lines, Parquet, the codebook and REST."""

import json
from dataclasses import dataclass
from typing import Any, Literal

ColumnType = Literal[
    "int8",
    "int4",
    "int2",
    "float8",
    "bool",
    "text",
    "time",
    "json",
    "person",
    "file",
    "files",
    "codes",
    "boxes",
    "code",
    "flag",
]
"""`time` is a text such as 2026-03-01T12:00:00.000000Z. `json` is any value that JSON has. `person` is a pseudonym: a
number in the database, a text such as R-0123456789ab in a row. In Parquet alone there are `file` and `files`, pictures
that hold `bytes` and `path`; `codes` and `boxes`, lists in answers; `code`, `int2` and `flag`, single codes in answers.
Every column may be null: nothing is known."""
Scope = Literal["read", "export"]
Row = dict[str, Any]

_POSTGRES: dict[ColumnType, str] = {"time": "text", "json": "text", "person": "int8"}
_UTC = "to_char({0} AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')"


@dataclass(frozen=True)
class RowColumn:
    """`sql` is empty where a plugin makes the rows. A name with _ before it is for the code that makes the rows and is
    never written.

    Attributes:
        meaning: a sentence for the codebook.
        unit: of a number, such as seconds; empty of a count, an id or a text.
        scope: what a token needs to read it; `export` for what comes out of people's answers.
        coded: of a text: one of few, so a file with types has them in a dictionary.
    """

    name: str
    sql: str
    type: ColumnType
    meaning: str
    unit: str = ""
    scope: Scope = "export"
    coded: bool = False

    @property
    def typed(self) -> ColumnType:
        """What it is in a file with types."""
        return "code" if self.coded else self.type

    @property
    def is_internal(self) -> bool:
        return self.name.startswith("_")

    @property
    def select(self) -> str:
        return _UTC.format(self.sql) if self.type == "time" else self.sql

    @property
    def postgres_type(self) -> str:
        return _POSTGRES.get(self.type, self.type)

    def read(self, value: Any) -> Any:
        """The value as a row holds it, of what the database gave."""
        return json.loads(value) if self.type == "json" and value is not None else value

    def to_json(self) -> dict[str, str]:
        """As the codebook describes it."""
        described = {"name": self.name, "type": "text" if self.type == "person" else self.type, "meaning": self.meaning}
        return described | ({"unit": self.unit} if self.unit else {})
