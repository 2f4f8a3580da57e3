"""Greetings: how usual is the greeting in the picture in each culture, from 1 to 5?"""

from benchmarks.recipes.contract import ConditionSpec, Recipe, StageSpec
from benchmarks.recipes.parts import PICTURE_SKIP_REASONS, points

LEVELS = tuple(
    {"code": str(code), "label": {"en": label}, "definition": {}}
    for code, label in enumerate(("Never", "Rarely", "Sometimes", "Often", "Always"), start=1)
)
GREETINGS = Recipe(
    key="greetings",
    version="1",
    name="Greetings",
    summary={"en": "How usual is a greeting in a culture?"},
    citation="An example of the documentation of Emic, 2026.",
    licence="CC0-1.0",
    cohorts=(),
    concepts=("handshake", "bow"),
    conditions=(ConditionSpec("photo", {"en": "Photograph"}),),
    stages=(
        StageSpec(
            key="relevance",
            name="Rating",
            display="image",
            sheet={"fields": [points("relevance", {"en": "How usual is this greeting in {target}?"}, LEVELS)]},
            target_answers=2,
            skip_reasons=PICTURE_SKIP_REASONS,
        ),
    ),
)
