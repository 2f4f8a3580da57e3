"""Of candidates with the same file as their first picture, the first by rank and key is kept. Pure.

params: within (the fields that they share, origin and concept by default; an empty list means the whole stage).
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from benchmarks.rules.filters.contract import (
    PICTURE,
    Candidate,
    FilterOutcome,
    drop,
    keep,
    require_known,
    require_within,
    wait,
)


def check(params: Mapping[str, Any]) -> None:
    require_known(params, ("within",))
    require_within(params)


def judge(
    candidates: Sequence[Candidate], params: Mapping[str, Any], earlier: Collection[int] = ()
) -> list[FilterOutcome]:
    first_keys: dict[str, str] = {}
    outcomes = []
    for candidate in candidates:
        if not candidate.pictures:
            outcomes.append(wait(PICTURE, "no_picture"))
            continue
        sha = candidate.pictures[0].sha
        if sha in first_keys:
            outcomes.append(drop("same_picture", {"key": first_keys[sha]}, None))
            continue
        if candidate.id not in earlier:
            first_keys[sha] = candidate.key
        outcomes.append(keep())
    return outcomes
