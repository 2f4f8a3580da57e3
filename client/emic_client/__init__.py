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
from .plans import Plan
from .records import Annotation, Item, Outcome, Rating, Review
from .releases import Export, Release
from .resolutions import Resolution
from .resources import (
    Cohort,
    CohortProgress,
    DeliveryRecord,
    Event,
    PlanCost,
    PlanPreview,
    ReleaseFile,
    RunCost,
    RunPlan,
    SecondReviews,
    ServiceAccount,
    ServiceToken,
    StageInput,
)
from .review_batches import ReviewBatch
from .runs import Run, RunFailed
from .stages import Stage
from .teams import Team
from .webhooks import InvalidSignature, Webhook, verify_webhook

__all__ = [
    "Annotation",
    "BrokenStream",
    "Campaign",
    "Cohort",
    "CohortProgress",
    "Conflict",
    "DeliveryRecord",
    "Emic",
    "EmicError",
    "Event",
    "Export",
    "Forbidden",
    "Gone",
    "ImportRefused",
    "InvalidRequest",
    "InvalidSignature",
    "Item",
    "Job",
    "JobFailed",
    "JobReportRow",
    "NotFound",
    "Outcome",
    "Plan",
    "PlanCost",
    "PlanPreview",
    "Problem",
    "RateLimited",
    "Rating",
    "Refused",
    "Release",
    "ReleaseFile",
    "Resolution",
    "Review",
    "ReviewBatch",
    "Run",
    "RunCost",
    "RunFailed",
    "RunPlan",
    "SecondReviews",
    "ServerError",
    "ServiceAccount",
    "ServiceToken",
    "Stage",
    "StageInput",
    "Stale",
    "Team",
    "Unauthorised",
    "Unreachable",
    "WaitTimeout",
    "Webhook",
    "verify_webhook",
]
