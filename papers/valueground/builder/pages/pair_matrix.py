"""What the page *Pairs* shows: for each question and source the newest build, its two pictures and its cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.db.models import Avg, Count, Exists, F, Max, OuterRef, Q, QuerySet, Sum

from benchmarks.models import Benchmark, Image
from papers.valueground.builder.models import Build, BuildPlan, BuildStep
from papers.valueground.builder.states import ENDED, RESUMABLE, SIDES, WORKING
from papers.valueground.survey.models import SurveyQuestion

State = Build.State
Decision = Build.Decision
CHIPS: Mapping[str, str] = {
    State.ACCEPTED: "ok", State.BEST_EFFORT: "back", State.REFUSED: "no", State.FAILED: "no",
    State.OVER_BUDGET: "back", State.STOPPED: "hollow", Decision.GIVEN_UP: "no",
    Decision.AS_IT_IS: "ok",
}  # fmt: skip
STATE_GROUPS: Mapping[str, Collection[str]] = {"working": WORKING, "interrupted": RESUMABLE}
FINAL = (Decision.AS_IT_IS, Decision.GIVEN_UP)
"""Decisions after which the state of a build says nothing of what becomes of its pair."""
PICTURE_KINDS = ("base", "edit")


@dataclass(frozen=True)
class PairCell:
    """The newest build of a question and a source. `pictures`: by side, of its newest pictures. `moved_at`: when its
    last step was."""

    build: Build
    pictures: Mapping[str, Image]
    moved_at: datetime

    @property
    def chip(self) -> str:
        return chip_of(self.build)

    @property
    def label(self) -> str:
        return label_of(self.build)

    @property
    def note(self) -> str:
        """Why a person decided so, or what a service said."""
        return self.build.decision_reason or self.build.message

    @property
    def rounds(self) -> int:
        """Attempts of the present plan, the first one included."""
        return self.build.edit_round + 1

    @property
    def plans(self) -> int:
        return self.build.plan_round + 1

    @property
    def sides(self) -> list[tuple[str, Image | None, str]]:
        """Side, picture and what the picture stands for."""
        options = {"a": self.build.option_a, "b": self.build.option_b}
        return [(side, self.pictures.get(side), options[side]) for side in SIDES]


@dataclass(frozen=True)
class PairRow:
    """A question with a cell for each source; None where nothing is built."""

    question: SurveyQuestion
    cells: Sequence[tuple[str, PairCell | None]]


@dataclass(frozen=True)
class PlanSummary:
    """A plan with what it has spent.

    `pairs`: first revisions, `revisions`: later ones; `left`: those at work, of either kind; `forecast`: what all will
    have cost, None if unknown. `unpriced`: some request has no price, so that nobody knows what was spent.
    """

    plan: BuildPlan
    pairs: int
    revisions: int
    left: int
    spent: Decimal
    forecast: Decimal | None
    unpriced: bool = False

    @property
    def step(self) -> int:
        """Of the budget, in twentieths: the page's policy allows no style of its own."""
        budget = self.plan.budget
        return 0 if not budget else min(20, int(20 * self.spent / budget))


@dataclass(frozen=True)
class PairMatrix:
    """`states`: label and number of each state that occurs among the newest builds. `rows` are those of the filters."""

    sources: Sequence[str]
    rows: Sequence[PairRow]
    states: Sequence[tuple[str, str, int]]
    plans: Sequence[PlanSummary]
    n_questions: int
    n_builds: int

    @property
    def is_empty(self) -> bool:
        return not self.n_builds


def shown_state(build: Build) -> str:
    """What a person decided that the pair is, else how far it is."""
    return build.decision if build.decision in FINAL else build.state


def chip_of(build: Build) -> str:
    return CHIPS.get(shown_state(build), "wait")


def label_of(build: Build) -> str:
    return str(build.get_decision_display() if build.decision in FINAL else build.get_state_display())


