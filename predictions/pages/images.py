"""What the page of an image plan shows: how far it is, what it cost, and what could not be made."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Count
from django.utils import timezone

from benchmarks.models import Benchmark, Item, ItemImage, Stage
from benchmarks.queries.saved_recipes import recipe_of
from predictions.models import ImageOrder, ImagePlan
from predictions.services.endpoints import endpoints
from predictions.services.images import plans
from predictions.services.images.image_job import spent_on
from predictions.services.knowledge.link_checks import OF_PICTURES
from predictions.texts.call_reasons import pause_reason_text, reason_text

SHOWN = 60
State = ImageOrder.State


@dataclass(frozen=True)
class ImageStageRow:
    """A stage that can get images, with its plan if there is one."""

    stage: Stage
    plan: ImagePlan | None
    made: int
    ordered: int


def image_stages(benchmark: Benchmark) -> list[ImageStageRow]:
    """Stages with one picture an item whose items are not derived, after a stage of words; without those that only
    collect imported pictures, and where people check links. Four queries."""
    stages = list(benchmark.stages.order_by("position", "pk"))
    words = [stage.position for stage in stages if stage.pictures == Stage.Pictures.NONE]
    fitting = [
        stage
        for stage in stages
        if takes_images(stage) and stage.key != OF_PICTURES and any(at < stage.position for at in words)
    ]
    rows = ImagePlan.objects.filter(stage__in=fitting).exclude(state=ImagePlan.State.CANCELLED)
    by_stage = {plan.stage_id: plan for plan in rows}
    imported = Item.objects.filter(stage__in=fitting, withdrawn_at=None, image_order=None).order_by()
    filled = set(imported.values_list("stage", flat=True).distinct()) | _stages_of_files(benchmark, fitting)
    fitting = [stage for stage in fitting if stage.target_answers or stage.pk in by_stage or stage.pk not in filled]
    counts = ImageOrder.objects.filter(plan__in=by_stage.values()).values_list("plan", "state").annotate(n=Count("pk"))
    ordered: dict[int, dict[str, int]] = {}
    for plan, state, n in counts:
        ordered.setdefault(plan, {})[state] = n
    result = []
    for stage in fitting:
        plan = by_stage.get(stage.pk)
        numbers = ordered.get(plan.pk, {}) if plan else {}
        result.append(ImageStageRow(stage, plan, numbers.get(State.MADE, 0), sum(numbers.values())))
    return result


def _stages_of_files(benchmark: Benchmark, stages: Sequence[Stage]) -> set[int]:
    """Ids of those whose items the recipe wants imported with their files."""
    recipe = recipe_of(benchmark)
    specs = recipe.stages if recipe else ()
    keys = {spec.key for spec in specs if any(row.get("file") for row in spec.sample)}
    return {stage.pk for stage in stages if stage.key in keys}


def takes_images(stage: Stage) -> bool:
    """Whether an endpoint may make the pictures of its items."""
    return stage.pictures == Stage.Pictures.ONE and not stage.derivation


@dataclass(frozen=True)
class ImageProgress:
    """Of a plan. `states`: label and number of each state that occurs; `reason`: why it does not go on."""

    plan: ImagePlan
    states: Sequence[tuple[str, int]]
    made: int
    total: int
    spent: Decimal
    reason: str
    problems: Sequence[tuple[ImageOrder, str]]
    more_problems: int
    is_price_unknown: bool = False
    """Images were made, and the endpoint has no price for them."""

    @property
    def retried(self) -> bool:
        return any(order.state in plans.RETRIED for order, _text in self.problems)


def image_progress(plan: ImagePlan) -> ImageProgress:
    rows = ImageOrder.objects.filter(plan=plan)
    counts = dict(rows.order_by().values_list("state").annotate(n=Count("pk")))
    failed = rows.filter(state__in=(State.REFUSED, *plans.RETRIED)).select_related("item").order_by("pk")
    problems = [(order, order.message or reason_text(order.reason)) for order in failed[:SHOWN]]
    reason = pause_reason_text(plan.stopped_because) if plan.stopped_because else ""
    states = [(str(State(state).label), counts[state]) for state in State.values if state in counts]
    n_failed = sum(counts.get(state, 0) for state in (State.REFUSED, *plans.RETRIED))
    spent = spent_on(plan)
    return ImageProgress(
        plan, states, counts.get(State.MADE, 0), sum(counts.values()), spent, reason, problems,
        max(0, n_failed - SHOWN), not spent and counts.get(State.MADE, 0) > 0 and _price(plan) is None,
    )  # fmt: skip


def _price(plan: ImagePlan) -> Decimal | None:
    """US dollars of one image, as the endpoint's prices are now."""
    _prices, price = endpoints.image_price_of(plan.endpoint, plan.model, plan.size, timezone.now())
    return price


def newest_images(plan: ImagePlan) -> list[ItemImage]:
    """The images that came last, with their items."""
    rows = ItemImage.objects.filter(item__image_order__plan=plan, item__withdrawn_at=None)
    return list(rows.select_related("item", "image").order_by("-pk")[:SHOWN])
