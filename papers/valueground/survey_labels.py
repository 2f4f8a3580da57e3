"""From the answers of a survey to which of two options a country leans to.

    mean    sum of code x count / sum of counts, over the valid codes
    label   the option whose code is nearer to the mean; an exact tie has none
    u       (mean - least) / (greatest - least) of the two options' codes;   margin d = |u - 1/2|

Valid codes: the positive ones, after the question's adjustment ({code: new code, or None to leave it out}), which puts
codes in order and gives a meaningful 0 its place; without an adjustment a 0 is left out, and said so. Counts may be
weighted ones.
Unscorable, with the reason: no counts; codes of the options unresolved, or the same; a code of theirs that is no valid
one (0 or less after the adjustment); an exact tie. The codes are, by what is known: those of the options that people
are shown, found by their text; the pair that was given; the two ends of the survey's options; the numbers that the
options begin with; the least and the greatest code that was seen.
Source: ValueGround, appendix C.4, equations 9 and 10, and D.2, equation 14.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

PairSource = Literal["options", "metadata", "ends", "prefix", "extremes"]
Side = Literal["a", "b"]
Why = Literal["no_counts", "codes_unresolved", "not_positive", "tie"]
Adjustment = Mapping[int, int | None]
_PREFIX = re.compile(r"\s*(-?\d+)(?:\s*[.):\-\u2013\u2014]\s*|\s+|$)")
_DOUBTFUL = re.compile(
    r"\bother\b|\bnot allowed\b|\bnot \[|\bi am not\b|\bsame\b|\bhard to say\b|\bspontaneous\b", re.I
)


@dataclass(frozen=True)
class Pair:
    """The codes of option A and option B, and where they were found."""

    a: int
    b: int
    found: PairSource


@dataclass(frozen=True)
class Label:
    """``side`` is None exactly when ``why`` says why. ``mean``, ``u`` and ``margin`` exist at a tie too (margin 0 where
    the codes are in order). ``out_of_range``: the mean lies outside the two codes, as it can where codes are unordered.
    """

    side: Side | None
    why: Why | None = None
    mean: float | None = None
    u: float | None = None
    margin: float | None = None
    n: float = 0
    n_not_valid: float = 0
    n_zero: float = 0  # answers with code 0 among the invalid ones
    out_of_range: bool = False


@dataclass(frozen=True)
class OptionProposal:
    """The two options a person is asked to confirm: codes after adjustment, and what makes the choice doubtful."""

    a: int
    b: int
    rule: Literal["the two options", "first and last"]
    doubts: tuple[str, ...]  # labels that look as if they were no end of a scale


def adjust(counts: Mapping[int, float], adjustment: Adjustment | None) -> dict[int, float]:
    """Counts by their new codes, all moved at once; codes that fall together are added, dropped ones leave.

    >>> adjust({0: 5, 1: 7, 3: 2}, {0: 3, 3: 4})
    {3: 5, 1: 7, 4: 2}
    """
    moved: dict[int, float] = {}
    for code, count in counts.items():
        new = adjustment.get(code, code) if adjustment else code
        if new is not None:
            moved[new] = moved.get(new, 0) + count
    return moved


def prefix(label: str) -> int | None:
    """The number a label starts with ("1. Very important", "10 A great deal"), else None."""
    match = _PREFIX.match(label)
    return int(match.group(1)) if match else None


def match_options(
    shown: tuple[str, str], options: Mapping[int, str], adjustment: Adjustment | None = None
) -> Pair | None:
    """The adjusted codes of the two options that people are shown, by their text among the survey's ``options``; case,
    spaces and a number before them aside. None unless each is one of them, and they are two.

    >>> match_options(("better off", "2. Worse off"), {1: "Better off", 2: "Worse off", 3: "About the same"})
    Pair(a=1, b=2, found='options')
    """
    codes: dict[str, set[int | None]] = {}
    for code, text in options.items():
        codes.setdefault(_bare_text(text), set()).add(adjustment.get(code, code) if adjustment else code)
    a, b = (list(codes.get(_bare_text(one), ())) for one in shown)
    if len(a) != 1 or len(b) != 1 or a[0] is None or b[0] is None or a == b:
        return None
    return Pair(a[0], b[0], "options")


def _bare_text(text: str) -> str:
    words = " ".join(text.split()).casefold().rstrip(".")
    match = _PREFIX.match(words)
    return words[match.end() :] or words if match else words


def resolve(
    codes: tuple[int, int] | None, labels: tuple[str, str] | None, codes_seen: Sequence[int] = ()
) -> Pair | None:
    """The two options' codes: given ones, else the numbers their labels start with, else the least and the greatest
    valid code seen in any country. None where none of the three gives two different codes."""
    if codes is not None:
        return Pair(*codes, "metadata") if codes[0] != codes[1] else None
    if labels is not None:
        a, b = prefix(labels[0]), prefix(labels[1])
        if a is not None and b is not None:
            return Pair(a, b, "prefix") if a != b else None
    valid = [code for code in codes_seen if code > 0]
    if not valid or min(valid) == max(valid):
        return None
    return Pair(min(valid), max(valid), "extremes")


def label(counts: Mapping[int, float] | None, pair: Pair | None, adjustment: Adjustment | None = None) -> Label:
    """Which option a country leans to, from its ``counts`` by code. Exact: the tie is one of whole numbers.

    >>> label({1: 30, 2: 30, 3: 20, 4: 20}, Pair(1, 4, "metadata")).margin  # mean 2.3, u = 1.3 / 3
    0.06666666666666667
    """
    moved = adjust(counts or {}, adjustment)
    valid = {code: Fraction(count) for code, count in moved.items() if code > 0}
    total = sum(valid.values(), Fraction(0))
    left = sum(counts.values() if counts else (), 0.0) - float(total)
    zero = float(moved.get(0, 0))
    if any(count < 0 for count in moved.values()):
        raise ValueError(f"counts must not be negative, got {dict(moved)}")
    if pair is not None and min(pair.a, pair.b) <= 0 and sum(moved.values(), 0.0):
        return Label(None, "not_positive", n_not_valid=left, n_zero=zero)
    if not total:
        return Label(None, "no_counts", n_not_valid=left, n_zero=zero)
    mean = sum((code * count for code, count in valid.items()), Fraction(0)) / total
    if pair is None or pair.a == pair.b:
        return Label(None, "codes_unresolved", float(mean), n=float(total), n_not_valid=left, n_zero=zero)
    low, high = min(pair.a, pair.b), max(pair.a, pair.b)
    u = (mean - low) / (high - low)
    to_a, to_b = abs(mean - pair.a), abs(mean - pair.b)
    side: Side | None = None if to_a == to_b else "a" if to_a < to_b else "b"
    return Label(
        side=side,
        why="tie" if side is None else None,
        mean=float(mean),
        u=float(u),
        margin=float(abs(u - Fraction(1, 2))),
        n=float(total),
        n_not_valid=left,
        n_zero=zero,
        out_of_range=not 0 <= u <= 1,
    )


def propose(options: Mapping[int, str], adjustment: Adjustment | None = None) -> OptionProposal | None:
    """The pair to be confirmed, from a question's options by code: the two there are, else the first and the last by
    their adjusted codes; only positive ones. None with fewer than two.

    >>> propose({1: "Better off", 2: "Worse off", 3: "Or about the same", -1: "Don't know"}).doubts
    ('Or about the same',)
    """
    words: dict[int, str] = {}
    for code, text in options.items():
        new = adjustment.get(code, code) if adjustment else code
        if new is not None and new > 0:
            words[new] = text if new not in words or code == new else words[new]
    if len(words) < 2:
        return None
    first, last = min(words), max(words)
    doubts = tuple(words[code] for code in (first, last) if _DOUBTFUL.search(words[code]))
    return OptionProposal(first, last, "the two options" if len(words) == 2 else "first and last", doubts)