def newest_builds(benchmark: Benchmark) -> QuerySet[Build]:
    """Of each question and source the newest revision of the newest plan."""
    rows = Build.objects.filter(plan__benchmark=benchmark)
    newest = rows.order_by("question__key", "source__key", "-plan_id", "-revision")
    ids = newest.distinct("question__key", "source__key").values("pk")
    return Build.objects.filter(pk__in=ids).select_related("question", "source", "plan")


def pair_matrix(benchmark: Benchmark, *, state: str = "", source: str = "", text: str = "") -> PairMatrix:
    """A fixed number of queries, whatever there is, but for the pictures: those of the rows are loaded with them."""
    builds = list(newest_builds(benchmark))
    counts = Counter(map(shown_state, builds))
    named = [*State.choices, *((decision, Decision(decision).label) for decision in FINAL)]
    states = [(str(value), str(label), counts[value]) for value, label in named if counts[value]]
    chosen = [build for build in builds if _fits(build, state, source, text)]
    sources = sorted({build.source.key for build in builds})
    shown = [source] if source in sources else sources
    pictures, moments = newest_pictures(chosen), _last_steps(chosen)
    cells = {
        (build.question.key, build.source.key): PairCell(
            build, pictures.get(build.pk, {}), moments.get(build.pk, build.created_at)
        )
        for build in chosen
    }
    questions = {build.question.key: build.question for build in sorted(chosen, key=lambda build: build.plan_id)}
    rows = [
        PairRow(question, [(name, cells.get((question.key, name))) for name in shown])
        for question in sorted(questions.values(), key=lambda question: question.position)
    ]
    n_questions = len({build.question.key for build in builds})
    return PairMatrix(shown, rows, states, plan_summaries(benchmark), n_questions, len(builds))


def _fits(build: Build, state: str, source: str, text: str) -> bool:
    question, wanted = build.question, text.strip().casefold()
    of_state = not state or shown_state(build) in STATE_GROUPS.get(state, (state,))
    of_text = not wanted or wanted in f"{question.key} {question.text or question.title}".casefold()
    return of_state and of_text and (not source or build.source.key == source)


def newest_pictures(builds: Collection[Build]) -> dict[int, dict[str, Image]]:
    """By build and side, what was drawn last. A later revision has those of the former one until it draws its own."""
    ids = {build.pk: build.pk for build in builds}
    ids |= {build.replaces_id: build.pk for build in builds if build.replaces_id}
    drawn = BuildStep.objects.filter(
        build__in=ids, kind__in=PICTURE_KINDS, target__in=SIDES, image__isnull=False
    ).select_related("image")
    pictures: dict[int, dict[str, Image]] = {}
    for step in drawn.order_by("build__revision", "number"):
        if step.image is not None:
            pictures.setdefault(ids[step.build_id], {})[step.target] = step.image
    return pictures


def _last_steps(builds: Collection[Build]) -> dict[int, datetime]:
    rows = BuildStep.objects.filter(build__in=builds).order_by().values_list("build")
    return dict(rows.annotate(at=Max("at")))


def plan_summaries(benchmark: Benchmark) -> list[PlanSummary]:
    """The newest first. One query."""
    ended = Q(builds__state__in=ENDED)
    plans = (
        BuildPlan.objects.filter(benchmark=benchmark)
        .select_related("survey", "job", "created_by")
        .annotate(
            n=Count("builds", filter=Q(builds__replaces=None)),
            later=Count("builds", filter=Q(builds__replaces__isnull=False)),
            spent=Sum(F("builds__cost") + F("builds__unaccounted")),
            left=Count("builds", filter=Q(builds__state__in=WORKING)),
            mean=Avg("builds__cost", filter=ended),
            unpriced=Exists(BuildStep.objects.filter(build__plan=OuterRef("pk"), cost=None)),
        )
        .order_by("-pk")
    )
    return [_summary(plan) for plan in plans]


def _summary(plan: BuildPlan) -> PlanSummary:
    values = vars(plan)
    spent, mean, left = values["spent"] or Decimal(0), values["mean"], values["left"]
    forecast = None if mean is None else spent + Decimal(mean) * left
    return PlanSummary(plan, values["n"], values["later"], left, spent, forecast, values["unpriced"])
