from collections.abc import Iterable

from django import template

from config.joined import joined

register = template.Library()


@register.filter(name="joined")
def joined_files(names: Iterable[str]) -> list[str]:
    """Of files under static/, those that a sheet's page asks for instead: see config/joined.py."""
    return joined(names)
