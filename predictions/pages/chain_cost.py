"""What asking models costs, for the page that opens a chain."""

from collections.abc import Mapping
from decimal import Decimal

from django.db.models import Avg, Count

from annotation.pages.chain_opening import ModelCost
from predictions.models import Call


def model_cost(units: Mapping[int, int]) -> ModelCost | None:
    """The mean cost of a call of each model at each of these stages, times the stage's units. None where no call cost
    anything: nobody has said what it costs, or nobody was asked."""
    calls = Call.objects.filter(
        run__campaign__stage__in=[stage for stage, n in units.items() if n], run__withdrawn_at=None, cost__gt=0
    )
    means = calls.order_by().values_list("run__campaign__stage", "run__rater").annotate(mean=Avg("cost"), n=Count("pk"))
    rows = list(means)
    if not rows:
        return None
    dollars = sum((mean * units[stage] for stage, _rater, mean, _n in rows), Decimal())
    return ModelCost(dollars, len({rater for _stage, rater, _mean, _n in rows}), sum(n for *_rest, n in rows))
