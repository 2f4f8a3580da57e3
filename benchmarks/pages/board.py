"""The board of the overview: one row for each cohort, model and judge, one column for each stage in its order.

Apps above this one register the rows that they know of in AppConfig.ready.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property, lru_cache
from typing import Any, Literal

from django.urls import reverse
from django.utils.formats import number_format
from django.utils.html import format_html
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from benchmarks.access import is_permitted
from benchmarks.models import Benchmark, Stage
from benchmarks.pages.plugin_pages import page_filling
from benchmarks.pages.stage_sources import filling_page, source_text
from benchmarks.queries.overview import StageItems, stage_items
from people.models import User

TIGHT = 6  # from so many cohorts on, words stand only where something waits or is stuck
ALL_COHORTS = 0  # the key of their row


@dataclass(frozen=True)
class Note:
    """What a cell says beside its numbers. `kind`: "wait" where somebody else is to do something, "late" where nothing
    goes on or something is lost; empty for what is only good to know. `url`: the items it speaks of."""

    text: str
    url: str = ""
    kind: Literal["", "wait", "late"] = ""


@dataclass(frozen=True)
class Cell:
    """`wanted` is None where no number is wanted. `is_stuck` frames the cell: its notes say why. `url`: its items."""

    done: int = 0
    wanted: int | None = None
    url: str = ""
    notes: Sequence[Note] = ()
    is_stuck: bool = False

    @property
    def step(self) -> int:
        """In twentieths, for the page's policy allows no style of its own to a cell; the last one only if complete."""
        if not self.wanted:
            return 0
        return 20 if self.is_complete else min(19, 20 * self.done // self.wanted)

    @property
    def is_complete(self) -> bool:
        """Whether all that is wanted is there, and waits for nobody's decision."""
        return bool(self.wanted) and self.done >= (self.wanted or 0) and all(note.kind != "wait" for note in self.notes)

    @cached_property
    def done_text(self) -> str:
        """Empty where there is nothing to count."""
        return board_number(self.done) if self.wanted is not None or self.done else ""

    @cached_property
    def wanted_text(self) -> str:
        return "" if self.wanted is None else _("of %(n)s") % {"n": board_number(self.wanted)}

    @property
    def classes(self) -> str:
        if self.is_stuck:
            return "cell hole"
        return "cell full" if self.is_complete else "cell"


@dataclass(frozen=True)
class Row:
    """`cells` by the stage's id; a stage without one is none of the row's business. `end`: when it is done. `key`: the
    cohort's id, or ALL_COHORTS; None of rows that are no cohort's."""

    name: str
    cells: Mapping[int, Cell]
    note: str = ""
    end: str = ""
    url: str = ""
    key: int | None = None

    @property
    def is_stuck(self) -> bool:
        return any(cell.is_stuck for cell in self.cells.values())


@dataclass(frozen=True)
class Sum:
    """A figure above the board. `notes`: n, an interval, and of what; without a value, why there is none. `place`: its
    order among them."""

    place: int
    title: str
    value: str
    notes: Sequence[str]
    url: str = ""


@dataclass(frozen=True)
class Rows:
    """`total`: all of them together, where that means something. `title` is empty for the first."""

    rows: Sequence[Row]
    title: str = ""
    total: Row | None = None
    sums: Sequence[Sum] = ()


@dataclass(frozen=True)
class Reading:
    """What rows are made from: the stages in their order with their items, and who reads them when. `asked`: what the
    address asks for."""

    benchmark: Benchmark
    user: User
    at: datetime
    stages: Sequence[Stage]
    items: Mapping[int, StageItems]
    works: bool
    reviews: bool
    asked: Mapping[str, str] = field(default_factory=dict)

    def items_url(self, stage: Stage, **query: str | int) -> str:
        return address("benchmarks:items", self.benchmark, stage=stage.key, **query)


@dataclass(frozen=True)
class BoardColumn:
    """`source`: where its items come from, while there are none."""

    stage: Stage
    note: str
    source: str
    url: str

    @cached_property
    def cell_attributes(self) -> str:
        """Of each of its cells: the name that a card shows, and the stage's key."""
        return format_html('data-l="{}" data-stage="{}"', self.stage.name, self.stage.key)


@dataclass(frozen=True)
class SideColumn:
    """A column of another app before the last one. `cells` by the key of a row. The templates take `side`, that of a
    cell `cell` too; `style` is a class of the board."""

    title: str
    head: str
    cell: str
    below: str
    cells: Mapping[int, Any]
    data: Mapping[str, Any]
    style: str = ""
    sums: Sequence[Sum] = ()


@dataclass(frozen=True)
class PlacedRow:
    """A row with a cell, or None, for each column."""

    row: Row
    cells: Sequence[tuple[BoardColumn, Cell | None]]
    side: Any = None


@dataclass(frozen=True)
class BoardGroup:
    title: str
    rows: Sequence[PlacedRow]
    total: PlacedRow | None


@dataclass(frozen=True)
class Board:
    columns: Sequence[BoardColumn]
    groups: Sequence[BoardGroup] = field(default_factory=list)
    is_tight: bool = False
    side: SideColumn | None = None
    sums: Sequence[Sum] = ()

    @property
    def width(self) -> int:
        """Columns of the table."""
        return len(self.columns) + (2 if self.side is None else 3)


Source = Callable[[Reading], Rows]
SideSource = Callable[[Reading], SideColumn | None]
_SOURCES: list[Source] = []
_SIDES: list[SideSource] = []


def register(source: Source) -> None:
    if source not in _SOURCES:
        _SOURCES.append(source)


def register_side(source: SideSource) -> None:
    """Of several the first one that has something to show is shown."""
    if source not in _SIDES:
        _SIDES.append(source)


def address(name: str, benchmark: Benchmark, *args: int | str, **query: str | int) -> str:
    path = _path(name, benchmark.slug, *args)
    return f"{path}?{urlencode(query)}" if query else path


@lru_cache(maxsize=2048)
def _path(name: str, *args: int | str) -> str:
    """A board has hundreds of addresses of a few pages."""
    return reverse(name, args=args)


def board_number(n: int) -> str:
    """As it is written in this language; below a thousand nothing separates digits."""
    return str(n) if 0 <= n < 1000 else str(number_format(n, use_l10n=True))


def board_of(benchmark: Benchmark, user: User, at: datetime, asked: Mapping[str, str] | None = None) -> Board:
    """A fixed number of queries, whatever there is in the benchmark."""
    stages = list(benchmark.stages.all())
    for stage in stages:
        stage.benchmark = benchmark
    reading = Reading(
        benchmark, user, at, stages, stage_items(stages),
        works=is_permitted(user, benchmark, "work_on"), reviews=is_permitted(user, benchmark, "review"),
        asked=asked or {},
    )  # fmt: skip
    columns = [_column(reading, stage) for stage in stages]
    side = next(filter(None, (source(reading) for source in _SIDES)), None)
    sources = [rows for rows in (source(reading) for source in _SOURCES) if rows.rows]
    groups = [_group(columns, rows, side) for rows in sources]
    sums = [of_rows for rows in sources for of_rows in rows.sums]
    is_tight = any(len(group.rows) >= TIGHT and group.total for group in groups)
    # Agreement alone says little while nobody was asked.
    shown = sorted([*sums, *(side.sums if side else ())], key=lambda figure: figure.place) if sums else []
    return Board(columns, groups, is_tight, side, shown)


def _column(reading: Reading, stage: Stage) -> BoardColumn:
    items = reading.items[stage.pk]
    if items.total:
        note = ngettext("%(n)s item", "%(n)s items", items.total) % {"n": number_format(items.total, use_l10n=True)}
        return BoardColumn(stage, note, "", reading.items_url(stage))
    page, filled_by = page_filling(stage), filling_page(stage)
    url = address("benchmarks:import", reading.benchmark, stage=stage.key)
    if page is not None:
        url = reverse("benchmarks:plugin_page", args=[reading.benchmark.slug, page.key])
    elif filled_by is not None:
        url = filled_by.url(stage)
    offered = url if reading.works and not stage.derivation else ""
    return BoardColumn(stage, _("No items yet"), source_text(stage, reading.stages), offered)


def _group(columns: Sequence[BoardColumn], rows: Rows, side: SideColumn | None) -> BoardGroup:
    ordered = list(rows.rows)
    if rows.total and len(ordered) >= TIGHT:
        ordered.sort(key=lambda row: not row.is_stuck)
    total = _place(columns, rows.total, side) if rows.total else None
    return BoardGroup(rows.title, [_place(columns, row, side) for row in ordered], total)


def _place(columns: Sequence[BoardColumn], row: Row, side: SideColumn | None) -> PlacedRow:
    side_cell = side.cells.get(row.key) if side is not None and row.key is not None else None
    return PlacedRow(row, [(column, row.cells.get(column.stage.pk)) for column in columns], side_cell)
