"""GlobalRG: which cultures do models find for a universal word, and do they see where a thing of a culture is?

The universals, regions and countries, the rules for pictures and boxes and the limits of the gates follow

    Mehar Bhatia, Sahithya Ravi, Aditya Chinchure, Eunjeong Hwang, Vered Shwartz. From Local Concepts to Universals:
    Evaluating the Multicultural Understanding of Vision-Language Models. EMNLP 2024.

The sentences are ours. The paper's retrieval set covers fifty countries in ten regions; a team adds the cohorts it has.
"""

from typing import Any

from benchmarks.recipes.contract import PredictionTask, Recipe, StageSpec
from benchmarks.recipes.parts import BROKEN, CANNOT_JUDGE, OFFENSIVE, UNFAMILIAR, field, one_of, option
from benchmarks.recipes.recipe_cohorts import country_cohorts
from benchmarks.rules.label_sets.globalrg import RETRIEVAL as RETRIEVAL_REGIONS
from papers.globalrg.recipe_errors import ERROR_TYPES
from papers.globalrg.recipe_models import MODEL_CONDITIONS

CITATION = (
    "Mehar Bhatia, Sahithya Ravi, Aditya Chinchure, Eunjeong Hwang, Vered Shwartz. From Local Concepts to Universals: "
    "Evaluating the Multicultural Understanding of Vision-Language Models. EMNLP 2024."
)
UNIVERSALS = (
    "breakfast", "clothing", "dance", "dessert", "dinner", "drinks", "eating habits", "farming", "festival", "funeral",
    "greetings", "head coverings", "instrument", "lunch", "marriage", "music", "religion", "ritual", "sports", "transport",
)  # fmt: skip
GROUNDED = (
    "Argentina", "Brazil", "Mexico", "Canada", "China", "South Korea", "India", "Pakistan", "Israel", "Philippines",
    "Vietnam", "Nigeria", "South Africa", "Poland", "Russia",
)  # fmt: skip
PER_CELL = 3  # pictures of a universal in a country
LEAST_SIDE = 100  # pixels of a candidate's shorter side (ours)
LEAST_ALIKE = 0.9  # of two candidates of a cell, or the later one is dropped (ours)
MAX_AREA = 0.3
LEAST_OBJECTS = 3
LEAST_OVERLAP = 0.5  # of two people's boxes, or a third person decides (ours)
YES_NO = (option("yes", {"en": "Yes"}), option("no", {"en": "No"}))

SCREENING_SHEET = {
    "fields": [
        one_of(
            "keep",
            {"en": "Does the picture show this, as it is in {target}?"},
            YES_NO,
            rules=[
                {
                    "en": "Yes only if the word above names what the picture is about, and people of {target} would say so."
                }
            ],
        ),
        one_of(
            "reason",
            {"en": "What is wrong with it?"},
            (
                option("low_resolution", {"en": "Too small or blurred"}),
                option("text", {"en": "It contains text"}),
                option("several_scenes", {"en": "Several scenes, or a grid"}),
                option("wrong_concept", {"en": "It shows something else"}),
                option("wrong_country", {"en": "It is from another culture"}),
            ),
            show_if={"field": "keep", "in": ["no"]},
        ),
    ]
}
FINDING_SHEET = {
    "fields": [
        field(
            "picture",
            "picture",
            {"en": "Your picture"},
            {},
            rules=[
                {"en": "Sharp and large. What is asked can be seen, and other things as well."},
                {"en": "Say where it comes from and what its licence allows."},
            ],
        ),
        one_of(
            "prevalent",
            {"en": "Is this common in {target} today?"},
            (*YES_NO, option("not_sure", {"en": "Not sure"})),
        ),
    ]
}
ONE_BOX = {"least": 1, "most": 1, "max_area": MAX_AREA}
BOX_SHEET = {
    "fields": [
        field(
            "box",
            "box",
            {"en": "Draw one box round it"},
            {
                **ONE_BOX,
                "facts": [
                    {"key": "objects", "at_least": LEAST_OBJECTS, "label": {"en": "Things found in the picture"}},
                ],
            },
            rules=[{"en": "Close to its edges. If there are several, choose the one that shows best."}],
        )
    ]
}
VERIFYING_SHEET = {
    "fields": [
        field(
            "box",
            "box",
            {"en": "Draw one box round it"},
            {"least": 1, "most": 1},
            rules=[{"en": "Close to its edges. If there are several, choose the one that shows best."}],
        )
    ]
}
ADJUDICATION_SHEET = {
    "fields": [
        field(
            "decision",
            "choice",
            {"en": "Which box is right?"},
            {
                "many": False,
                "options_from": "numbers",
                "more": [
                    option("another", {"en": "None of them: I draw another one"}),
                    option("undecided", {"en": "It cannot be decided"}),
                ],
            },
        ),
        {**VERIFYING_SHEET["fields"][0], "show_if": {"field": "decision", "in": ["another"]}},
        field("reason", "text", {"en": "Why?"}, {"max_length": 500}),
    ]
}
KEYWORD = {"show": [{"key": "concept", "label": {"en": "What to look for"}}]}
# Several searches may bring one picture: in a cell (country, universal) the best ranked of what looks alike stays.
CANDIDATE_FILTERS: tuple[dict[str, Any], ...] = (
    {"key": "shortest_side", "kind": "shortest_side", "params": {"least": LEAST_SIDE}},
    {"key": "same_picture", "kind": "same_picture", "params": {"within": ["origin", "concept"]}},
    {
        "key": "near_duplicate",
        "kind": "near_duplicate",
        "params": {"least": LEAST_ALIKE, "within": ["origin", "concept"]},
    },
)
OF_SEARCH = {"rank": "item.context.rank", "sentence": "item.context.sentence"}
TO_SCREEN: dict[str, Any] = {
    "kind": "promote",
    "from": ["candidates"],
    "of": "kept",
    "params": {"image": "item", "context": OF_SEARCH},
}
TO_RETRIEVE: dict[str, Any] = {
    "kind": "sample",
    "from": ["screening"],
    "params": {
        "n": PER_CELL,
        "by": ["item.concept", "item.origin"],
        "order": {"field": "item.context.rank"},
        "image": "item",
        "context": OF_SEARCH,
    },
}

