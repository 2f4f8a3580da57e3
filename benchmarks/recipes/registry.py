"""The recipes of this site. A plugin of `papers` or of an installed package registers its own when Django starts."""

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from benchmarks.recipes.contract import Recipe, RecipeError

RECIPES: list[Recipe] = []  # in the order of registration; filled by `register_recipe` only
# Recipes are written in English. A language more is one file: English sentence to its translation.
WORDS: dict[str, Mapping[str, str]] = {
    file.stem: json.loads(file.read_text("utf-8")) for file in sorted(Path(__file__).with_name("words").glob("*.json"))
}
_plugin_words: dict[str, dict[str, str]] = {}  # of registered recipes, besides those of the site


def register_recipe(recipe: Recipe, words: Mapping[str, Mapping[str, str]] | None = None) -> None:
    """Make a recipe available. `words`: language to (English sentence to its translation), besides those of the site.

    Raises RecipeError if the key is taken, or if nothing says what is to be cited.
    """
    if not recipe.citation.strip():
        raise RecipeError(f"recipe {recipe.key!r}: citation: is empty")
    if find(recipe.key) is not None:
        raise RecipeError(f"recipe {recipe.key!r}: the key is taken by another recipe")
    for language, more in (words or {}).items():
        _plugin_words.setdefault(language, {}).update(more)
    known = {language: {**WORDS.get(language, {}), **more} for language, more in (words or {}).items()}
    RECIPES.append(_translate(recipe, {**WORDS, **known}))


def _translate(part: Any, words: Mapping[str, Mapping[str, str]]) -> Any:
    """The same part, each of its texts in every language there are words for."""
    if is_dataclass(part) and not isinstance(part, type):
        translated = {member.name: _translate(getattr(part, member.name), words) for member in fields(part)}
        return replace(part, **translated)
    if isinstance(part, Mapping):
        if isinstance(part.get("en"), str):
            texts = {language: known[part["en"]] for language, known in words.items() if part["en"] in known}
            return {**texts, **part}
        return {key: _translate(value, words) for key, value in part.items()}
    return type(part)(_translate(member, words) for member in part) if isinstance(part, (list, tuple)) else part


def translate_name(name: str, language: str) -> str:
    """A name that a recipe writes in English only (of a stage, a concept, a facet) in a language, else as it is."""
    for code in (language, language.split("-")[0]):
        for words in (WORDS, _plugin_words):
            known = words.get(code, {})
            if translation := known.get(name) or known.get(name.lower()):
                return translation
    return name


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
