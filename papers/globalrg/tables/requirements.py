"""What GlobalRG's tables of boxes need besides the boxes of people. The check is one query."""

from __future__ import annotations

from evaluation.queries.ratings import counted_annotations
from evaluation.tables.requirements import Requirements
from evaluation.tables.table import MissingData
from evaluation.tables.table_inputs import TableInputs
from papers.globalrg.tables.boxes import no_models_text


def _require_models(inputs: TableInputs) -> None:
    rows = counted_annotations(inputs.selection("boxes", "box"))
    if not rows.filter(rater__kind="model", answers__has_key="box").exists():
        raise MissingData(no_models_text())


REQUIREMENTS: Requirements = dict.fromkeys(
    ("grounding", "grounding-countries", "grounding-regions"), (_require_models,)
)
