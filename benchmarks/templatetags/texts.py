"""Texts that come in several languages, on pages: {{ text|localise }}, {{ text|localise:benchmark }}."""

from collections.abc import Mapping
from typing import Any

from django import template
from django.utils import translation
from django.utils.translation import gettext as _

from benchmarks.recipes.registry import WORDS

register = template.Library()


@register.filter
def localise(text: Mapping[str, str]) -> str:
    """In the language of the page, else English, else any. Where the culture's name belongs stands a word for it."""
    language = translation.get_language() or "en"
    localised = (
        text.get(language) or text.get(language.split("-")[0]) or text.get("en") or next(iter(text.values()), "")
    )
    return localised.replace("{target}", _("this culture"))


@register.simple_tag
def recipe_languages() -> list[str]:
    """The languages, besides English, in which the site has texts of recipes."""
    return list(WORDS)


@register.filter
def label_for(key: str, names: Mapping[str, Mapping[str, str]]) -> str:
    """A stored key by its name, where it has one: {{ item.condition|label_for:condition_names }}."""
    return localise(names[key]) if key in names else key


@register.filter
def is_web_address(text: str) -> bool:
    """Only these become links: a source is whatever somebody wrote into a manifest."""
    return text.startswith(("https://", "http://")) and " " not in text


@register.filter
def fact_text(value: Any) -> Any:
    """A fact that has several parts, such as how many of each thing there are: {{ fact.value|fact_text }}."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {part}" for key, part in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list) else value
