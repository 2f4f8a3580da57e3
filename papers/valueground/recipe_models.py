"""How ValueGround asks models: the three settings of section 5 and Appendix C.2, and its judges of pairs (section 3.3).

Without a country is our own condition: the paper names it without results.
"""

from benchmarks.recipes.contract import ModelCondition

MODEL_CONDITIONS = (
    ModelCondition(
        key="main",
        name={"en": "The picture that fits a country"},
        stage="choice",
        prompt="valueground-main",
        setting="main",
        needs=("picture",),
    ),
    ModelCondition(
        key="text_only",
        name={"en": "The answer that fits a country, without pictures"},
        stage="choice",
        prompt="valueground-text",
        setting="text_only",
    ),
    ModelCondition(
        key="main_no_country",
        name={"en": "The picture that fits, without a country"},
        stage="choice",
        prompt="valueground-main-no-country",
        setting="main_no_country",
        needs=("picture",),
    ),
    ModelCondition(
        key="alignment",
        name={"en": "Which picture shows which answer"},
        stage="alignment",
        prompt="valueground-alignment",
        needs=("picture",),
    ),
    ModelCondition(
        key="rubric",
        name={"en": "Judge of pairs"},
        stage="pair-review",
        prompt="valueground-rubric",
        needs=("picture",),
        judge=True,
    ),
)
