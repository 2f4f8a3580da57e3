"""What uses a label set. Apps above this one register what they know in AppConfig.ready."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from django.db.models import QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _

from benchmarks.models import Benchmark, Item, LabelSet
from benchmarks.queries.saved_recipes import recipe_of


class LabelSetUse(NamedTuple):
    """A stage, run or table that uses a set, by its benchmark."""

    benchmark: str
    kind: str
    name: str
    url: str


Finder = Callable[[LabelSet, "QuerySet[Benchmark]"], Iterable[LabelSetUse]]
_FINDERS: list[Finder] = []


def register(finder: Finder) -> None:
    if finder not in _FINDERS:
        _FINDERS.append(finder)


def uses_of(label_set: LabelSet, benchmarks: "QuerySet[Benchmark]") -> list[LabelSetUse]:
    """What uses the set in these benchmarks, by benchmark, kind and name."""
    own = benchmarks.filter(team=label_set.team_id)
    return sorted({use for finder in _FINDERS for use in finder(label_set, own)})


def stages_with(label_set: LabelSet, benchmarks: "QuerySet[Benchmark]") -> Iterable[LabelSetUse]:
    """Stages whose items name the set, and those whose recipe asks about it."""
    names = (label_set.key, label_set.name, label_set.reference)
    items = Item.objects.filter(stage__benchmark__in=benchmarks, withdrawn_at=None, context__label_set__in=names)
    stages = set(items.order_by().values_list("stage", flat=True).distinct())
    for benchmark in benchmarks.prefetch_related("stages"):
        recipe = recipe_of(benchmark)
        specs = {spec.key: spec for spec in recipe.stages} if recipe else {}
        for stage in benchmark.stages.all():
            spec = specs.get(stage.key)
            chosen = recipe is not None and spec is not None and spec.asked_about == "set"
            if stage.pk in stages or (chosen and recipe is not None and recipe.own_label_set == label_set.key):
                url = f"{reverse('benchmarks:items', args=[benchmark.slug])}?stage={stage.key}"
                yield LabelSetUse(benchmark.name, _("Stage"), stage.name, url)
