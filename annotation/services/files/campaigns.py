"""A campaign that is for imports only: nobody is ever given work in it."""

from datetime import datetime

from annotation.models import Campaign
from annotation.services.campaigns.lifecycle import CampaignRefused
from annotation.services.sheets import rule_versions, sheet_versions
from annotation.services.transactions import in_transaction
from annotation.sheets.sheet import SheetError
from benchmarks.rules.acceptance import RuleError
from jobs.models import record
from people.models import User


@in_transaction
def open_for_imports(campaign: Campaign, actor: User | None, at: datetime) -> None:
    """Freeze the sheet and pause: answers can come in, also before there are items. Raises CampaignRefused."""
    row = Campaign.objects.select_for_update(no_key=True).select_related("stage").get(pk=campaign.pk)
    if row.state != Campaign.State.DRAFT:
        raise CampaignRefused([f"is_{row.state}"])
    if not row.cohorts.exists():
        raise CampaignRefused(["no_cohorts"])
    try:
        row.sheet_version, row.rule_version = sheet_versions.freeze(row.stage), rule_versions.freeze(row.stage)
    except SheetError as error:
        raise CampaignRefused(["sheet_wrong"]) from error
    except RuleError as error:
        raise CampaignRefused(["rule_wrong"]) from error
    row.state, row.opened_at = Campaign.State.PAUSED, at
    row.save(update_fields=["sheet_version", "rule_version", "state", "opened_at"])
    scope = f"benchmark:{row.stage.benchmark_id}"
    record(actor, "campaign.opened_for_imports", scope=scope, target=f"campaign:{row.pk}")


def can_create_items(campaign: Campaign) -> bool:
    """Not while people would be given items that lack their picture."""
    return campaign.state != Campaign.State.OPEN or campaign.stage.pictures in ("none", "optional")
