"""What kinds of work there are. Apps name theirs in AppConfig.ready; a job whose kind is gone fails with a sentence."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from jobs.models import Job
from jobs.services.job_context import JobContext


@dataclass(frozen=True)
class NextLink:
    """Where a person goes from a finished job."""

    label: str
    url: str


@dataclass(frozen=True)
class JobKind:
    """`run` does the work in steps and can be called again after a stop; `next_link` says what to offer at its end.

    `remarks`: reasons of rows that were taken all the same, with the label of their count. `in_steps`: its progress
    counts steps of its own, not rows of a file. `form_link`: where a corrected file is imported, for a job that failed
    or has rejected rows.
    """

    key: str
    run: Callable[[JobContext], None]
    next_link: Callable[[Job], NextLink | None] = lambda job: None
    remarks: Mapping[str, Any] = field(default_factory=dict)
    in_steps: bool = False
    form_link: Callable[[Job], NextLink | None] = lambda job: None


_KINDS: dict[str, JobKind] = {}


def register(kind: JobKind) -> None:
    if _KINDS.get(kind.key, kind) != kind:
        raise ValueError(f"two kinds of job are called {kind.key!r}")
    _KINDS[kind.key] = kind


def find_kind(key: str) -> JobKind | None:
    return _KINDS.get(key)
