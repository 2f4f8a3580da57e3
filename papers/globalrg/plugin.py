"""GlobalRG as a plugin: two recipes, retrieval and grounding."""

from papers.globalrg import figures, prompts
from papers.globalrg.coco import COCO
from papers.globalrg.recipe import GROUNDING, RETRIEVAL
from papers.globalrg.tables.retrieval import TABLES
from papers.plugins import BenchmarkPlugin

PLUGIN = BenchmarkPlugin(
    key="globalrg",
    recipes=(RETRIEVAL, GROUNDING),
    prompts=prompts.PROMPTS,
    tables=TABLES,
    figures={GROUNDING.key: figures.GROUNDING, RETRIEVAL.key: figures.RETRIEVED},
    documents={GROUNDING.key: (COCO,)},
    figure_options={"universal": figures.universals},
)
