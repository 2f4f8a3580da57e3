"""On an item's page: the button that withdraws it or brings it back."""

from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_lazy

from annotation.services.revisions.item_withdrawals import BACK_BY_HAND
from benchmarks.models import Item
from benchmarks.pages.panels import Panel

REFUSED: dict[str, Any] = {
    "withdrawn": gettext_lazy("The item is withdrawn already."),
    "in_use": gettext_lazy("The item is in use already."),
    "returned": gettext_lazy("The item was returned with a comment. Undo the return instead."),
    "source": gettext_lazy("The item was withdrawn with its source, and returns with it."),
}


@dataclass(frozen=True)
class WithdrawalView:
    withdrawn: bool


def item_withdrawal(item: Item) -> WithdrawalView | None:
    """Nothing for an item that leaves and returns with its source or its revisions."""
    if item.withdrawn_at is not None and item.withdrawn_because not in BACK_BY_HAND:
        return None
    return WithdrawalView(item.withdrawn_at is not None)


PANEL = Panel("annotation/item_withdrawal.html", item_withdrawal)
