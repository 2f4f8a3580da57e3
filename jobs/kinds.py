"""What kinds of work there are. Apps name theirs in AppConfig.ready; a job whose kind is gone fails with a sentence."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jobs.models import Job
    from jobs.runner import Work


@dataclass(frozen=True)
class Next:
    """Where a person goes from a finished job."""

    label: str
    url: str


@dataclass(frozen=True)
class Kind:
    """`run` does the work in steps and can be called again after a stop; `after` says what to offer when it is done.

    `remarks`: reasons of rows that were taken all the same, with the label of their count.
    """

    key: str
    run: Callable[[Work], None]
    after: Callable[[Job], Next | None] = lambda job: None
    remarks: Mapping[str, Any] = field(default_factory=dict)


_KINDS: dict[str, Kind] = {}


def register(kind: Kind) -> None:
    if _KINDS.get(kind.key, kind) != kind:
        raise ValueError(f"two kinds of job are called {kind.key!r}")
    _KINDS[kind.key] = kind


def find(key: str) -> Kind | None:
    return _KINDS.get(key)
