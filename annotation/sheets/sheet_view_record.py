"""How a sheet was first seen: the device, the size of the window, and how many levels of each scale were in view.

{"device": "phone", "width": 390, "height": 844, "levels": {"relevance": [5, 5]}}: pixels of CSS; of each question how
many levels could be seen whole without scrolling, and how many there are. The browser says so; it is kept so that an
effect of the device on the answers can be estimated.
"""

import json
from collections.abc import Collection
from typing import Any

DEVICES = ("phone", "tablet", "computer")
MOST_PIXELS = 20_000
MOST_LEVELS = 100
MOST_CHARACTERS = 10_000

ViewRecord = dict[str, Any]


def parse_view(posted: Any, fields: Collection[str]) -> ViewRecord:
    """What a page sent, if all of it can be; empty otherwise. `fields`: the keys of the sheet's questions.

    >>> parse_view('{"device": "phone", "width": 390, "height": 844, "levels": {"q": [4, 5]}}', {"q"})
    {'device': 'phone', 'width': 390, 'height': 844, 'levels': {'q': [4, 5]}}
    >>> parse_view('{"device": "toaster", "width": 390, "height": 844, "levels": {}}', {"q"})
    {}
    """
    if not isinstance(posted, str) or not posted or len(posted) > MOST_CHARACTERS:
        return {}
    try:
        data = json.loads(posted)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(data, dict) or data.get("device") not in DEVICES or not isinstance(data.get("levels"), dict):
        return {}
    size = {side: data.get(side) for side in ("width", "height")}
    if not all(_is_count(pixels, MOST_PIXELS) for pixels in size.values()):
        return {}
    levels = {key: counts for key, counts in data["levels"].items() if key in fields and _are_levels(counts)}
    return {"device": data["device"], **size, "levels": levels}


def _are_levels(counts: Any) -> bool:
    if not isinstance(counts, list) or len(counts) != 2 or not all(_is_count(n, MOST_LEVELS) for n in counts):
        return False
    return bool(counts[0] <= counts[1])


def _is_count(number: Any, maximum: int) -> bool:
    return isinstance(number, int) and not isinstance(number, bool) and 0 <= number <= maximum
