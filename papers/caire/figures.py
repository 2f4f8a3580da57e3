"""CAIRE's figures: its correlations by country and by concept, as heat maps."""

from evaluation.figures.table_figures import CORRELATION, heat_spec, spec_of
from papers.caire.tables.universal import TABLES

_TABLES = TABLES["caire-universal"]
FIGURES = (
    heat_spec(spec_of(_TABLES, "table-2"), measure=CORRELATION),
    heat_spec(spec_of(_TABLES, "table-15"), measure=CORRELATION),
)
