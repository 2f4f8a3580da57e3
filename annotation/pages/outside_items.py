"""The filter of the items page by whether the present rule of the stage would make an item."""

from collections.abc import Sequence

from django.db.models import QuerySet
from django.utils.translation import gettext, gettext_lazy

from annotation.services.derivation.outside_items import outside_items
from benchmarks.models import Item, Stage
from benchmarks.queries.item_filters import Filter

OUTSIDE = "outside"


def choices(stage: Stage) -> Sequence[tuple[str, str]]:
    return [(OUTSIDE, gettext("Outside the present rule"))] if outside_items(stage).exists() else []


def narrow(items: QuerySet[Item], _chosen: str) -> QuerySet[Item]:
    return items.filter(withdrawn_at=None, outside_since__isnull=False)


FILTER = Filter("rule", gettext_lazy("Present rule"), choices, narrow)
