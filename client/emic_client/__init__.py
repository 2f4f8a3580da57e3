"""Read a benchmark of an Emic site from Python, and write to it.

from emic_client import Emic

emic = Emic("https://emic.example.org")  # token from EMIC_TOKEN
for rating in emic.benchmarks.get("breads").ratings(field="relevance"):
    print(rating.item, rating.rater, rating.code)
"""

from .client import Emic
from .errors import (
    BrokenStream,
    Conflict,
    EmicError,
    Forbidden,
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

__all__ = [
    "Annotation",
    "BrokenStream",
    "Conflict",
    "Emic",
    "EmicError",
    "Forbidden",
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
    "Review",
    "ServerError",
    "Stale",
    "Unauthorised",
    "Unreachable",
    "WaitTimeout",
]
