"""How many pictures an item of a stage has, by the display of the stage. Pure.

Importing, composing and migrating read it here, below the app that holds the displays.
"""

from collections.abc import Mapping

PICTURES = ("none", "optional", "one", "named", "set")
DEFAULT_PICTURES: Mapping[str, str] = {
    "words": "none",
    "candidate": "optional",
    "question": "optional",
    "pair": "named",
    "bare-pair": "named",
    "contact": "set",
}
# What each display reads of an item's context: columns of a manifest.
CONTEXT: Mapping[str, tuple[str, ...]] = {"pair": ("option_a", "option_b"), "candidate": ("candidate",)}
PAIRED_DISPLAYS = ("pair", "bare-pair")
TEXT_ON_SHEET = frozenset({"words", "candidate", "question", "pair", "bare-pair"})


def default_pictures(display: str) -> str:
    return DEFAULT_PICTURES.get(display, "one")


def context_columns(display: str, pictures: str) -> tuple[str, ...]:
    """The context that an item must have. Two texts side by side stand where two pictures would."""
    if display == "bare-pair" and pictures in ("none", "optional"):
        return CONTEXT["pair"]
    return CONTEXT.get(display, ())
