"""How 3XCM asks models for texts: labels of pictures (Appendix I) and longer queries (Appendix S)."""

from benchmarks.recipes.contract import ModelCondition

MODEL_CONDITIONS = (
    ModelCondition("labels", {"en": "All concepts that a picture shows"}, "tagging", "xcm-labels", needs=("picture",)),
    ModelCondition(
        "task_query",
        {"en": "A query that says what the picture is for"},
        "queries",
        "xcm-queries",
        setting="task",
        options={"style": "task"},
    ),
    ModelCondition(
        "casual_query",
        {"en": "A chatty query"},
        "queries",
        "xcm-queries",
        setting="casual",
        options={"style": "casual"},
    ),
)
