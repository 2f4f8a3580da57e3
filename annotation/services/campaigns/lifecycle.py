"""A campaign's life: made, opened, changed while open, paused, closed, cloned."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from django.db.models import Sum

from annotation.models import (
    Assignment,
    Campaign,
    CampaignCohort,
    RuleVersion,
    Tally,
)
from annotation.queries.progress import progress_of
from annotation.services.campaigns.instructions import copy as copy_instructions
from annotation.services.campaigns.instructions import current_instructions, set_instructions
from annotation.services.derivation import outbox
from annotation.services.queue import slot_creation, slots
from annotation.services.queue.leases import release
from annotation.services.queue.locks import lock_all_participations, lock_participation
from annotation.services.sheets import rule_versions, sheet_versions
from annotation.services.sheets.stages import opening_problems
from annotation.services.transactions import in_transaction
from annotation.sheets.sheet import SheetError
from benchmarks.models import Stage
from benchmarks.queries.availability import is_available
from benchmarks.rules.acceptance import RuleError
from jobs.models import record
from people.models import Cohort, User

__all__ = ["current_instructions", "set_instructions"]
State = Campaign.State
NOT_CLOSED = (State.DRAFT, State.OPEN, State.PAUSED)
BATCH = 2000


class CampaignRefused(Exception):
    """What was asked for cannot be done now. `reasons` are codes, for the page to word."""

    def __init__(self, reasons: Sequence[str]) -> None:
        super().__init__(", ".join(reasons))
        self.reasons = list(reasons)


@dataclass(frozen=True)
class CohortProgress:
    """How far a cohort is, from its tally. `reserved` is what people hold now."""

    campaign_cohort: CampaignCohort
    cohort: Cohort
    wanted: int
    submitted: int
    skipped: int
    reserved: int

    @property
    def percent(self) -> int:
        return 100 * self.submitted // self.wanted if self.wanted else 0


@in_transaction
def create(
    stage: Stage,
    name: str,
    actor: User | None,
    cohorts: Mapping[Cohort, int],
    conditions: Sequence[str] = (),
    *,
    summary: str = "",
    opens_on: date | None = None,
    closes_on: date | None = None,
    lease_minutes: int | None = None,
    seed: int | None = None,
    instructions: Mapping[str, str] | None = None,
) -> Campaign:
    """A draft: nobody works on it yet. `cohorts` says how many answers per unit each is asked for.

    Cohorts must be of the benchmark's own team. Instructions start as the stage has them.
    """
    if any(cohort.team_id != stage.benchmark.team_id for cohort in cohorts):
        raise CampaignRefused(["cohort_of_another_team"])
    if any(target < 1 for target in cohorts.values()):
        raise CampaignRefused(["target_too_small"])
    campaign = Campaign.objects.create(
        stage=stage,
        name=name,
        summary=summary,
        conditions=list(conditions),
        sheet_version=_freeze_sheet(stage),
        opens_on=opens_on,
        closes_on=closes_on,
        lease_minutes=lease_minutes or Campaign._meta.get_field("lease_minutes").default,
        seed=secrets.randbits(62) if seed is None else seed,
        created_by=actor,
    )
    for cohort, target in cohorts.items():
        _add_cohort(campaign, cohort, target)
    texts = stage.instructions if instructions is None else instructions
    if any(body.strip() for body in texts.values()):
        set_instructions(campaign, texts, actor)
    _event(campaign, actor, "campaign.created")
    return campaign


def _freeze_sheet(stage: Stage) -> Any:
    try:
        return sheet_versions.freeze(stage)
    except SheetError as error:
        raise CampaignRefused(["sheet_wrong"]) from error


def _frozen_rule(stage: Stage) -> RuleVersion | None:
    try:
        return rule_versions.freeze(stage)
    except RuleError as error:
        raise CampaignRefused(["rule_wrong"]) from error


def _add_cohort(campaign: Campaign, cohort: Cohort, target: int) -> CampaignCohort:
    row = CampaignCohort.objects.create(campaign=campaign, cohort=cohort, target_answers=target)
    Tally.objects.bulk_create(Tally(cohort=row, shard=shard) for shard in range(Tally.SHARDS))
    return row


@in_transaction
def add_cohort(campaign: Campaign, cohort: Cohort, target: int, actor: User | None) -> CampaignCohort:
    """Ask one more cohort, also while the people of others work. Raises CampaignRefused.

    A draft makes its slots when it opens. In an open campaign they are made in this transaction: nobody of the new
    cohort is at work there yet, so no lock of another person is waited for.
    """
    if cohort.team_id != campaign.stage.benchmark.team_id:
        raise CampaignRefused(["cohort_of_another_team"])
    if target < 1:
        raise CampaignRefused(["target_too_small"])
    _lock_campaign(campaign, *NOT_CLOSED)
    if campaign.cohorts.filter(cohort=cohort).exists():
        raise CampaignRefused(["cohort_is_asked"])
    row = _add_cohort(campaign, cohort, target)
    if campaign.state != State.DRAFT:
        slot_creation.create_missing_slots(campaign, cohorts=[row.pk])
        if campaign.rule_version_id is not None:  # a unit that several cohorts share needs more answers now
            outbox.mark_cohort_due(row.pk)
    _event(campaign, actor, "campaign.cohort_added", cohort=cohort.pk, wanted=target)
    return row


@in_transaction
def open_campaign(campaign: Campaign, actor: User | None, at: datetime, *, may_be_empty: bool = False) -> None:
    """Freeze the sheet as it is now, make the slots, and let people in. Refused with every reason at once.

    `may_be_empty`: a stage whose items are imported later opens without any.
    """
    _lock_campaign(campaign, State.DRAFT)
    _check_workable(campaign, at, may_be_empty=may_be_empty)
    campaign.sheet_version = _freeze_sheet(campaign.stage)
    campaign.rule_version = _frozen_rule(campaign.stage)
    slot_creation.create_missing_slots(campaign)
    campaign.state, campaign.opened_at = State.OPEN, at
    campaign.save(update_fields=["sheet_version", "rule_version", "state", "opened_at"])
    outbox.mark_campaign_due(campaign.pk)
    _event(campaign, actor, "campaign.opened")


def _check_workable(campaign: Campaign, at: datetime, *, may_be_empty: bool = False) -> None:
    """Raises CampaignRefused with all that stands in the way of giving people work."""
    reasons = []
    if not campaign.cohorts.exists():
        reasons.append("no_cohorts")
    may_be_empty = may_be_empty or bool(campaign.stage.derivation)  # derived items may come later
    if not may_be_empty and not items_of(campaign).exists():
        reasons.append("no_items")
    if campaign.closes_on and (campaign.closes_on < at.date() or campaign.closes_on < (campaign.opens_on or at.date())):
        reasons.append("closes_before_it_opens")
    reasons += [str(problem) for problem in opening_problems(campaign) if problem.blocks]
    if reasons:
        raise CampaignRefused(reasons)


def items_of(campaign: Campaign) -> Any:
    """What a campaign asks about: items of its conditions that are not withdrawn and that the filters keep."""
    items = campaign.stage.items.filter(is_available())
    return items.filter(condition__in=campaign.conditions) if campaign.conditions else items


def add_slots(campaign: Campaign) -> int:
    """Slots for items that came in while the campaign is open; says how many."""
    campaign.refresh_from_db(fields=["state"])
    return slot_creation.create_missing_slots(campaign) if campaign.state in (State.OPEN, State.PAUSED) else 0


@in_transaction
def pause(campaign: Campaign, actor: User | None) -> None:
    """Nobody is given new work; what people have in hand they may finish."""
    _lock_campaign(campaign, State.OPEN)
    _set_state(campaign, State.PAUSED, actor, "campaign.paused")


@in_transaction
def resume(campaign: Campaign, actor: User | None, at: datetime) -> None:
    """Let people in again. What was opened for imports only may never have been fit for them: refused as opening is."""
    _lock_campaign(campaign, State.PAUSED)
    _check_workable(campaign, at)
    _set_state(campaign, State.OPEN, actor, "campaign.resumed")


def close(campaign: Campaign, actor: User | None, at: datetime) -> None:
    """End it: places go back. Drafts can still be sent; they are kept, and the numbers stay as they are."""
    _close(campaign, actor, at)
    reserved = Assignment.objects.filter(
        campaign=campaign, state=Assignment.State.RESERVED, participation__isnull=False
    )
    for participation_id in sorted(set(reserved.values_list("participation_id", flat=True))):
        _release_places(participation_id, at)


@in_transaction
def _close(campaign: Campaign, actor: User | None, at: datetime) -> None:
    """Committed before places are given back, so that nobody takes one behind our back."""
    _lock_campaign(campaign, *NOT_CLOSED)
    campaign.closed_at = at
    campaign.save(update_fields=["closed_at"])
    _set_state(campaign, State.CLOSED, actor, "campaign.closed")
    outbox.mark_campaign_due(campaign.pk)


@in_transaction
def _release_places(participation_id: int, at: datetime) -> None:
    lock_participation(participation_id)
    release(participation_id, at)


@in_transaction
def clone(campaign: Campaign, actor: User | None, name: str) -> Campaign:
    """A new draft, asked of the same cohorts in the same way, with the stage's sheet as it is now."""
    rows = list(campaign.cohorts.select_related("cohort"))
    copy = create(
        campaign.stage,
        name,
        actor,
        {row.cohort: row.target_answers for row in rows},
        campaign.conditions,
        summary=campaign.summary,
        lease_minutes=campaign.lease_minutes,
        instructions={},
    )
    copy.pack_hours = campaign.pack_hours
    copy.save(update_fields=["pack_hours"])
    copy_instructions(campaign, copy, actor)
    for row in rows:
        limits = {"most_per_person": row.most_per_person, "most_per_day": row.most_per_day}
        copy.cohorts.filter(cohort=row.cohort_id).update(**limits)
    return copy


