"""Whose answers ValueGround's tables are made from: which row a model rater is, and what was put to it.

A setting of the paper's own makes a row with the model's name. Any other makes a rater of its own, "Model, setting":
two ways of asking one model are never mixed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from django.utils.translation import gettext as _

from annotation.models import Unit
from evaluation.metrics.classification import MISSING
from evaluation.metrics.counts import Ints
from evaluation.queries.call_statistics import call_statistics as calls_of
from evaluation.queries.observations import ObservedItem, ObservedRater, observed_items, observed_raters
from evaluation.queries.rating_rows import target_names
from evaluation.tables.table_inputs import TableInputs
from people.models import Rater
from predictions.models import Run

CHOICE, ALIGNMENT = "choice", "alignment"
MODELS = ("model",)
MAIN, TEXT, MATCHING = "main", "text_only", "alignment"
PLAIN: Mapping[str, tuple[str, ...]] = {
    MAIN: ("main", ""), TEXT: ("text_only",), MATCHING: ("alignment", "", "main", "text_only"),
}  # fmt: skip
"""Settings of the paper's own; of several that one model has, the first makes the row with its name."""
PROMPTS = {"valueground-main": MAIN, "valueground-main-no-country": MAIN, "valueground-text": TEXT}


@dataclass(frozen=True, eq=False)
class PresentedUnits:
    """What was put to model raters, m times one of them and one unit. `item` and `target` (m,) are places in the
    tuples, `rater` (m,) ids, `code` (m,) MISSING where no value came of it. `told`: the raters whose calls are known;
    of the others, whose answers came in a file, nobody knows what they were asked besides."""

    items: tuple[ObservedItem, ...]
    targets: tuple[str, ...]
    item: Ints
    target: Ints
    rater: Ints
    code: Ints
    raters: tuple[ObservedRater, ...]
    told: frozenset[int]
    campaigns: tuple[int, ...]


_UNIT = ("pk", "item", "target", "label_set")


def presented_units(inputs: TableInputs, stage: str, read: Callable[[tuple[str, ...]], Ints]) -> PresentedUnits:
    """Of a stage whose one question has its key. `read` gives the codes' numbers. Raises Missing without an answer."""
    observations = inputs.observed(stage, stage, MODELS)
    selection = inputs.selection(stage, stage, MODELS)
    without = inputs.models_left_out(selection)
    calls = {rater: call_statistics for rater, call_statistics in calls_of(selection).items() if rater not in without}
    failed = {(rater, unit) for rater, call_statistics in calls.items() for unit in call_statistics.failed}
    units = Unit.objects.filter(pk__in={unit for _rater, unit in failed}, item__withdrawn_at=None)
    rows = [(pk, item, (target, label_set or 0)) for pk, item, target, label_set in units.values_list(*_UNIT)]
    asked = Unit.objects.filter(item__stage__benchmark=inputs.benchmark, item__stage__key=stage) if rows else units
    names = target_names({(target, label_set or 0) for target, label_set in asked.values_list(*_UNIT[2:]).distinct()})
    about = {pk: (item, names[target]) for pk, item, target in rows}
    lost = sorted((rater, *about[unit]) for rater, unit in failed if unit in about)
    items = (
        *observations.items,
        *observed_items({item for _rater, item, _target in lost} - {item.pk for item in observations.items}),
    )
    targets = tuple(sorted({*observations.targets, *(target for *_rest, target in lost)}))
    place = {item.pk: n for n, item in enumerate(items)}
    of_target = np.array([targets.index(target) for target in observations.targets], np.int64)
    rater_pks = np.array([rater.pk for rater in observations.raters], np.int64)[observations.rater]
    unread = np.array([(rater, place[item], targets.index(t)) for rater, item, t in lost], np.int64).reshape(-1, 3)
    return PresentedUnits(  # what was answered comes last: an answer stands, though another call about it had none
        items=items,
        targets=targets,
        rater=np.concatenate([unread[:, 0], rater_pks]),
        item=np.concatenate([unread[:, 1], observations.item]),
        target=np.concatenate([unread[:, 2], of_target[observations.target]]),
        code=np.concatenate([np.full(len(lost), MISSING), read(observations.codes)[observations.code]]),
        raters=tuple(observed_raters(inputs.benchmark, sorted({*rater_pks.tolist(), *unread[:, 0].tolist()}))),
        told=frozenset(calls),
        campaigns=selection.campaigns,
    )


def rows_of(
    raters: Iterable[ObservedRater | Rater], campaigns: Iterable[int], kinds: tuple[str, ...] = (MAIN, TEXT)
) -> dict[str, dict[int, str]]:
    """By kind, the row of each rater that was asked so: `kinds` are MAIN and TEXT, or MATCHING alone."""
    raters_by_kind: dict[str, list[ObservedRater | Rater]] = {kind: [] for kind in kinds}
    raters = list(raters)
    asked = Run.objects.filter(campaign__in=campaigns, task=Run.Task.ANSWERS, withdrawn_at=None, prompt__in=PROMPTS)
    prompts = dict(asked.filter(rater__in=[one.pk for one in raters]).order_by("pk").values_list("rater", "prompt"))
    for rater in raters:
        words = rater.setting.casefold().replace("-", "_").replace(" ", "_")
        by_setting = TEXT if words.startswith(TEXT) else MAIN
        kind = kinds[0] if len(kinds) == 1 else PROMPTS.get(prompts.get(rater.pk, ""), by_setting)
        raters_by_kind[kind].append(rater)
    return {kind: _rater_names(some, PLAIN[kind]) for kind, some in raters_by_kind.items()}


def _rater_names(raters: list[ObservedRater | Rater], plain: tuple[str, ...]) -> dict[int, str]:
    settings: dict[str, set[str]] = {}
    for rater in raters:
        settings.setdefault(rater.name, set()).add(rater.setting)
    first = {name: next((one for one in plain if one in some), None) for name, some in settings.items()}
    return {one.pk: one.name if one.setting == first[one.name] else _with_setting(one) for one in raters}


def _with_setting(one: ObservedRater | Rater) -> str:
    setting = one.setting or _("no setting")
    return f"{one.name}, {setting}"
