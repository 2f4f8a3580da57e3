"""The label sets that every team has. A recipe's own list of countries is made by `recipe_set`."""

from __future__ import annotations

from benchmarks.rules.label_sets.contract import LabelSetSpec
from benchmarks.rules.label_sets.countries import COUNTRIES
from benchmarks.rules.label_sets.globalrg import SETS

BUILT_IN: tuple[LabelSetSpec, ...] = (COUNTRIES, *SETS)
RECIPE_PREFIX = "recipe-"


def find_built_in(key: str) -> LabelSetSpec | None:
    """A built-in set by its key; None where there is none. Sets of recipes are the recipes' own."""
    return next((candidate for candidate in BUILT_IN if candidate.key == key), None)


def is_reserved(key: str) -> bool:
    """Whether a team may not use this key for a set of its own."""
    return key.startswith(RECIPE_PREFIX) or find_built_in(key) is not None
