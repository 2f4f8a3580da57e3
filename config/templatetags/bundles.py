from collections.abc import Iterable

from django import template

from config.static_bundles import bundle_names

register = template.Library()


@register.filter(name="joined")
def bundled_files(names: Iterable[str]) -> list[str]:
    """Of files under static/, those that a sheet's page asks for instead: see config/static_bundles.py."""
    return bundle_names(names)
