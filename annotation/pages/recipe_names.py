"""Names that people read in their own language where the recipe's words are translated: of campaigns and stages that
kept the recipe's name, and of concepts."""

from django.utils.translation import get_language

from benchmarks.recipes.registry import translate_name


def recipe_name(name: str) -> str:
    """The name in the language of the page."""
    return translate_name(name, get_language() or "en")
