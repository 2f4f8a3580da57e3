"""On an item's page: what models were asked about it, and how its picture was made. Only for those who work on the
benchmark."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext_lazy

from benchmarks.models import Item
from benchmarks.pages.panels import Panel
from predictions.models import Call, ImageOrder
from predictions.pages.runs import variant_of
from predictions.pages.variant_names import VariantNames
from predictions.texts.call_reasons import reason_text

MOST = 100
STYLES = {Call.State.ANSWERED: "ok", Call.State.PENDING: "wait", Call.State.RUNNING: "wait"}


@dataclass(frozen=True)
class ItemCallRow:
    call: Call
    model: str
    reason: str
    style: str


@dataclass(frozen=True)
class ItemCalls:
    """`order`: the request that made this item's picture, if a model made it."""

    calls: Sequence[ItemCallRow]
    is_cut: bool
    order: ImageOrder | None


def item_calls(item: Item) -> ItemCalls | None:
    """Two queries, and three for names; None where no model had to do with the item."""
    rows = Call.objects.filter(item=item).select_related("run__rater", "run__campaign__stage", "unit")
    calls = list(rows.order_by("-run", "unit", "repeat")[: MOST + 1])
    order = ImageOrder.objects.filter(created=item).select_related("plan__endpoint").first()
    if not calls and order is None:
        return None
    names = VariantNames(item.stage.benchmark)
    return ItemCalls([_row(call, names) for call in calls[:MOST]], len(calls) > MOST, order)


def _row(call: Call, names: VariantNames) -> ItemCallRow:
    return ItemCallRow(
        call,
        ", ".join(filter(None, [call.run.rater.name, variant_of(call.run, names)])),
        reason_text(call.reason) if call.reason else "",
        STYLES.get(Call.State(call.state), "no"),
    )


PANEL = Panel(
    "predictions/item_calls.html", item_calls, wide=True, anchor="calls", title=gettext_lazy("Requests to models"),
    of_answers=True,
)  # fmt: skip
