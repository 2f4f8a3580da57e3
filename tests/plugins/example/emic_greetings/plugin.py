"""The plugin: one object that hands each part to Emic."""

from emic_greetings.prompts import USUAL
from emic_greetings.recipe import GREETINGS
from emic_greetings.records import RECORDS
from emic_greetings.tables import TABLES
from papers.plugins import BenchmarkPlugin

PLUGIN = BenchmarkPlugin(
    key="greetings",
    recipes=(GREETINGS,),
    words={"ar": {"How usual is a greeting in a culture?": "ما مدى شيوع تحية في ثقافة ما؟"}},
    prompts=(USUAL,),
    tables={GREETINGS.key: TABLES},
    records={GREETINGS.key: RECORDS},
)
