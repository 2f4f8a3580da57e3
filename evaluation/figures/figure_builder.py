"""Figures from the benchmark to what the page and the files take."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from typing import Any
from urllib.parse import urlencode

from django.utils.translation import get_language
from django.utils.translation import gettext as _

from annotation.queries.answers import watermark
from benchmarks.models import Benchmark
from evaluation.figures.caption import caption_of
from evaluation.figures.figure import NARROW, Figure, Words
from evaluation.figures.pictures import signed_address
from evaluation.figures.registry import figures_of
from evaluation.figures.spec import OWN_OPTIONS, FigureData, FigureSpec
from evaluation.rendering.html import page_table
from evaluation.reports.filters import build_select, filters
from evaluation.selections.catalogue import catalogue_of
from evaluation.selections.selection import NAMES, Params, SelectionError, refuse_unknown
from evaluation.tables.page import action_links
from evaluation.tables.ranked_lists import labels_of
from evaluation.tables.sources import COLLECTION, by_collection, name_of, title_of
from evaluation.tables.table import MissingData, TableHeading
from evaluation.tables.table_inputs import InvalidOption
from predictions.models import Collection, Run
from predictions.queries.results import runs_of

log = logging.getLogger(__name__)
PAGE_WIDE = 1092.0  # px, with its margins the inside of a plate on a wide page; files are as wide as a paper takes
SHOWN_ROWS = 200  # of a figure's data on the page; all of them are in its CSV
TASKS = ("retrieval", "forced_choice", "embedding")  # whose runs figures let one choose from
HIDDEN = ("by", "raters")  # each figure says itself what it is cut by, and whose answers it shows


def figure_data(benchmark: Benchmark, params: Params, at: datetime, zone: tzinfo = UTC) -> FigureData:
    return FigureData(
        heading=TableHeading("", "", ""),
        benchmark=benchmark,
        catalogue=catalogue_of(benchmark),
        params=params,
        chosen={},
        at=at,
        watermark=watermark(benchmark),
        zone=zone,
    )


def _collections(ground: FigureData) -> dict[Collection, list[Run]]:
    """The newest first, with every complete run over each."""
    return by_collection([run for task in TASKS for run in runs_of(ground.benchmark, task)])


def _labels(ground: FigureData) -> list[str]:
    """Of the runs over each collection, by task, as figures label them."""
    labels: dict[str, None] = {}
    for runs in _collections(ground).values():
        for task in TASKS:
            labels |= dict.fromkeys(labels_of([run for run in runs if run.task == task]).values())
    return list(labels)


def _names(ground: FigureData) -> list[str]:
    return [name_of(collection) for collection in _collections(ground)]


# The collection may be named several times, for figures that read others.
OWN_OPTIONS |= {"run": _labels, COLLECTION: _names}


def check_own_options(ground: FigureData) -> None:
    """Raises SelectionError for a query or run that is not here."""
    for name, known_of in OWN_OPTIONS.items():
        values = [str(value) for value in ground.params.getlist(name) if value]
        if not values:
            continue
        try:
            known = known_of(ground)
        except MissingData:
            known = []
        for value in values:
            refuse_unknown(name, value, known)
    ground.used_runs, ground.choices = {}, {}


def build_figure(ground: FigureData, spec: FigureSpec) -> Figure:
    """Raises MissingData and SelectionError."""
    ground.begin(spec)
    try:
        return spec.build(ground)
    except InvalidOption as error:
        raise SelectionError(error.name, error.message) from None


@dataclass(frozen=True)
class PageFigure:
    """A figure on the page, drawn for a wide and for a narrow one; or only what it needs."""

    spec: FigureSpec
    missing: str = ""
    figure: Figure | None = None
    wide: str = ""
    narrow: str = ""
    doors: Sequence[tuple[str, Words]] = ()  # addresses and names of where what is missing is brought

    @property
    def caption(self) -> str:
        assert self.figure is not None
        return caption_of(self.figure)

    @property
    def table(self) -> dict[str, Any]:
        """The first rows of the data, for templates/evaluation/report/table.html."""
        assert self.figure is not None
        first = replace(self.figure, rows=self.figure.rows[:SHOWN_ROWS])
        title = self.figure.title
        label = f"{_('Data as a table')}, {title}"  # another one than that of the figure's section
        return page_table(first.report, "data", title) | {"scrolls": f"{self.spec.key}-data", "label": label}


def page_figures(ground: FigureData) -> Iterator[PageFigure]:
    """Every figure of the benchmark, or why it is not drawn."""
    href = signed_address(ground.benchmark)
    for spec in figures_of(ground.benchmark):
        try:
            figure = build_figure(ground, spec)
            wide = figure.svg(PAGE_WIDE, prefix=f"{spec.key}-w", href=href)
            narrow = figure.svg(NARROW, prefix=f"{spec.key}-n", href=href)
        except MissingData as missing:
            yield PageFigure(spec, str(missing.message), doors=action_links(missing, ground.benchmark))
        except SelectionError as error:
            yield PageFigure(spec, error.message)
        except Exception:  # the page is half sent by now: one faulty figure must not end it
            log.exception("Figure %s of benchmark %s could not be drawn", spec.key, ground.benchmark.slug)
            yield PageFigure(
                spec, _("The figure could not be drawn because of an internal error. Ask an administrator.")
            )
        else:
            yield PageFigure(spec, "", figure, wide, narrow)


def form_of(ground: FigureData) -> dict[str, Any]:
    """The selects above the figures, and what their files' addresses carry. Raises SelectionError."""
    check_own_options(ground)
    query = urlencode(
        [(name, value) for name in (*NAMES, *OWN_OPTIONS) for value in ground.params.getlist(name) if value]
    )
    selects = _collection_select(ground)
    if not ground.has_questions:
        return {"selects": selects, "carried": [], "query": query}
    form = filters(ground.catalogue, ground.asked, get_language() or "en")
    form |= {place: [one for one in form[place] if one["name"] not in HIDDEN] for place in ("selects", "more")}
    return {**form, "selects": [*selects, *form["selects"]], "query": query}


def _collection_select(ground: FigureData) -> list[dict[str, Any]]:
    """Where there are several; each figure takes the newest that it can be made from until one is chosen."""
    titles = {name_of(collection): title_of(collection) for collection in _collections(ground)}
    asked = [str(value) for value in ground.params.getlist(COLLECTION) if value]
    if len(titles) < 2 or len(asked) > 1:
        return []
    values = {"": _("The newest of each figure"), **titles}
    return [build_select(COLLECTION, _("Collection"), values, asked[0] if asked else "", clears="run universal")]
