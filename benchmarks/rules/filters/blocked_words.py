"""No blocked word occurs in the texts of a candidate; upper and lower case are equal. Pure."""

import unicodedata
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from benchmarks.rules.filters.contract import Candidate, FilterError, FilterOutcome, drop, keep, require_known

TEXTS = ("file", "source", "alt", "title")
ALLOWED = (*TEXTS, "text", "concept")
MOST_WORDS = 1000


def check(params: Mapping[str, Any]) -> None:
    require_known(params, ("words", "in"))
    words, texts = params.get("words"), params.get("in", TEXTS)
    if not isinstance(words, list | tuple) or not 0 < len(words) <= MOST_WORDS:
        raise FilterError("words", f"must be a list of 1 to {MOST_WORDS} words")
    if not all(isinstance(word, str) and word.strip() for word in words):
        raise FilterError("words", "must be texts that are not empty")
    if not isinstance(texts, list | tuple) or not texts or any(name not in ALLOWED for name in texts):
        raise FilterError("in", f"must be a list of {', '.join(ALLOWED)}")


def judge(
    candidates: Sequence[Candidate], params: Mapping[str, Any], _earlier: Collection[int] = ()
) -> list[FilterOutcome]:
    words = [(word.strip(), fold(word.strip())) for word in params["words"]]
    names = params.get("in", TEXTS)
    return [_judge_candidate(candidate, words, names) for candidate in candidates]


def _judge_candidate(candidate: Candidate, words: Sequence[tuple[str, str]], names: Sequence[str]) -> FilterOutcome:
    for name in names:
        text = fold(candidate.texts.get(name, ""))
        for word, folded in words:
            if folded in text:
                return drop("blocked_word", word, name)
    return keep()


def fold(text: str) -> str:
    """The same text for upper and lower case, and for composed and decomposed letters."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
