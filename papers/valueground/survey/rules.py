"""Pairs of options as rules propose them, from what the files of a survey say. Pure.

    scale    the options with positive codes, after the adjustment
    pair     the two ends of the scale; without a scale the least and the greatest code that was counted

A flag says what makes a proposal doubtful. A blocking one needs a person to set the pair; the others are only shown.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from papers.valueground.survey_labels import Adjustment, PairSource

BLOCKING = ("zero", "ends_differ", "end_words", "many", "few")
FLAGS = (*BLOCKING, "adjusted", "elliptic", "no_metadata")
MAXIMUM_CODES = 11  # of a scale that a pair of pictures can stand for
_END_WORDS = re.compile(
    r"^(?:[A-Z]{2,3}(?:,\s*[A-Z]{2,3})*:\s*)?(?:any )?other\b|\babout the same\b|\bhard to say\b|\bnot allowed\b"
    r"|\bnot of\b|\bnot \[",
    re.IGNORECASE,
)
_ELLIPTIC = re.compile(r"(?:not )?mentioned|yes|no|(?:dis)?agree|-?\d+(?:[.,]\d+)?", re.IGNORECASE)


@dataclass(frozen=True)
class QuestionSource:
    """What the files say of a question.

    Attributes:
        options: label by code, as in the codebook.
        prefixed: the codes are the numbers that the labels begin with.
        use: `value`, `demographic` or empty.
        ends: least and greatest code of the scale, from the metadata.
        counted: codes that were counted in any country, before the adjustment.
    """

    options: Mapping[int, str]
    adjustment: Adjustment = field(default_factory=dict)
    prefixed: bool = False
    has_metadata: bool = False
    use: str = ""
    ends: tuple[int, int] | None = None
    counted: Collection[int] = ()


@dataclass(frozen=True)
class PairProposal:
    """A pair to be confirmed; `a` and `b` are None where there are no two codes, and `how` is empty then."""

    a: int | None
    b: int | None
    how: PairSource | None
    flags: tuple[str, ...]
    state: str
    reason: str


def new_code(code: int, adjustment: Adjustment) -> int | None:
    """The code after the adjustment; None where the answer is left out."""
    return adjustment.get(code, code)


def scale_of(options: Mapping[int, str], adjustment: Adjustment) -> dict[int, str]:
    """Label by adjusted code, positive codes only, in their order. Where two fall together, the label of the one that
    had the code before stays.

    >>> scale_of({1: "Better", 2: "Worse", 3: "Same", -1: "Don't know"}, {2: 3, 3: 2})
    {1: 'Better', 2: 'Same', 3: 'Worse'}
    """
    labels: dict[int, str] = {}
    for code, label in options.items():
        new = new_code(code, adjustment)
        if new is not None and new > 0 and (new not in labels or code == new):
            labels[new] = label
    return dict(sorted(labels.items()))


def propose_pair(source: QuestionSource) -> PairProposal:
    """The pair, its flags, and the state in which a question begins: excluded if it is demographic, to be decided
    without metadata, else proposed."""
    a, b, how = _ends(source)
    state, reason = "proposed", ""
    if source.use == "demographic":
        state, reason = "excluded", "demographic"
    elif not source.has_metadata:
        state = "to_decide"
    return PairProposal(a, b, how, flags_of(source, a, b), state, reason)


def _ends(source: QuestionSource) -> tuple[int | None, int | None, PairSource | None]:
    scale = list(scale_of(source.options, source.adjustment))
    if len(scale) > 1:
        pair = scale[0], scale[-1]
        return *pair, "metadata" if source.ends == pair else "prefix" if source.prefixed else "ends"
    counted = sorted(code for code in counted_codes(source) if code > 0)
    return (counted[0], counted[-1], "extremes") if len(counted) > 1 else (None, None, None)


def counted_codes(source: QuestionSource) -> set[int]:
    """The codes that were counted, after the adjustment."""
    codes = (new_code(code, source.adjustment) for code in source.counted)
    return {code for code in codes if code is not None}


def flags_of(source: QuestionSource, a: int | None, b: int | None) -> tuple[str, ...]:
    """What a person should know of this pair, in the order of FLAGS."""
    scale = scale_of(source.options, source.adjustment)
    labels = [scale.get(code, str(code)) for code in (a, b) if code is not None]
    # The metadata gives the ends by the codes of its files, adjusted by them or not.
    ends = [set(source.ends), {new_code(code, source.adjustment) for code in source.ends}] if source.ends else []
    raised = {
        "zero": any(new_code(code, source.adjustment) == 0 for code in source.options),
        "ends_differ": bool(ends) and None not in (a, b) and {a, b} not in ends,
        "end_words": any(_END_WORDS.search(label) for label in labels),
        "many": len(scale) > MAXIMUM_CODES,
        "few": len(scale) < 2,
        "adjusted": bool(source.adjustment),
        "elliptic": any(is_elliptic(label) for label in labels),
        "no_metadata": not source.has_metadata,
    }
    return tuple(flag for flag in FLAGS if raised[flag])


def is_elliptic(label: str) -> bool:
    """Whether a label says nothing without its question: yes, agree, mentioned, a bare number."""
    return bool(_ELLIPTIC.fullmatch(label.strip().rstrip(".")))


def blocking(flags: Collection[str]) -> list[str]:
    """Those of the flags that keep a pair from being confirmed as it is proposed."""
    return [flag for flag in BLOCKING if flag in flags]
