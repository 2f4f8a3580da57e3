"""3XCM as a plugin."""

from evaluation.tables.requirements import with_requirements
from papers.plugins import BenchmarkPlugin
from papers.xcm.figures import projection, tiers, winners
from papers.xcm.prompts import PROMPTS
from papers.xcm.recipe import XCM
from papers.xcm.tables.collection import TABLES
from papers.xcm.tables.requirements import REQUIREMENTS

KEY = XCM.key
PLUGIN = BenchmarkPlugin(
    key="xcm",
    recipes=(XCM,),
    prompts=PROMPTS,
    tables={KEY: with_requirements(TABLES[KEY], REQUIREMENTS)},
    figures={KEY: (*winners.FIGURES, *tiers.FIGURES, *projection.FIGURES)},
)
