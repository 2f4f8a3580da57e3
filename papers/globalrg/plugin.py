"""GlobalRG as a plugin: two recipes, retrieval and grounding."""

from evaluation.tables.requirements import with_requirements
from papers.globalrg import figures, prompts
from papers.globalrg.coco import COCO
from papers.globalrg.recipe import GROUNDING, RETRIEVAL
from papers.globalrg.tables.requirements import REQUIREMENTS
from papers.globalrg.tables.retrieval import TABLES
from papers.plugins import BenchmarkPlugin

PLUGIN = BenchmarkPlugin(
    key="globalrg",
    recipes=(RETRIEVAL, GROUNDING),
    prompts=prompts.PROMPTS,
    tables={**TABLES, GROUNDING.key: with_requirements(TABLES[GROUNDING.key], REQUIREMENTS)},
    figures={GROUNDING.key: figures.GROUNDING, RETRIEVAL.key: figures.RETRIEVED},
    documents={GROUNDING.key: (COCO,)},
    figure_options={"universal": figures.universals},
)
