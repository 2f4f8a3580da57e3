"""No entry of a knowledge base has a picture that is `similarity` or more similar. Pure.

params: fact (the fact that holds the similarity to the nearest entry), similarity (0.95). The value of the fact is a
number from 0 to 1, where the same file has 1, or an object with `similarity` and `entry`.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from benchmarks.rules.filters.contract import (
    Candidate,
    FilterOutcome,
    drop,
    is_number,
    keep,
    require_known,
    require_name,
    require_share,
    wait,
)

SIMILARITY = 0.95


def check(params: Mapping[str, Any]) -> None:
    require_known(params, ("fact", "similarity"))
    require_name(params, "fact")
    require_share(params, "similarity", SIMILARITY)


def needs(params: Mapping[str, Any]) -> str:
    return str(params["fact"])


def judge(
    candidates: Sequence[Candidate], params: Mapping[str, Any], _earlier: Collection[int] = ()
) -> list[FilterOutcome]:
    limit = params.get("similarity", SIMILARITY)
    return [_judge_value(candidate.facts.get(params["fact"]), params["fact"], limit) for candidate in candidates]


def _judge_value(value: Any, name: str, limit: float) -> FilterOutcome:
    if value is None:
        return wait(name)
    similarity = value.get("similarity") if isinstance(value, Mapping) else value
    if not is_number(similarity):
        return wait(name, "not_a_number")
    if similarity < limit:
        return keep(similarity, limit)
    entry = value.get("entry") if isinstance(value, Mapping) else None
    return drop("in_base", {"similarity": similarity} | ({"entry": str(entry)} if entry else {}), limit)
