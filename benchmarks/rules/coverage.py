"""What a stage wants to have: so many accepted items, or answers, in each cell of rows and columns. Pure.

{"rows": "cohorts" or "set:<key of a label set>", "columns": "concepts" or "conditions", "names": [column, ...],
 "per_cell": n, "counts": "accepted" or "answers", "stop_when_full": true or false}

Without `names` the columns are those of the recipe, else those that the items have. Rows and columns are wanted whether
or not there is a cohort or an item for them. An empty object wants nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

COHORTS = "cohorts"
SET_PREFIX = "set:"
COLUMNS = ("concepts", "conditions")
COUNTS = ("accepted", "answers")
KEYS = ("rows", "columns", "names", "per_cell", "counts", "stop_when_full")
MOST_PER_CELL = 10_000
MOST_NAMES = 200
MOST_LETTERS = 120  # of a concept


class CoverageError(ValueError):
    """A coverage is written wrongly: which field, and why."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path, self.reason = path, reason


@dataclass(frozen=True)
class CoverageSpec:
    """`rows`: "cohorts", or "set:" and the key of a label set; `names`: the columns, in their order."""

    rows: str
    columns: str
    per_cell: int
    counts: str = "accepted"
    names: tuple[str, ...] = ()
    stop_when_full: bool = False

    @property
    def set_key(self) -> str:
        """The label set that the rows are of; empty where they are the team's cohorts."""
        return self.rows.removeprefix(SET_PREFIX) if self.rows.startswith(SET_PREFIX) else ""

    @classmethod
    def from_json(cls, data: Any) -> CoverageSpec | None:
        """None for an empty object. Raises CoverageError."""
        if not isinstance(data, Mapping):
            raise CoverageError("coverage", "must be an object")
        if not data:
            return None
        for key in data:
            if key not in KEYS:
                raise CoverageError(f"coverage.{key}", f"is not a setting here; there are {', '.join(KEYS)}")
        return cls(
            rows=_rows(data),
            columns=_choice(data, "columns", COLUMNS),
            per_cell=_number(data),
            counts=_choice({"counts": "accepted", **data}, "counts", COUNTS),
            names=_names(data.get("names", ())),
            stop_when_full=_switch(data),
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "rows": self.rows,
            "columns": self.columns,
            "names": list(self.names),
            "per_cell": self.per_cell,
            "counts": self.counts,
            "stop_when_full": self.stop_when_full,
        }


def _rows(data: Mapping[str, Any]) -> str:
    rows = _required(data, "rows")
    if rows != COHORTS and not (isinstance(rows, str) and rows.removeprefix(SET_PREFIX) not in ("", rows)):
        raise CoverageError("coverage.rows", f"must be {COHORTS} or {SET_PREFIX}<key of a label set>, not {rows!r}")
    return str(rows)


def _required(data: Mapping[str, Any], key: str) -> Any:
    if key not in data:
        raise CoverageError(f"coverage.{key}", "is missing")
    return data[key]


def _choice(data: Mapping[str, Any], key: str, choices: Sequence[str]) -> str:
    value = _required(data, key)
    if value not in choices:
        raise CoverageError(f"coverage.{key}", f"must be one of {', '.join(choices)}, not {value!r}")
    return str(value)


def _number(data: Mapping[str, Any]) -> int:
    value = _required(data, "per_cell")
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MOST_PER_CELL:
        raise CoverageError("coverage.per_cell", f"must be 1 to {MOST_PER_CELL}, not {value!r}")
    return value


def _switch(data: Mapping[str, Any]) -> bool:
    value = data.get("stop_when_full", False)
    if not isinstance(value, bool):
        raise CoverageError("coverage.stop_when_full", f"must be true or false, not {value!r}")
    return value


def _names(value: Any) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise CoverageError("coverage.names", "must be a list of texts")
    if len(value) > MOST_NAMES:
        raise CoverageError("coverage.names", f"needs 0 to {MOST_NAMES} entries, has {len(value)}")
    for number, name in enumerate(value):
        if not isinstance(name, str) or not 0 < len(name.strip()) <= MOST_LETTERS:
            reason = f"must be a text of 1 to {MOST_LETTERS} characters, not {name!r}"
            raise CoverageError(f"coverage.names[{number}]", reason)
        if name in value[:number]:
            raise CoverageError(f"coverage.names[{number}]", f"{name!r} is there twice")
    return tuple(value)
