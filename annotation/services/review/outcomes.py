"""What the rule says of a unit, once it has the answers it needs: see docs/explanation/acceptance.md.

Judged from the outbox and under the lock of the stage, so that two answers that come at once are both seen.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from annotation.fields.contract import Shown
from annotation.models import Annotation, Outcome, RuleVersion
from annotation.queries.unit_completion import CampaignUnit, has_enough_answers, wanted_counts
from annotation.services.sheets.rule_versions import rule_of
from annotation.services.sheets.sheet_versions import sheet_of
from benchmarks.models import ItemFact
from benchmarks.rules.acceptance import Verdict, judge
from people.models import Rater


def judge_items(item_ids: Iterable[int], at: datetime) -> None:
    """Make the outcomes of these items' units anew. A unit that lacks answers has none."""
    ids = list(item_ids)
    answers: dict[CampaignUnit, list[Annotation]] = defaultdict(list)
    for answer in counted_answers(ids).filter(assignment__campaign__rule_version__isnull=False):
        answers[CampaignUnit(answer.assignment.campaign_id, answer.assignment.unit_id)].append(answer)
    before = {
        CampaignUnit(outcome.campaign_id, outcome.unit_id): outcome
        for outcome in Outcome.objects.filter(unit__item__in=ids)
    }
    wanted, facts = wanted_counts(answers), facts_of(ids)
    for place, unit_answers in answers.items():
        old = before.pop(place, None)
        if has_enough_answers(unit_answers, wanted[place]):
            _write(place, unit_answers, facts.get(unit_answers[0].assignment.unit.item_id, {}), old, at)
        elif old is not None:
            old.delete()
    for gone in before.values():
        gone.delete()


def counted_answers(item_ids: Sequence[int]) -> Any:
    """Live answers of people that count, with what judging them takes; in the order in which they came."""
    rows = Annotation.objects.filter(
        live=True, counted=True, rater__kind=Rater.Kind.PERSON, assignment__unit__item__in=item_ids
    )
    joined = rows.select_related("assignment__unit", "assignment__campaign__rule_version", "sheet_version")
    return joined.order_by("submitted_at", "pk")


def facts_of(item_ids: Sequence[int]) -> dict[int, dict[str, Any]]:
    """What detectors found, by item and key; of several facts with one key the newest."""
    facts: dict[int, dict[str, Any]] = defaultdict(dict)
    for fact in ItemFact.objects.filter(item__in=item_ids).order_by("pk"):
        facts[fact.item_id][fact.key] = fact.value
    return facts


def judge_unit(version: RuleVersion, answers: Sequence[Annotation], facts: Mapping[str, Any]) -> Verdict:
    shown = Shown(item_id=0, facts=facts)  # of the item, only its facts are asked for
    sheets = [sheet_of(answer.sheet_version).values(answer.answers, shown) for answer in answers]
    return judge(rule_of(version), sheets)


def _write(
    place: CampaignUnit, answers: Sequence[Annotation], facts: Mapping[str, Any], old: Outcome | None, at: datetime
) -> None:
    """A new moment only where something changed."""
    version = answers[0].assignment.campaign.rule_version
    assert version is not None
    verdict = judge_unit(version, answers, facts)
    outcome = old or Outcome(campaign_id=place.campaign_id, unit_id=place.unit_id)
    new = {
        "rule_version_id": version.pk,
        "state": str(verdict.state),
        "failed": list(verdict.failed),
        "numbers": dict(verdict.numbers),
        "answers": len(answers),
    }
    if old is None or any(getattr(old, name) != value for name, value in new.items()):
        for name, value in new.items():
            setattr(outcome, name, value)
        outcome.at = at
        outcome.save()
