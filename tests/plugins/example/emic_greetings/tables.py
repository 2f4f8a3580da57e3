"""Table 1 of the invented paper: how usual people find greetings, and how far they agree."""

from pathlib import Path

from evaluation.metrics.agreement import alpha
from evaluation.tables.printed_values import PrintedFolder
from evaluation.tables.spec import Cell, Rounding, Row, Table, TableSpec
from evaluation.tables.table_inputs import TableInputs

PRINTED = PrintedFolder(Path(__file__).with_name("printed"))


def build_agreement(given: TableInputs) -> Table:
    seen = given.observed("relevance", "relevance", ("person",))
    rows = []
    for place, cohort in enumerate(seen.cohorts):
        ratings = seen.where(seen.cohort == place).ratings
        agreement = alpha(ratings, "ordinal", interval=given.interval)
        rows.append(
            Row(cohort, (Cell(agreement, Rounding(2), printed=PRINTED.value("table_1", "alpha", culture=cohort)),))
        )
    return given.table(corner="Culture", columns=["Alpha"], rows=rows)


TABLES = (TableSpec("agreement", "Table 1", "Agreement about greetings", "Ratings by two people.", build_agreement),)
