"""What the columns of a table are likely to be in a stage."""

from collections.abc import Mapping

from benchmarks.imports import countries
from benchmarks.imports.tables.roles import ColumnRole, fold, propose
from benchmarks.imports.tables.table import TableLook
from benchmarks.models import Stage


def proposals_for(stage: Stage, beginning: TableLook) -> list[ColumnRole]:
    """A role for each column, with its reason."""
    return propose(
        beginning.columns, beginning.rows, countries=lambda text: countries.code_of(text) is not None,
        questions=question_keys(stage),
    )  # fmt: skip


def question_keys(stage: Stage) -> list[str]:
    """Keys of the sheet's questions."""
    return [fold(str(field.get("key", ""))) for field in stage.sheet.get("fields", ()) if isinstance(field, Mapping)]
