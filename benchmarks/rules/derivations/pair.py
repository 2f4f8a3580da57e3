"""Two at a time, side by side. Pure.

params: per ("item": each item and target once; "answer": each answer), by (only within what they share: a field, or a
list of fields that must all be the same), sides (only where this differs), near ([[key, key, similarity], ...]: only
these), similar ({"fact": key, "least": cosine}: only those that a model finds so alike, by a fact that is a vector),
different_texts (true: none that shows one text on both sides), most (pairs in each group); text, concept, origin,
condition and context are "a.<where>" or "b.<where>", or "none". Which of the two is `a` is drawn with the seed.

No item is paired with itself, and two items are one pair, in whatever order they come. Two answers to one item are a
pair only where each answer is a side and `sides` says in what they differ.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from benchmarks.rules.derivations import promote
from benchmarks.rules.derivations.contract import (
    DerivationError,
    ItemDraft,
    Result,
    answer_key,
    check_groups,
    first_picture,
    group_by_item,
    group_by_values,
    grouping_fields,
    of_unit,
    read_path,
    require_path,
    seeded_random,
    shorten_key,
    sources_of,
    value_text,
)
from benchmarks.rules.derivations.cultures import paired_cultures, shared_culture
from benchmarks.rules.derivations.likeness import Likeness, check_similar, similar_items

OWN = frozenset({"by", "sides", "near", "similar", "different_texts", "most"})
NOTHING = "none"
SIDE_TEXTS = ("option_a", "option_b")
"""Names in the context of what stands on each side."""


@dataclass(frozen=True)
class Side:
    """One of two: the results of an item and target, or one answer. `name`: what it is called in keys and draws."""

    name: str
    results: tuple[Result, ...]

    @property
    def first(self) -> Result:
        return self.results[0]

    def is_of_item(self, other: "Side") -> bool:
        """Whether both are of one item: items of two stages may share a key."""
        return (self.first.item.key, self.first.item.stage) == (other.first.item.key, other.first.item.stage)


Pair = tuple[Side, Side]


def check(params: Mapping[str, Any]) -> None:
    check_groups(params.get("by", ()))
    if "sides" in params:
        require_path(params["sides"], "params.sides")
    if not isinstance(params.get("most", 1), int) or params.get("most", 1) < 1:
        raise DerivationError("params.most", "must be a number from 1")
    if not isinstance(params.get("different_texts", False), bool):
        raise DerivationError("params.different_texts", "must be true or false")
    _check_near(params.get("near", []))
    if "similar" in params:
        check_similar(params["similar"])
    members = {key: params[key] for key in promote.MEMBERS if key in params}
    context = params.get("context", {})
    if not isinstance(context, Mapping):
        raise DerivationError("params.context", "must be an object")
    for key, where in {**members, **{f"context.{name}": where for name, where in context.items()}}.items():
        side, _dot, rest = str(where).partition(".")
        if where == NOTHING:
            continue
        if side not in ("a", "b"):
            raise DerivationError(f"params.{key}", 'must begin with "a." or "b."')
        require_path(rest, f"params.{key}")
    promote.check({key: params[key] for key in params if key not in {*members, "context"}}, OWN)


def _check_near(near: Any) -> None:
    rows = near if isinstance(near, (list, tuple)) else [near]
    for number, row in enumerate(rows, start=1):
        is_pair = isinstance(row, (list, tuple)) and len(row) in (2, 3)
        is_pair = is_pair and all(isinstance(key, str) and key for key in row[:2])
        numeric = is_pair and all(isinstance(value, (int, float)) or value is None for value in row[2:])
        if not numeric or row[0] == row[1]:
            raise DerivationError("params.near", f"number {number} must name two items, and may give a similarity")


def derive(results: Sequence[Result], params: Mapping[str, Any], seed: int) -> list[ItemDraft]:
    alike = _likeness(results, params)
    drafts = [_draft(pair, params, seed, alike or {}) for pair in _choose(results, params, seed, alike)]
    return sorted(drafts, key=lambda draft: draft.key)


def choose_pairs(
    results: Sequence[Result], params: Mapping[str, Any], seed: int, left_out: list[Pair] | None = None
) -> Iterator[Pair]:
    """The pairs that become items: lazily, so that they can be counted up to a limit. To `left_out` those are added
    that do not, since both sides show one text."""
    return _choose(results, params, seed, _likeness(results, params), left_out)


def _likeness(results: Sequence[Result], params: Mapping[str, Any]) -> Likeness | None:
    """The items that may be paired, with their similarity; None: all of them."""
    listed = {frozenset(row[:2]): row[2] if len(row) > 2 else None for row in params.get("near", ())}
    if "similar" not in params:
        return listed or None
    similar = similar_items(results, params["similar"])
    return {pair: similar[pair] for pair in listed if pair in similar} if listed else similar


def _choose(
    results: Sequence[Result], params: Mapping[str, Any], seed: int, alike: Likeness | None,
    left_out: list[Pair] | None = None,
) -> Iterator[Pair]:  # fmt: skip
    for _values, group in sorted(group_by_values(results, grouping_fields(params)).items()):
        pairs = _pairs(_sides(group, params), params, alike)
        if params.get("different_texts"):
            pairs = _with_different_texts(pairs, params, seed, [] if left_out is None else left_out)
        if "most" in params:
            yield from sorted(pairs, key=lambda two: seeded_random(seed, _name(two)))[: params["most"]]
        else:
            yield from pairs


def _sides(group: Sequence[Result], params: Mapping[str, Any]) -> list[Side]:
    """Of each item the answers to one target, or to each target where targets are read."""
    if params.get("per") == "answer":
        return [Side(answer_key(result), (result,)) for result in group if result.passes]
    groups = group_by_item(group)
    if _needs_unit(params):
        return [
            Side(
                "/".join(part for part in (pair_results[0].item.key, pair_results[0].target) if part),
                tuple(pair_results),
            )
            for pair_results in groups
        ]
    by_item: dict[tuple[str, str], list[Result]] = {}
    for pooled in groups:
        by_item.setdefault((pooled[0].item.key, pooled[0].item.stage), []).extend(pooled)
    return [Side(key, tuple(rows)) for (key, _stage), rows in by_item.items()]


def _needs_unit(params: Mapping[str, Any]) -> bool:
    """Whether two targets of an item may say different things. Groups and sides may tell targets apart, too."""
    used = [params[key].partition(".")[2] for key in promote.MEMBERS if key in params]
    used += [str(where).partition(".")[2] for where in params.get("context", {}).values()]
    return any(of_unit(where) for where in [*used, str(params.get("sides", ""))])


def carries_answers(params: Mapping[str, Any]) -> bool:
    """Whether the sides are answers, or items as they were asked about one culture."""
    return params.get("per") == "answer" or _needs_unit(params)


def pair_culture(pair: Pair, params: Mapping[str, Any], seed: int) -> str:
    """What both sides are about, in the order in which they are shown."""
    answers = carries_answers(params)
    first, second = (
        shared_culture(result.culture if answers else result.item.answer_target for result in side.results)
        for side in _in_drawn_order(pair, seed)
    )
    return paired_cultures(first, second)


def _pairs(sides: Sequence[Side], params: Mapping[str, Any], alike: Likeness | None) -> Iterator[Pair]:
    differs = params.get("sides")
    between_answers = params.get("per") == "answer" and differs
    for side, other in combinations(sides, 2):
        if side.is_of_item(other) and not between_answers:
            continue
        if differs and read_path(differs, side.first) == read_path(differs, other.first):
            continue
        if alike is None or frozenset((side.first.item.key, other.first.item.key)) in alike:
            yield side, other


def _with_different_texts(
    pairs: Iterator[Pair], params: Mapping[str, Any], seed: int, left_out: list[Pair]
) -> Iterator[Pair]:
    shows_one_text = _text_comparison(params, seed)
    for pair in pairs:
        if shows_one_text(pair):
            left_out.append(pair)
        else:
            yield pair


def _text_comparison(params: Mapping[str, Any], seed: int) -> Callable[[Pair], bool]:
    """Whether both sides of a pair show one text. Two sides without a text show none."""
    context = params.get("context", {})
    first, second = (str(context.get(name, NOTHING)) for name in SIDE_TEXTS)
    if first[:2] == second[:2] or first[2:] != second[2:]:
        return lambda pair: is_one_text(*side_texts(pair, params, seed))

    texts: dict[str, str] = {}  # by the name of a side: whichever is drawn as A, it shows the same

    def text_of(side: Side) -> str:
        if side.name not in texts:
            texts[side.name] = value_text(read_path(first[2:], side.first))
        return texts[side.name]

    return lambda pair: is_one_text(text_of(pair[0]), text_of(pair[1]))


def is_one_text(first: str, second: str) -> bool:
    return bool(first) and first == second


def _name(pair: Pair) -> str:
    return "+".join(sorted(side.name for side in pair))


def _in_drawn_order(pair: Pair, seed: int) -> Pair:
    is_one_name = pair[0].name == pair[1].name

    def lot(side: Side) -> float:
        name = f"{side.first.item.stage}/{side.name}" if is_one_name else side.name
        return seeded_random(seed, f"{_name(pair)}:{name}")

    first, second = sorted(pair, key=lot)
    return first, second


def _value_at(where: str, a: Side, b: Side) -> Any:
    return None if where == NOTHING else read_path(where[2:], a.first if where.startswith("a.") else b.first)


def side_texts(pair: Pair, params: Mapping[str, Any], seed: int) -> tuple[str, str]:
    """The text of each side as the sheet shows them; empty where a side has none."""
    a, b = _in_drawn_order(pair, seed)
    context = params.get("context", {})
    first, second = (value_text(_value_at(str(context.get(name, NOTHING)), a, b)) for name in SIDE_TEXTS)
    return first, second


def repeated_text(params: Mapping[str, Any]) -> str:
    """Why both sides of a pair would show the same text: "side", "shared" or "item"; empty where they need not.

    "side": both are read from the same side. "shared": what is shown is what both must share. "item": two answers to
    one item are a pair, and both show what the item says.
    """
    context = params.get("context", {})
    texts = [str(context.get(name, NOTHING)) for name in SIDE_TEXTS] if isinstance(context, Mapping) else [NOTHING]
    if NOTHING in texts:
        return ""
    if texts[0] == texts[1]:
        return "side"
    shown = {text.partition(".")[2] for text in texts}
    if len(shown) > 1:
        return ""
    if shown <= set(grouping_fields(params)):
        return "shared"
    pairs_answers = params.get("per") == "answer" and bool(params.get("sides"))
    of_item = all(where.startswith("item.") for where in shown)
    return "item" if pairs_answers and of_item and str(params.get("sides")) not in shown else ""


def _draft(pair: Pair, params: Mapping[str, Any], seed: int, alike: Likeness) -> ItemDraft:
    a, b = _in_drawn_order(pair, seed)

    def value_at(where: str) -> Any:
        return _value_at(where, a, b)

    members: dict[str, Any] = {key: value_text(value_at(params.get(key, f"a.item.{key}"))) for key in promote.MEMBERS}
    context = {name: value_at(where) for name, where in params.get("context", {}).items() if where != NOTHING}
    similarity = alike.get(frozenset((a.first.item.key, b.first.item.key)))
    if similarity is not None:
        context["similarity"] = similarity
    images = {role: first_picture(side.first.item) for role, side in (("a", a), ("b", b))}
    placed_images = {role: picture for role, picture in images.items() if picture is not None}
    results = [*a.results, *b.results]
    former = "+".join(sorted(side.first.name for side in pair))
    return ItemDraft(
        key=shorten_key(_name(pair)),
        sources=sources_of(results),
        former=shorten_key(former),
        context=context,
        images=placed_images,
        answer_target=pair_culture(pair, params, seed),
        **members,
    )
