"""Acceptance rules are frozen when a campaign is opened, as sheets are."""

from annotation.models import Campaign, RuleVersion
from benchmarks.models import Stage
from benchmarks.rules.acceptance import Rule

_read: dict[int, tuple[object, Rule]] = {}


def rule_of(version: RuleVersion) -> Rule:
    """The rule as a type. Read once in a process: a version never changes."""
    known = _read.get(version.pk)
    if known is None or known[0] != version.definition:
        known = _read[version.pk] = (version.definition, Rule.from_json(version.definition))
    return known[1]


def freeze(stage: Stage) -> RuleVersion | None:
    """The version of the stage's rule as it is now, the last one again if nothing changed; None where no rule decides.

    Locks the stage. Raises RuleError when the rule is written wrongly.
    """
    if stage.acceptance != Stage.Acceptance.BY_RULE:
        return None
    Rule.from_json(stage.acceptance_rule)
    Stage.objects.select_for_update().get(pk=stage.pk)
    last = RuleVersion.objects.filter(stage=stage).order_by("-number").first()
    if last is not None and last.definition == stage.acceptance_rule:
        return last
    number = last.number + 1 if last else 1
    return RuleVersion.objects.create(stage=stage, number=number, definition=stage.acceptance_rule)


def acceptance_stamp(campaign: Campaign) -> str:
    """What an answer says of how it is accepted: "on_submit", "by_review", "by_rule 2"."""
    version = campaign.rule_version
    return f"{campaign.stage.acceptance} {version.number}" if version is not None else campaign.stage.acceptance
