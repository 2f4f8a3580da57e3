"""What a benchmark's overview says of its chain of stages: how far each is, and where its results go."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.db.models import Count, Sum

from annotation.models import Campaign, Outcome, Tally
from annotation.queries.file_answer_counts import count_file_answers
from annotation.queries.review_queue import ReviewCounts, review_counts
from benchmarks.models import Benchmark, Item, Stage
from benchmarks.pages.panels import Panel

State = Outcome.State


@dataclass(frozen=True)
class RuleCounts:
    """Units of a by-rule stage that have what they need, by what the rule says."""

    accepted: int = 0
    rejected: int = 0
    undecided: int = 0
    waiting: int = 0


@dataclass(frozen=True)
class StageProgress:
    """`answers`: of people, also those from files. `review` and `judged` are None where nobody, or no rule, decides.
    `to`: stages that take what is accepted."""

    stage: Stage
    items: int
    answers: int
    review: ReviewCounts | None
    judged: RuleCounts | None
    to: list[Stage]


@dataclass(frozen=True)
class StageFlow:
    links: list[StageProgress]


def stage_flow(benchmark: Benchmark) -> StageFlow | None:
    """Seven queries at most. None where there is only one stage and nothing decides on its answers."""
    stages = list(benchmark.stages.all())
    plain = [stage.acceptance == Stage.Acceptance.ON_SUBMIT for stage in stages]
    if not stages or (len(stages) == 1 and all(plain)):
        return None
    live = Item.objects.filter(stage__in=stages, withdrawn_at=None).order_by()
    items = dict(live.values_list("stage").annotate(n=Count("pk")))
    tallies = Tally.objects.filter(cohort__campaign__stage__in=stages).order_by()
    submitted = dict(tallies.values_list("cohort__campaign__stage").annotate(n=Sum("submitted")))
    stage_of = dict(Campaign.objects.filter(stage__in=stages).values_list("pk", "stage"))
    for campaign, brought in count_file_answers(stage_of).items():
        submitted[stage_of[campaign]] = submitted.get(stage_of[campaign], 0) + brought.people
    reviewed = review_counts(stage for stage in stages if stage.acceptance == Stage.Acceptance.BY_REVIEW)
    judged = _rule_counts(stage for stage in stages if stage.acceptance == Stage.Acceptance.BY_RULE)
    return StageFlow(
        [
            StageProgress(
                stage,
                items.get(stage.pk, 0),
                submitted.get(stage.pk, 0),
                reviewed.get(stage.pk, ReviewCounts()) if stage.acceptance == Stage.Acceptance.BY_REVIEW else None,
                judged.get(stage.pk, RuleCounts()) if stage.acceptance == Stage.Acceptance.BY_RULE else None,
                [later for later in stages if stage.key in (later.derivation or {}).get("from", ())],
            )
            for stage in stages
        ]
    )


def _rule_counts(stages: Iterable[Stage]) -> Mapping[int, RuleCounts]:
    counts: dict[int, Counter[str]] = {}
    rows = Outcome.objects.filter(campaign__stage__in=[stage.pk for stage in stages]).order_by()
    for stage, state, n in rows.values_list("campaign__stage", "state").annotate(n=Count("pk")):
        counts.setdefault(stage, Counter())[state] = n
    return {
        stage: RuleCounts(
            states[State.ACCEPTED], states[State.REJECTED], states[State.UNDECIDED], states[State.WAITING]
        )
        for stage, states in counts.items()
    }


PANEL = Panel("annotation/stage_flow.html", stage_flow)
