from annotation.models.answers import Annotation, Draft, ProblemReport, Rating
from annotation.models.campaigns import (
    Campaign,
    CampaignCohort,
    Exclusion,
    InstructionText,
    InstructionVersion,
    RuleVersion,
    SheetVersion,
    Tally,
)
from annotation.models.item_changes import ItemChange
from annotation.models.outcomes import (
    Due,
    GoneOutcome,
    ItemAcceptance,
    ItemContributor,
    ItemSource,
    Outcome,
    Review,
    StageDraft,
    StageInput,
    StageVersion,
    Upload,
)
from annotation.models.readiness import Readiness
from annotation.models.resolutions import Resolution
from annotation.models.review_batches import ReviewBatch, SampledAnswer
from annotation.models.second_reviews import SecondReview, SecondReviewShare
from annotation.models.slots import Assignment, Participation, Slot, Unit

__all__ = [
    "Annotation",
    "Assignment",
    "Campaign",
    "CampaignCohort",
    "Draft",
    "Due",
    "Exclusion",
    "GoneOutcome",
    "InstructionText",
    "InstructionVersion",
    "ItemAcceptance",
    "ItemChange",
    "ItemContributor",
    "ItemSource",
    "Outcome",
    "Participation",
    "ProblemReport",
    "Rating",
    "Readiness",
    "Resolution",
    "Review",
    "ReviewBatch",
    "RuleVersion",
    "SampledAnswer",
    "SecondReview",
    "SecondReviewShare",
    "SheetVersion",
    "Slot",
    "StageDraft",
    "StageInput",
    "StageVersion",
    "Tally",
    "Unit",
    "Upload",
]
