"""Facts that gates of fields, and what is frozen of running campaigns, read as numbers."""

from annotation.services.sheets.rule_versions import rule_of
from annotation.services.sheets.sheet_versions import RUNNING, sheet_of
from annotation.sheets.sheet import Sheet, SheetError
from benchmarks.models import Stage


def facts_read_as_numbers(stage: Stage) -> set[str]:
    """Keys of facts: of the stage's sheet as it is now, and of the sheets and rules of its running campaigns."""
    campaigns = stage.campaigns.filter(state__in=RUNNING).select_related("sheet_version", "rule_version")
    keys = _gate_keys(_sheet_now(stage))
    for campaign in campaigns:
        keys |= _gate_keys(sheet_of(campaign.sheet_version))
        if campaign.rule_version is not None:
            keys |= rule_of(campaign.rule_version).number_facts
    return keys


def _sheet_now(stage: Stage) -> Sheet | None:
    try:
        return Sheet.from_json(stage.sheet)
    except SheetError:
        return None


def _gate_keys(sheet: Sheet | None) -> set[str]:
    return {gate.key for row in (sheet.fields if sheet else ()) for gate in row.spec.gates(row.config)}
