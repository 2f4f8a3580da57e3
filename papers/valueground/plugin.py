"""ValueGround as a plugin."""

from evaluation.tables.requirements import with_requirements
from papers.plugins import BenchmarkPlugin
from papers.valueground.builder.pages.pairs_page import PAGES as PAIR_PAGES
from papers.valueground.figures import FIGURES
from papers.valueground.prompts import PROMPTS
from papers.valueground.recipe import VALUEGROUND
from papers.valueground.site_rows import SITE_ROWS
from papers.valueground.survey.pages.survey_page import PAGES
from papers.valueground.tables.labels import TABLES
from papers.valueground.tables.requirements import REQUIREMENTS

KEY = VALUEGROUND.key
PLUGIN = BenchmarkPlugin(
    key="valueground",
    recipes=(VALUEGROUND,),
    prompts=PROMPTS,
    tables={KEY: with_requirements(TABLES[KEY], REQUIREMENTS)},
    figures={KEY: FIGURES},
    site_rows={KEY: SITE_ROWS},
    pages={KEY: (*PAGES, *PAIR_PAGES)},
)
