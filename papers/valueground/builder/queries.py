"""What is known of builds: where each is by its log, and what a plan has made, spent and may still cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Count, F, Sum

from benchmarks.models import Benchmark
from papers.valueground.builder import states
from papers.valueground.builder.models import Build, BuildPlan, BuildStep
from papers.valueground.builder.prompts import PairQuestion
from papers.valueground.builder.states import SIDES, BuildProgress, BuildRules, StepResult
from papers.valueground.survey.queries import options_of
from papers.valueground.survey.rules import is_elliptic

State = Build.State
UNFINISHED = (*states.WORKING, *states.RESUMABLE)


def rules_of(build: Build) -> BuildRules:
    """What the plan and the build say of its course."""
    plan, target = build.plan, build.comment_target
    labels = {"a": build.option_a, "b": build.option_b}
    return BuildRules(
        configuration=plan.configuration,
        edit_rounds=plan.edit_rounds,
        replans=plan.replans,
        regenerate=plan.regenerate,
        replan_when_spent=plan.replan_when_spent,
        collapse_check=plan.collapse_check,
        elliptic=tuple(side for side in SIDES if is_elliptic(labels[side])),
        comment=build.comment,
        comment_sides=(target,) if target in SIDES else SIDES,
        comment_replans=target == Build.CommentTarget.PLAN,
    )


def result_of(step: BuildStep) -> StepResult:
    """A settled step, as the state machine takes it."""
    message = str(step.output.get("message", ""))
    return StepResult(step.kind, step.target, step.state, step.output, step.image_id, message)


def progress_of(build: Build) -> BuildProgress:
    """Where a build is, by its log and that of the revisions before it."""
    former = progress_of(build.replaces) if build.replaces is not None else None
    settled = build.steps.exclude(state=BuildStep.State.ASKED).order_by("number")
    return states.replay(map(result_of, settled), rules_of(build), former)


def pair_question(build: Build, labels: Mapping[str, str]) -> PairQuestion:
    """The question with its confirmed pair. `labels`: rewritten answers by side."""
    question = build.question
    return PairQuestion(
        question_text(build), options_of(question), build.code_a, build.code_b, labels.get("a", build.option_a),
        labels.get("b", build.option_b),
    )  # fmt: skip


def question_text(build: Build) -> str:
    """The full question; its title where the survey has no more."""
    return build.question.text or build.question.title


@dataclass(frozen=True)
class PlanTotals:
    """A plan in numbers.

    Attributes:
        states: builds by state.
        spent: US dollars of all steps; `unaccounted`: what lost requests may have cost besides.
        in_flight: the most that requests in flight may cost.
        mean: of the builds that have ended and whose cost is known; None where there is none.
        forecast: US dollars for the builds that have not ended, from that mean.
    """

    states: Mapping[str, int]
    builds: int
    spent: Decimal
    unaccounted: Decimal
    in_flight: Decimal
    mean: Decimal | None

    @property
    def open(self) -> int:
        return sum(n for state, n in self.states.items() if state in UNFINISHED)

    @property
    def forecast(self) -> Decimal | None:
        return None if self.mean is None else self.mean * self.open

    @property
    def committed(self) -> Decimal:
        """What counts against the budget."""
        return self.spent + self.unaccounted + self.in_flight


def plan_totals(plan: BuildPlan) -> PlanTotals:
    """Three queries for any number of builds."""
    rows = (
        Build.objects.filter(plan=plan)
        .values("state")
        .annotate(n=Count("pk"), cost=Sum("cost"), lost=Sum("unaccounted"))
    )
    by_state = {row["state"]: row for row in rows}
    reserved = BuildStep.objects.filter(build__plan=plan, state=BuildStep.State.ASKED).aggregate(sum=Sum("reserved"))
    costs = known_costs(Build.objects.filter(plan=plan, state__in=states.ENDED))
    return PlanTotals(
        states={state: row["n"] for state, row in by_state.items()},
        builds=sum(row["n"] for row in by_state.values()),
        spent=sum((row["cost"] for row in by_state.values()), Decimal(0)),
        unaccounted=sum((row["lost"] for row in by_state.values()), Decimal(0)),
        in_flight=reserved["sum"] or Decimal(0),
        mean=sum(costs.values(), Decimal(0)) / len(costs) if costs else None,
    )


def known_costs(builds: Iterable[Build]) -> dict[int, Decimal]:
    """The cost of all steps of each build, by its id; a build with a step of unknown price has none."""
    steps = BuildStep.objects.filter(build__in=builds).values("build")
    rows = steps.annotate(sum=Sum("cost"), known=Count("cost"), n=Count("pk"))
    return {row["build"]: row["sum"] for row in rows if row["known"] == row["n"]}


def builds_of(benchmark: Benchmark) -> list[Build]:
    """The newest revision of each build of a benchmark, in the order of the survey."""
    rows = Build.objects.filter(plan__benchmark=benchmark, replaced_by=None)
    return list(
        rows.select_related("plan", "question", "source", "item").order_by("question__position", "source", "pk")
    )


def committed_cost(plan: BuildPlan) -> tuple[Decimal, Decimal]:
    """US dollars of a plan that are spent or may be, and the most that requests in flight cost."""
    sums = Build.objects.filter(plan=plan).aggregate(sum=Sum(F("cost") + F("unaccounted")))
    flying = BuildStep.objects.filter(build__plan=plan, state=BuildStep.State.ASKED).aggregate(sum=Sum("reserved"))
    return sums["sum"] or Decimal(0), flying["sum"] or Decimal(0)