def change_target(campaign_cohort: CampaignCohort, target: int, actor: User | None) -> None:
    """Ask a cohort for more or fewer answers per unit, also while people work.

    More: answers over the old target count first, then slots open. Fewer: slots keep what is reserved or submitted.
    Told first, when nobody of the cohort is in the middle of a deed; carried out in batches; broken off, the same
    change again completes it. Raises CampaignRefused, also for a closed campaign: its numbers stay as they are.
    """
    if target < 1:
        raise CampaignRefused(["target_too_small"])
    if campaign_cohort.campaign.stage.target_in_all:
        raise CampaignRefused(["target_in_all"])
    _save_target(campaign_cohort, target, actor)
    last: int | None = 0
    while last is not None:
        last = _retarget(campaign_cohort.pk, last)


@in_transaction
def _save_target(campaign_cohort: CampaignCohort, target: int, actor: User | None) -> None:
    _lock_campaign(campaign_cohort.campaign, *NOT_CLOSED)
    row = CampaignCohort.objects.select_for_update(no_key=True).get(pk=campaign_cohort.pk)
    lock_all_participations(row.pk)
    campaign_cohort.target_answers = target
    campaign_cohort.save(update_fields=["target_answers"])
    outbox.mark_cohort_due(row.pk)  # a unit has what it needs with more answers now, or with fewer
    data = {"cohort": row.cohort_id, "old": row.target_answers, "new": target}
    _event(campaign_cohort.campaign, actor, "campaign.target_changed", **data)


