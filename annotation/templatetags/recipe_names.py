"""{{ name|recipe_name }}: a name of a recipe in the language of the page, where there is a translation."""

from django import template

from annotation.pages import recipe_names

register = template.Library()


@register.filter
def recipe_name(name: str) -> str:
    return recipe_names.recipe_name(name)
