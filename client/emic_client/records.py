"""The rows of a benchmark, one class for each kind. A test compares them with the description of the API.

What a token may not read, or an older site does not have, is None; members that are new are passed over.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import date, datetime
from typing import Any, Literal, TypeVar

ColumnShape = Literal["int", "float", "bool", "str", "datetime", "date", "Any"]
R = TypeVar("R", bound="RowRecord")


@dataclass(frozen=True)
class RowRecord:
    """A row as it came. Times are datetimes in UTC."""

    @classmethod
    def from_json(cls: type[R], data: Mapping[str, Any]) -> R:
        """
        >>> Rating.from_json({"item": "a", "code": "3", "submitted_at": "2026-03-01T12:00:00.000000Z", "new": 1}).code
        '3'
        """
        shapes = shapes_of(cls)
        return cls(**{name: read_value(data[name], shape) for name, shape in shapes.items() if name in data})


_SHAPES: dict[type[RowRecord], Mapping[str, ColumnShape]] = {}


def shapes_of(kind: type[RowRecord]) -> Mapping[str, ColumnShape]:
    """The columns of a kind of rows with the type of each.

    >>> shapes_of(Review)["at"], shapes_of(Review)["comment"]
    ('datetime', 'str')
    """
    if kind not in _SHAPES:
        _SHAPES[kind] = {field.name: str(field.type).removesuffix(" | None") for field in fields(kind)}  # type: ignore[misc]
    return _SHAPES[kind]


def read_value(value: Any, shape: ColumnShape) -> Any:
    if not isinstance(value, str):
        return value
    if shape == "datetime":
        return read_time(value)
    return date.fromisoformat(value) if shape == "date" else value


def read_time(text: str) -> datetime:
    """
    >>> read_time("2026-03-01T12:00:00.250000Z").isoformat()
    '2026-03-01T12:00:00.250000+00:00'
    """
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


@dataclass(frozen=True)
class Item(RowRecord):
    """One row per item of the stage, asked about or not, also those that were withdrawn."""

    key: str | None = None
    concept: str | None = None
    origin: str | None = None
    condition: str | None = None
    answer_target: str | None = None
    text: str | None = None
    context: Any = None
    pictures: Any = None
    derived_from: Any = None
    withdrawn: bool | None = None
    withdrawn_at: datetime | None = None
    id: int | None = None
    stage: str | None = None


@dataclass(frozen=True)
class Annotation(RowRecord):
    """One row per live annotation: the latest version of each answer, counted or not.

    Answers of people who withdrew their consent are left out.
    """

    annotation: int | None = None
    campaign: int | None = None
    item: str | None = None
    concept: str | None = None
    origin: str | None = None
    condition: str | None = None
    withdrawn: bool | None = None
    target: str | None = None
    label_set: str | None = None
    cohort: str | None = None
    rater: str | None = None
    rater_kind: str | None = None
    setting: str | None = None
    model_info: Any = None
    state: str | None = None
    counted: bool | None = None
    uncounted_because: str | None = None
    consent: str | None = None
    consent_version: int | None = None
    version: int | None = None
    sheet_version: str | None = None
    instruction_version: int | None = None
    rule_version: str | None = None
    language: str | None = None
    shown_at: datetime | None = None
    submitted_at: datetime | None = None
    active_seconds: float | None = None
    run: int | None = None
    repeat: int | None = None
    endpoint: str | None = None
    model: str | None = None
    prompt: str | None = None
    answer_method: str | None = None
    incomplete: Any = None
    reply_notes: Any = None
    cost: float | None = None
    decoding: Any = None
    resolved: Any = None
    resolved_by: str | None = None
    resolved_reason: Any = None
    confirmed: Any = None
    opened: Any = None
    opened_before_gate: bool | None = None
    opened_before_text: bool | None = None
    view: Any = None
    answers: Any = None
    codes: Any = None
    stage: str | None = None


@dataclass(frozen=True)
class Rating(RowRecord):
    """One row per question of an annotation that has a code. A question without an answer has no row."""

    rating: int | None = None
    annotation: int | None = None
    campaign: int | None = None
    stage: str | None = None
    item: str | None = None
    concept: str | None = None
    origin: str | None = None
    condition: str | None = None
    withdrawn: bool | None = None
    target: str | None = None
    label_set: str | None = None
    cohort: str | None = None
    rater: str | None = None
    rater_kind: str | None = None
    setting: str | None = None
    state: str | None = None
    counted: bool | None = None
    uncounted_because: str | None = None
    version: int | None = None
    submitted_at: datetime | None = None
    run: int | None = None
    repeat: int | None = None
    field: str | None = None
    code: str | None = None
    value: float | None = None


@dataclass(frozen=True)
class Outcome(RowRecord):
    """One row per unit of a campaign that the rule has decided on; one that lacks answers has none."""

    campaign: int | None = None
    stage: str | None = None
    item: str | None = None
    target: str | None = None
    label_set: str | None = None
    state: str | None = None
    failed: Any = None
    waits_for: Any = None
    score: float | None = None
    numbers: Any = None
    decided_on: int | None = None
    rule_version: int | None = None
    at: datetime | None = None


@dataclass(frozen=True)
class Review(RowRecord):
    """One row per decision of a reviewer, also those on replaced versions and undone ones."""

    annotation: int | None = None
    version: int | None = None
    campaign: int | None = None
    item: str | None = None
    target: str | None = None
    label_set: str | None = None
    author: str | None = None
    reviewer: str | None = None
    decision: str | None = None
    reason: str | None = None
    comment: str | None = None
    round: str | None = None
    at: datetime | None = None
    undone_at: datetime | None = None
    batch: int | None = None
