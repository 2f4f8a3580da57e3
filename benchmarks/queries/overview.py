"""Benchmarks with their stages, cohorts and roles, for pages."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from django.db.models import Count, Exists, F, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from benchmarks.models import Benchmark, Item, ItemImage, Role, Stage
from benchmarks.queries.item_selection import FACETS
from benchmarks.queries.saved_recipes import recipe_of
from benchmarks.recipes.contract import Recipe
from people.models import User


@dataclass
class StageItems:
    """Items of a stage that are not withdrawn. `of_origin`: those that are neither dropped nor waiting, by origin;
    `waiting`: those that wait for a fact, likewise."""

    total: int = 0
    dropped: int = 0
    of_origin: Counter[str] = field(default_factory=Counter)
    waiting: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class StageView:
    """A stage with what it asks and what it holds. `cells` of `expected` combinations have a picture."""

    stage: Stage
    questions: list[Mapping[str, str]]
    total: int
    conditions: list[tuple[str, int]]
    cells: int
    expected: int
    strip: list[ItemImage]


def benchmark_rows(benchmarks: QuerySet[Benchmark], user: User) -> QuerySet[Benchmark]:
    """For the list: with the number of items, and the person's own role."""
    items = Item.objects.filter(stage__benchmark=OuterRef("pk"), withdrawn_at=None)
    counted = items.order_by().values("stage__benchmark").annotate(n=Count("pk")).values("n")
    mine = Role.objects.filter(benchmark=OuterRef("pk"), user=user).values("name")
    return (
        benchmarks.select_related("team")
        .annotate(items=Coalesce(Subquery(counted), 0), role=Subquery(mine))
        .order_by("team__name", "name")
    )


def stages(benchmark: Benchmark) -> list[StageView]:
    recipe = recipe_of(benchmark)
    return [_stage_view(stage, recipe) for stage in benchmark.stages.all()]


def _stage_view(stage: Stage, recipe: Recipe | None) -> StageView:
    live = stage.items.filter(withdrawn_at=None).order_by()
    conditions = list(live.values_list("condition").annotate(n=Count("pk")).order_by("condition"))
    expected = list(recipe.expected_items()) if recipe else []
    expected = [item for item in expected if item.stage == stage.key]
    cells = live.exclude(concept="").values(*FACETS).distinct().count() if expected else 0
    return StageView(
        stage=stage,
        questions=[field.get("label", {}) for field in stage.sheet.get("fields", [])],
        total=sum(number for _condition, number in conditions),
        conditions=conditions,
        cells=cells,
        expected=len(expected),
        strip=sample_pictures(stage),
    )


def stage_items(stages: Sequence[Stage]) -> dict[int, StageItems]:
    """By stage. One query."""
    counts = {stage.pk: StageItems() for stage in stages}
    live = Item.objects.filter(stage__in=counts, withdrawn_at=None).order_by()
    for stage, origin, intake, n in live.values_list("stage", "origin", "intake").annotate(n=Count("pk")):
        of_stage = counts[stage]
        of_stage.total += n
        if intake == Item.Intake.DROPPED:
            of_stage.dropped += n
        elif intake == Item.Intake.WAITING:
            of_stage.waiting[origin] += n
        else:
            of_stage.of_origin[origin] += n
    return counts


def condition_names(benchmark: Benchmark) -> dict[str, Mapping[str, str]]:
    """The recipe's names for its conditions, by key."""
    recipe = recipe_of(benchmark)
    return {condition.key: condition.name for condition in recipe.conditions} if recipe else {}


def sample_pictures(stage: Stage, most: int = 6) -> list[ItemImage]:
    """A few of a stage's pictures, to see at a glance what it is about."""
    uses = ItemImage.objects.filter(item__stage=stage, item__withdrawn_at=None).select_related("image", "item")
    return list(uses.order_by("pk")[:most])


def roles(benchmark: Benchmark) -> QuerySet[Role]:
    """Who has a role; `left` marks those who are no longer in the team, whose role is without effect."""
    member = benchmark.team.members.filter(user=OuterRef("user"))
    order = F("user__name").asc()
    return benchmark.roles.select_related("user").annotate(left=~Exists(member)).order_by(order, "pk")
