"""What services refuse, as statuses of HTTP: their sentences are those of the pages."""

from django.utils.translation import gettext_lazy as _

from annotation.pages.campaigns import REFUSALS as CAMPAIGN_TEXTS
from annotation.pages.item_withdrawals import REFUSED as WITHDRAWAL_TEXTS
from annotation.pages.review_reasons import REFUSED as REVIEW_TEXTS
from annotation.pages.review_reasons import REFUSED_IN_LIST
from annotation.pages.review_samples import REFUSED as BATCH_TEXTS
from annotation.services.campaigns.lifecycle import CampaignRefused
from annotation.services.review.batches import BatchRefused
from annotation.services.review.reviews import ReviewRefused
from annotation.services.revisions.item_withdrawals import WithdrawalRefused
from benchmarks.forms.targets import problem_text
from benchmarks.imports.recipe_file import RecipeFileError
from benchmarks.recipes.registry import UnknownRecipe
from benchmarks.rules.label_sets.contract import LabelSetError
from benchmarks.services.benchmarks import SlugTaken
from benchmarks.services.roles import LastOwner, NotATeamMember
from people.services.links import LinkRefused
from people.services.teams import LastAdmin, LastTeamOwner, PersonNeeded
from predictions.services.endpoints.endpoints import EndpointRefused
from predictions.services.runs.answer_runs import RunRefused
from predictions.services.runs.result_runs import FileRunRefused
from releases.services.releases import ReleaseRefused

CONFLICT, REFUSED = 409, 422
REFUSALS: dict[type[Exception], tuple[int, str, object]] = {
    SlugTaken: (CONFLICT, "slug-taken", _("This address cannot be used. Choose another.")),
    UnknownRecipe: (REFUSED, "unknown-recipe", _("There is no such recipe.")),
    RecipeFileError: (REFUSED, "recipe-refused", ""),
    RunRefused: (REFUSED, "run-refused", ""),
    FileRunRefused: (REFUSED, "refused", ""),
    CampaignRefused: (REFUSED, "campaign-refused", ""),
    ReleaseRefused: (REFUSED, "release-refused", ""),
    LastAdmin: (REFUSED, "last-admin", _("A team keeps at least one admin.")),
    LastTeamOwner: (REFUSED, "last-owner", ""),
    LastOwner: (REFUSED, "last-owner", _("A benchmark keeps at least one owner. Name another first.")),
    PersonNeeded: (REFUSED, "person-needed", _("Only a person can have this role.")),
    NotATeamMember: (REFUSED, "not-a-team-member", _("Only members of the team can have a role.")),
    ReviewRefused: (CONFLICT, "review-refused", ""),
    BatchRefused: (CONFLICT, "batch-refused", ""),
    EndpointRefused: (REFUSED, "endpoint-refused", ""),
    LabelSetError: (REFUSED, "label-set-refused", ""),
    WithdrawalRefused: (CONFLICT, "withdrawal-refused", ""),
    LinkRefused: (REFUSED, "link-refused", ""),
}
"""By class: status, code, and a sentence where the error has none of its own."""


def refusal_of(error: Exception) -> tuple[int, str, str] | None:
    """Status, code and sentence of what a service raised; None of anything else."""
    for kind in type(error).__mro__:
        if kind in REFUSALS:
            status, code, words = REFUSALS[kind]
            if isinstance(error, CampaignRefused):
                words = " ".join(str(CAMPAIGN_TEXTS.get(reason, reason)) for reason in error.reasons)
            elif isinstance(error, WithdrawalRefused):
                words = WITHDRAWAL_TEXTS[error.reason]
            elif isinstance(error, BatchRefused):
                words = BATCH_TEXTS[error.reason]
            elif isinstance(error, ReviewRefused):
                words = REFUSED_IN_LIST.get(error.reason) or REVIEW_TEXTS[error.reason]
                status = REFUSED if error.reason == "no_reason" else status
            elif isinstance(error, LabelSetError):
                words = problem_text(error)
            return status, code, str(words or getattr(error, "message", "") or error)
    return None
