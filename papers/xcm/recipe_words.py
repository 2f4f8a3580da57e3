"""3XCM's stages of words: concepts with native names, merges of concepts, captions, and longer queries.

The checks of queries follow Appendix S of the paper; that people name, merge and correct is ours.
"""

from typing import Any

from benchmarks.recipes.contract import StageSpec
from benchmarks.recipes.parts import CANNOT_JUDGE, OFFENSIVE, UNCLEAR, UNFAMILIAR, field, one_of, option

LEAST_ALIKE = 0.92  # of two concepts' words; the paper's, with BGE-M3
LEAST_COHORTS = 2  # in which a concept is an everyday thing (ours)
YES_NO = (option("yes", {"en": "Yes"}), option("no", {"en": "No"}))
CONCEPT = {"show": [{"key": "concept", "label": {"en": "Concept"}}]}
RENAMED: dict[str, Any] = {"field": "concept", "by": "merges"}
TO_MERGE: dict[str, Any] = {
    "kind": "pair",
    "from": ["concepts"],
    "params": {
        "per": "item",
        **dict.fromkeys(("text", "concept", "origin", "condition"), "none"),
        "context": {"first": "a.item.concept", "second": "b.item.concept"},
        "similar": {"fact": "text_vector", "least": LEAST_ALIKE},
    },
}
TO_QUERY: dict[str, Any] = {
    "kind": "promote",
    "from": ["concepts"],
    "params": {
        "text": "native_name",
        "image": "item",
        "origin": "unit.cohort",
        "context": {"native": "native_name"},
        "rename": RENAMED,
    },
}

CONCEPTS = StageSpec(
    key="concepts",
    name="Concepts",
    display="words",
    pictures="none",
    sheet={
        "fields": [
            field(
                "native_name",
                "text",
                {"en": "What is it called in your language?"},
                {"max_length": 80},
                rules=[{"en": "The word that most people use for it, in your own script."}],
            ),
            one_of("everyday", {"en": "Is it an everyday thing where you live?"}, YES_NO),
        ]
    },
    target_answers=1,
    has_target=False,
    own_vocabulary=True,
    acceptance="by_rule",
    acceptance_rule={
        "clauses": [{"key": "everyday", "expression": 'everyday == "yes"', "words": {"en": "It is an everyday thing"}}],
        "over": "majority",
        "least": LEAST_COHORTS,
    },
    layout=CONCEPT,
    skip_reasons=(UNFAMILIAR, UNCLEAR),
    instructions={
        "en": (
            "You will see the English word for a thing. Write what people of your country call it, and say whether it is part "
            "of everyday life there. Things that only few countries know are left out."
        )
    },
    sample=({"key": "train", "concept": "train"}, {"key": "market", "concept": "market"}),
)
MERGES = StageSpec(
    key="merges",
    name="Concept-merge confirmation",
    display="words",
    sheet={
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
    },
    target_answers=2,
    target_in_all=True,
    has_target=False,
    acceptance="by_rule",
    acceptance_rule={
        "clauses": [{"key": "same", "expression": 'same == "same"', "words": {"en": "Both words mean the same"}}],
        "over": "majority",
    },
    derivation=TO_MERGE,
    layout={"show": [{"key": "first", "label": {"en": "First"}}, {"key": "second", "label": {"en": "Second"}}]},
    skip_reasons=(UNFAMILIAR, CANNOT_JUDGE),
    instructions={
        "en": (
            "You will see two words that a machine found alike. Say whether they mean the same thing, so that one list of "
            "pictures is enough, and which word should stay."
        )
    },
    sample=({"key": "train-railway", "first": "train", "second": "railway", "similarity": "0.94"},),
)
CAPTIONS = StageSpec(
    key="captions",
    name="Captions",
    display="question",
    pictures="optional",
    sheet={
        "fields": [
            one_of("natural", {"en": "Is this a caption that people of your language would write?"}, YES_NO),
            field(
                "better",
                "text",
                {"en": "How should it read?"},
                {"max_length": 300},
                show_if={"field": "natural", "in": ["no"]},
            ),
        ]
    },
    target_answers=1,
    has_target=False,
    own_items_only=True,
    own_vocabulary=True,
    skip_reasons=(UNCLEAR, OFFENSIVE),
    instructions={
        "en": "You will see a caption in your language. Say whether somebody would write it so; if not, write it better."
    },
    sample=(
        {
            "key": "brazil-41-1-nav/pt/1",
            "text": "Uma feira com frutas",
            "country": "Brazil",
            "language": "pt",
            "image_id": "brazil-41-1-nav",
        },
    ),
)
QUERIES = StageSpec(
    key="queries",
    name="Longer queries",
    display="words",
    pictures="none",
    sheet={
        "fields": [
            field(
                "task",
                "text",
                {"en": "A sentence that asks for such a picture, for some work"},
                {"max_length": 300},
                required_unless="casual",
                rules=[
                    {"en": "The word stands in it exactly as it is written above."},
                    {"en": "Nothing in it says which country it is from."},
                ],
            ),
            field(
                "casual",
                "text",
                {"en": "A chatty sentence that asks for such a picture"},
                {"max_length": 300},
                required_unless="task",
            ),
        ]
    },
    target_answers=1,
    has_target=True,
    own_items_only=True,
    own_vocabulary=True,
    acceptance="by_review",
    review_reasons=(
        {"code": "word_missing", "label": {"en": "The word is not in it as it is written"}},
        {"code": "culture_cue", "label": {"en": "It gives a culture away"}},
        {"code": "language", "label": {"en": "Spelling or wording"}},
    ),
    derivation=TO_QUERY,
    layout=CONCEPT,
    skip_reasons=(UNFAMILIAR, UNCLEAR),
    instructions={
        "en": (
            "You will see the word for a thing in your language. Write two sentences with which somebody looks for a picture of "
            "it: one that says what the picture is for, and a chatty one. Use the word exactly as it is written."
        )
    },
    sample=({"key": "train-th", "text": "รถไฟ", "country": "Thailand", "concept": "train", "native": "รถไฟ"},),
)
