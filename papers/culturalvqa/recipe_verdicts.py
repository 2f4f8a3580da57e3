"""CulturalVQA: answers that a judge compares with reference answers (LAVE), and answers of models that people rate.

The judge's two cases follow Appendix L of the paper, the five cases of the rating Figure 13. The sentences are ours.
"""

from typing import Any

from benchmarks.recipes.contract import StageSpec
from benchmarks.recipes.parts import BROKEN, CANNOT_JUDGE, UNCLEAR, UNFAMILIAR, one_of, option

SETTINGS = ("vlm", "vlm_few_shot", "llm_only", "llm_country", "llm_entities")
# Each answer of a model in one of these prompt variants, and each person's answer against those of the others.
TO_JUDGE: dict[str, Any] = {
    "kind": "verdicts",
    "from": ["answers"],
    "params": {
        "field": "answer",
        "runs": {"settings": list(SETTINGS)},
        "people": "leave_one_out",
        "least": 3,
        "pictures": "none",
        "carry": ["facet"],
    },
}
# People rate without reference answers, so that a reference that comes later changes no item that they rated.
TO_RATE: dict[str, Any] = {
    "kind": "verdicts",
    "from": ["answers"],
    "params": {
        "field": "answer",
        "runs": "chosen",
        "people": "none",
        "references": "none",
        "pictures": "item",
        "carry": ["facet"],
    },
}
RATING_SHEET = {
    "fields": [
        one_of(
            "verdict",
            {"en": "How correct is the response?"},
            (
                option("1", {"en": "Completely correct"}),
                option("2", {"en": "Correct, but not culturally specific"}),
                option("3", {"en": "Correct, but not precise"}),
                option("4", {"en": "Correct, but neither culturally specific nor precise"}),
                option("5", {"en": "Completely incorrect"}),
            ),
            rules=[
                {
                    "en": "Culturally specific: the name most people of {target} use for what is theirs: “Bread” → “Naan”, "
                    "“Festival of colors” → “Holi”; English for what is found everywhere: “Anar daana” → “Pomegranate seeds”."
                },
                {"en": "Precise: not generic. “Food” → “Sushi”, “Festival” → “Carnival”, “Tea” → “Oolong tea”."},
            ],
        )
    ]
}

LAVE_SHEET = {
    "fields": [
        one_of(
            "lave",
            {"en": "How correct is the candidate answer?"},
            (
                option("1", {"en": "An incorrect, irrelevant, or imprecise answer"}),
                option("2", {"en": "A correct and precise answer"}),
            ),
        )
    ]
}

RATING = {
    "en": (
        "You will see a picture, a question about it and a response. Say how correct the response is.\n\n"
        "The five cases are not a scale from good to bad: cases 2 to 4 say what a correct response lacks."
    )
}
LAVE = {
    "en": (
        "You will see a question about a picture, reference answers by people who know the culture, and a candidate "
        "answer. Rate the candidate answer's correctness.\n\n"
        "Go by the reference answers: the same thing in other words is correct, something vaguer than all of them is not."
    )
}
VERDICT_STAGES = (
    StageSpec(
        key="lave",
        name="LAVE",
        display="candidate",
        sheet=LAVE_SHEET,
        target_answers=0,
        has_target=False,
        own_items_only=True,
        derivation=TO_JUDGE,
        pictures="none",
        layout={"references": True},
        skip_reasons=(UNCLEAR, CANNOT_JUDGE),
        instructions=LAVE,
        sample=(
            {
                "key": "india-diwali-01/m/model-a-vlm",
                "country": "India",
                "concept": "Diwali",
                "text": "What are these lamps called?",
                "candidate": "Diyas",
                "references": "Diya|Diyas",
                "question": "india-diwali-01",
                "candidate_by": "model-a",
                "setting": "vlm",
                "facet": "rituals",
                "sub_category": "Beliefs and Customs",
            },
            {
                "key": "india-diwali-01/p~1f3a5c",
                "country": "India",
                "concept": "Diwali",
                "text": "What are these lamps called?",
                "candidate": "Diya",
                "references": "Diyas",
                "question": "india-diwali-01",
                "candidate_by": "human",
                "setting": "",
                "facet": "rituals",
                "sub_category": "Beliefs and Customs",
            },
        ),
    ),
    StageSpec(
        key="model-answers",
        name="Rating model answers",
        display="candidate",
        sheet=RATING_SHEET,
        target_answers=5,
        has_target=True,
        own_items_only=True,
        staffing="not_own",
        derivation=TO_RATE,
        layout={"references": False},
        skip_reasons=(UNFAMILIAR, UNCLEAR, CANNOT_JUDGE, BROKEN),
        instructions=RATING,
        sample=(
            {
                "file": "india/diwali-01.jpg",
                "key": "india-diwali-01/m/model-a-vlm",
                "country": "India",
                "concept": "Diwali",
                "text": "What are these lamps called?",
                "candidate": "Diyas",
                "question": "india-diwali-01",
                "candidate_by": "model-a",
                "setting": "vlm",
                "facet": "rituals",
            },
        ),
    ),
)
