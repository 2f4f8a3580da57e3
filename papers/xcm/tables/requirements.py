"""What 3XCM's tables need besides the first thing that they read. Each check is a few queries."""

from __future__ import annotations

from django.utils.translation import gettext as _

from evaluation.tables.requirements import Requirements
from evaluation.tables.sources import PICTURES, TEXTS
from evaluation.tables.table import MissingData
from evaluation.tables.table_inputs import TableInputs
from papers.xcm.tables.association import PLAIN_THREE, embeddings_of


def _require_embeddings(inputs: TableInputs) -> None:
    """A model with similarities in the collection of the trials, and embeddings in those of texts or pictures."""
    trials = TableInputs.runs(inputs, "forced_choice", PLAIN_THREE)
    embedded = {run.rater.name for option in (TEXTS, PICTURES) for run in embeddings_of(inputs, option)}
    if not embedded & {run.rater.name for run in trials}:
        raise MissingData(_("No model has both similarities and embeddings. Import its embeddings."))


REQUIREMENTS: Requirements = {"silhouettes": (_require_embeddings,)}
