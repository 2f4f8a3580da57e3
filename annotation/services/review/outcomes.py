"""What the rule says of a unit, once it has the answers it needs: see docs/explanation/acceptance.md.

Judged from the outbox and under the lock of the stage, so that two answers that come at once are both seen. What reads
a fact of the item that is missing waits for it, and so does what was said of an item whose own filters wait. What a
person accepted as it is, is accepted, also without answers; the rule's numbers and failed clauses stay beside that.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from annotation.fields.contract import FactGate, Shown
from annotation.models import Annotation, Outcome, RuleVersion, Slot
from annotation.queries.unit_completion import CampaignUnit, has_enough_answers, wanted_counts
from annotation.services.review.item_acceptance import accepted_as_they_are
from annotation.services.sheets.rule_versions import rule_of
from annotation.services.sheets.sheet_versions import sheet_of
from benchmarks.models import ItemFact
from benchmarks.queries.filter_counts import filter_waits
from benchmarks.rules.acceptance import FACTS, Verdict, judge
from people.models import Rater

State = Outcome.State
BY_PERSON = "by_person"  # among the numbers of an outcome that a person decided


@dataclass(frozen=True)
class ItemState:
    """What is known of an item: its facts by key, and what its stage's filters wait for."""

    facts: Mapping[str, Any] = field(default_factory=dict)
    waits: Sequence[str] = ()


def judge_items(item_ids: Iterable[int], at: datetime) -> None:
    """Make the outcomes of these items' units anew. A unit that lacks answers has none, unless a person accepted it."""
    ids = list(item_ids)
    answers: dict[CampaignUnit, list[Annotation]] = defaultdict(list)
    for answer in counted_answers(ids).filter(assignment__campaign__rule_version__isnull=False):
        answers[CampaignUnit(answer.assignment.campaign_id, answer.assignment.unit_id)].append(answer)
    before = {
        CampaignUnit(outcome.campaign_id, outcome.unit_id): outcome
        for outcome in Outcome.objects.filter(unit__item__in=ids)
    }
    accepted = _accepted_units(accepted_as_they_are(ids))
    wanted, facts, waits = wanted_counts(answers), facts_of(ids), filter_waits(ids)
    for place, unit_answers in answers.items():
        if place in accepted:
            continue
        old = before.pop(place, None)
        if has_enough_answers(unit_answers, wanted[place]):
            item = unit_answers[0].assignment.unit.item_id
            state = ItemState(facts.get(item, {}), waits.get(item, ()))
            version = unit_answers[0].assignment.campaign.rule_version
            assert version is not None
            _write(place, version, unit_answers, _outcome_values(version, unit_answers, state), old, at)
        elif old is not None:
            old.delete()
    for place, (version, item) in accepted.items():
        unit_answers = answers.get(place, [])
        values = _NOT_JUDGED
        if unit_answers and has_enough_answers(unit_answers, wanted[place]):
            values = _outcome_values(version, unit_answers, ItemState(facts.get(item, {}), waits.get(item, ())))
        _write(place, version, unit_answers, _accepted_values(values), before.pop(place, None), at)
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


def _missing_facts(version: RuleVersion, answers: Sequence[Annotation], item: ItemState) -> list[str]:
    """What the filters wait for, and the facts that the rule or a field of the sheets reads and that are not there."""
    read = {*rule_of(version).facts, *(gate.key for gate in _gates(answers))}
    return [*item.waits, *sorted(key for key in read - set(item.waits) if item.facts.get(key) is None)]


def _gates(answers: Sequence[Annotation]) -> list[FactGate]:
    """Of the fields of the answers' sheets."""
    sheets = {answer.sheet_version_id: answer.sheet_version for answer in answers}.values()
    return [gate for version in sheets for row in sheet_of(version).fields for gate in row.spec.gates(row.config)]


def _failed_gates(answers: Sequence[Annotation], facts: Mapping[str, Any]) -> dict[str, list[float]]:
    """By key what was measured and what is needed: people could not know it while they answered."""
    values = [(gate, gate.current_value(Shown(item_id=0, facts=facts))) for gate in _gates(answers)]
    return {gate.key: [value, gate.at_least] for gate, value in values if value is not None and value < gate.at_least}


def _outcome_values(version: RuleVersion, answers: Sequence[Annotation], item: ItemState) -> dict[str, Any]:
    verdict = judge_unit(version, answers, item.facts)
    numbers = dict(verdict.numbers)
    if missing := _missing_facts(version, answers, item):
        return {"state": str(State.WAITING), "failed": [], "waits_for": missing, "numbers": numbers}
    if gates := _failed_gates(answers, item.facts):
        failed = [f"{FACTS}{key}" for key in gates]
        numbers["gates"] = gates
        return {"state": str(State.REJECTED), "failed": [*failed, *verdict.failed], "waits_for": [], "numbers": numbers}
    return {"state": str(verdict.state), "failed": list(verdict.failed), "waits_for": [], "numbers": numbers}


_NOT_JUDGED: Mapping[str, Any] = {"state": str(State.UNDECIDED), "failed": [], "waits_for": [], "numbers": {}}


def _accepted_units(item_ids: Collection[int]) -> dict[CampaignUnit, tuple[RuleVersion, int]]:
    """Of the campaigns that ask about these items, with the rule and the item of each."""
    if not item_ids:
        return {}
    slots = Slot.objects.filter(unit__item__in=item_ids, cohort__campaign__rule_version__isnull=False)
    rows = slots.select_related("unit", "cohort__campaign__rule_version").order_by("pk")
    units = {}
    for slot in rows:
        campaign = slot.cohort.campaign
        assert campaign.rule_version is not None
        units[CampaignUnit(campaign.pk, slot.unit_id)] = (campaign.rule_version, slot.unit.item_id)
    return units


def _accepted_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """What the rule says, and that it does not decide."""
    numbers = {**values["numbers"], BY_PERSON: True}
    return {**values, "state": str(State.ACCEPTED), "waits_for": [], "numbers": numbers}


def _write(
    place: CampaignUnit, version: RuleVersion, answers: Sequence[Annotation], values: Mapping[str, Any],
    old: Outcome | None, at: datetime,
) -> None:  # fmt: skip
    """A new moment only where something changed."""
    outcome = old or Outcome(campaign_id=place.campaign_id, unit_id=place.unit_id)
    new = {"rule_version_id": version.pk, "answers": len(answers), **values}
    if old is None or any(getattr(old, name) != value for name, value in new.items()):
        for name, value in new.items():
            setattr(outcome, name, value)
        outcome.at = at
        outcome.save()