@in_transaction
def _retarget(cohort_id: int, after: int) -> int | None:
    ids, wanted, submitted = slots.retarget(cohort_id, after, BATCH)
    if wanted or submitted:
        slots.update_tally(cohort_id, 0, wanted=wanted, submitted=submitted)
    return max(ids) if ids else None


@in_transaction
def set_limits(
    campaign_cohort: CampaignCohort, most_per_person: int | None, most_per_day: int | None, actor: User | None
) -> None:
    """How much one person of the cohort may answer here, in all and on a day of its calendar; None: as they like.

    What they have in hand they may finish all the same. Raises CampaignRefused.
    """
    if any(most is not None and most < 1 for most in (most_per_person, most_per_day)):
        raise CampaignRefused(["limit_too_small"])
    _lock_campaign(campaign_cohort.campaign, *NOT_CLOSED)
    campaign_cohort.most_per_person, campaign_cohort.most_per_day = most_per_person, most_per_day
    campaign_cohort.save(update_fields=["most_per_person", "most_per_day"])
    data = {"cohort": campaign_cohort.cohort_id, "in_all": most_per_person, "a_day": most_per_day}
    _event(campaign_cohort.campaign, actor, "campaign.limits_changed", **data)


@in_transaction
def set_pack_hours(campaign: Campaign, hours: int, actor: User | None) -> None:
    """How long the places of packs are kept that are taken from now on; 0: no more packs. Raises CampaignRefused."""
    _lock_campaign(campaign, *NOT_CLOSED)
    campaign.pack_hours = hours
    campaign.save(update_fields=["pack_hours"])
    _event(campaign, actor, "campaign.pack_hours_changed", hours=hours)


