"""3XCM: the same concepts in sixteen countries, without look-alikes.

Countries and the order of the steps follow "Evaluating Perspectival Biases in Cross-Modal Retrieval" (3XCM).
"""

from benchmarks.recipes.contract import PredictionTask, Recipe
from benchmarks.recipes.recipe_cohorts import country_cohorts
from papers.xcm.recipe_models import MODEL_CONDITIONS
from papers.xcm.recipe_pictures import IMAGES, LABELS, LOOK_ALIKES, TAGGING, UNIQUE
from papers.xcm.recipe_words import CAPTIONS, CONCEPTS, MERGES, QUERIES

COUNTRIES = (
    "Argentina", "Australia", "Brazil", "China", "France", "Germany", "India", "Japan", "Kenya", "Nigeria", "Portugal",
    "Saudi Arabia", "Spain", "Thailand", "United Kingdom", "United States",
)  # fmt: skip

XCM = Recipe(
    key="3xcm",
    version="3",
    name="3XCM",
    summary={
        "en": (
            "Everyday concepts pictured in sixteen countries. People merge concepts that mean the same, take out look-alikes "
            "and correct what a model says the pictures show; from what is left, trials are drawn."
        )
    },
    citation="Evaluating Perspectival Biases in Cross-Modal Retrieval (3XCM).",
    licence="Research only; the published set is CC BY-NC-SA 4.0. Each picture keeps the licence of its source.",
    cohorts=country_cohorts(*COUNTRIES),
    concepts=(),
    conditions=(),
    stages=(CONCEPTS, MERGES, IMAGES, LOOK_ALIKES, UNIQUE, TAGGING, LABELS, CAPTIONS, QUERIES),
    prediction_tasks=(
        PredictionTask(
            "similarity", "Similarity of a query and its candidates", "unique", ("three-way", "six-way"), "Section 3"
        ),
        PredictionTask("captions", "Captions that a picture finds", "captions", ("all-languages",), "Section 3"),
    ),
    model_conditions=MODEL_CONDITIONS,
)
