"""Which of several texts a person reads, by the codes of languages."""

from collections.abc import Iterable


def closest_language(codes: Iterable[str], language: str) -> str:
    """The code of the text for somebody who reads in `language`: the same, else without its country or script, else
    with another one. Capitals do not matter. Empty where no text is in that language."""
    wanted = language.lower()
    base = wanted.split("-")[0]
    readable = [code for code in codes if code.lower().split("-")[0] == base]
    return min(readable, key=lambda code: (code.lower() != wanted, code.lower() != base), default="")
