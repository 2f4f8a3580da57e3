"""The recipes that a benchmark can be created from."""

from typing import Any

from django.utils.translation import get_language
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.sheets.sheet import localise
from api.protocol.operations import operation
from api.schemas.pages import page_of_shape
from api.schemas.recipes import RecipeSerializer
from api.views.base import ResourceView
from benchmarks.recipes.contract import Recipe
from benchmarks.recipes.registry import RECIPES


class RecipeList(ResourceView):
    spans = True

    @operation("recipes", "Published recipes: versions, stages and what they ask",
               reply=page_of_shape(RecipeSerializer))  # fmt: skip
    def get(self, request: Request) -> Response:
        return Response({"results": [recipe_json(recipe) for recipe in RECIPES], "next": None, "previous": None})


def recipe_json(recipe: Recipe) -> dict[str, Any]:
    language = get_language() or "en"
    names = ("key", "version", "name", "citation", "licence")
    return {
        **{name: str(getattr(recipe, name)) for name in names},
        "summary": localise(recipe.summary, language),
        "stages": [{"key": stage.key, "name": str(stage.name)} for stage in recipe.stages],
        "cohorts": [cohort.label for cohort in recipe.cohorts],
        "conditions": [condition.key for condition in recipe.conditions],
        "concepts": list(recipe.concepts),
    }
