"""The only way from a job's number to a job, for a person.

This app is the lowest and knows no benchmarks. The app that owns a scope ("benchmark:12") says who may see it:
it registers a function from (user, "12") to a JobScope, or None for strangers.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.http import Http404
from django.shortcuts import get_object_or_404

from jobs.models import Job


@dataclass(frozen=True)
class JobScope:
    """Where a job lives: what its page shows above it, and whether this person may stop it."""

    name: str
    url: str
    nav: list[dict[str, Any]]
    may_change: bool


Opener = Callable[[Any, str], JobScope | None]
_OPENERS: dict[str, Opener] = {}


def register_scope(prefix: str, opener: Opener) -> None:
    _OPENERS[prefix] = opener


def job_for(user: Any, job_id: int, *, change: bool = False) -> tuple[Job, JobScope]:
    """The job and its place; 404 for strangers, and for those who may look but not touch when `change` is asked."""
    job = get_object_or_404(Job, pk=job_id)
    prefix, _colon, ident = job.scope.partition(":")
    opener = _OPENERS.get(prefix)
    place = opener(user, ident) if opener and user.is_authenticated else None
    if place is None or (change and not place.may_change):
        raise Http404
    return job, place