RETRIEVAL = Recipe(
    key="globalrg-retrieval",
    version="3",
    name="GlobalRG, retrieval across universals",
    summary={
        "en": (
            "Pictures of twenty universal things from many countries, each confirmed by a person of that country: the set "
            "on which the diversity of what models find is measured."
        )
    },
    citation=CITATION,
    licence="Each picture keeps the licence of its source.",
    cohorts=country_cohorts(
        "Brazil", "China", "Egypt", "Ethiopia", "Germany", "India", "Indonesia", "Mexico", "Nigeria", "Turkey"
    ),
    concepts=UNIVERSALS,
    conditions=(),
    stages=(
        StageSpec(
            key="candidates",
            name="Candidate pictures",
            display="image",
            sheet=SCREENING_SHEET,
            target_answers=0,
            has_target=True,
            own_items_only=True,
            layout=KEYWORD,
            filters=CANDIDATE_FILTERS,
            sample=(
                {
                    "file": "brazil/breakfast-1.jpg",
                    "key": "brazil-breakfast-1",
                    "country": "Brazil",
                    "concept": "breakfast",
                    "sentence": "Pão de queijo is eaten at breakfast in Brazil",
                    "rank": "1",
                    "source": "https://example.org/page",
                    "licence": "CC BY-SA 4.0",
                },
            ),
        ),
        StageSpec(
            key="screening",
            name="Image screening",
            display="image",
            sheet=SCREENING_SHEET,
            target_answers=1,
            has_target=True,
            own_items_only=True,
            acceptance="by_rule",
            acceptance_rule={
                "clauses": [
                    {
                        "key": "depicts",
                        "expression": 'keep == "yes"',
                        "words": {"en": "The picture shows what it is said to show"},
                    }
                ],
                "over": "majority",
            },
            derivation=TO_SCREEN,
            layout=KEYWORD,
            coverage={
                "rows": f"set:{RETRIEVAL_REGIONS.key}",
                "columns": "concepts",
                "names": UNIVERSALS,
                "per_cell": PER_CELL,
                "counts": "accepted",
                "stop_when_full": True,
            },
            skip_reasons=(UNFAMILIAR, BROKEN, OFFENSIVE),
            instructions={
                "en": (
                    "You will see pictures that were found for a word and your country. Say whether each shows that, as it is "
                    "in {target}. A picture stays if it is clear, has no text in it and shows one scene."
                )
            },
        ),
        StageSpec(
            key="retrieval-set",
            name="Retrieval set",
            display="image",
            sheet=SCREENING_SHEET,
            target_answers=0,
            has_target=True,
            own_items_only=True,
            derivation=TO_RETRIEVE,
            layout=KEYWORD,
        ),
    ),
    prediction_tasks=(
        PredictionTask(
            "retrieval",
            "All pictures scored for each universal",
            "retrieval-set",
            ("dual-encoder", "imported"),
            "Section 3",
        ),
    ),
)

