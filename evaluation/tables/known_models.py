"""What is known of the models themselves: a table of texts, from what stands with each model rater."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from evaluation.queries.observations import ObservedRater
from evaluation.rendering.report import Cell, Row, Words
from evaluation.tables.sources import ALL, COLLECTION, by_collection, name_of, setting_of, title_of
from evaluation.tables.spec import TableSpec
from evaluation.tables.table import MissingData, Table
from evaluation.tables.table_inputs import TableInputs
from people.models import Rater
from predictions.models import Run
from predictions.queries.results import runs_of

HIDDEN = ("family",)  # heads the block of rows


def about_models(tasks: tuple[str, ...] = (), stage: tuple[str, str] | None = None, number: str = "") -> TableSpec:
    """The models of the runs of these tasks, or of the answers to a question of a stage (its key, the field's)."""
    return TableSpec(
        "models",
        number,
        gettext_lazy("The models"),
        gettext_lazy("What is known of each model. The team's page “Model details” takes what is missing."),
        partial(_build, tasks, stage),
    )


def _build(tasks: tuple[str, ...], stage: tuple[str, str] | None, inputs: TableInputs) -> Table:
    """A row is a model and no number: models of several collections stand here together, each with its collections."""
    runs = _runs(inputs, tasks)
    raters: dict[int, ObservedRater | Rater] = {run.rater_id: run.rater for run in runs}
    if stage:
        raters = {answer.rater.pk: answer.rater for answer in inputs.answers(*stage, ("model",))}
    if not raters:
        raise MissingData(_("There are no predictions of this kind yet."))
    models = _by_name(raters.values())
    columns = list(dict.fromkeys(key for variants in models for one in variants for key in one.about))
    columns = [column for column in columns if column not in HIDDEN]
    rows = [
        Row(
            variants[0].name,
            (*(Cell(text=_known(variants, column)) for column in columns), *_collections(variants, runs)),
            _known(variants, "family"),
        )
        for variants in models
    ]
    if with_variants := any(one.setting for variants in models for one in variants):
        asked = [", ".join(setting_of(one.setting) for one in variants) for variants in models]
        rows = [replace(row, cells=(*row.cells, Cell(text=text))) for row, text in zip(rows, asked, strict=True)]
    names: list[Words] = [column.replace("_", " ").capitalize() for column in columns]
    names += [_("Collections")] if runs else []
    names += [_("Prompt variants")] if with_variants else []
    return inputs.table(corner=_("Model"), columns=names, rows=rows)


def _runs(inputs: TableInputs, tasks: tuple[str, ...]) -> list[Run]:
    """Over the collection that the reader chose; over all of them by default."""
    runs = [run for task in tasks for run in runs_of(inputs.benchmark, task)]
    if not runs:
        return []
    grouped = by_collection(runs)
    named = {name_of(one): one for one in grouped}
    chosen = inputs.choose(COLLECTION, {ALL: _("all"), **{name: title_of(one) for name, one in named.items()}})
    kept = runs if chosen == ALL else grouped[named[chosen]]
    inputs.used_runs |= {run.pk: run for run in kept}
    return kept


def _by_name(raters: Iterable[ObservedRater | Rater]) -> list[list[ObservedRater | Rater]]:
    """A model is a rater for each way in which it was asked: these together, in the order of family and name."""
    models: dict[str, list[ObservedRater | Rater]] = defaultdict(list)
    for rater in sorted(raters, key=lambda one: (one.name, one.setting)):
        models[rater.name].append(rater)
    return sorted(models.values(), key=lambda variants: (_known(variants, "family"), variants[0].name))


def _known(variants: Sequence[ObservedRater | Rater], column: str) -> str:
    """What is known of a model; where its raters say different things, all of these."""
    texts = (_text(rater.about.get(column)) for rater in variants)
    return ", ".join(dict.fromkeys(filter(None, texts)))


def _collections(variants: Sequence[ObservedRater | Rater], runs: Sequence[Run]) -> list[Cell]:
    if not runs:
        return []
    raters = {rater.pk for rater in variants}
    names = dict.fromkeys(name_of(run.pool) for run in runs if run.rater_id in raters)
    return [Cell(text=", ".join(names))]


def _text(value: object) -> str:
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    return "" if value is None else str(value)
