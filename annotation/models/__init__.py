from annotation.models.answers import Annotation, Draft, ProblemReport, Rating
from annotation.models.campaigns import (
    Campaign,
    CampaignCohort,
    Exclusion,
    InstructionText,
    InstructionVersion,
    SheetVersion,
    Tally,
)
from annotation.models.slots import Assignment, Participation, Slot, Unit

__all__ = [
    "Annotation",
    "Assignment",
    "Campaign",
    "CampaignCohort",
    "Draft",
    "Exclusion",
    "InstructionText",
    "InstructionVersion",
    "Participation",
    "ProblemReport",
    "Rating",
    "SheetVersion",
    "Slot",
    "Tally",
    "Unit",
]
