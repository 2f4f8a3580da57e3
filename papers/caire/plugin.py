"""CAIRE as a plugin."""

from django.utils.translation import gettext_lazy

from benchmarks.pages.stage_sources import FillingPage
from evaluation.tables.requirements import with_requirements
from papers.caire.figures import FIGURES
from papers.caire.prompts import levels, numbers
from papers.caire.recipe import UNIVERSAL
from papers.caire.tables.requirements import REQUIREMENTS
from papers.caire.tables.universal import TABLES
from papers.plugins import BenchmarkPlugin

KEY = UNIVERSAL.key
FILLED = {
    "pick": FillingPage(gettext_lazy("Contact sheets"), "predictions:pick_sheets", "prompts", ("photographs",)),
    "generated": FillingPage(gettext_lazy("Make images"), "predictions:image_stages", "prompts"),
    "specific-concepts": FillingPage(
        gettext_lazy("Linked entities"), "predictions:linking", "specific-proposals", answered=True
    ),
    "link-check": FillingPage(gettext_lazy("Linked entities"), "predictions:linking", "specific"),
}
PLUGIN = BenchmarkPlugin(
    key="caire",
    recipes=(UNIVERSAL,),
    prompts=(*levels.PROMPTS, *numbers.PROMPTS),
    tables={KEY: with_requirements(TABLES[KEY], REQUIREMENTS)},
    figures={KEY: FIGURES},
    filling_pages={KEY: FILLED},
)
