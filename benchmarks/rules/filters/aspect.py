"""Width divided by height of every picture lies between `least` (0.5) and `most` (2), both included. Pure."""

from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from typing import Any

from benchmarks.rules.filters.contract import (
    PICTURE,
    Candidate,
    FilterError,
    FilterOutcome,
    drop,
    keep,
    require_known,
    require_number,
    wait,
)

LEAST, MOST = 0.5, 2.0


def check(params: Mapping[str, Any]) -> None:
    require_known(params, ("least", "most"))
    least, most = require_number(params, "least", LEAST), require_number(params, "most", MOST)
    if least is None or least <= 0:
        raise FilterError("least", "must be above 0")
    if most is None or most < least:
        raise FilterError("most", "must not be below the lower limit")


def judge(
    candidates: Sequence[Candidate], params: Mapping[str, Any], _earlier: Collection[int] = ()
) -> list[FilterOutcome]:
    least, most = params.get("least", LEAST), params.get("most", MOST)
    return [_judge_candidate(candidate, least, most) for candidate in candidates]


def _judge_candidate(candidate: Candidate, least: float, most: float) -> FilterOutcome:
    """Compared as fractions of the limits as they are written, so that 0.1 means one tenth."""
    lower, upper = Fraction(str(least)), Fraction(str(most))
    value = None
    for picture in candidate.pictures:
        value = round(picture.width / picture.height, 4)
        ratio = Fraction(picture.width, picture.height)
        if ratio < lower:
            return drop("too_narrow", value, least)
        if ratio > upper:
            return drop("too_wide", value, most)
    return keep(value) if candidate.pictures else wait(PICTURE, "no_picture")
