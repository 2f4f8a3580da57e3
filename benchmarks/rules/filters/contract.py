"""What filters read and write. Pure."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeGuard

GROUP_FIELDS = ("origin", "concept", "condition")
PICTURE = "picture"
HASH = "perceptual_hash"


class FilterState(StrEnum):
    KEPT = "kept"
    DROPPED = "dropped"
    WAITING = "waiting"


class FilterError(ValueError):
    """A filter is not valid: where, and why."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


@dataclass(frozen=True)
class CandidatePicture:
    """One picture of a candidate.

    Attributes:
        width: in pixels, upright.
        height: in pixels, upright.
        sha: sha256 of the file.
        perceptual_hash: 64 hexadecimal digits of the hash and 6 of the mean colour; empty until it is computed.
    """

    width: int
    height: int
    sha: str
    perceptual_hash: str = ""


@dataclass(frozen=True)
class Candidate:
    """An item of an intake stage, as filters read it.

    Attributes:
        rank: its place in the search that found it; None comes after every number.
        values: what candidates are grouped by, see GROUP_FIELDS.
        pictures: in the order of their roles.
        texts: by name: file, source, alt, title, text, concept.
        facts: by key; of several facts with one key the newest.
    """

    id: int
    key: str
    rank: float | None = None
    values: Mapping[str, str] = field(default_factory=dict)
    pictures: tuple[CandidatePicture, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def place(self) -> tuple[bool, float, str]:
        """The order in which duplicates are compared: by rank, then by key."""
        return self.rank is None, self.rank or 0.0, self.key


@dataclass(frozen=True)
class FilterOutcome:
    """What one filter says of one candidate.

    Attributes:
        value: the measured value, the matched word or the duplicate; None where nothing was measured.
        limit: the limit that the value was compared with.
        reason: a code, see each kind.
        waits_for: the missing fact; empty unless the state is waiting.
    """

    state: FilterState
    value: Any = None
    limit: Any = None
    reason: str = ""
    waits_for: str = ""


Judge = Callable[[Sequence[Candidate], Mapping[str, Any], Collection[int]], list[FilterOutcome]]


@dataclass(frozen=True)
class FilterKind:
    """A kind of filter.

    Attributes:
        check: raises FilterError if the params are not valid.
        judge: one outcome for each candidate, in their order. A grouped kind gets one whole group at a time, sorted by
            `Candidate.place`, and the ids of candidates that an earlier filter drops: nothing is a duplicate of those.
        grouped: whether the outcome depends on other candidates of the group.
        needs: the fact or other value that the filter waits for, given its params; empty if it never waits.
    """

    check: Callable[[Mapping[str, Any]], None]
    judge: Judge
    grouped: bool = False
    needs: Callable[[Mapping[str, Any]], str] = lambda params: ""


def keep(value: Any = None, limit: Any = None) -> FilterOutcome:
    return FilterOutcome(FilterState.KEPT, value, limit)


def drop(reason: str, value: Any, limit: Any) -> FilterOutcome:
    return FilterOutcome(FilterState.DROPPED, value, limit, reason)


def wait(name: str, reason: str = "no_fact") -> FilterOutcome:
    return FilterOutcome(FilterState.WAITING, reason=reason, waits_for=name)


def require_known(params: Mapping[str, Any], names: Collection[str]) -> None:
    """Raise FilterError if a param is not in `names`."""
    for name in params:
        if name not in names:
            raise FilterError(name, "is not known")


def require_number(params: Mapping[str, Any], name: str, default: float | None = None) -> float | None:
    """The number under this name, or the default. Raises FilterError if it is no finite number."""
    value = params.get(name, default)
    if value is None:
        return None
    if not is_number(value):
        raise FilterError(name, "must be a number")
    return float(value)


def require_share(params: Mapping[str, Any], name: str, default: float) -> float:
    """A similarity: above 0 and at most 1. Raises FilterError."""
    value = require_number(params, name, default)
    if value is None or not 0 < value <= 1:
        raise FilterError(name, "must be above 0 and at most 1")
    return value


def require_within(params: Mapping[str, Any]) -> None:
    """Raise FilterError if candidates cannot be grouped by `within`."""
    fields = within_of(params)
    if not isinstance(fields, list | tuple) or any(name not in GROUP_FIELDS for name in fields):
        raise FilterError("within", f"must be a list of {', '.join(GROUP_FIELDS)}")


def require_name(params: Mapping[str, Any], name: str) -> None:
    """Raise FilterError if the param is not a text of 1 to 60 characters."""
    value = params.get(name)
    if not isinstance(value, str) or not value.strip() or len(value) > 60:
        raise FilterError(name, "must be a text of at most 60 characters")


def within_of(params: Mapping[str, Any]) -> Sequence[str]:
    """The fields that candidates of one group share."""
    fields: Sequence[str] = params.get("within", ("origin", "concept"))
    return fields


def is_number(value: Any) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
