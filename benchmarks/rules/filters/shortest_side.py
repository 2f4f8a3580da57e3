"""The shortest side of every picture has at least `least` (100) pixels. Pure."""

from collections.abc import Collection, Mapping, Sequence
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

LEAST = 100


def check(params: Mapping[str, Any]) -> None:
    require_known(params, ("least",))
    least = require_number(params, "least", LEAST)
    if least is None or least < 1:
        raise FilterError("least", "must be 1 or more")


def judge(
    candidates: Sequence[Candidate], params: Mapping[str, Any], _earlier: Collection[int] = ()
) -> list[FilterOutcome]:
    least = params.get("least", LEAST)
    outcomes = []
    for candidate in candidates:
        side = min((min(picture.width, picture.height) for picture in candidate.pictures), default=None)
        if side is None:
            outcomes.append(wait(PICTURE, "no_picture"))
        else:
            outcomes.append(keep(side, least) if side >= least else drop("too_small", side, least))
    return outcomes
