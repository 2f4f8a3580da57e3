"""Agreement per cohort and condition, in the form of CAIRE's Table 14. Pages and files render it."""

from dataclasses import dataclass, field
from datetime import datetime

from annotation.readers import watermark
from evaluation.catalogue import Catalogue
from evaluation.measures import Measure
from evaluation.metrics.counts import Ratings
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.partitions import Partitions
from evaluation.partitions import partitions
from evaluation.readers import asked_units, ratings
from evaluation.selection import Selection
from people.models import Cohort


@dataclass(frozen=True)
class Cell:
    """One cohort under one condition: an estimate for each measure of the report.

    `n_asked` counts the units the cohort was asked for, `n_units` those that somebody has rated.
    """

    condition: str
    estimates: tuple[Estimate, ...]
    n_units: int
    n_raters: int
    n_ratings: int
    n_asked: int

    @property
    def missing_share(self) -> float | None:
        """1 - ratings / (units x raters), of those that have any: the gaps in the table the measure is made from."""
        places = self.n_units * self.n_raters
        return 1 - self.n_ratings / places if places else None


@dataclass(frozen=True)
class Row:
    cohort: Cohort
    cells: tuple[Cell, ...]
    n_raters: int

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
        return self.selection.measures

    @property
    def n_ratings(self) -> int:
        return sum(cell.n_ratings for row in self.rows for cell in row.cells)

    @property
    def warnings(self) -> list[str]:
        """Where a statistic does not quite fit the scale."""
        found = ((m.label, m.warning(self.selection.level)) for m in self.measures)
        return [f"{label}: {warning}" for label, warning in found if warning]


def agreement(catalogue: Catalogue, selection: Selection, at: datetime) -> AgreementReport:
    """The watermark is read first: what comes in while we read is found again by the next look."""
    mark = watermark(catalogue.benchmark)
    read = partitions(selection) if selection.level == "partition" else ratings(selection)
    asked = asked_units(selection)

    def row(cohort: int) -> Row:
        keys = [(cohort, condition) for condition in selection.conditions]
        cells = tuple(_cell(key[1], read.cells[key], asked.get(key, 0), selection) for key in keys)
        return Row(catalogue.cohorts[cohort], cells, read.raters[cohort])

    rows = tuple(row(cohort) for cohort in selection.cohorts)
    return AgreementReport(catalogue, selection, selection.conditions, rows, mark, at)


def _cell(condition: str, given: Ratings | Partitions, n_asked: int, selection: Selection) -> Cell:
    interval = selection.wanted_interval
    estimates = tuple(measure.compute(given, interval) for measure in selection.measures)
    return Cell(condition, estimates, given.n_units, given.n_raters, given.n_ratings, n_asked)
