"""How CulturalVQA asks models: the five conditions of Section 5 and Appendices D, E and J, its judge (Appendix L), and
the two labels of its questions (Appendices C and F)."""

from benchmarks.recipes.contract import ModelCondition

MODEL_CONDITIONS = (
    ModelCondition(
        key="vlm",
        name={"en": "From the picture"},
        stage="answers",
        prompt="culturalvqa-vlm",
        setting="vlm",
        needs=("picture",),
    ),
    ModelCondition(
        key="vlm_few_shot",
        name={"en": "From the picture, with an example of each country"},
        stage="answers",
        prompt="culturalvqa-few-shot",
        setting="vlm_few_shot",
        needs=("picture", "examples"),
    ),
    ModelCondition(
        key="llm_only",
        name={"en": "From the question alone"},
        stage="answers",
        prompt="culturalvqa-llm",
        setting="llm_only",
    ),
    ModelCondition(
        key="llm_country",
        name={"en": "From the question and the country"},
        stage="answers",
        prompt="culturalvqa-llm-country",
        setting="llm_country",
        needs=("country",),
    ),
    ModelCondition(
        key="llm_entities",
        name={"en": "From the question and what was recognised in the picture"},
        stage="answers",
        prompt="culturalvqa-llm-entities",
        setting="llm_entities",
        needs=("entities",),
    ),
    ModelCondition(
        key="lave",
        name={"en": "Judge of answers (LAVE)"},
        stage="lave",
        prompt="lave",
        needs=("candidate", "references"),
        judge=True,
    ),
    ModelCondition(
        key="sub_category",
        name={"en": "Sub-category of each question"},
        stage="sub-categories",
        prompt="culturalvqa-subcategory",
        setting="sub_category",
    ),
    ModelCondition(
        key="stereotype",
        name={"en": "Stereotype check of each question"},
        stage="stereotypes",
        prompt="culturalvqa-stereotype",
        setting="stereotype",
    ),
)
