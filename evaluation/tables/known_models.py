"""What is known of the models themselves: a table of texts, from what stands with each model rater."""

from __future__ import annotations

from contextlib import suppress
from functools import partial

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from evaluation.observations import Who
from evaluation.tables.given import Given
from evaluation.tables.spec import Cell, Missing, Row, Table, TableSpec, Words
from people.models import Rater

HIDDEN = ("family",)  # heads the block of rows


def about_models(tasks: tuple[str, ...] = (), stage: tuple[str, str] | None = None, number: str = "") -> TableSpec:
    """The models of the runs of these tasks, or of the answers to a question of a stage (its key, the field's)."""
    return TableSpec(
        "models",
        number,
        gettext_lazy("The models"),
        gettext_lazy("Predictions of a model, with what is known of it."),
        partial(_build, tasks, stage),
    )


def _build(tasks: tuple[str, ...], stage: tuple[str, str] | None, given: Given) -> Table:
    raters = _raters(given, tasks, stage)
    if not raters:
        raise Missing(_("There are no predictions of this kind yet."))
    listed = sorted(raters.values(), key=lambda one: (str(one.about.get("family") or ""), one.name, one.setting))
    columns = list(dict.fromkeys(key for rater in listed for key in rater.about if key not in HIDDEN))
    rows = [
        Row(
            f"{rater.name} ({rater.setting})" if rater.setting else rater.name,
            tuple(Cell(text=_text(rater.about.get(column))) for column in columns),
            str(rater.about.get("family") or ""),
        )
        for rater in listed
    ]
    names: list[Words] = [column.replace("_", " ").capitalize() for column in columns]
    return given.table(corner=_("Model"), columns=names, rows=rows)


def _raters(given: Given, tasks: tuple[str, ...], stage: tuple[str, str] | None) -> dict[int, Who | Rater]:
    if stage:
        return {said.who.pk: said.who for said in given.answers(*stage, ("model",))}
    found: dict[int, Who | Rater] = {}
    for task in tasks:
        with suppress(Missing):
            found |= {run.rater.pk: run.rater for run in given.runs(task)}
    return found


def _text(value: object) -> str:
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    return "" if value is None else str(value)
