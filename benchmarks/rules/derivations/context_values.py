"""Values of an item's context. Pure."""

from collections.abc import Mapping
from typing import Any


def context_value(context: Mapping[str, Any], key: str) -> Any:
    """The value of the item; else the value that all of its pictures have, for the file of a set has a row for each
    picture and none for the item. None where there is neither.

    >>> context_value({"prompt": "a photo of dance"}, "prompt")
    'a photo of dance'
    >>> context_value({"pictures": {"1": {"prompt": "dance"}, "2": {"prompt": "dance"}}}, "prompt")
    'dance'
    >>> context_value({"pictures": {"1": {"prompt": "dance"}, "2": {"prompt": "music"}}}, "prompt") is None
    True
    >>> context_value({"pictures": {"1": {"prompt": "dance"}, "2": {}}}, "prompt") is None
    True
    """
    if context.get(key) is not None:
        return context[key]
    pictures = context.get("pictures")
    if not isinstance(pictures, Mapping) or not pictures:
        return None
    first, *others = [about.get(key) if isinstance(about, Mapping) else None for about in pictures.values()]
    return first if all(value == first for value in others) else None
