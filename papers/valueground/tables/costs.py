"""ValueGround: what a pair of pictures cost, by what made it.

What making it cost stands in its item's context (`cost`, US dollars), as the pipeline that made it says. What judging
it cost is counted here: every request of the judges' runs, failed ones too, by the prices in force when it went out.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from django.db.models import Count, Q, Sum
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from benchmarks.models import Item
from evaluation.metrics.resampling import mean
from evaluation.queries.observations import ObservedItem, observed_items
from evaluation.rendering.report import Cell, Rounding, Row, Words
from evaluation.tables.spec import TableSpec
from evaluation.tables.table import MissingData, Table, TableOption
from evaluation.tables.table_inputs import TableInputs
from papers.valueground.printed_values import printed, rows
from predictions.models import Attempt

STAGE = "pair-review"
FOUR = Rounding(4)
COST = TableOption(
    "cost",
    gettext_lazy("Cost of"),
    {
        "made": gettext_lazy("making the pair, as its item says"),
        "judged": gettext_lazy("judging the pair, as its requests were counted"),
    },
)


def backend_and_configuration(item: ObservedItem) -> tuple[str, str]:
    """Back end and configuration of a pair; without them its source stands for both."""
    return str(item.context.get("backbone") or item.condition), str(item.context.get("configuration") or "")


def paper_order(made: tuple[str, str]) -> tuple[int, str, str]:
    listed = [(row["backbone"], row["configuration"]) for row in rows("table_1")]
    return (listed.index(made) if made in listed else len(listed), *made)


def build_costs(inputs: TableInputs) -> Table:
    """Mean cost of a pair, in US dollars; a pair without a known cost is left out and counted."""
    pks = set(
        Item.objects.filter(stage__benchmark=inputs.benchmark, stage__key=STAGE, withdrawn_at=None).values_list(
            "pk", flat=True
        )
    )
    pairs, judged = observed_items(pks), inputs.chosen["cost"] == "judged"
    costs = _judging_costs(inputs, pks) if judged else {pair.pk: _number(pair.context.get("cost")) for pair in pairs}
    known = [pair for pair in pairs if costs.get(pair.pk) is not None]
    if not known:
        raise MissingData(_NO_REQUESTS if judged else _NO_COSTS)
    table_rows = []
    for backbone, configuration in sorted({backend_and_configuration(item) for item in known}, key=paper_order):
        items = [item for item in known if backend_and_configuration(item) == (backbone, configuration)]
        values = np.array([costs[item.pk] for item in items], np.float64)
        questions = np.array([item.concept or item.key for item in items])
        paper = printed("table_3", "cost", backbone=backbone, configuration=configuration)
        cell = Cell(mean(values, questions, method="mean cost"), rounding=FOUR, printed=None if judged else paper)
        table_rows.append(Row(configuration or backbone, (cell,), backbone if configuration else ""))
    words: list[Words] = [
        _("US dollars a pair. Intervals over questions (jackknife)."),
        _("Pairs whose cost is not known are left out: %(n)s of %(all)s.")
        % {"n": len(pairs) - len(known), "all": len(pairs)},
    ]
    return inputs.table(corner=_("How it was made"), columns=[_("Mean cost")], rows=table_rows, words=words)


_NO_COSTS = gettext_lazy(
    "No pair says what making it cost. Import the pairs with a column “cost”, in US dollars; or choose what judging "
    "them cost."
)
_NO_REQUESTS = gettext_lazy("No judge was asked about these pairs here, or its requests have no price.")


def _number(cost: object) -> float | None:
    try:
        number = float(str(cost))
    except ValueError:
        return None
    return number if np.isfinite(number) and number >= 0 else None


def _judging_costs(inputs: TableInputs, items: set[int]) -> Mapping[int, float | None]:
    """What all requests about each pair cost; None where one of them has no known price."""
    entry = next((stage for stage in inputs.catalogue.stages if stage.key == STAGE), None)
    campaigns = [campaign_entry.id for campaign_entry in inputs.campaigns_of(entry)] if entry else []
    asked = Attempt.objects.filter(
        call__item__in=items, call__run__withdrawn_at=None, call__run__campaign__in=campaigns
    ).order_by()
    unknown = Count("pk", filter=Q(cost=None, outcome=Attempt.Outcome.REPLY))
    counted = asked.values_list("call__item").annotate(spent=Sum("cost"), unknown=unknown)
    return {item: None if without or spent is None else float(spent) for item, spent, without in counted}


COSTS = TableSpec(
    "table-3",
    "Table 3",
    gettext_lazy("Cost of a pair"),
    gettext_lazy("Pairs that say what making them cost, or runs of judges over them."),
    build_costs,
    (COST,),
)
