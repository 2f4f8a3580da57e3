"""What a person decides about a pair besides a comment: put it under review, accept it as it is, give it up; or take
that back.

One that is put under review goes to people although the critic has not accepted it. One that is accepted as it is goes
on to the later stages whatever critic and people say of it; people may still review it. One that is given up leaves
review. A build at work is left alone; stop its plan first.

Locks: the stage of the pairs, then the plan, then the build.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.services.derivation import outbox
from annotation.services.review import item_acceptance
from annotation.services.review.item_acceptance import AcceptanceRefused
from annotation.services.revisions.returns import follow_withdrawal
from benchmarks.models import Item, Stage
from benchmarks.services.intake.judging import lock_stage
from jobs.models import record
from papers.valueground.builder import states
from papers.valueground.builder.models import Build
from papers.valueground.builder.queries import progress_of
from papers.valueground.builder.services import plans, review_items
from papers.valueground.builder.services.plans import BuildRefused
from people.models import User

Decision = Build.Decision
BECAUSE = "given_up"  # why its item is withdrawn
LONGEST_REASON = 500
NOT_ACCEPTED: dict[str, Any] = {
    "own": gettext_lazy("You had a part in this pair. Ask somebody else to decide."),
    "no_rule": gettext_lazy("Pairs are not accepted by a rule here. Decide in review."),
    "none": gettext_lazy("The pair was changed meanwhile. Look at it again."),
}


def can_put_under_review(build: Build) -> bool:
    """Whether the best pair so far can go to review: the critic has not accepted it, and nobody reviews it yet."""
    open_states = (Build.State.BEST_EFFORT, Build.State.REFUSED, *states.RESUMABLE)
    is_open = build.state in open_states and not build.decision and build.item_id is None
    return is_open and not _is_replaced(build) and progress_of(build).pair is not None


def can_accept_as_it_is(build: Build) -> bool:
    """Whether the pair can go on whatever is said of it: it is under review, or could be put there."""
    if build.decision in (Decision.AS_IT_IS, Decision.GIVEN_UP) or _is_replaced(build):
        return False
    return can_put_under_review(build) or (build.item is not None and build.item.withdrawn_at is None)


def can_give_up(build: Build) -> bool:
    """Whether the pair can be left out: it is the newest revision, and not at work."""
    has_rested = build.state in (*states.ENDED, *states.RESUMABLE)
    return has_rested and build.decision != Decision.GIVEN_UP and not _is_replaced(build)


def put_under_review(build: Build, actor: User, at: datetime) -> None:
    """Let people judge the newest complete pair. Raises BuildRefused."""
    with transaction.atomic():
        stage, locked = _lock(build)
        if not can_put_under_review(locked):
            raise BuildRefused(
                _("This pair cannot be put under review: it is there already, at work, or not complete.")
            )
        _publish(_review_stage(stage), locked, actor, at)


def accept_as_it_is(build: Build, reason: str, actor: User, at: datetime) -> None:
    """Let the pair go on to the later stages whatever critic and people say, with a reason. Raises BuildRefused."""
    reason = reason.strip()[:LONGEST_REASON]
    if not reason:
        raise BuildRefused(_("Say why the pair is accepted as it is."))
    with transaction.atomic():
        stage, locked = _lock(build)
        review = _review_stage(stage)
        if not can_accept_as_it_is(locked):
            raise BuildRefused(
                _("This pair cannot be accepted as it is: it is at work, not complete, replaced, or done.")
            )
        if locked.item_id is None:
            _publish(review, locked, actor, at)
            locked = Build.objects.select_related("plan__benchmark").get(pk=locked.pk)
        assert locked.item_id is not None
        try:
            item_acceptance.accept_as_it_is(locked.item_id, actor, reason, at)
        except AcceptanceRefused as refused:
            raise BuildRefused(str(NOT_ACCEPTED.get(refused.reason, NOT_ACCEPTED["none"]))) from None
        _save(locked, Decision.AS_IT_IS, reason, actor, at)


def _review_stage(stage: Stage | None) -> Stage:
    if stage is None:
        raise BuildRefused(_("This benchmark has no stage in which people review pairs."))
    return stage


def _publish(stage: Stage, locked: Build, actor: User, at: datetime) -> None:
    _save(locked, Decision.ACCEPTED, "", actor, at)
    record(actor, "build.accepted", scope=stage.benchmark.scope, target=f"build:{locked.pk}")
    review_items.publish_build(stage, locked.pk)


def give_up(build: Build, reason: str, actor: User, at: datetime) -> None:
    """Leave the pair out, with a reason: it leaves review, and its question the later stages. Raises BuildRefused."""
    reason = reason.strip()[:LONGEST_REASON]
    if not reason:
        raise BuildRefused(_("Say why the pair is given up."))
    with transaction.atomic():
        stage, locked = _lock(build)
        if not can_give_up(locked):
            raise BuildRefused(_("This pair cannot be given up: it is at work, has a later revision, or is given up."))
        if stage is not None and locked.item is not None and locked.item.withdrawn_at is None:
            _set_withdrawn(stage, locked.item, actor, at)
        _save(locked, Decision.GIVEN_UP, reason, actor, at)
        scope = locked.plan.benchmark.scope
        record(actor, "build.given_up", scope=scope, target=f"build:{build.pk}", reason=reason)


def take_back(build: Build, actor: User, at: datetime) -> None:
    """Take the last decision back: a pair that was given up is under review again, if it was; one that was accepted as
    it is, is left to the rule of review again. Raises BuildRefused."""
    with transaction.atomic():
        stage, locked = _lock(build)
        if locked.decision == Decision.AS_IT_IS and locked.item_id is not None:
            item_acceptance.undo_acceptance(locked.item_id, actor, at)
        elif locked.decision != Decision.GIVEN_UP:
            raise BuildRefused(_("This pair is neither given up nor accepted as it is."))
        elif stage is not None and locked.item is not None and locked.item.withdrawn_because == BECAUSE:
            _set_withdrawn(stage, locked.item, actor, None)
        _save_former(locked, actor, at)
        record(actor, "build.taken_back", scope=locked.plan.benchmark.scope, target=f"build:{build.pk}")


def _save_former(build: Build, actor: User, at: datetime) -> None:
    """What was decided before the last decision."""
    acceptance = item_acceptance.acceptance_of(build.item_id) if build.item_id is not None else None
    if acceptance is not None:
        _save(build, Decision.AS_IT_IS, acceptance.reason, acceptance.by, acceptance.at)
        return
    was_published = build.item_id is not None and build.state not in review_items.reviewed_states(build.plan)
    _save(build, Decision.ACCEPTED if was_published else "", "", actor, at)


def _lock(build: Build) -> tuple[Stage | None, Build]:
    """The stage of review, if there is one, and the build as it is now. Needs a transaction."""
    benchmark = build.plan.benchmark_id
    stage = Stage.objects.filter(benchmark=benchmark, key=review_items.STAGE).select_related("benchmark").first()
    locked_stage = lock_stage(stage) if stage is not None else None
    plans.lock_plan(build.plan_id)
    rows = Build.objects.select_for_update(no_key=True, of=("self",))
    joined = rows.select_related("plan__benchmark__team", "question", "source", "item__stage", "replaces__plan")
    return locked_stage, joined.get(pk=build.pk)


def _is_replaced(build: Build) -> bool:
    return Build.objects.filter(replaces=build).exists()


def _set_withdrawn(stage: Stage, item: Item, actor: User, at: datetime | None) -> None:
    """Take the item out of review, and what came of it out of the later stages; `at` None: put it back."""
    because, verb = (BECAUSE, "item.given_up") if at is not None else ("", "item.taken_back")
    Item.objects.filter(pk=item.pk).update(withdrawn_at=at, withdrawn_because=because, outside_since=None)
    follow_withdrawal(stage, item, actor, verb)
    outbox.schedule_worker()


def _save(build: Build, decision: str, reason: str, actor: User, at: datetime) -> None:
    build.decision, build.decision_reason, build.decided_by, build.decided_at = decision, reason, actor, at
    build.save(update_fields=["decision", "decision_reason", "decided_by", "decided_at"])
