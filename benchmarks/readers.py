"""Reading benchmarks and items for pages."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import Count, Exists, F, OuterRef, Prefetch, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from benchmarks.models import Benchmark, Item, ItemImage, Role, Stage
from benchmarks.recipes.contract import Recipe
from benchmarks.recipes.registry import find
from people.models import Cohort, User

FACETS = ("concept", "origin", "condition")
PAGE = 60


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
    recipe = find(benchmark.recipe)
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


def condition_names(benchmark: Benchmark) -> dict[str, Mapping[str, str]]:
    """The recipe's names for its conditions, by key."""
    recipe = find(benchmark.recipe)
    return {condition.key: condition.name for condition in recipe.conditions} if recipe else {}


def sample_pictures(stage: Stage, most: int = 6) -> list[ItemImage]:
    """A few of a stage's pictures, to see at a glance what it is about."""
    uses = ItemImage.objects.filter(item__stage=stage, item__withdrawn_at=None).select_related("image", "item")
    return list(uses.order_by("pk")[:most])


def recipe_cohorts(benchmark: Benchmark) -> list[tuple[str, bool]]:
    """The cohorts its recipe asks, and whether the team has them."""
    recipe = find(benchmark.recipe)
    if recipe is None:
        return []
    have = set(Cohort.objects.filter(team=benchmark.team).values_list("label", flat=True))
    return [(cohort.label, cohort.label in have) for cohort in recipe.cohorts]


def filter_choices(stage: Stage) -> dict[str, list[str]]:
    """What can be chosen in the filters: what is there."""
    items = stage.items.order_by()
    return {name: sorted(filter(None, items.values_list(name, flat=True).distinct())) for name in FACETS}


def items(stage: Stage, chosen: Mapping[str, str]) -> QuerySet[Item]:
    """`chosen` holds declared facets only; a name from a request never becomes a lookup."""
    selection = stage.items.filter(withdrawn_at=None)
    for name in FACETS:
        if chosen.get(name):
            selection = selection.filter(Q(**{name: chosen[name]}))
    return selection.order_by("pk")


def page(queryset: QuerySet[Item], after: int) -> tuple[list[Item], int | None]:
    """One page by key, and the key to go on after; None at the end."""
    pictures = Prefetch("images", ItemImage.objects.select_related("image").order_by("role"))
    rows = list(queryset.filter(pk__gt=after).prefetch_related(pictures)[: PAGE + 1])
    return rows[:PAGE], rows[PAGE - 1].pk if len(rows) > PAGE else None


def neighbours(item: Item) -> tuple[int | None, int | None]:
    """The items before and after it in its stage."""
    others = Item.objects.filter(stage=item.stage_id, withdrawn_at=None).values_list("pk", flat=True)
    before = others.filter(pk__lt=item.pk).order_by("-pk").first()
    return before, others.filter(pk__gt=item.pk).order_by("pk").first()


def roles(benchmark: Benchmark) -> QuerySet[Role]:
    """Who has a role; `left` marks those who are no longer in the team, whose role is without effect."""
    member = benchmark.team.members.filter(user=OuterRef("user"))
    order = F("user__name").asc()
    return benchmark.roles.select_related("user").annotate(left=~Exists(member)).order_by(order, "pk")


def context_texts(item: Item) -> list[tuple[str, str]]:
    """What an item's context says in words. What is laid out for a display (groups, what is near) is left out."""
    texts = []
    for name, value in item.context.items():
        rows = value if isinstance(value, list) else [value]
        if rows and all(isinstance(row, str | int | float) for row in rows):
            texts.append((name, ", ".join(str(row) for row in rows)))
    return texts


def pictures(item: Item) -> list[tuple[ItemImage, list[tuple[str, str]]]]:
    """An item's pictures in the order of their roles, each with what is told of it alone."""
    each = item.context.get("pictures")
    own = each if isinstance(each, dict) else {}
    uses = item.images.select_related("image").order_by("role")
    return [(use, [(name, str(value)) for name, value in (own.get(use.role) or {}).items()]) for use in uses]
