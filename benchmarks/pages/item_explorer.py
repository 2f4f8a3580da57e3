"""What the page of a benchmark's items shows: the filters that were chosen, and what can be chosen."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from benchmarks.models import Benchmark, Item, Stage
from benchmarks.queries import overview
from benchmarks.queries.asked_items import ALL_STAGES, asked_items, offered_states, params_of
from benchmarks.queries.item_choices import filter_choices
from benchmarks.queries.item_selection import (
    ANSWERED,
    EVERYTHING,
    IN_USE,
    UNANSWERED,
    UNKNOWN,
    WITHDRAWN,
    WITHHELD,
    ItemSelection,
)
from benchmarks.templatetags.texts import label_for

VIEWS = ("grid", "list")
FACET_LABELS: Mapping[str, Any] = {
    "concept": gettext_lazy("Concept"),
    "origin": gettext_lazy("Origin"),
    "condition": gettext_lazy("Condition"),
}
STATE_LABELS: Mapping[str, Any] = {
    IN_USE: pgettext_lazy("items", "In use"),
    Item.Intake.KEPT: gettext_lazy("Kept by the filters"),
    Item.Intake.DROPPED: gettext_lazy("Dropped by the filters"),
    Item.Intake.WAITING: gettext_lazy("Waiting for a fact"),
    UNANSWERED: gettext_lazy("Without answers"),
    ANSWERED: gettext_lazy("With answers"),
    WITHHELD: gettext_lazy("Answers withheld"),
    WITHDRAWN: pgettext_lazy("items", "Withdrawn"),
    EVERYTHING: gettext_lazy("All, also withdrawn"),
}
DISAGREEMENT_LABELS: Mapping[str, Any] = {
    "none": gettext_lazy("All answers agree"),
    "some": gettext_lazy("Some answers differ"),
    "half": gettext_lazy("At least half of the pairs differ"),
    UNKNOWN: gettext_lazy("Fewer than two answers"),
}
SORT_LABELS: Mapping[str, Any] = {
    "": gettext_lazy("Oldest first"),
    "newest": gettext_lazy("Newest first"),
    "key": gettext_lazy("Key"),
    "disagreement": gettext_lazy("Most disagreement first"),
}


@dataclass(frozen=True)
class FilterSelect:
    """`options`: value, label, and whether it is chosen."""

    name: str
    label: Any
    options: Sequence[tuple[str, Any, bool]]

    @property
    def chosen(self) -> str:
        return next((value for value, _label, chosen in self.options if chosen), "")


@dataclass(frozen=True)
class FilterChip:
    """A filter that a person set; `rest` is the address without it."""

    label: Any
    value: Any
    rest: str


@dataclass(frozen=True)
class ItemExplorer:
    """`params`: what was chosen, as an address holds it; `stage` is always among them."""

    selection: ItemSelection
    params: Mapping[str, str]
    selects: Sequence[FilterSelect]
    stage: Stage | None
    sorts: FilterSelect

    @property
    def query(self) -> str:
        return urlencode(self.params)

    @property
    def is_filtered(self) -> bool:
        return bool(self.chips)

    @property
    def chips(self) -> list[FilterChip]:
        chips = []
        if self.selection.text:
            chips.append(FilterChip(_("Text"), self.selection.text, self.without("text")))
        for select in self.selects:
            label = next((text for value, text, chosen in select.options if chosen and value), "")
            if label and select.name != "stage":
                chips.append(FilterChip(select.label, label, self.without(select.name)))
        return chips

    def without(self, *names: str) -> str:
        return urlencode({name: value for name, value in self.params.items() if name not in names})

    @property
    def unfiltered(self) -> str:
        """The same stages in the same order, without filters."""
        return urlencode({name: value for name, value in self.params.items() if name in ("stage", "order")})

    def with_value(self, name: str, value: object) -> str:
        return urlencode({**self.params, name: value})


def item_explorer(benchmark: Benchmark, asked: Mapping[str, str]) -> ItemExplorer | None:
    """What was asked for, and what can be chosen; None for a stage that is not there."""
    selection = asked_items(benchmark, asked)
    if selection is None:
        return None
    stages = list(benchmark.stages.all())
    single = None if selection.is_of_all_stages else selection.stages[0]
    selects = [_stage_select(stages, single.key if single else ALL_STAGES), *_selects(benchmark, selection)]
    order = selection.sort.key
    sorts = FilterSelect("order", _("Order"), [(value, text, value == order) for value, text in SORT_LABELS.items()])
    return ItemExplorer(selection, params_of(selection), [select for select in selects if select], single, sorts)


def _stage_select(stages: Sequence[Stage], key: str) -> FilterSelect | None:
    if len(stages) < 2:
        return None
    rows = [*((stage.key, stage.name) for stage in stages), (ALL_STAGES, _("All stages"))]
    return FilterSelect("stage", _("Stage"), [(value, name, value == key) for value, name in rows])


def _selects(benchmark: Benchmark, selection: ItemSelection) -> Iterator[FilterSelect]:
    names = overview.condition_names(benchmark)
    for name, values in filter_choices(selection.stages).items():
        chosen = selection.facets[name]
        if chosen and chosen not in values:
            values = [chosen, *values]
        if values:
            texts = [(value, label_for(value, names) if name == "condition" else value) for value in values]
            yield _select(name, FACET_LABELS[name], texts, chosen)
    states = [(state, STATE_LABELS[state]) for state in offered_states(selection.stages) if state]
    yield _select("state", _("State"), states, selection.state, STATE_LABELS[IN_USE])
    yield _select("disagreement", _("Disagreement"), list(DISAGREEMENT_LABELS.items()), selection.disagreement)
    for view in selection.offered:
        yield _select(view.filter.name, view.filter.label, view.choices, view.chosen)


def _select(
    name: str, label: Any, rows: Sequence[tuple[str, Any]], chosen: str, default: Any = None
) -> FilterSelect:  # fmt: skip
    options = [("", _("All") if default is None else default), *rows]
    return FilterSelect(name, label, [(value, text, value == chosen) for value, text in options])
