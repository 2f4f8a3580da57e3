"""The items on which one person's answers lie farthest from those of the others of their cohort."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median_low

import numpy as np

from benchmarks.models import ItemImage
from evaluation.metrics.counts import Bools
from evaluation.queries.observations import Observations, ObservedItem, observe
from evaluation.selections.selection import Selection

SHOWN = 4


@dataclass(frozen=True)
class DifferingItem:
    """`own` and `others` are codes: the person's, and the middle one of the `n` others, of codes without an order the
    commonest. `use`: its first picture. `unit`: whose page has all answers."""

    item: ObservedItem
    unit: int
    own: str
    others: str
    n: int
    use: ItemImage | None = None


@dataclass(frozen=True)
class DifferingItems:
    """`shown` of the `n` items on which the person and others have answered."""

    shown: Sequence[DifferingItem]
    n: int

    def __bool__(self) -> bool:
        return self.n > 0


def differing_items(selection: Selection, rater: int) -> DifferingItems:
    """`selection`: of one cohort's people, and of a question that is answered with codes."""
    observed, is_ordered = observe(selection), selection.level != "nominal"
    if is_ordered:
        observed = observed.where(~np.isnan(observed.value))
    own = np.array([who.pk == rater for who in observed.raters], bool)
    mine = own[observed.rater] if observed.n else np.zeros(0, bool)
    own_rows = np.flatnonzero(mine).tolist()
    compared = [_compare(observed, row, mine, is_ordered=is_ordered) for row in own_rows]
    rows = sorted(filter(None, compared), key=lambda row: (-row[0], -row[1].n, row[1].item.pk))
    shown = [row for distance, row in rows if distance][:SHOWN]
    pictures = ItemImage.objects.filter(item__in=[row.item.pk for row in shown]).select_related("image")
    uses = {use.item_id: use for use in pictures.order_by("-pk")}
    return DifferingItems([replace(row, use=uses.get(row.item.pk)) for row in shown], len(rows))


def _compare(observed: Observations, row: int, mine: Bools, *, is_ordered: bool) -> tuple[float, DifferingItem] | None:
    """How far this answer lies from the others to the same, and both; None where nobody else has answered."""
    others = np.flatnonzero((observed.unit == observed.unit[row]) & ~mine)
    if not others.size:
        return None
    codes = [observed.codes[place] for place in observed.code[others]]
    own = observed.codes[observed.code[row]]
    if is_ordered:
        values = observed.value[others]
        middle = codes[int(np.flatnonzero(values == median_low(values.tolist()))[0])]
        distance = abs(float(observed.value[row]) - float(values.mean()))
    else:
        middle = min(Counter(codes).items(), key=lambda pair: (-pair[1], pair[0]))[0]
        distance = sum(code != own for code in codes) / len(codes)
    return distance, DifferingItem(
        observed.items[observed.item[row]], int(observed.unit_pk[row]), own, middle, len(codes)
    )
