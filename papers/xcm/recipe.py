"""3XCM: the same concepts in sixteen countries, without look-alikes.

Countries, the guideline for look-alikes (Appendix J) and the order of the steps follow "Evaluating Perspectival Biases in
Cross-Modal Retrieval" (3XCM). The sentences, the roles of look-alikes and the confirmation of merges are ours.
"""

from benchmarks.recipes.contract import PredictionTask, Recipe, StageSpec
from benchmarks.recipes.parts import BROKEN, CANNOT_JUDGE, OFFENSIVE, UNFAMILIAR, field, one_of, option
from benchmarks.recipes.recipe_cohorts import country_cohorts

COUNTRIES = (
    "Argentina", "Australia", "Brazil", "China", "France", "Germany", "India", "Japan", "Kenya", "Nigeria", "Portugal",
    "Saudi Arabia", "Spain", "Thailand", "United Kingdom", "United States",
)  # fmt: skip

MERGE_SHEET = {
    "fields": [
        one_of(
            "same",
            {"en": "Do these two words mean the same thing to look for?"},
            (
                option("same", {"en": "Yes, the same"}),
                option("different", {"en": "No, different things"}),
                option("not_sure", {"en": "Not sure"}),
            ),
            rules=[{"en": "The same only if a picture of one would always do for the other."}],
        ),
        one_of(
            "name",
            {"en": "Which word should stay?"},
            (option("first", {"en": "The first"}), option("second", {"en": "The second"})),
            show_if={"field": "same", "in": ["same"]},
        ),
    ]
}
DEDUP_SHEET = {
    "fields": [
        field(
            "groups",
            "grouping",
            {"en": "Which pictures show the same?"},
            {
                "roles": [
                    {"code": "crop", "label": {"en": "Crop"}},
                    {"code": "zoom", "label": {"en": "Zoom"}},
                    {"code": "shift", "label": {"en": "Slight shift"}},
                    {"code": "copy", "label": {"en": "Copy"}},
                    {"code": "time", "label": {"en": "Other time of day"}, "keeps": True},
                    {"code": "angle", "label": {"en": "Other angle"}, "keeps": True},
                ],
                "not_sure": True,
                "keep_one": {
                    "en": "Keep one: the same scene or object without a meaningful change. Crops, zooms and slight shifts are duplicates."
                },
                "keep_both": {"en": "Keep both: another time of day, or a clearly different angle."},
            },
        )
    ]
}
LABEL_SHEET = {
    "fields": [
        field(
            "labels",
            "choice",
            {"en": "Which of these does the picture show?"},
            {"many": True, "options_from": "labels", "least": 1},
            help={"en": "Proposed by a model. Take away what is not there, and add what is missing."},
        ),
        field(
            "others",
            "text",
            {"en": "What else does it show?"},
            {"max_length": 200},
            required=False,
            help={"en": "Separate several with commas."},
        ),
    ]
}

XCM = Recipe(
    key="3xcm",
    version="1",
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
    stages=(
        StageSpec(
            key="merges",
            name="Concept-merge confirmation",
            display="words",
            sheet=MERGE_SHEET,
            target_answers=2,
            has_target=False,
            acceptance="by_rule",
            acceptance_rule={
                "clauses": [{"key": "same", "expression": 'same == "same"', "words": {"en": "Both words mean the same"}}],
                "over": "majority",
            },
            layout={
                "show": [
                    {"key": "first", "label": {"en": "First"}},
                    {"key": "second", "label": {"en": "Second"}},
                ],
            },
            skip_reasons=(UNFAMILIAR, CANNOT_JUDGE),
            instructions={
                "en": (
                    "You will see two words that a machine found alike. Say whether they mean the same thing, so that one list of "
                    "pictures is enough, and which word should stay."
                )
            },
            sample=({"key": "train-railway", "first": "train", "second": "railway", "similarity": "0.94"},),
        ),
        StageSpec(
            key="look-alikes",
            name="De-duplication",
            display="contact",
            sheet=DEDUP_SHEET,
            target_answers=1,
            has_target=False,
            layout={"show": [{"key": "concept", "label": {"en": "Concept"}}]},
            skip_reasons=(BROKEN, CANNOT_JUDGE),
            instructions={
                "en": (
                    "You will see all pictures of one concept from one country, look-alikes side by side. Keep one of each group.\n\n"
                    "The same scene or object without a meaningful change: keep one. Crops, zooms and slight shifts count as the "
                    "same. Another time of day or a clearly different angle: keep both. If you are not sure, say so: a second "
                    "person will look."
                )
            },
            sample=(
                {"key": "brazil-market", "file": "brazil-41-1-nav.jpg", "country": "Brazil", "concept": "market", "title": "Mercado", "rank": "1"},
                {"key": "brazil-market", "file": "brazil-41-2-nav.jpg", "country": "Brazil", "concept": "market", "title": "Feira", "rank": "2"},
            ),
        ),
        StageSpec(
            key="labels",
            name="Multi-concept labelling",
            display="image",
            sheet=LABEL_SHEET,
            target_answers=1,
            has_target=False,
            layout={"show": [{"key": "concept", "label": {"en": "Found for"}}]},
            skip_reasons=(UNFAMILIAR, BROKEN, OFFENSIVE),
            instructions={
                "en": "You will see a picture and the concepts that a model found in it. Correct the list: what is there stays, what is not goes."
            },
            sample=(
                {
                    "key": "brazil-41-1-nav", "file": "brazil-41-1-nav.jpg", "country": "Brazil", "concept": "market",
                    "labels": "market | fruit | street",
                },
            ),
        ),
    ),
    prediction_tasks=(
        PredictionTask("similarity", "Similarity of a query and its candidates", "labels", ("three-way", "six-way"), "Section 3"),
    ),
)  # fmt: skip
