"""A seeded draw of each group, or its first items in an order. Pure.

params, beside those of promote:

- `n`: how many of each group are taken.
- `by`: the fields of the groups, a path or a list of paths; without any, all are one group. An item that lacks one of
  the values belongs to no group and is not taken.
- `weight`: the path of a number: the larger, the more likely.
- `order`: {"field": path, "descending": false}: the first n by this number in place of a draw, as a paper takes the
  first three of a search. Equal numbers go by key; what has no number comes last.
- `strata`: {"fact": key, "bins": number}: the n of a group are spread evenly over bins of its candidates by this fact.

A draw orders the items of a group, and the first n are taken: so a larger n only adds. Each item has its own lot,
u ** (1 / weight) with u from the seed and its name, and the largest come first (Efraimidis and Spirakis 2006). What is
drawn does not depend on the order of the items, and a new item moves at most one other out.

Bins hold equally many of all candidates of the group that have the fact as a number, whatever is drawn of them: an
item's bin follows from the share of candidates below it, so equal values share a bin and nothing depends on who came
first. A bin takes its next item after every other bin has had its turn, the lowest bin first, and one that is used up
is passed over. Items that come later move the ends of the bins, so another item may be drawn in place of one that was;
an item that has an answer by then stays in the stage (see annotation.services.derivation).
"""

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.rules.derivations import promote
from benchmarks.rules.derivations.contract import (
    DerivationError,
    ItemDraft,
    Result,
    check_groups,
    group_by_item,
    group_by_values,
    grouping_fields,
    read_number,
    read_path,
    require_path,
    seeded_random,
)

OWN = frozenset({"n", "by", "weight", "order", "strata"})
MOST_BINS = 20
MOST_ITEMS = 1_000_000  # of a group: more than any stage holds
Members = Sequence[Result]
"""The results of one item and target."""


def check(params: Mapping[str, Any]) -> None:
    if not _is_count(params.get("n"), 1) or params["n"] > MOST_ITEMS:
        raise DerivationError("params.n", f"must be a number from 1 to {MOST_ITEMS:,}")
    check_groups(params.get("by", ()))
    if "weight" in params:
        require_path(params["weight"], "params.weight")
    if "order" in params:
        _check_order(params)
    if "strata" in params:
        _check_strata(params["strata"])
    promote.check(params, OWN)


def _is_count(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _check_order(params: Mapping[str, Any]) -> None:
    order = params["order"]
    if not isinstance(order, Mapping) or not set(order) <= {"field", "descending"}:
        raise DerivationError("params.order", "must name a field, and whether the largest comes first")
    require_path(order.get("field"), "params.order.field")
    if not isinstance(order.get("descending", False), bool):
        raise DerivationError("params.order.descending", "must be true or false")
    for name in ("weight", "strata"):
        if name in params:
            raise DerivationError(f"params.{name}", "cannot be used with an order")


def _check_strata(strata: Any) -> None:
    if not isinstance(strata, Mapping) or not set(strata) <= {"fact", "bins"}:
        raise DerivationError("params.strata", "must name a fact and the number of bins")
    if not isinstance(strata.get("fact"), str) or not strata["fact"]:
        raise DerivationError("params.strata.fact", "is missing")
    if not _is_count(strata.get("bins"), 2) or strata["bins"] > MOST_BINS:
        raise DerivationError("params.strata.bins", f"must be 2 to {MOST_BINS}, not {strata.get('bins')!r}")


def derive(results: Sequence[Result], params: Mapping[str, Any], seed: int) -> list[ItemDraft]:
    drafts: list[ItemDraft] = []
    promoted = {key: params[key] for key in params if key not in OWN}
    for _values, group in sorted(group_by_values(results, grouping_fields(params)).items()):
        chosen = [result for members in _ranked(group, params, seed)[: params["n"]] for result in members]
        drafts += promote.derive(chosen, promoted, seed)
    return drafts


def _ranked(group: Sequence[Result], params: Mapping[str, Any], seed: int) -> list[Members]:
    """All items of a group that can be taken, the first one first."""
    items: Sequence[Members] = group_by_item(group)
    if "order" in params:
        return sorted(items, key=lambda members: _order_key(members[0], params["order"]))
    drawn: list[Members] = sorted(items, key=lambda members: _draw_key(members[0], params, seed), reverse=True)
    return _spread(drawn, params["strata"]) if "strata" in params else drawn


def _order_key(result: Result, order: Mapping[str, Any]) -> tuple[bool, float]:
    number = read_number(read_path(order["field"], result))
    if number is None:
        return True, 0.0
    return False, -number if order.get("descending") else number


def _draw_key(result: Result, params: Mapping[str, Any], seed: int) -> float:
    """Its logarithm. What has no weight, or none above 0, comes last."""
    weight = read_number(read_path(params["weight"], result)) if "weight" in params else 1
    if weight is None or weight <= 0:
        return -math.inf
    return math.log(seeded_random(seed, f"{result.item.key}/{result.target}")) / weight


def _spread(drawn: Sequence[Members], strata: Mapping[str, Any]) -> list[Members]:
    """The first of each bin, then the second of each, and so on. What lacks the fact is in no bin."""
    valued = [(read_number(members[0].item.facts.get(strata["fact"])), members) for members in drawn]
    values = sorted(value for value, _members in valued if value is not None)
    turns: Counter[int] = Counter()
    placed = []
    for value, members in valued:
        if value is not None:
            place = bisect_left(values, value) * strata["bins"] // len(values)
            placed.append((turns[place], place, members))
            turns[place] += 1
    return [members for _turn, _place, members in sorted(placed, key=lambda row: row[:2])]
