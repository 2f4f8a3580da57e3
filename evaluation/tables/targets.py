"""Rows of a table by the labels of a set: their order, their groups, and the labels that nobody was asked about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.models import Unit
from benchmarks.models import Benchmark, LabelSet
from benchmarks.queries.label_sets import find_set, newest_sets, set_for_tables, spec_of
from benchmarks.queries.saved_recipes import recipe_of
from benchmarks.rules.label_sets.contract import LabelSetSpec
from evaluation.metrics.estimate import Estimate
from evaluation.queries.rating_rows import target_text
from evaluation.rendering.report import Cell, Words
from evaluation.tables.table import TableOption
from evaluation.tables.table_inputs import TableInputs

ASKED, NONE = "asked", "none"


def _sets_of(benchmark: Benchmark) -> dict[str, Words]:
    rows = newest_sets(benchmark.team)
    return {row.reference: _("%(name)s, version %(version)s") % _names(row.name, row.version) for row in rows}


def _names(name: str, version: int) -> dict[str, object]:
    return {"name": name, "version": version}


LABEL_SET = TableOption(
    "label_set",
    gettext_lazy("Rows"),
    {ASKED: gettext_lazy("labels of the set that was asked about, else of the recipe's set")},
    more=_sets_of,
)
GROUPS = TableOption(
    "groups",
    gettext_lazy("Groups of rows"),
    {
        NONE: gettext_lazy("none"),
        "region": gettext_lazy("by region"),
        "continent": gettext_lazy("by continent"),
        "values_zone": gettext_lazy("by values zone"),
        "western": gettext_lazy("Western and other"),
    },
)


@dataclass(frozen=True)
class LabelRow:
    """A row of a table. `place`: of the target in what was asked about; None: nobody was asked about the label."""

    text: str
    place: int | None
    group: str = ""

    @property
    def is_asked(self) -> bool:
        return self.place is not None


def label_set_of(benchmark: Benchmark, stage: str = "", chosen: str = ASKED) -> LabelSetSpec | None:
    """The set whose labels are a table's rows: the chosen one; else the newest that the stage was asked about, else
    the recipe's. None where there is none."""
    if chosen != ASKED:
        row = find_set(benchmark.team, chosen)
        return spec_of(row) if row else None
    units = Unit.objects.filter(label_set__isnull=False, item__stage__benchmark=benchmark, item__stage__key=stage)
    newest = units.order_by("-label_set").values_list("label_set", flat=True).first()
    if newest is not None:
        return spec_of(LabelSet.objects.get(pk=newest))
    recipe = recipe_of(benchmark)
    return set_for_tables(benchmark.team, recipe.own_label_set) if recipe else None


def rows_by_label(label_set: LabelSetSpec | None, asked: Sequence[str], by: str = NONE) -> list[LabelRow]:
    """A row for each label of the set, in its order, then one for each target that is none of its labels.

    `asked`: the targets, by their place. `by`: the group by which rows stand together, one of GROUPS; groups follow
    in the order of their first label, rows without a group come last.
    """
    places = {text: place for place, text in enumerate(asked)}
    rows: list[LabelRow] = []
    for label in label_set.labels if label_set else ():
        names = [text for text in places if label_set is not None and label_set.find(target_text(text)) == label]
        group = _group_text(label.group(by), by) if by != NONE else ""
        rows += [LabelRow(name, places.pop(name), group) for name in names] or [LabelRow(label.text, None, group)]
    rows += [LabelRow(text, place) for text, place in places.items()]
    order = list(dict.fromkeys(row.group for row in rows if row.group))
    return sorted(rows, key=lambda row: order.index(row.group) if row.group else len(order))


def _group_text(group: str, by: str) -> str:
    if by != "western":
        return group
    return {"yes": _("Western"), "no": _("Other")}.get(group, "")


def not_asked() -> Estimate:
    """The number of a label that nobody was asked about."""
    return Estimate.undefined(reason="not_asked", method="none")


def not_asked_cells(n: int) -> tuple[Cell, ...]:
    """The cells of the row of such a label."""
    return tuple(Cell(not_asked()) for _number in range(n))


def table_rows(inputs: TableInputs, stage: str, asked: Sequence[str]) -> tuple[list[LabelRow], list[Words]]:
    """The rows that the options LABEL_SET and GROUPS ask for, and the sentence that stands under the table."""
    label_set = label_set_of(inputs.benchmark, stage, inputs.chosen.get(LABEL_SET.key, ASKED))
    rows = rows_by_label(label_set, asked, inputs.chosen.get(GROUPS.key, NONE))
    return rows, set_words(label_set)


def set_words(label_set: LabelSetSpec | None) -> list[Words]:
    """Set and version, as they stand under a table; nothing without a set."""
    if label_set is None:
        return []
    if not label_set.version:
        return [_("Label set: %(name)s, built in.") % {"name": label_set.name}]
    return [_("Label set: %(name)s, version %(version)s.") % _names(label_set.name, label_set.version)]


def western_of(label_set: LabelSetSpec | None, names: Sequence[str]) -> Mapping[str, bool | None]:
    """Whether each of these is Western by the set; None where the set does not say."""
    labels = {name: label_set.find(target_text(name)) if label_set else None for name in names}
    return {name: label.western if label else None for name, label in labels.items()}
