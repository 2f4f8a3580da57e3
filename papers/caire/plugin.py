"""CAIRE as a plugin."""

from evaluation.tables.requirements import with_requirements
from papers.caire.figures import FIGURES
from papers.caire.prompts import levels, numbers
from papers.caire.recipe import UNIVERSAL
from papers.caire.tables.requirements import REQUIREMENTS
from papers.caire.tables.universal import TABLES
from papers.plugins import BenchmarkPlugin

KEY = UNIVERSAL.key
PLUGIN = BenchmarkPlugin(
    key="caire",
    recipes=(UNIVERSAL,),
    prompts=(*levels.PROMPTS, *numbers.PROMPTS),
    tables={KEY: with_requirements(TABLES[KEY], REQUIREMENTS)},
    figures={KEY: FIGURES},
)
