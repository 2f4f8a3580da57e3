"""What a person decides about a pair besides a comment: accept it as it is, give it up, or take that back.

Neither overrides what people say of a pair: an accepted one goes to their review, and one that is given up leaves it.
A build at work is left alone; stop its plan first.

Locks: the stage of the pairs, then the plan, then the build.
"""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from annotation.services.derivation import outbox
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


def can_accept(build: Build) -> bool:
    """Whether the best pair so far can go to review: the critic has not accepted it, and nobody reviews it yet."""
    open_states = (Build.State.BEST_EFFORT, Build.State.REFUSED, *states.RESUMABLE)
    is_open = build.state in open_states and not build.decision and build.item_id is None
    return is_open and not _is_replaced(build) and progress_of(build).pair is not None


def can_give_up(build: Build) -> bool:
    """Whether the pair can be left out: it is the newest revision, and not at work."""
    has_rested = build.state in (*states.ENDED, *states.RESUMABLE)
    return has_rested and build.decision != Decision.GIVEN_UP and not _is_replaced(build)


def accept(build: Build, actor: User, at: datetime) -> None:
    """Put the newest complete pair under review. Raises BuildRefused."""
    with transaction.atomic():
        stage, locked = _lock(build)
        if stage is None:
            raise BuildRefused(_("This benchmark has no stage in which people review pairs."))
        if not can_accept(locked):
            raise BuildRefused(
                _("This pair cannot be accepted as it is: it is under review, at work, or not complete.")
            )
        _save(locked, Decision.ACCEPTED, "", actor, at)
        record(actor, "build.accepted", scope=stage.benchmark.scope, target=f"build:{build.pk}")
        review_items.publish_build(stage, build.pk)


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
    """The pair is not given up any more: it is under review again, if it was. Raises BuildRefused."""
    with transaction.atomic():
        stage, locked = _lock(build)
        if locked.decision != Decision.GIVEN_UP:
            raise BuildRefused(_("This pair is not given up."))
        if stage is not None and locked.item is not None and locked.item.withdrawn_because == BECAUSE:
            _set_withdrawn(stage, locked.item, actor, None)
        was_accepted = locked.item_id is not None and locked.state not in review_items.reviewed_states(locked.plan)
        _save(locked, Decision.ACCEPTED if was_accepted else "", "", actor, at)
        record(actor, "build.taken_back", scope=locked.plan.benchmark.scope, target=f"build:{build.pk}")


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
