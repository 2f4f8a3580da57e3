"""Benchmarks with their stages, cohorts and roles, for pages."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from django.db import connection
from django.db.models import Count, Exists, F, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from benchmarks.models import Benchmark, Item, ItemImage, Role, Stage
from benchmarks.queries.cultures import culture
from benchmarks.queries.item_selection import FACETS
from benchmarks.queries.saved_recipes import recipe_of
from benchmarks.rules.derivations.cultures import SEPARATOR
from jobs.queries.read_once import read_once
from people.models import User


@dataclass
class StageItems:
    """Items of a stage that are not withdrawn. `of_origin`: those that are neither dropped nor waiting, by origin;
    `waiting`: those that wait for a fact, by the culture whose cohort gets them in a stage of own items. `of_culture`:
    those of `of_origin`, by that culture. `mixed`: how many of them are about two. `of_condition`: all items, by
    condition."""

    total: int = 0
    dropped: int = 0
    mixed: int = 0
    of_origin: Counter[str] = field(default_factory=Counter)
    waiting: Counter[str] = field(default_factory=Counter)
    of_culture: Counter[str] = field(default_factory=Counter)
    of_condition: Counter[str] = field(default_factory=Counter)


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
    """Two queries, those of `stage_items`, and one for each stage of which a recipe says what it should hold."""
    rows = list(benchmark.stages.all())
    recipe = recipe_of(benchmark)
    expected = Counter(item.stage for item in recipe.expected_items()) if recipe else Counter()
    items, strips = stage_items(rows), sample_pictures(rows)
    return [_stage_view(stage, expected[stage.key], items[stage.pk], strips[stage.pk]) for stage in rows]


def _stage_view(stage: Stage, expected: int, items: StageItems, strip: list[ItemImage]) -> StageView:
    return StageView(
        stage=stage,
        questions=[field.get("label", {}) for field in stage.sheet.get("fields", [])],
        total=items.total,
        conditions=sorted(items.of_condition.items()),
        cells=_filled_cells(stage) if expected else 0,
        expected=expected,
        strip=strip,
    )


def _filled_cells(stage: Stage) -> int:
    """How many combinations of what a recipe expects have an item that is not withdrawn."""
    live = stage.items.filter(withdrawn_at=None).exclude(concept="").order_by()
    n: int = live.values(*FACETS).distinct().count()
    return n


def stage_items(stages: Sequence[Stage]) -> Mapping[int, StageItems]:
    """By stage. One query, for all parts of a page."""
    pks = [stage.pk for stage in stages]
    return read_once(("items of stages", tuple(sorted(pks))), lambda: _count_items(pks))


def _count_items(stages: Sequence[int]) -> dict[int, StageItems]:
    counts = {pk: StageItems() for pk in stages}
    live = Item.objects.filter(stage__in=counts, withdrawn_at=None).order_by().annotate(of_culture=culture())
    counted = live.values_list("stage", "origin", "of_culture", "intake", "condition").annotate(n=Count("pk"))
    for stage, origin, own, intake, condition, n in counted:
        of_stage = counts[stage]
        of_stage.total += n
        of_stage.of_condition[condition] += n
        if intake == Item.Intake.DROPPED:
            of_stage.dropped += n
        elif intake == Item.Intake.WAITING:
            of_stage.waiting[own] += n
        else:
            of_stage.of_origin[origin] += n
            of_stage.of_culture[own] += n
            of_stage.mixed += n if SEPARATOR in own else 0
    return counts


def condition_names(benchmark: Benchmark) -> dict[str, Mapping[str, str]]:
    """The recipe's names for its conditions, by key."""
    recipe = recipe_of(benchmark)
    return {condition.key: condition.name for condition in recipe.conditions} if recipe else {}


STRIPS = """
SELECT picture.id FROM unnest(%s::bigint[]) stage(id) CROSS JOIN LATERAL (
  SELECT ii.id FROM benchmarks_itemimage ii JOIN benchmarks_item i ON i.id = ii.item_id
  WHERE i.stage_id = stage.id AND i.withdrawn_at IS NULL ORDER BY ii.id LIMIT %s) picture
"""


def sample_pictures(stages: Sequence[Stage], most: int = 6) -> dict[int, list[ItemImage]]:
    """A few pictures of each stage, to see at a glance what it is about."""
    with connection.cursor() as cursor:
        cursor.execute(STRIPS, [[stage.pk for stage in stages], most])
        chosen = [pk for (pk,) in cursor.fetchall()]
    strips: dict[int, list[ItemImage]] = {stage.pk: [] for stage in stages}
    uses = ItemImage.objects.filter(pk__in=chosen).select_related("image", "item") if chosen else ()
    for use in sorted(uses, key=lambda use: use.pk):
        strips[use.item.stage_id].append(use)
    return strips


def roles(benchmark: Benchmark) -> QuerySet[Role]:
    """Who has a role; `left` marks those who are no longer in the team, whose role is without effect."""
    member = benchmark.team.members.filter(user=OuterRef("user"))
    order = F("user__name").asc()
    return benchmark.roles.select_related("user").annotate(left=~Exists(member)).order_by(order, "pk")
