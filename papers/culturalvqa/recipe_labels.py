"""CulturalVQA: labels of the questions themselves, by a judge that sees text only; people can correct it.

The sub-categories follow Tables 6 and 7 of the paper, the kinds of stereotypes its Appendix C. The sentences are ours.
"""

from typing import Any

from benchmarks.recipes.contract import StageSpec
from benchmarks.recipes.parts import CANNOT_JUDGE, UNCLEAR, one_of, option

SUB_CATEGORY_SHEET = {
    "fields": [
        one_of(
            "sub_category",
            {"en": "Which category is the question about?"},
            (
                option("type_name", {"en": "Type/Name"}),
                option("location_region", {"en": "Location/Region"}),
                option("customs", {"en": "Customs Associated"}),
                option("ingredients", {"en": "Ingredients"}),
                option("taste", {"en": "Taste"}),
                option("beliefs_customs", {"en": "Beliefs and Customs"}),
                option("location_landmarks", {"en": "Location/Landmarks"}),
                option("celebration", {"en": "Celebration"}),
                option("music_instruments", {"en": "Music/Instruments"}),
                option("sports", {"en": "Sports"}),
                option("people", {"en": "People and Hist. Figures"}),
                option("other", {"en": "Other"}),
            ),
        )
    ]
}
STEREOTYPE_SHEET = {
    "fields": [
        one_of(
            "stereotype",
            {"en": "Does the question rest on a stereotype?"},
            (
                option("stereotype", {"en": "Yes, on a stereotype"}),
                option("anti_stereotype", {"en": "It goes against one"}),
                option("neither", {"en": "Neither"}),
            ),
        ),
        one_of(
            "about",
            {"en": "A stereotype about what?"},
            (
                option("race", {"en": "Race"}),
                option("gender", {"en": "Gender"}),
                option("religion", {"en": "Religion"}),
                option("profession", {"en": "Profession"}),
            ),
            show_if={"field": "stereotype", "in": ["stereotype", "anti_stereotype"]},
        ),
    ]
}
OF_QUESTIONS: dict[str, Any] = {
    "kind": "promote",
    "from": ["questions"],
    "params": {
        "text": "question",
        "image": "item",
        "context": {"asker_answer": "answer", "facet": "item.context.facet"},
    },
}
# A text model may be given the entities of the picture (setting `llm_entities`), so they travel with the question.
TO_ANSWER = {
    **OF_QUESTIONS,
    "params": {
        **OF_QUESTIONS["params"],
        "context": {**OF_QUESTIONS["params"]["context"], "entities": "item.context.entities"},
    },
}

LABEL_STAGES = (
    StageSpec(
        key="sub-categories",
        name="Sub-categories of questions",
        display="question",
        sheet=SUB_CATEGORY_SHEET,
        target_answers=1,
        has_target=False,
        own_items_only=True,
        derivation=OF_QUESTIONS,
        layout={
            "show": [
                {"key": "facet", "label": {"en": "Facet"}},
                {"key": "asker_answer", "label": {"en": "Its answer"}},
            ]
        },
        skip_reasons=(UNCLEAR, CANNOT_JUDGE),
        instructions={
            "en": "Say what one must know to answer the question. A model may have said so before; you correct it."
        },
    ),
    StageSpec(
        key="stereotypes",
        name="Stereotype check",
        display="question",
        sheet=STEREOTYPE_SHEET,
        target_answers=1,
        has_target=False,
        own_items_only=True,
        derivation=OF_QUESTIONS,
        skip_reasons=(UNCLEAR, CANNOT_JUDGE),
        instructions={
            "en": "A stereotype is a general claim about people because of their race, gender, religion or profession. "
            "Asking what something is called, or how it is done, is no such claim."
        },
    ),
)
