"""A seeded draw. Pure.

params: n (how many of each group), by (the groups), weight (a number: the larger, the more likely), and promote's.

Each item has its own lot, u ** (1 / weight) with u from the seed and its name, and the n largest are drawn (Efraimidis
and Spirakis 2006): what is drawn does not depend on the order of the items, and a new item moves at most one other out.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.rules.derivations import promote
from benchmarks.rules.derivations.contract import (
    DerivationError,
    ItemDraft,
    Result,
    group_by_item,
    group_by_value,
    read_path,
    require_path,
    seeded_random,
)

OWN = frozenset({"n", "by", "weight"})


def check(params: Mapping[str, Any]) -> None:
    if not isinstance(params.get("n"), int) or params["n"] < 1:
        raise DerivationError("params.n", "must be a number from 1")
    for key in ("by", "weight"):
        if key in params:
            require_path(params[key], f"params.{key}")
    promote.check(params, OWN)


def derive(results: Sequence[Result], params: Mapping[str, Any], seed: int) -> list[ItemDraft]:
    drafts: list[ItemDraft] = []
    for _value, group in sorted(group_by_value(results, params.get("by", "")).items()):
        drawn = sorted(group_by_item(group), key=lambda members: _draw_key(members[0], params, seed), reverse=True)
        chosen = [result for members in drawn[: params["n"]] for result in members]
        drafts += promote.derive(chosen, {key: params[key] for key in params if key not in OWN}, seed)
    return drafts


def _draw_key(result: Result, params: Mapping[str, Any], seed: int) -> float:
    """Its logarithm. What has no weight, or none above 0, comes last."""
    weight = read_path(params["weight"], result) if "weight" in params else 1
    if not isinstance(weight, int | float) or weight <= 0:
        return -math.inf
    return math.log(seeded_random(seed, f"{result.item.key}/{result.target}")) / weight
