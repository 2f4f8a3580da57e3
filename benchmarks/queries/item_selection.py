"""Which items a page or a bulk action is about: the filters, their number up to a limit, and pages of any depth.

Every page is read by its sort key from an index, forward and back, so the thousandth costs what the first does. Several
stages are read each by itself and merged: no index is over all stages of a benchmark.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from django.db.models import Exists, F, OuterRef, Q, QuerySet

from benchmarks.models import Item, ItemTally, Stage
from benchmarks.queries.item_filters import FilterView, apply_filters
from benchmarks.queries.item_words import SUBSTRING_ROWS, with_text, with_words

PAGE = 60
MOST_COUNTED = 10_000
"""Beyond this number a count says "more than"."""
FACETS = ("concept", "origin", "condition")
IN_USE, WITHDRAWN, EVERYTHING = "", "withdrawn", "all"
UNANSWERED, ANSWERED, WITHHELD = "unanswered", "answered", "withheld"
STATES = (IN_USE, *Item.Intake.values, UNANSWERED, ANSWERED, WITHHELD, WITHDRAWN, EVERYTHING)
DISAGREEMENTS: Mapping[str, Q] = {
    "none": Q(disagreement=0),
    "some": Q(disagreement__gt=0),
    "half": Q(disagreement__gte=0.5),
}
UNKNOWN = "unknown"


@dataclass(frozen=True)
class Sort:
    """`field` is read with the item's id as the second key, in the same direction; `id_field` is the id in the table
    that has the index of this order."""

    key: str
    field: str
    descending: bool = False
    id_field: str = "pk"

    def order(self, *, back: bool = False) -> tuple[str, str]:
        sign = "-" if self.descending != back else ""
        return f"{sign}{self.field}", f"{sign}pk"

    def beyond(self, value: Any, pk: int, *, back: bool) -> list[Q]:
        """The conditions of what comes after this place, or with `back` before it; each reads one part of an index."""
        side = "lt" if self.descending != back else "gt"
        if self.field == "pk":
            return [Q(**{f"pk__{side}": pk})]
        same = Q(**{self.field: value, f"pk__{side}": pk, f"{self.id_field}__{side}": pk})  # whichever table leads
        return [same, Q(**{f"{self.field}__{side}": value})]


OLDEST = Sort("", "pk")
BY_DISAGREEMENT = Sort("disagreement", "tally__disagreement", True, "tally__item")
SORTS = {sort.key: sort for sort in (OLDEST, Sort("newest", "pk", True), Sort("key", "key"), BY_DISAGREEMENT)}


@dataclass(frozen=True)
class ItemPage:
    """One page of ids in their order. `before` and `after`: whether there are items before and after it."""

    ids: Sequence[int]
    before: bool
    after: bool


@dataclass(frozen=True)
class ItemSelection:
    """Items of these stages of one benchmark. Values are known ones: a name from a request never becomes a lookup.

    `parts`: whether parts of words are looked for; None to look only among few items.
    """

    stages: tuple[Stage, ...]
    facets: Mapping[str, str] = field(default_factory=dict)
    state: str = IN_USE
    disagreement: str = ""
    text: str = ""
    offered: tuple[FilterView, ...] = ()
    sort: Sort = OLDEST
    is_of_all_stages: bool = False
    parts: bool | None = None

    def rows(self, stage: Stage | None = None) -> QuerySet[Item]:
        """All items of the selection, or those of one stage, in no order."""
        items = self._without_text(stage)
        if not self.text:
            return items
        return with_text(items, self.text) if self.searches_parts else with_words(items, self.text)

    @cached_property
    def searches_parts(self) -> bool:
        """Whether parts of words are looked for: only among few items, where it is not settled."""
        if self.parts is not None:
            return self.parts
        return self._without_text()[: SUBSTRING_ROWS + 1].count() <= SUBSTRING_ROWS

    def _without_text(self, stage: Stage | None = None) -> QuerySet[Item]:
        stages = self.stages if stage is None else (stage,)
        items = Item.objects.filter(stage=stages[0]) if len(stages) == 1 else Item.objects.filter(stage__in=stages)
        for name in FACETS:
            if self.facets.get(name):
                items = items.filter(**{name: self.facets[name]})
        items = self._in_state(items)
        tallies = ItemTally.objects.filter(item=OuterRef("pk"))
        if self.disagreement == UNKNOWN:
            items = items.filter(~Exists(tallies.filter(disagreement__isnull=False)))
        elif self.disagreement:
            items = items.filter(Exists(tallies.filter(DISAGREEMENTS[self.disagreement])))
        if self.sort.field.startswith("tally"):
            items = items.filter(tally__disagreement__isnull=False)
        return apply_filters(items, self.offered)

    def _in_state(self, items: QuerySet[Item]) -> QuerySet[Item]:
        if self.state == EVERYTHING:
            return items
        if self.state == WITHDRAWN:
            return items.filter(withdrawn_at__isnull=False)
        items = items.filter(withdrawn_at=None)
        answered = Exists(ItemTally.objects.filter(item=OuterRef("pk"), answers__gt=0))
        if self.state in Item.Intake.values:
            return items.filter(intake=self.state)
        if self.state == ANSWERED:
            return items.filter(answered)
        if self.state == UNANSWERED:  # what is withheld may have answers elsewhere
            return items.filter(~answered, answers_withheld=False)
        if self.state == WITHHELD:
            return items.filter(answers_withheld=True)
        return items

    def count(self) -> int:
        """The number of items, at most one more than MOST_COUNTED."""
        return self.rows()[: MOST_COUNTED + 1].count()

    def page(self, *, after: int = 0, before: int = 0, size: int = 0) -> ItemPage:
        """The page after or before an item of these stages; the first one without either, or for an unknown item."""
        size = size or PAGE
        back = bool(before) and not after
        start = self._place(before if back else after)
        ids = self._read(start, back=back, size=size + 1)
        more, ids = len(ids) > size, ids[:size]
        if back:
            ids.reverse()
            if not more and len(ids) < size:  # the first page is full, whatever lies before the item
                return self.page(size=size)
        return ItemPage(ids, more if back else start is not None, start is not None if back else more)

    def neighbours(self, item: Item) -> tuple[int | None, int | None]:
        """The items before and after this one in the order; none where the order has no place for it."""
        start = self._place(item.pk)
        if start is None:
            return None, None
        before, after = self._read(start, back=True, size=1), self._read(start, back=False, size=1)
        return (before[0] if before else None), (after[0] if after else None)

    def _place(self, pk: int) -> tuple[Any, int] | None:
        """Where an item stands in the order: its sort value and its id."""
        if not pk:
            return None
        rows = Item.objects.filter(pk=pk, stage__in=self.stages).values_list(self.sort.field, "pk")
        place = rows.first()
        return None if place is None or place[0] is None else place

    def _read(self, start: tuple[Any, int] | None, *, back: bool, size: int) -> list[int]:
        """Ids in reading order from a place on; one statement, each part of which reads at most `size` items."""
        order = self.sort.order(back=back)
        conditions = [Q()] if start is None else self.sort.beyond(*start, back=back)
        parts = [self._part(stage, condition, order, size) for stage in self.stages for condition in conditions]
        if not parts:
            return []
        if len(parts) == 1:
            return [pk for _value, pk in parts[0]]
        sign = "-" if order[0].startswith("-") else ""
        merged = parts[0].union(*parts[1:], all=True).order_by(f"{sign}place", f"{sign}pk")
        return [pk for _value, pk in merged[:size]]

    def _part(self, stage: Stage, condition: Q, order: tuple[str, str], size: int) -> QuerySet[Item, tuple[Any, int]]:
        rows = self.rows(stage).filter(condition)
        if self.sort.field.startswith("tally"):
            rows = rows.filter(tally__stage=stage)  # the index of the order begins with the stage
        return rows.annotate(place=F(self.sort.field)).order_by(*dict.fromkeys(order)).values_list("place", "pk")[:size]
