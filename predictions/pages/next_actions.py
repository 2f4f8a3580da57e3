"""What runs of models add to the next action of the overview: see benchmarks.pages.next_actions."""

from collections.abc import Iterable

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.models import Campaign
from annotation.queries.waiting_outcomes import outcome_waits
from benchmarks.access import is_permitted
from benchmarks.models import Benchmark, Item, Stage
from benchmarks.pages.next_actions import NextAction
from benchmarks.recipes.registry import find
from people.models import User
from predictions.models import Run
from predictions.pages.fact_requests import FactWait, fact_waits

MOST = 10_000  # waiting candidates that are counted
JUDGED = "candidate"  # the display of a stage in which an answer is judged


def compute_facts(benchmark: Benchmark, user: User) -> NextAction | None:
    """Candidates, or the acceptance of answers, wait for a fact, and a person must do something about it."""
    if not is_permitted(user, benchmark, "work_on"):
        return None
    waiting = Item.objects.filter(stage__benchmark=benchmark, withdrawn_at=None, intake=Item.Intake.WAITING)
    n = waiting[:MOST].count()
    stages = list(benchmark.stages.select_related("benchmark"))
    held = {*waiting.order_by().values_list("stage", flat=True).distinct(), *outcome_waits(stages)}
    waits = [wait for stage in stages if stage.pk in held for wait in fact_waits(stage)]
    if waits or not n:
        return next((_fact_action(wait) for wait in waits if wait.label), None)
    return NextAction(
        ngettext("%(n)s candidate waits for a fact.", "%(n)s candidates wait for a fact.", n) % {"n": n},
        _("Compute facts"),
        reverse("predictions:facts", args=[benchmark.slug]),
        _("A filter reads a score that an encoder or a detector computes."),
    )


def _fact_action(wait: FactWait) -> NextAction:
    """To where the request is created, or is resumed."""
    if wait.url:
        return NextAction(wait.text, wait.label, wait.url, wait.detail)
    url = reverse("predictions:facts", args=[wait.stage.benchmark.slug])
    return NextAction(wait.text, _("View facts"), url, wait.detail)


def _model_stages(benchmark: Benchmark) -> list[Stage]:
    """The stages at which the recipe asks models, that were opened and have items; in the recipe's order."""
    recipe = find(benchmark.recipe)
    if recipe is None or not recipe.prediction_tasks:
        return []
    stages = {stage.key: stage for stage in benchmark.stages.all()}
    opened = Campaign.objects.filter(stage__benchmark=benchmark, opened_at__isnull=False)
    ready = set(opened.values_list("stage", flat=True))
    items = Item.objects.filter(stage__in=ready, withdrawn_at=None)
    ready &= set(items.order_by().values_list("stage", flat=True).distinct())
    tasks = (stages.get(task.stage) for task in recipe.prediction_tasks)
    return [stage for stage in tasks if stage is not None and stage.pk in ready]


def _without_run(benchmark: Benchmark, stages: Iterable[Stage]) -> Stage | None:
    runs = Run.objects.filter(benchmark=benchmark, withdrawn_at=None, campaign__isnull=False)
    asked = set(runs.values_list("campaign__stage", flat=True))
    return next((stage for stage in stages if stage.pk not in asked), None)


def plan_runs(benchmark: Benchmark, user: User) -> NextAction | None:
    """The recipe asks models, and none was asked."""
    if not is_permitted(user, benchmark, "work_on"):
        return None
    answered = [stage for stage in _model_stages(benchmark) if stage.display != JUDGED]
    if not answered or Run.objects.filter(benchmark=benchmark, withdrawn_at=None).exists():
        return None
    return NextAction(
        _("No model was asked yet."),
        _("Ask models"),
        reverse("predictions:ask_models", args=[benchmark.slug]),
        _("The recipe asks models in “%(stage)s”.") % {"stage": answered[0].name},
    )


def run_judge(benchmark: Benchmark, user: User) -> NextAction | None:
    """Answers are there to be judged, and no judge has read any."""
    if not is_permitted(user, benchmark, "work_on"):
        return None
    stage = _without_run(benchmark, (stage for stage in _model_stages(benchmark) if stage.display == JUDGED))
    if stage is None:
        return None
    return NextAction(
        _("“%(stage)s” has answers that no model has judged.") % {"stage": stage.name},
        _("Run a judge"),
        reverse("predictions:ask_models", args=[benchmark.slug]),
    )
