"""CulturalVQA as a plugin."""

from evaluation.tables.requirements import with_requirements
from papers.culturalvqa.answer_page import PAGE
from papers.culturalvqa.figures import FIGURES
from papers.culturalvqa.prompts import lave, questions
from papers.culturalvqa.recipe import CULTURALVQA
from papers.culturalvqa.tables.accuracy import TABLES
from papers.culturalvqa.tables.requirements import REQUIREMENTS
from papers.plugins import BenchmarkPlugin

KEY = CULTURALVQA.key
PLUGIN = BenchmarkPlugin(
    key="culturalvqa",
    recipes=(CULTURALVQA,),
    prompts=(*questions.PROMPTS, *lave.PROMPTS),
    tables={KEY: with_requirements(TABLES[KEY], REQUIREMENTS)},
    figures={KEY: FIGURES},
    pages={KEY: (PAGE,)},
)
