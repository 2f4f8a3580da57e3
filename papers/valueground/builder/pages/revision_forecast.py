"""What a comment on a pair will take: US dollars and minutes, and how many people judge the result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

from django.db.models import Avg, Count, F, Sum
from django.db.models.functions import Coalesce

from annotation.models import Slot
from papers.valueground.builder.models import Build, BuildPlan, BuildStep

Kind, Target = BuildStep.Kind, Build.CommentTarget
Configuration = BuildPlan.Configuration


@dataclass(frozen=True)
class RevisionForecast:
    """`costs`: US dollars for one picture, for both, and with a new plan; None where a price is not known or nothing of
    the kind was asked yet. `minutes`: of one round, at least 1; None where none was timed. `people`: whose answers the
    review of the pair waits for; 0 where it is not under review."""

    one: Decimal | None
    both: Decimal | None
    plan: Decimal | None
    minutes: int | None
    people: int

    @property
    def is_known(self) -> bool:
        return None not in (self.one, self.both, self.plan)


@dataclass(frozen=True)
class _StepMeans:
    """Of one kind of step. `cost` None: of one step the price is not known."""

    cost: Decimal | None
    duration: timedelta | None


def revision_forecast(build: Build) -> RevisionForecast:
    """From the mean steps of the build's plan. Two queries."""
    means = _step_means(build.plan)
    one, both, plan = (_sum(_steps(build.plan, target), means) for target in (Target.A, Target.BOTH, Target.PLAN))
    return RevisionForecast(one, both, plan, _minutes(build.plan, means), _wanted(build))


def _steps(plan: BuildPlan, target: str) -> list[str]:
    """The steps of a revision that the critic accepts after its first round."""
    draws = [Kind.EDIT] if plan.configuration == Configuration.PLANNER_EDITOR_CRITIC else [Kind.BASE]
    draws = draws if target == Target.A else draws * 2
    if plan.configuration == Configuration.PLANNER:
        return [Kind.PLAN, *draws]
    if target != Target.PLAN:
        return [Kind.CRITIC, Kind.INSTRUCT, *draws, Kind.CRITIC]
    with_editor = plan.configuration == Configuration.PLANNER_EDITOR_CRITIC
    return [Kind.PLAN, *([Kind.BASE, Kind.INSTRUCT] if with_editor else []), *draws, Kind.CRITIC]


def _step_means(plan: BuildPlan) -> dict[str, _StepMeans]:
    steps = BuildStep.objects.filter(build__plan=plan, state=BuildStep.State.DONE, cached=False).order_by()
    started = Coalesce("sent_at", "at")
    rows = steps.values("kind").annotate(
        mean=Avg("cost"), n=Count("pk"), known=Count("cost"), duration=Avg(F("settled_at") - started)
    )
    return {
        row["kind"]: _StepMeans(Decimal(row["mean"]) if row["n"] == row["known"] else None, row["duration"])
        for row in rows
    }


def _sum(kinds: Iterable[str], means: Mapping[str, _StepMeans]) -> Decimal | None:
    costs = [means[kind].cost if kind in means else None for kind in kinds]
    return None if None in costs else sum((cost for cost in costs if cost is not None), Decimal(0))


def _minutes(plan: BuildPlan, means: Mapping[str, _StepMeans]) -> int | None:
    """Of a round about one picture; two are drawn at the same time."""
    durations = [means[kind].duration if kind in means else None for kind in _steps(plan, Target.A)]
    known: Sequence[timedelta] = [duration for duration in durations if duration is not None]
    return max(1, round(sum(known, timedelta()).total_seconds() / 60)) if len(known) == len(durations) else None


def _wanted(build: Build) -> int:
    if build.item_id is None:
        return 0
    slots = Slot.objects.filter(unit__item=build.item_id)
    wanted: int | None = slots.aggregate(n=Sum(Coalesce("share", "cohort__target_answers")))["n"]
    return wanted or 0
