"""What was said about what, by whom: every code of one question, of people and models alike, as parallel arrays.

Reports of the papers are made from this. Who is counted is the selection's business, what it means the metrics'.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from benchmarks.models import Benchmark, Item
from evaluation.metrics.counts import Bools, Floats, Ints, Ratings
from evaluation.queries.rating_rows import coded_rows, target_names
from evaluation.queries.ratings import counted_annotations, renumber, select_repeats
from evaluation.selections.selection import Selection
from people.models import Cohort, Rater


@dataclass(frozen=True)
class ObservedItem:
    """An item, as reports cut by it."""

    pk: int
    key: str
    concept: str
    origin: str
    condition: str
    text: str
    context: Mapping[str, Any] = field(hash=False, default_factory=dict)


@dataclass(frozen=True)
class ObservedRater:
    """A rater: a person by the name they bear in this benchmark, a model by its own and by how it was asked."""

    pk: int
    kind: str
    name: str
    setting: str = ""
    about: Mapping[str, Any] = field(hash=False, default_factory=dict)

    @property
    def is_model(self) -> bool:
        return self.kind == Rater.Kind.MODEL


def rater_label(rater: Rater | ObservedRater) -> str:
    """The name, and how it was asked."""
    return f"{rater.name} ({rater.setting})" if rater.setting else rater.name


_ROWS = ("item", "target", "rater", "cohort", "code", "value", "unit_pk")


@dataclass(frozen=True, eq=False)
class Observations:
    """n codes. `item`, `target`, `rater`, `cohort` and `code` (n,) are places in the tuples of the same name; `cohort`
    is -1 where the answer belongs to none. `value` (n,) is the code as a number, NaN where it has none.

    A rater says one thing about a unit (item and target) at most: repeats are settled by the selection. Rows are by the
    unit's and the rater's id, as the readers have them: so the same sum is made in the same order by every door.
    """

    level: str
    item: Ints
    target: Ints
    rater: Ints
    cohort: Ints
    code: Ints
    value: Floats
    items: tuple[ObservedItem, ...]
    targets: tuple[str, ...]
    raters: tuple[ObservedRater, ...]
    cohorts: tuple[str, ...]
    codes: tuple[str, ...]
    unit_pk: Ints  # (n,)

    @property
    def n(self) -> int:
        return int(self.item.size)

    @cached_property
    def unit(self) -> Ints:
        """(n,) one number for each item and target: what everything is paired by."""
        return self.item * max(len(self.targets), 1) + self.target

    def where(self, mask: Bools) -> Observations:
        """Only these rows; the tuples stay whole, so that places mean the same in every part."""
        rows = {name: getattr(self, name)[mask] for name in _ROWS}
        return replace(self, **rows)

    @cached_property
    def by_model(self) -> Bools:
        """(n,) whether a model said it."""
        kinds = np.array([rater.is_model for rater in self.raters], bool)
        return kinds[self.rater] if self.n else np.zeros(0, bool)

    @property
    def people(self) -> Observations:
        return self.where(~self.by_model)

    def of_rater(self, place: int) -> Observations:
        return self.where(self.rater == place)

    def of_item(self, wanted: Mapping[str, Any]) -> Bools:
        """(n,) rows whose item has these properties: attributes of ObservedItem, else keys of its context."""
        fits = np.array([all(_property(item, k) == v for k, v in wanted.items()) for item in self.items], bool)
        return fits[self.item] if self.n else np.zeros(0, bool)

    def item_values(self, name: str) -> list[Any]:
        """A property of every item of `items`: an ObservedItem attribute, else a key of its context (None without)."""
        return [_property(item, name) for item in self.items]

    def models(self, setting: str | None = None) -> list[tuple[int, ObservedRater]]:
        """Model raters that said something here, with their places; by name, then by setting."""
        there = set(np.unique(self.rater).tolist()) if self.n else set()
        found = [(n, rater) for n, rater in enumerate(self.raters) if rater.is_model and n in there]
        wanted = [(n, rater) for n, rater in found if setting is None or rater.setting == setting]
        return sorted(wanted, key=lambda pair: (pair[1].name, pair[1].setting))

    @property
    def ratings(self) -> Ratings:
        """For the measures: units and raters renumbered, nominal codes by their place in `codes`; else the codes that
        are no number (none on an ordered scale) are left out."""
        if self.level != "nominal" and np.isnan(self.value).any():
            return self.where(~np.isnan(self.value)).ratings
        units, unit = renumber(self.unit_pk)
        raters, rater = renumber(self.rater)
        value = self.code.astype(np.float64) if self.level == "nominal" else self.value
        return Ratings(unit, rater, value, units, raters)


def _property(thing: ObservedItem, name: str) -> Any:
    return getattr(thing, name) if name in ObservedItem.__dataclass_fields__ else thing.context.get(name)


def observe(selection: Selection) -> Observations:
    """Everything the selection counts, in one streamed query; names are read once for each thing, not for each row."""
    coded = coded_rows(selection)
    everybody = np.unique(coded.rows["rater"]).tolist()
    raters = observed_raters(Benchmark.objects.get(pk=selection.benchmark_id), everybody)
    rater = _map_values(coded.rows["rater"], {who.pk: place for place, who in enumerate(raters)})
    once_each = select_repeats(coded.rows["unit"] * max(len(raters), 1) + rater, coded.rows, selection.repeats)
    rows, place = coded.rows[once_each], coded.place[once_each]
    items = observed_items(set(np.unique(coded.units.item[place]).tolist()))
    present, target = np.unique(coded.units.target[place], return_inverse=True)
    cohort_ids = [int(c) for c in np.unique(rows["cohort"]) if c >= 0]
    labels = Cohort.objects.in_bulk(cohort_ids)
    return Observations(
        level=selection.level,
        item=_map_values(coded.units.item[place], {item.pk: place for place, item in enumerate(items)}),
        target=target,
        rater=rater[once_each],
        cohort=_map_values(rows["cohort"], {-1: -1} | {pk: place for place, pk in enumerate(cohort_ids)}),
        code=rows["code"].astype(np.int64),
        value=rows["value"].astype(np.float64),
        items=tuple(items),
        targets=tuple(coded.units.targets[n] for n in present),
        raters=tuple(raters),
        cohorts=tuple(labels[pk].label for pk in cohort_ids),
        codes=coded.codes,
        unit_pk=rows["unit"].astype(np.int64),
    )


@dataclass(frozen=True)
class RawAnswer:
    """One whole answer of a field that has no single code: a text, boxes, a grouping."""

    thing: ObservedItem
    target: str
    rater: ObservedRater
    cohort: str
    answer: Any


def answers(selection: Selection) -> Iterator[RawAnswer]:
    """Answers as they were given, of the same rows that `observe` would count; one per unit and rater, by item key."""
    rows = counted_annotations(selection).filter(answers__has_key=selection.field)
    names = (
        "assignment__unit__item_id", "assignment__unit__target", "assignment__unit__label_set_id", "rater_id",
        "cohort__label", "answers",
    )  # fmt: skip
    latest: dict[tuple[int, str, int, int], tuple[str, Any]] = {}
    for item, target, label_set, rater, cohort, answers_json in rows.values_list(*names).iterator(chunk_size=2000):
        key = (item, target, label_set or 0, rater)
        if selection.repeats == "latest" or key not in latest:
            latest[key] = (cohort or "", answers_json[selection.field])
    items = {one.pk: one for one in observed_items({item for item, *_rest in latest})}
    benchmark = Benchmark.objects.get(pk=selection.benchmark_id)
    known = {one.pk: one for one in observed_raters(benchmark, [rater for *_rest, rater in latest])}
    texts = target_names({(target, label_set) for _item, target, label_set, _rater in latest})
    for (item, target, label_set, rater), (cohort, answer) in sorted(
        latest.items(), key=lambda pair: items[pair[0][0]].key
    ):
        yield RawAnswer(items[item], texts[target, label_set], known[rater], cohort, answer)


def observed_items(pks: set[int]) -> list[ObservedItem]:
    """By key."""
    names = ("pk", "key", "concept", "origin", "condition", "text", "context")
    items = [ObservedItem(*row) for row in _iter_rows(Item, np.array(sorted(pks), np.int64), names)]
    return sorted(items, key=lambda item: item.key)


def observed_raters(benchmark: Benchmark, pks: list[int]) -> list[ObservedRater]:
    """People first, then models, each by name."""
    rows_by_pk = Rater.objects.in_bulk(list(set(pks)))
    raters = [
        ObservedRater(r.pk, r.kind, r.name, r.setting, r.about)
        if r.kind == Rater.Kind.MODEL
        else ObservedRater(r.pk, r.kind, benchmark.pseudonym(r.pk))
        for r in rows_by_pk.values()
    ]
    return sorted(raters, key=lambda rater: (rater.is_model, rater.name, rater.setting, rater.pk))


def _iter_rows(model: Any, pks: Any, names: tuple[str, ...]) -> Iterator[tuple[Any, ...]]:
    ids = [int(pk) for pk in pks]
    for start in range(0, len(ids), 20_000):
        yield from model.objects.filter(pk__in=ids[start : start + 20_000]).values_list(*names)


def _map_values(values: Any, to: Mapping[int, int]) -> Ints:
    """Each value's place; by a sorted table, not by a loop over rows."""
    if not values.size:
        return np.zeros(0, np.int64)
    distinct, inverse = np.unique(values, return_inverse=True)
    places: Ints = np.array([to[int(one)] for one in distinct], np.int64)[inverse]
    return places
