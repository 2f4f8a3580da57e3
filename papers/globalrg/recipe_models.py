"""How GlobalRG asks models for a box. The paper names no scale of their numbers: each condition declares one (ours)."""

from benchmarks.recipes.contract import ModelCondition

BOXES = "boxes"
NAMES = {
    "1000": "One box, in numbers from 0 to 1000",
    "100": "One box, in numbers from 0 to 100",
    "1": "One box, in fractions from 0 to 1",
    "pixels": "One box, in pixels",
}
"""By the scale of the prompt."""

MODEL_CONDITIONS = (
    *(
        ModelCondition(
            key=f"box_{scale}",
            name={"en": name},
            stage=BOXES,
            prompt="globalrg-grounding",
            needs=("picture",),
            options={"scale": scale},
        )
        for scale, name in NAMES.items()
    ),
    ModelCondition(
        key="detector",
        name={"en": "The box that a detector of words scores best"},
        stage=BOXES,
        prompt="globalrg-detector",
        needs=("picture",),
    ),
)
