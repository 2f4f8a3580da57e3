"""Table 1 of the invented paper: how usual people find greetings, and how far they agree."""

from pathlib import Path

from evaluation.metrics.alpha import alpha
from evaluation.rendering.report import Cell, Rounding, Row
from evaluation.tables.printed_values import PrintedFolder
from evaluation.tables.spec import TableSpec
from evaluation.tables.table import Table
from evaluation.tables.table_inputs import TableInputs

PRINTED = PrintedFolder(Path(__file__).with_name("printed"))


def build_agreement(inputs: TableInputs) -> Table:
    observations = inputs.observed("relevance", "relevance", ("person",))
    rows = []
    for place, cohort in enumerate(observations.cohorts):
        ratings = observations.where(observations.cohort == place).ratings
        agreement = alpha(ratings, "ordinal", interval=inputs.interval)
        printed = PRINTED.value("table_1", "alpha", culture=cohort)
        rows.append(Row(cohort, (Cell(agreement, rounding=Rounding(2), printed=printed),)))
    return inputs.table(corner="Culture", columns=["Alpha"], rows=rows)


TABLES = (TableSpec("agreement", "Table 1", "Agreement about greetings", "Ratings by two people.", build_agreement),)
