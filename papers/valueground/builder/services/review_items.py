"""Pairs that were built, as items of the stage of their review; and the maker of their next revisions."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils.translation import gettext, gettext_lazy

from annotation.services.derivation.derived_items import sync_campaign_slots
from annotation.services.revisions import returns
from benchmarks.models import Item, ItemImage, ItemReturn, Stage
from benchmarks.rules.revisions import revision_key, split_revision
from benchmarks.services.intake import arrivals
from benchmarks.services.intake.judging import lock_stage
from papers.valueground.builder.models import Build, BuildPlan
from papers.valueground.builder.prompts import alternative_text
from papers.valueground.builder.queries import progress_of, question_text
from papers.valueground.builder.services import plans
from papers.valueground.builder.states import CONFIGURATION_NAMES, SIDES, ContrastPair
from papers.valueground.survey.queries import options_of
from people.models import User

STAGE = "pair-review"
State = Build.State
Decision = Build.Decision


def reviewed_builds(plan: BuildPlan) -> QuerySet[Build]:
    """Builds whose pair people review: those that the critic or a person accepted, best effort where the plan says so
    or there is no critic; but none that was given up."""
    wanted = Q(state__in=reviewed_states(plan)) | Q(decision__in=(Decision.ACCEPTED, Decision.AS_IT_IS))
    return Build.objects.filter(wanted, plan=plan).exclude(decision=Decision.GIVEN_UP)


def reviewed_states(plan: BuildPlan) -> list[str]:
    """In which states a pair goes to review by itself."""
    without_critic = plan.configuration == BuildPlan.Configuration.PLANNER
    best_effort = [State.BEST_EFFORT] if plan.best_effort_to_review or without_critic else []
    return [State.ACCEPTED, *best_effort]


def publish_builds(plan: BuildPlan, at: datetime) -> int:
    """Make an item of each reviewed build that has none; return how many. What was published is left alone."""
    stage = Stage.objects.filter(benchmark=plan.benchmark_id, key=STAGE).first()
    if stage is None:
        return 0
    waiting = reviewed_builds(plan).filter(item=None, replaced_by=None).order_by("pk").values_list("pk", flat=True)
    return sum(publish_build(stage, pk) for pk in list(waiting))


def publish_build(stage: Stage, build_id: int) -> bool:
    """Make the item of a build that has a complete pair and no item; return whether one was made."""
    with transaction.atomic():
        locked = lock_stage(stage)
        rows = Build.objects.select_for_update(no_key=True, of=("self",)).filter(pk=build_id, item=None)
        build = rows.select_related("plan", "question", "source", "replaces__item", "replaces__plan").first()
        pair = progress_of(build).pair if build is not None else None
        if build is None or pair is None:
            return False
        item = _create_item(locked, build, pair)
        Build.objects.filter(pk=build.pk).update(item=item)
        arrivals.judge_and_notify(locked, [item.pk])
        transaction.on_commit(partial(sync_campaign_slots, locked.pk, [item.pk]), robust=True)
    return True


def base_key(build: Build) -> str:
    """The key of the pair's first revision."""
    key = f"{build.question.key}-{build.source.key}"
    configuration = build.plan.configuration
    if configuration == BuildPlan.Configuration.PLANNER_EDITOR_CRITIC:
        return key
    return f"{key}-{configuration.replace('_', '-')}"


def _create_item(stage: Stage, build: Build, pair: ContrastPair) -> Item:
    replaced = _former_item(build)
    base = split_revision(replaced.key)[0] if replaced else base_key(build)
    revision = replaced.revision + 1 if replaced else 1
    item = Item.objects.create(
        stage=stage, key=revision_key(base, revision), concept=build.question.key, condition=build.source.key,
        text=question_text(build), context=_context(build, pair), revision=revision, replaces=replaced,
    )  # fmt: skip
    for side in SIDES:
        ItemImage.objects.create(
            item=item, image_id=pair.images[side], role=side, source=build.source.image_model[:500],
            alt=alternative_text(pair.plan["semantic_statement"], side)[:300],
        )  # fmt: skip
    return item


def _former_item(build: Build) -> Item | None:
    """The item of the newest revision before this one that people reviewed."""
    former = build.replaces
    while former is not None and former.item is None:
        former = former.replaces
    return former.item if former is not None else None


def _context(build: Build, pair: ContrastPair) -> dict[str, Any]:
    """What later stages and tables need of the pair."""
    question = build.question
    return {
        "option_a": build.option_a, "option_b": build.option_b, "pair": [build.code_a, build.code_b],
        "options": {str(code): label for code, label in options_of(question).items()},
        "statement_a": pair.plan["semantic_statement"]["a"], "statement_b": pair.plan["semantic_statement"]["b"],
        "backbone": build.source.key, "configuration": CONFIGURATION_NAMES[build.plan.configuration],
        "cost": f"{build.cost:f}", "build": build.pk,
    }  # fmt: skip


def send_back_with_comment(build: Build, comment: str, actor: User, at: datetime, target: str = "both") -> Build:
    """Order the next revision of a pair, and withdraw its item from review at once. `target`: a, b, both or plan.

    Raises plans.BuildRefused, and returns.ReturnRefused where the item cannot be returned by this person.
    """
    if target not in Build.CommentTarget.values:
        raise plans.BuildRefused(gettext("Say which picture should change."))
    if not comment.strip():
        raise plans.BuildRefused(gettext("Say what should change."))
    with transaction.atomic():
        item = Item.objects.filter(build=build).select_related("stage").first()
        if item is not None:
            lock_stage(item.stage)
            if item.withdrawn_at is None:
                returns.return_item(item.pk, actor, comment, at)
        return plans.order_revision(build, comment, actor, target)


class PairMaker:
    """Registered with annotation.services.revisions.makers: a pair that was returned is built again."""

    key = "pairs"
    problems: dict[str, Any] = {
        "refused": gettext_lazy("The build of this pair cannot be revised now."),
    }

    def accepts(self, item: Item) -> bool:
        return Build.objects.filter(item=item).exists()

    def start(self, item_return: ItemReturn, at: datetime) -> str:
        """Order the revision, unless the page of the pair has ordered it already."""
        try:
            plans.order_revision(Build.objects.get(item=item_return.item), item_return.comment, item_return.by)
        except plans.BuildRefused:
            return "refused"
        return ""

    def waiting_text(self, item_return: ItemReturn) -> str:
        revision = Build.objects.filter(replaces__item=item_return.item).first()
        if revision is not None and revision.state in (State.REFUSED, State.FAILED, State.OVER_BUDGET, State.STOPPED):
            return gettext("The pair could not be built again. See the build, or undo the return to use this pair.")
        if revision is not None and revision.state == State.BEST_EFFORT and revision.item_id is None:
            return gettext("The critic has not accepted the new pair. See the build, or undo the return.")
        return gettext("The pair is being built again, with your comment.")

    def cancel(self, item_return: ItemReturn, at: datetime) -> None:
        build = Build.objects.filter(item=item_return.item).first()
        if build is not None:
            plans.withdraw_revision(build)
