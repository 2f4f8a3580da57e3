"""ValueGround: what a pair of pictures cost, by what made it.

What making it cost is the sum of the steps of its build; of a pair that was made elsewhere it stands in its item's
context (`cost`, US dollars). What judging it cost is counted here: every request of the judges' runs, failed ones too,
by the prices in force when it went out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
from django.db.models import Count, Max, Q, Sum
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from benchmarks.models import Benchmark, Item
from evaluation.metrics.resampling import NOT_NEGATIVE, mean
from evaluation.queries.observations import ObservedItem, observed_items
from evaluation.rendering.report import Cell, Rounding, Row, Words
from evaluation.tables.spec import TableSpec
from evaluation.tables.table import MissingData, Table, TableOption
from evaluation.tables.table_inputs import TableInputs
from papers.valueground.builder.models import Build, BuildPlan
from papers.valueground.builder.queries import known_costs
from papers.valueground.builder.states import CONFIGURATION_NAMES, ENDED
from papers.valueground.printed_values import printed, rows
from papers.valueground.tables.accepted_pairs import accepted_pairs_note
from predictions.models import Attempt

STAGE = "pair-review"
FOUR = Rounding(4)
COST = TableOption(
    "cost",
    gettext_lazy("Cost of"),
    {
        "made": gettext_lazy("making the pair, by its build or as its item says"),
        "judged": gettext_lazy("judging the pair, as its requests were counted"),
    },
)

REVISIONS = TableOption(
    "revisions",
    gettext_lazy("Revisions after comments"),
    {"without": gettext_lazy("left out"), "with": gettext_lazy("added to their pair")},
)


def backend_and_configuration(item: ObservedItem) -> tuple[str, str]:
    """Back end and configuration of a pair; without them its source stands for both."""
    return str(item.context.get("backbone") or item.condition), str(item.context.get("configuration") or "")


def paper_order(made: tuple[str, str]) -> tuple[int, str, str]:
    listed = [(row["backbone"], row["configuration"]) for row in rows("table_1")]
    return (listed.index(made) if made in listed else len(listed), *made)


@dataclass(frozen=True)
class PairCost:
    """What one pair cost, in US dollars; None where it is not known."""

    backbone: str
    configuration: str
    question: str
    cost: float | None


def build_costs(inputs: TableInputs) -> Table:
    """Mean cost of a pair, in US dollars; a pair without a known cost is left out and counted."""
    judged = inputs.chosen["cost"] == "judged"
    pairs = _judged_pairs(inputs) if judged else _pairs_made(inputs)
    known = [pair for pair in pairs if pair.cost is not None]
    if not known:
        raise MissingData(_NO_REQUESTS if judged else _NO_COSTS)
    table_rows = []
    for backbone, configuration in sorted({(pair.backbone, pair.configuration) for pair in known}, key=paper_order):
        group = [pair for pair in known if (pair.backbone, pair.configuration) == (backbone, configuration)]
        values = np.array([pair.cost for pair in group], np.float64)
        questions = np.array([pair.question for pair in group])
        paper = printed("table_3", "cost", backbone=backbone, configuration=configuration)
        cost = mean(values, questions, scale=NOT_NEGATIVE, method="mean cost")
        cell = Cell(cost, rounding=FOUR, printed=None if judged else paper)
        table_rows.append(Row(configuration or backbone, (cell,), backbone if configuration else ""))
    words: list[Words] = [
        _("US dollars a pair. Intervals over questions (jackknife)."),
        _("Pairs whose cost is not known are left out: %(n)s of %(all)s.")
        % {"n": len(pairs) - len(known), "all": len(pairs)},
    ]
    words += accepted_pairs_note(inputs)
    return inputs.table(corner=_("How it was made"), columns=[_("Mean cost")], rows=table_rows, words=words)


def _review_pairs(inputs: TableInputs) -> set[int]:
    stage_items = Item.objects.filter(stage__benchmark=inputs.benchmark, stage__key=STAGE, withdrawn_at=None)
    return set(stage_items.values_list("pk", flat=True))


def _judged_pairs(inputs: TableInputs) -> list[PairCost]:
    pks = _review_pairs(inputs)
    costs = _judging_costs(inputs, pks)
    return [_pair_of(item, costs.get(item.pk)) for item in observed_items(pks)]


def _pairs_made(inputs: TableInputs) -> list[PairCost]:
    """The builds of the benchmark, and the pairs that were made elsewhere."""
    items = [item for item in observed_items(_review_pairs(inputs)) if "build" not in item.context]
    imported = [_pair_of(item, _number(item.context.get("cost"))) for item in items]
    return [*imported, *_built_pairs(inputs.benchmark, with_revisions=inputs.chosen["revisions"] == "with")]


def _pair_of(item: ObservedItem, cost: float | None) -> PairCost:
    return PairCost(*backend_and_configuration(item), item.concept or item.key, cost)


def _built_pairs(benchmark: Benchmark, *, with_revisions: bool) -> list[PairCost]:
    """Each build that has ended, with the cost of all its steps; where it is wanted also of its revisions."""
    rows = Build.objects.filter(plan__benchmark=benchmark).select_related("plan", "question", "source").order_by("pk")
    builds = list(rows)
    known = known_costs(builds)
    revisions = {build.replaces_id: build for build in builds if build.replaces_id is not None}
    pairs = []
    for build in builds:
        if build.revision > 1 or build.state not in ENDED:
            continue
        costs, revised = [known.get(build.pk)], revisions.get(build.pk) if with_revisions else None
        while revised is not None:
            costs.append(known.get(revised.pk))
            revised = revisions.get(revised.pk)
        total = None if None in costs else float(sum((cost for cost in costs if cost is not None), Decimal(0)))
        configuration = CONFIGURATION_NAMES[build.plan.configuration]
        pairs.append(PairCost(build.source.key, configuration, build.question.key, total))
    return pairs


_NO_COSTS = gettext_lazy(
    "No pair says what making it cost. Build pairs on the page “Pairs”, import pairs with a column “cost”, in US "
    "dollars, or choose what judging them cost."
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


def build_state(benchmark: Benchmark) -> list[object]:
    """What changes with every build that ends: no run and no answer says so."""
    ended = Build.objects.filter(plan__benchmark=benchmark, state__in=ENDED)
    numbers = ended.aggregate(n=Count("pk"), newest=Max("ended_at"))
    return [numbers["n"], str(numbers["newest"])]


COSTS = TableSpec(
    "table-3",
    "Table 3",
    gettext_lazy("Cost of a pair"),
    gettext_lazy("Pairs that say what making them cost, or runs of judges over them."),
    build_costs,
    (COST, REVISIONS),
    code_texts=dict(BuildPlan.Configuration.choices),
    state=build_state,
)
