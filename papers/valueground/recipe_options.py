"""ValueGround's questions as items: one for each, with its proposed pair of options. Sections 3.1 and C.1 of the paper.

Nobody answers them here. A researcher confirms or excludes each on the page Survey, which writes these items and the
fact `confirmed`; so the overview counts what was decided, and nothing is decided twice.
"""

from benchmarks.recipes.contract import StageSpec
from benchmarks.recipes.parts import field

STAGE = "options"
CONFIRMED = "confirmed"
"""The fact of a decision: 1 for a confirmed question, 0 for an excluded one; none while nobody has decided."""

OPTIONS = StageSpec(
    key=STAGE,
    name="Options",
    display="words",
    pictures="none",
    sheet={"fields": [field("remark", "text", {"en": "What is wrong with this pair of options?"}, {"max_length": 300})]},
    target_answers=0,
    has_target=False,
    own_vocabulary=True,
    filters=({"key": CONFIRMED, "kind": "fact", "params": {"key": CONFIRMED, "least": 1}},),
    layout={
        "show": [
            {"key": "option_a", "label": {"en": "Option A"}},
            {"key": "option_b", "label": {"en": "Option B"}},
        ]
    },
    sample=(
        {
            "key": "Q1", "concept": "Q1", "text": "How important is family in your life?", "option_a": "Very important",
            "option_b": "Not at all important", "fact.confirmed": "1",
        },
    ),
)  # fmt: skip
