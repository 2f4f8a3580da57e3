"""Which country a text names, and which ones may have been meant."""

from difflib import get_close_matches

from benchmarks.rules.label_sets.countries import ALIASES, NAMES

_CODES = {name.casefold(): code for code, name in NAMES.items()} | ALIASES


def code_of(text: str) -> str | None:
    """The code for a code or a name, however it is written; None if it is no country."""
    text = " ".join(text.replace("\u2019", "'").split())
    return text.upper() if text.upper() in NAMES else _CODES.get(text.casefold().removeprefix("the "))


def similar_countries(text: str) -> list[str]:
    """Names that may have been meant."""
    codes = get_close_matches(text.casefold(), _CODES, n=3, cutoff=0.75)
    return list(dict.fromkeys(NAMES[_CODES[name]] for name in codes))
