"""The recipes there are. To add one: write its module, name it here; tests/contracts/test_recipes.py does the rest."""

from difflib import get_close_matches

from benchmarks.recipes.caire import UNIVERSAL
from benchmarks.recipes.contract import Recipe

RECIPES: tuple[Recipe, ...] = (UNIVERSAL,)


class UnknownRecipe(KeyError):
    def __str__(self) -> str:
        return str(self.args[0])


def recipe(key: str) -> Recipe:
    for one in RECIPES:
        if one.key == key:
            return one
    known = [one.key for one in RECIPES]
    near = get_close_matches(key, known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(known)}"
    raise UnknownRecipe(f"no recipe {key!r}; {hint}")


def find(key: str) -> Recipe | None:
    """For rows that may name a recipe which is gone: benchmarks outlive recipes."""
    return next((one for one in RECIPES if one.key == key), None)
