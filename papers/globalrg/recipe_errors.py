"""GlobalRG: what was wrong with a model's box. A stage of ours; the paper looks at such boxes without a sheet."""

from typing import Any

from benchmarks.recipes.contract import StageSpec
from benchmarks.recipes.parts import BROKEN, CANNOT_JUDGE, UNFAMILIAR, one_of, option

WRONG_AT_MOST = 0.5  # IoU with the gold box: the paper counts a box as right above it

WRONG_BOXES: dict[str, Any] = {
    "kind": "verdicts",
    "from": ["boxes"],
    "params": {
        "field": "box",
        "runs": "chosen",
        "people": "none",
        "references": "none",
        "pictures": "item",
        "where": {"measure": "iou", "at_most": WRONG_AT_MOST, "no_answer": True},
    },
}
ERROR_SHEET = {
    "fields": [
        one_of(
            "error",
            {"en": "What is wrong with the model's box?"},
            (
                option("unrelated", {"en": "It is round something else"}),
                option("similar_shape", {"en": "It is round a thing of a similar shape"}),
                option("loose", {"en": "It is round the right thing, but too large, too small or moved"}),
                option("no_box", {"en": "There is no box"}),
            ),
        )
    ]
}
ERROR_TYPES = StageSpec(
    key="error-types",
    name="Types of errors",
    display="image",
    sheet=ERROR_SHEET,
    target_answers=1,
    has_target=True,
    own_items_only=True,
    derivation=WRONG_BOXES,
    layout={"show": [{"key": "concept", "label": {"en": "What to look for"}}]},
    skip_reasons=(UNFAMILIAR, BROKEN, CANNOT_JUDGE),
    instructions={
        "en": (
            "You will see a picture with two boxes round what the word names: one by people, and one by a model that is "
            "counted as wrong. Say what is wrong with the model's box."
        )
    },
)