@in_transaction
def pause_cohort(campaign_cohort: CampaignCohort, actor: User | None, *, paused: bool = True) -> None:
    """Raises CampaignRefused for a closed campaign."""
    _lock_campaign(campaign_cohort.campaign, *NOT_CLOSED)
    campaign_cohort.paused = paused
    campaign_cohort.save(update_fields=["paused"])
    verb = "campaign.cohort_paused" if paused else "campaign.cohort_resumed"
    _event(campaign_cohort.campaign, actor, verb, cohort=campaign_cohort.cohort_id)


def progress(campaign: Campaign) -> list[CohortProgress]:
    """From the tallies, 16 rows a cohort: the work does not grow with the campaign."""
    rows = list(
        campaign.cohorts.select_related("cohort").order_by("cohort__label").annotate(skipped=Sum("tallies__skipped"))
    )
    sums, reserved = progress_of(row.pk for row in rows), _reserved(campaign)
    return [
        CohortProgress(row, row.cohort, sums[row.pk].wanted, sums[row.pk].submitted, row.skipped or 0, reserved[row.pk])
        for row in rows
    ]


def _reserved(campaign: Campaign) -> dict[int, int]:
    """At most two a person."""
    reserved = Assignment.objects.filter(state=Assignment.State.RESERVED, campaign=campaign)
    counts = dict.fromkeys(campaign.cohorts.values_list("pk", flat=True), 0)
    for pk in reserved.values_list("participation__cohort_id", flat=True):
        if pk is not None:
            counts[pk] += 1
    return counts


def _lock_campaign(campaign: Campaign, *allowed: str) -> None:
    """Hold the campaign's row; what the object says of its state may be old."""
    row = Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
    campaign.state = row.state
    if row.state not in allowed:
        raise CampaignRefused([f"is_{row.state}"])


def _set_state(campaign: Campaign, state: str, actor: User | None, verb: str) -> None:
    campaign.state = state
    campaign.save(update_fields=["state"])
    _event(campaign, actor, verb)


def _event(campaign: Campaign, actor: User | None, verb: str, **data: Any) -> None:
    scope = f"benchmark:{campaign.stage.benchmark_id}"
    record(actor, verb, scope=scope, target=f"campaign:{campaign.pk}", **data)
