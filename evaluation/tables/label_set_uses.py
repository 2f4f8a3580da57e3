"""Tables whose rows are the labels of a set, for the set's page."""

from collections.abc import Iterable

from django.db.models import QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _

from annotation.models import Unit
from benchmarks.models import Benchmark, LabelSet
from benchmarks.pages.label_set_uses import LabelSetUse
from benchmarks.queries.saved_recipes import recipe_of
from evaluation.tables.registry import tables_of
from evaluation.tables.targets import LABEL_SET


def tables_with(label_set: LabelSet, benchmarks: "QuerySet[Benchmark]") -> Iterable[LabelSetUse]:
    """Tables by label of the benchmarks that were asked about this version, or whose recipe has the set."""
    asked = Unit.objects.filter(label_set=label_set, item__stage__benchmark__in=benchmarks)
    ids = set(asked.values_list("item__stage__benchmark", flat=True).distinct())
    for benchmark in benchmarks:
        recipe = recipe_of(benchmark)
        if benchmark.pk not in ids and (recipe is None or recipe.own_label_set != label_set.key):
            continue
        for spec in tables_of(benchmark):
            if any(option.key == LABEL_SET.key for option in spec.options):
                name = f"{spec.number}: {spec.title}" if spec.number else str(spec.title)
                url = reverse("evaluation:table", args=[benchmark.slug, spec.key])
                yield LabelSetUse(benchmark.name, _("Table"), name, url)