GROUNDING = Recipe(
    key="globalrg-grounding",
    version="3",
    name="GlobalRG, cultural visual grounding",
    summary={
        "en": (
            "People find a picture for a word of their culture and draw a box round what it names; others of the culture "
            "draw it again. Models are asked for the same box."
        )
    },
    citation=CITATION,
    licence="Each picture keeps the licence of its source.",
    cohorts=country_cohorts(*GROUNDED),
    concepts=(),
    conditions=(),
    stages=(
        StageSpec(
            key="finding",
            name="Image finding",
            display="words",
            sheet=FINDING_SHEET,
            target_answers=1,
            has_target=True,
            own_items_only=True,
            acceptance="by_rule",
            acceptance_rule={
                "clauses": [
                    {
                        "key": "prevalent",
                        "expression": 'prevalent == "yes"',
                        "words": {"en": "It is common in the culture today"},
                    }
                ],
                "over": "majority",
            },
            layout=KEYWORD,
            skip_reasons=(UNFAMILIAR, {"code": "not_found", "label": {"en": "I found no good picture"}}),
            instructions={
                "en": (
                    "You will see a word of your culture. Find a picture of it, in your own collection or on the web, and bring "
                    "it here: as a file, or by its address.\n\n"
                    "It should be of high quality. What the word names must be visible, but not alone: other things should be "
                    "in the picture too, and it should fill less than a third of it."
                )
            },
            sample=(
                {
                    "key": "pakistan-ajrak",
                    "country": "Pakistan",
                    "concept": "ajrak",
                    "text": "Ajrak, a block-printed shawl",
                },
            ),
        ),
        StageSpec(
            key="boxes",
            name="Box drawing",
            display="image",
            sheet=BOX_SHEET,
            target_answers=1,
            has_target=True,
            own_items_only=True,
            acceptance="by_rule",
            acceptance_rule={
                "clauses": [
                    {
                        "key": "objects",
                        "expression": f"facts.objects >= {LEAST_OBJECTS}",
                        "words": {"en": "Other things can be seen in the picture"},
                    }
                ],
                "over": "majority",
            },
            filters=(
                {
                    "key": "objects",
                    "kind": "fact",
                    "params": {"key": "objects", "least": LEAST_OBJECTS},
                    "returns": True,
                },
            ),
            staffing="contributors",
            derivation={
                "kind": "promote",
                "from": ["finding"],
                "params": {"image": "picture", "text": "item.text", "context": {"prevalent": "prevalent"}},
            },
            layout=KEYWORD,
            skip_reasons=(BROKEN, CANNOT_JUDGE),
            instructions={
                "en": (
                    "Draw one box round what the word names, in the picture you found. The box must be smaller than three tenths "
                    "of the picture."
                )
            },
        ),
        StageSpec(
            key="verification",
            name="Box verification",
            display="image",
            sheet=VERIFYING_SHEET,
            target_answers=1,
            has_target=True,
            own_items_only=True,
            staffing="others",
            derivation={
                "kind": "promote",
                "from": ["boxes"],
                "params": {"image": "item", "text": "item.text", "context": {"first_box": "box"}},
            },
            layout=KEYWORD,
            skip_reasons=(UNFAMILIAR, BROKEN, {"code": "not_there", "label": {"en": "It is not in the picture"}}),
            instructions={
                "en": "Draw one box round what the word names. Somebody else did so before; you do not see theirs."
            },
        ),
        StageSpec(
            key="box-adjudication",
            name="Box adjudication",
            display="image",
            sheet=ADJUDICATION_SHEET,
            target_answers=1,
            has_target=True,
            own_items_only=True,
            staffing="others",
            derivation={
                "kind": "disagree",
                "from": ["boxes", "verification"],
                "params": {
                    "between": [{"stage": "boxes", "field": "box"}, {"stage": "verification", "field": "box"}],
                    "measure": "iou",
                    "under": LEAST_OVERLAP,
                },
            },
            layout=KEYWORD,
            skip_reasons=(UNFAMILIAR, BROKEN, {"code": "not_there", "label": {"en": "It is not in the picture"}}),
            instructions={
                "en": (
                    "Two people drew boxes round what the word names, and the boxes differ. Choose the one that is right, or draw "
                    "another one, and say why. If it cannot be decided, say so."
                )
            },
        ),
        ERROR_TYPES,
    ),
    prediction_tasks=(
        PredictionTask(
            "grounding", "One box for a picture and a word", "boxes", ("grounding", "detector"), "Section 4"
        ),
    ),
    model_conditions=MODEL_CONDITIONS,
)
