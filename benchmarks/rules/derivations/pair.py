"""Two at a time, side by side. Pure.

params: by (only within what they share), sides (only where this differs), near ([[key, key, similarity], ...]:
only these), most (pairs in each group); text, concept, origin, condition and context are "a.<where>" or "b.<where>".
Which of the two is `a` is drawn with the seed.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from benchmarks.rules.derivations import promote
from benchmarks.rules.derivations.contract import (
    DerivationError,
    Draft,
    Result,
    dice,
    first_picture,
    grouped,
    need_where,
    read,
    short,
    sources_of,
    words,
)

OWN = frozenset({"by", "sides", "near", "most"})
Pair = tuple[Result, Result]


def check(params: Mapping[str, Any]) -> None:
    for key in ("by", "sides"):
        if key in params:
            need_where(params[key], f"params.{key}")
    if not isinstance(params.get("most", 1), int) or params.get("most", 1) < 1:
        raise DerivationError("params.most", "must be a number from 1")
    members = {key: params[key] for key in promote.MEMBERS if key in params} | dict(params.get("context", {}))
    for key, where in members.items():
        side, _dot, rest = str(where).partition(".")
        if side not in ("a", "b"):
            raise DerivationError(f"params.{key}", 'must begin with "a." or "b."')
        need_where(rest, f"params.{key}")
    promote.check({key: params[key] for key in params if key not in {*members, "context"}}, OWN)


def derive(results: Sequence[Result], params: Mapping[str, Any], seed: int) -> list[Draft]:
    near = {frozenset(row[:2]): row[2] if len(row) > 2 else None for row in params.get("near", ())}
    drafts = []
    for _value, group in sorted(grouped(results, params.get("by", "")).items()):
        pairs = list(_pairs(group, params, near if "near" in params else None))
        for pair in sorted(pairs, key=lambda two: dice(seed, _name(two)))[: params.get("most", len(pairs))]:
            drafts.append(_draft(pair, params, seed, near))
    return sorted(drafts, key=lambda draft: draft.key)


def _pairs(group: Sequence[Result], params: Mapping[str, Any], near: Any) -> Iterator[Pair]:
    sides = params.get("sides")
    for one, other in combinations(group, 2):
        if sides and read(sides, one) == read(sides, other):
            continue
        if near is None or frozenset((one.item.key, other.item.key)) in near:
            yield one, other


def _name(pair: Pair) -> str:
    return "+".join(sorted(one.name for one in pair))


def _draft(pair: Pair, params: Mapping[str, Any], seed: int, near: Mapping[frozenset[str], Any]) -> Draft:
    a, b = sorted(pair, key=lambda one: dice(seed, f"{_name(pair)}:{one.name}"))

    def said(where: str) -> Any:
        return read(where[2:], a if where.startswith("a.") else b)

    members = {key: words(said(params.get(key, f"a.item.{key}"))) for key in promote.MEMBERS}
    context = {name: said(where) for name, where in params.get("context", {}).items()}
    alike = near.get(frozenset((a.item.key, b.item.key)))
    if alike is not None:
        context["similarity"] = alike
    images = {role: first_picture(one.item) for role, one in (("a", a), ("b", b))}
    kept = {role: one for role, one in images.items() if one is not None}
    return Draft(key=short(_name(pair)), sources=sources_of(pair), context=context, images=kept, **members)
