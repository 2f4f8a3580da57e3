"""The recipes there are. To add one: write its module, name it here; tests/contracts/test_recipes.py does the rest."""

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from benchmarks.recipes.contract import Recipe
from papers.caire.recipe import UNIVERSAL
from papers.culturalvqa.recipe import CULTURALVQA
from papers.globalrg.recipe import GROUNDING, RETRIEVAL
from papers.valueground.recipe import VALUEGROUND
from papers.xcm.recipe import XCM

WRITTEN: tuple[Recipe, ...] = (UNIVERSAL, CULTURALVQA, RETRIEVAL, GROUNDING, VALUEGROUND, XCM)
# Recipes are written in English. A language more is one file: English sentence to its translation.
WORDS: dict[str, Mapping[str, str]] = {
    file.stem: json.loads(file.read_text("utf-8")) for file in sorted(Path(__file__).with_name("words").glob("*.json"))
}


def _translated(part: Any) -> Any:
    """The same part, each of its texts in every language there are words for."""
    if is_dataclass(part) and not isinstance(part, type):
        return replace(
            part, **{part_field.name: _translated(getattr(part, part_field.name)) for part_field in fields(part)}
        )
    if isinstance(part, Mapping):
        if isinstance(part.get("en"), str):
            texts = {language: words[part["en"]] for language, words in WORDS.items() if part["en"] in words}
            return {**texts, **part}
        return {key: _translated(value) for key, value in part.items()}
    return type(part)(_translated(member) for member in part) if isinstance(part, (list, tuple)) else part


RECIPES: tuple[Recipe, ...] = tuple(_translated(written) for written in WRITTEN)


class UnknownRecipe(KeyError):
    def __str__(self) -> str:
        return str(self.args[0])


def recipe(key: str) -> Recipe:
    for candidate in RECIPES:
        if candidate.key == key:
            return candidate
    known = [recipe_spec.key for recipe_spec in RECIPES]
    near = get_close_matches(key, known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(known)}"
    raise UnknownRecipe(f"no recipe {key!r}; {hint}")


def find(key: str) -> Recipe | None:
    """For rows that may name a recipe which is gone: benchmarks outlive recipes."""
    return next((candidate for candidate in RECIPES if candidate.key == key), None)
