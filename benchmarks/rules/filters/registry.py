"""The kinds of filters, and the list of filters of a stage. Pure.

[{"key": text, "kind": "aspect" | ..., "params": {...}, "returns": true or absent}, ...]
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.rules.filters import (
    aspect,
    blocked_words,
    fact,
    near_duplicate,
    not_in_base,
    same_picture,
    shortest_side,
)
from benchmarks.rules.filters.contract import FilterError, FilterKind

BY_HAND = "by_hand"
MOST = 30
KEY = re.compile(r"[a-z0-9_:.-]{1,60}")
KINDS = {
    "aspect": FilterKind(aspect.check, aspect.judge),
    "shortest_side": FilterKind(shortest_side.check, shortest_side.judge),
    "blocked_words": FilterKind(blocked_words.check, blocked_words.judge),
    "fact": FilterKind(fact.check, fact.judge, needs=fact.needs),
    "same_picture": FilterKind(same_picture.check, same_picture.judge, grouped=True),
    "near_duplicate": FilterKind(near_duplicate.check, near_duplicate.judge, grouped=True, needs=near_duplicate.needs),
    "not_in_base": FilterKind(not_in_base.check, not_in_base.judge, needs=not_in_base.needs),
}


@dataclass(frozen=True)
class FilterRule:
    """One filter of a stage. `key` names it in results. `returns`: a picture that it drops goes back to the person who
    brought it, with the reason."""

    key: str
    kind: str
    params: Mapping[str, Any] = field(default_factory=dict)
    returns: bool = False

    @property
    def grouped(self) -> bool:
        return KINDS[self.kind].grouped

    @property
    def needs(self) -> str:
        """The fact that it reads; empty if it reads none."""
        return KINDS[self.kind].needs(self.params)

    def to_json(self) -> dict[str, Any]:
        data = {"key": self.key, "kind": self.kind, "params": dict(self.params)}
        return data | {"returns": True} if self.returns else data


def parse_filters(data: Any) -> tuple[FilterRule, ...]:
    """The filters in their order. Raises FilterError with the path of what is not valid."""
    if not isinstance(data, Sequence) or isinstance(data, str):
        raise FilterError("filters", "must be a list")
    if len(data) > MOST:
        raise FilterError("filters", f"must be at most {MOST}")
    rules: list[FilterRule] = []
    for number, entry in enumerate(data):
        rule = _parse_rule(entry, f"filters.{number}")
        if rule.key in {other.key for other in rules}:
            raise FilterError(f"filters.{number}.key", "is used twice")
        rules.append(rule)
    return tuple(rules)


def _parse_rule(entry: Any, path: str) -> FilterRule:
    if not isinstance(entry, Mapping):
        raise FilterError(path, "must be an object")
    for name in entry:
        if name not in ("key", "kind", "params", "returns"):
            raise FilterError(f"{path}.{name}", "is not known")
    key, kind, params = entry.get("key"), entry.get("kind"), entry.get("params", {})
    if not isinstance(key, str) or not KEY.fullmatch(key) or key == BY_HAND:
        raise FilterError(f"{path}.key", "must be 1 to 60 lower-case letters, digits and _ : . -")
    if not isinstance(kind, str) or kind not in KINDS:
        raise FilterError(f"{path}.kind", f"must be one of {', '.join(KINDS)}")
    if not isinstance(params, Mapping):
        raise FilterError(f"{path}.params", "must be an object")
    if not isinstance(entry.get("returns", False), bool):
        raise FilterError(f"{path}.returns", "must be true or false")
    try:
        KINDS[kind].check(params)
    except FilterError as error:
        raise FilterError(f"{path}.params.{error.path}", error.reason) from None
    return FilterRule(key, kind, dict(params), entry.get("returns", False))
