"""Read a benchmark of an Emic site from Python, and write to it.

from emic_client import Emic

emic = Emic("https://emic.example.org")  # token from EMIC_TOKEN
for rating in emic.benchmarks.get("breads").ratings(field="relevance"):
    print(rating.item, rating.rater, rating.code)
"""

from .campaigns import Campaign
from .client import Emic
from .errors import (
    BrokenStream,
    Conflict,
    EmicError,
    Forbidden,
    Gone,
    InvalidRequest,
    NotFound,
    Problem,
    RateLimited,
    Refused,
    ServerError,
    Stale,
    Unauthorised,
    Unreachable,
    WaitTimeout,
)
from .jobs import ImportRefused, Job, JobFailed, JobReportRow
from .records import Annotation, Item, Outcome, Rating, Review
from .releases import Export, Release
from .resources import Cohort, CohortProgress, Event, ReleaseFile, RunCost, RunPlan
from .runs import Run, RunFailed
from .teams import Team

__all__ = [
    "Annotation",
    "BrokenStream",
    "Campaign",
    "Cohort",
    "CohortProgress",
    "Conflict",
    "Emic",
    "EmicError",
    "Event",
    "Export",
    "Forbidden",
    "Gone",
    "ImportRefused",
    "InvalidRequest",
    "Item",
    "Job",
    "JobFailed",
    "JobReportRow",
    "NotFound",
    "Outcome",
    "Problem",
    "RateLimited",
    "Rating",
    "Refused",
    "Release",
    "ReleaseFile",
    "Review",
    "Run",
    "RunCost",
    "RunFailed",
    "RunPlan",
    "ServerError",
    "Stale",
    "Team",
    "Unauthorised",
    "Unreachable",
    "WaitTimeout",
]
