"""Agreement per cohort and condition, in the form of CAIRE's Table 14; or per question, version or week besides. Pages
and files render it."""

from dataclasses import dataclass, field, replace
from datetime import datetime

import numpy as np

from annotation.readers import watermark
from evaluation.catalogue import Catalogue
from evaluation.measures import Measure, default_measure
from evaluation.metrics.counts import Ratings
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.partitions import Partitions
from evaluation.partitions import partitions, weekly_partitions
from evaluation.readers import Read, asked_units, ratings, weekly
from evaluation.selection import Selection
from people.models import Cohort


@dataclass(frozen=True)
class Cell:
    """One cohort under one condition: an estimate for each measure of the report.

    `n_asked` counts the units the cohort was asked for, `n_units` those that somebody has rated, `n_pairable` those
    that two have: the rest can agree with nobody (None in a report that was kept before these were counted).
    """

    condition: str
    estimates: tuple[Estimate, ...]
    n_units: int
    n_raters: int
    n_ratings: int
    n_asked: int
    n_pairable: int | None = None

    @property
    def n_alone(self) -> int:
        """Units that one person alone has rated."""
        return 0 if self.n_pairable is None else self.n_units - self.n_pairable

    @property
    def missing_share(self) -> float | None:
        """1 - ratings / (units x raters), of those that have any: the gaps in the table the measure is made from."""
        places = self.n_units * self.n_raters
        return 1 - self.n_ratings / places if places else None


@dataclass(frozen=True)
class Row:
    """`part`: of what else the row is, besides its cohort: a question's key, a version, the last day of a week."""

    cohort: Cohort
    cells: tuple[Cell, ...]
    n_raters: int
    field: str
    level: str
    measures: tuple[Measure, ...]
    part: str = ""

    @property
    def missing_of_asked(self) -> float | None:
        """1 - ratings / (units asked x raters of the cohort), over the row's conditions together."""
        places = sum(max(cell.n_asked, cell.n_units) for cell in self.cells) * self.n_raters
        return 1 - sum(cell.n_ratings for cell in self.cells) / places if places else None


@dataclass(frozen=True)
class AgreementReport:
    catalogue: Catalogue = field(repr=False)
    selection: Selection
    conditions: tuple[str, ...]
    rows: tuple[Row, ...]
    watermark: int
    computed_at: datetime

    @property
    def measures(self) -> tuple[Measure, ...]:
        """Of all rows; each row says which are its own."""
        found = {measure.key: measure for row in self.rows for measure in row.measures}
        return tuple(found.values()) or self.selection.measures

    @property
    def n_ratings(self) -> int:
        """Weeks hold what was there before, so the last of them holds all."""
        last = max((row.part for row in self.rows), default="") if self.selection.by == "time" else None
        return sum(cell.n_ratings for row in self.rows if last in (None, row.part) for cell in row.cells)

    @property
    def warnings(self) -> list[str]:
        """Where a statistic does not quite fit the scale."""
        levels = {(m.key, row.level): m for row in self.rows for m in row.measures}
        found = ((m.label, m.warning(level)) for (_key, level), m in levels.items())
        return [f"{label}: {warning}" for label, warning in found if warning]


def agreement(catalogue: Catalogue, selection: Selection, at: datetime) -> AgreementReport:
    """The watermark is read first: what comes in while we read is found again by the next look."""
    mark = watermark(catalogue.benchmark)
    asked = asked_units(selection)
    rows = [
        _row(catalogue, part, cohort, asked) for part in parts_of(catalogue, selection) for cohort in selection.cohorts
    ]
    if selection.by in ("version", "time"):  # one cohort's are compared with each other
        rows.sort(key=lambda row: selection.cohorts.index(row.cohort.pk))
    return AgreementReport(catalogue, selection, selection.conditions, tuple(rows), mark, at)


@dataclass(frozen=True)
class Part:
    """What one row of each cohort is made from."""

    key: str
    selection: Selection
    read: Read


def parts_of(catalogue: Catalogue, selection: Selection) -> list[Part]:
    """The whole as one part; or each question of the stage, each version, each week up to its end."""
    if selection.by == "time":
        read = weekly_partitions if selection.level == "partition" else weekly
        return [Part(day.isoformat(), selection, found) for day, found in read(selection)]
    return [Part(key, one, _read(one)) for key, one in _cut(catalogue, selection)]


def _cut(catalogue: Catalogue, selection: Selection) -> list[tuple[str, Selection]]:
    stage = next(one for one in catalogue.stages if one.key == selection.stage)
    if selection.by == "field":
        entry = next(one for one in stage.campaigns if one.id in selection.campaigns)
        levels = {one.key: entry.sheet.level(one.key) for one in entry.fields}
        return [
            (key, replace(selection, field=key, level=level, measure=default_measure(level)))
            for key, level in levels.items()
        ]
    if selection.by == "version":
        known = stage.versions_of(selection.campaigns)
        wanted = [(name, pk) for name, pk in known.items() if pk in selection.versions or not selection.versions]
        return [(name, replace(selection, versions=(pk,))) for name, pk in wanted]
    return [("", selection)]


def _read(selection: Selection) -> Read:
    return partitions(selection) if selection.level == "partition" else ratings(selection)


def _row(catalogue: Catalogue, part: Part, cohort: int, asked: dict[tuple[int, str], int]) -> Row:
    one, read = part.selection, part.read
    keys = [(cohort, condition) for condition in one.conditions]
    cells = tuple(_cell(key[1], read.cells[key], asked.get(key, 0), one) for key in keys)
    return Row(catalogue.cohorts[cohort], cells, read.raters[cohort], one.field, one.level, one.measures, part.key)


def _cell(condition: str, given: Ratings | Partitions, n_asked: int, selection: Selection) -> Cell:
    interval = selection.wanted_interval
    estimates = tuple(measure.compute(given, interval) for measure in selection.measures)
    pairable = int(np.count_nonzero(np.bincount(np.asarray(given.unit, np.int64)) > 1))
    return Cell(condition, estimates, given.n_units, given.n_raters, given.n_ratings, n_asked, pairable)
