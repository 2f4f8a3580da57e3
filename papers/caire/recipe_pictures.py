"""CAIRE's pictures of the universal set: sentences, picked photographs (condition N) and generated images (condition G).

Section 4.1 and Appendix D of the paper: one prompt for each concept and country; of the eight nearest pictures of a
collection a person picks the best; an image model makes one picture of the same prompt. Questions and texts are ours.
"""

from typing import Any

from benchmarks.recipes.contract import StageSpec
from benchmarks.recipes.parts import BROKEN, CANNOT_JUDGE, OFFENSIVE, UNFAMILIAR, field, one_of, option

KEEP, AGAIN, NONE = "keep", "again", "none"
SENTENCE = {"show": [{"key": "prompt", "label": {"en": "What it is to show"}}]}

PROMPTS = StageSpec(
    key="prompts",
    name="Prompts",
    display="words",
    pictures="none",
    sheet={"fields": [field("remark", "text", {"en": "What is wrong with this sentence?"}, {"max_length": 300})]},
    target_answers=0,
    has_target=False,
    own_vocabulary=True,
    sample=(
        {
            "key": "br/dance",
            "concept": "dance",
            "origin": "Brazil",
            "text": "A realistic photo of dance in Brazil",
        },
    ),
)

# The paper names no stage for them: "an image collection" (ours).
PHOTOGRAPHS = StageSpec(
    key="photographs",
    name="Photographs to search",
    display="image",
    sheet={"fields": [field("remark", "text", {"en": "Remark on the picture"}, {"max_length": 300})]},
    target_answers=0,
    has_target=False,
    own_vocabulary=True,
    sample=(
        {
            "file": "photographs/1.jpg",
            "key": "photo-1",
            "source": "https://example.org/page",
            "licence": "CC BY 4.0",
        },
    ),
)

DANCE = {"key": "br/dance", "concept": "dance", "origin": "Brazil", "prompt": "A realistic photo of dance in Brazil"}
PICK = StageSpec(
    key="pick",
    name="Picture picking",
    display="contact",
    pictures="set",
    sheet={
        "fields": [
            field(
                "picture",
                "choice",
                {"en": "Which picture shows it best?"},
                {
                    "many": False,
                    "options_from": "pictures",
                    "more": [option(NONE, {"en": "None of them shows it"})],
                },
            )
        ]
    },
    target_answers=1,
    has_target=False,
    own_items_only=True,
    own_vocabulary=True,
    layout=SENTENCE,
    skip_reasons=(UNFAMILIAR, CANNOT_JUDGE, BROKEN, OFFENSIVE),
    instructions={
        "en": (
            "You will see a sentence and the pictures that a machine found for it. Choose the number of the picture that "
            "shows best what the sentence says, as it is in your country. If none does, say so."
        )
    },
    sample=(
        {**DANCE, "file": "br/dance/1.jpg", "role": "1"},
        {**DANCE, "file": "br/dance/2.jpg", "role": "2"},
    ),
)

GENERATED = StageSpec(
    key="generated",
    name="Generated pictures",
    display="image",
    sheet={
        "fields": [
            one_of(
                "keep",
                {"en": "Does the picture show what the sentence says?"},
                (
                    option(KEEP, {"en": "Keep it"}),
                    option(AGAIN, {"en": "Make it again"}, {"en": "It shows something else, or it is broken."}),
                ),
            ),
            {
                **field("remark", "text", {"en": "What should be different?"}, {"max_length": 500}, required=False),
                "show_if": {"field": "keep", "in": [AGAIN]},
            },
        ]
    },
    target_answers=1,
    target_in_all=True,
    has_target=False,
    own_vocabulary=True,
    acceptance="by_rule",
    acceptance_rule={
        "clauses": [
            {
                "key": "kept",
                "expression": 'keep == "keep"',
                "words": {"en": "The picture shows what the sentence says"},
            }
        ],
        "over": "majority",
    },
    layout=SENTENCE,
    skip_reasons=(CANNOT_JUDGE, BROKEN, OFFENSIVE),
    instructions={
        "en": (
            "You will see a picture that a machine made of a sentence. Keep it, or have it made again and say what should "
            "be different. Do not judge how beautiful it is, and not how well it fits a country: others do that next."
        )
    },
    sample=(
        {
            "file": "generated/br-dance.png",
            "key": "br/dance",
            "concept": "dance",
            "origin": "Brazil",
            "prompt": "A realistic photo of dance in Brazil",
            "source": "the image model",
            "licence": "CC0",
        },
    ),
)

TO_RATE: dict[str, Any] = {
    "kind": "promote",
    "from": ["pick", "generated"],
    "params": {
        "image": "item",
        "picked": {"pick": "picture"},
        "conditions": {"pick": "natural", "generated": "generated"},
        "context": {"prompt": "item.context.prompt"},
    },
}
