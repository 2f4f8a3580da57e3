"""Answers to one item that are too far apart become an item, for a person to settle. Pure.

params:
    between: [{"stage": key, "field": key}, ...]. Of one stage: its answers to one item are compared. Of several: the
        answers of the first one with those to the items that are made of its items, such as a box with the verifier's.
    measure, and the limit that the answers must be beyond:
        "iou"    least overlap of two people's boxes; "under": 0.5
        "share"  share of the commonest code; "under": 2/3
        "f1"     least pairwise F1 of two people's groupings; "under": 0.8
        "range"  largest minus least code on an ordered scale; "over": 1
    labels: of "iou", whether boxes of different labels "must_match" to overlap (the default), or labels are "ignore"d.
    carry: names of context fields that the new item takes from the item of the first stage.

An item is there while every stage gave an answer, no item waits for further ones, and the measure is beyond the limit.
Groupings of one stage are in dispute as well where a picture waits, by a tie or because somebody was not sure: also the
grouping of one person.
The answers are numbered in an order that does not say whose they are.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from benchmarks.rules.derivations.contract import (
    DerivationError,
    DerivationSource,
    ItemDraft,
    Result,
    digest,
    read_number,
    shorten_key,
)
from benchmarks.rules.derivations.cultures import shared_culture
from benchmarks.rules.derivations.grouping_votes import is_undecided
from benchmarks.rules.derivations.verdicts import slug
from evaluation.metrics.boxes import LABEL_RULES, LabelRule, corners_of, overlap
from evaluation.metrics.partitions import Partition, pair_counts

PARAMS = frozenset({"between", "measure", "under", "over", "carry", "labels"})
OWN_CONTEXT = frozenset({"field", "answers", "numbers", "measure", "agreement"})
DIGITS = 9  # 0.5 is not under 0.5, whatever the last digits of a quotient are

# The questions of the sheet that settles, beside one with the key of the field in dispute.
DECISION, REASON = "decision", "reason"
ANOTHER, UNDECIDED = "another", "undecided"


@dataclass(frozen=True)
class DisagreementMeasure:
    """`side`: whether answers disagree "under" or "over" the limit. `of` is None where the answers have no value."""

    of: Callable[[Sequence[Any]], float | None]
    side: str
    limit: float


def check(params: Mapping[str, Any]) -> None:
    for key in params:
        if key not in PARAMS:
            raise DerivationError(f"params.{key}", "is not known")
    _check_between(params.get("between"))
    measure = MEASURES.get(str(params.get("measure")))
    if measure is None:
        raise DerivationError("params.measure", f"must be one of {', '.join(MEASURES)}")
    other = "over" if measure.side == "under" else "under"
    if other in params:
        raise DerivationError(f"params.{other}", f"is not for this measure; set {measure.side}")
    limit = read_number(params.get(measure.side, measure.limit))
    if limit is None or limit < 0 or (measure.side == "under" and limit > 1):
        raise DerivationError(f"params.{measure.side}", "must be a number from 0 (a share: to 1)")
    if "labels" in params and (params["measure"] != "iou" or params["labels"] not in LABEL_RULES):
        raise DerivationError("params.labels", f"is for the measure iou: {' or '.join(LABEL_RULES)}")
    carry = params.get("carry", [])
    if not isinstance(carry, list | tuple) or not all(isinstance(name, str) for name in carry):
        raise DerivationError("params.carry", "must be a list of names")
    for name in carry:
        if name in OWN_CONTEXT:
            raise DerivationError("params.carry", f"{name!r} is written by the derivation")


def _check_between(between: Any) -> None:
    if not isinstance(between, list | tuple) or not between:
        raise DerivationError("params.between", "needs at least one stage with the field to compare")
    for number, row in enumerate(between):
        where = f"params.between[{number}]"
        if not isinstance(row, Mapping) or set(row) != {"stage", "field"}:
            raise DerivationError(where, "must be an object with stage and field")
        if not all(isinstance(value, str) and value for value in row.values()):
            raise DerivationError(where, "needs the key of a stage and of a question")
    if len(stages_of({"between": between})) < len(between):
        raise DerivationError("params.between", "names a stage twice")


def stages_of(params: Mapping[str, Any]) -> tuple[str, ...]:
    """The stages that are compared; the first has the items in dispute."""
    return tuple(dict.fromkeys(str(row["stage"]) for row in params["between"]))


def disputed_field(params: Mapping[str, Any]) -> tuple[str, str]:
    """The stage and the field whose answers are settled."""
    return str(params["between"][0]["stage"]), str(params["between"][0]["field"])


@dataclass(frozen=True)
class Comparison:
    """The answers to an item and target of the first stage, and how far they agree (a range: are apart).

    `undecided`: votes on pictures that decide nothing, whatever is measured.
    """

    item: DerivationSource
    target: str
    answered: Sequence[Result]
    values: Sequence[Any]
    measured: float | None
    undecided: bool = False

    def is_disputed(self, params: Mapping[str, Any]) -> bool:
        return self.undecided or (self.measured is not None and is_beyond(self.measured, params))


def compare(results: Sequence[Result], params: Mapping[str, Any]) -> list[Comparison]:
    """One for each item and target of the first stage to which every stage gave its answers; sorted by key."""
    first = params["between"][0]["stage"]
    items = {result.item.id: result.item for result in results if result.item.stage == first}
    groups: dict[tuple[int, str], list[Result]] = {}
    for result in results:
        if result.annotation is not None and result.kind == "person":
            for pk in {result.item.id, *result.item.made_of} & items.keys():
                groups.setdefault((pk, result.target), []).append(result)
    compared = (_compare(items[pk], target, group, params) for (pk, target), group in groups.items())
    return sorted((row for row in compared if row is not None), key=lambda row: (row.item.key, row.target))


def _compare(
    item: DerivationSource, target: str, group: Sequence[Result], params: Mapping[str, Any]
) -> Comparison | None:
    """None while an answer is missing, and where the answers have no value."""
    fields = {row["stage"]: row["field"] for row in params["between"]}
    answered = [result for result in _last_of_each(group) if result.answers.get(fields[result.item.stage]) is not None]
    answered.sort(key=lambda result: digest(item.key, result.item.stage, result.rater))
    values = [result.answers[fields[result.item.stage]] for result in answered]
    undecided = params["measure"] == "f1" and len(fields) == 1 and is_undecided(values)
    if len(answered) < (1 if undecided else 2) or {result.item.stage for result in answered} != set(fields):
        return None
    if not all(result.complete for result in group):
        return None
    measured = measure(values, params) if len(values) > 1 else None
    if not undecided and measured is None:
        return None
    return Comparison(item, target, answered, values, measured, undecided)


def derive(results: Sequence[Result], params: Mapping[str, Any], seed: int) -> list[ItemDraft]:
    """An item for each item and target of the first stage whose answers are too far apart."""
    rows = [row for row in compare(results, params) if row.is_disputed(params)]
    return sorted((_draft(row, params) for row in rows), key=lambda draft: draft.key)


def _draft(row: Comparison, params: Mapping[str, Any]) -> ItemDraft:
    item = row.item
    roles = {(result.item.id, result.annotation): "candidate" for result in row.answered}
    _stage, field = disputed_field(params)
    question = f"{item.key}/{slug(row.target)}" if row.target not in ("", item.origin) else item.key
    context = {name: item.context[name] for name in params.get("carry", []) if name in item.context}
    context |= {
        "field": field,
        "answers": list(row.values),
        "numbers": [str(number) for number in range(1, len(row.values) + 1)],
        "measure": params["measure"],
        "agreement": row.measured,
    }
    return ItemDraft(
        key=shorten_key(f"{question}/{field}"),
        sources=tuple(roles),
        concept=item.concept,
        origin=item.origin,
        condition=item.condition,
        text=item.text,
        context=context,
        images=dict(item.images),
        roles=roles,
        answer_target=shared_culture(result.culture for result in row.answered),
    )


def _last_of_each(group: Sequence[Result]) -> list[Result]:
    """One answer of each person to each item: the last, where somebody answered in two campaigns."""
    ordered = sorted(group, key=lambda result: (result.submitted, result.annotation or 0))
    return list({(result.item.id, result.rater): result for result in ordered}.values())


def measure(values: Sequence[Any], params: Mapping[str, Any]) -> float | None:
    """How far the answers agree (a range: how far they are apart); None where that is not defined."""
    ignored = params.get("labels") == "ignore"
    measured = _iou(values, "ignore") if ignored else MEASURES[params["measure"]].of(values)
    return None if measured is None else round(measured, DIGITS)


def is_beyond(measured: float, params: Mapping[str, Any]) -> bool:
    rule = MEASURES[params["measure"]]
    limit = round(read_number(params.get(rule.side, rule.limit)) or 0.0, DIGITS)
    return measured < limit if rule.side == "under" else measured > limit


def _iou(values: Sequence[Any], label_rule: LabelRule = "must_match") -> float | None:
    boxes = [corners_of(answer, label_rule) for answer in values]
    return min(overlap(a, b) for a, b in combinations(boxes, 2))


def _share(values: Sequence[Any]) -> float | None:
    """Several options together are one code."""
    codes = Counter("|".join(sorted(map(str, value))) if isinstance(value, list) else str(value) for value in values)
    return max(codes.values()) / len(values)


def _f1(values: Sequence[Any]) -> float | None:
    """Two people who both put no two pictures together agree."""
    groupings = [Partition.of(answer) for answer in values]
    counts = [pair_counts(a, b) for a, b in combinations(groupings, 2)]
    return min(2 * both / (a + b) if a + b else 1.0 for both, a, b, _all in counts)


def _range(values: Sequence[Any]) -> float | None:
    numbers = [number for number in map(read_number, values) if number is not None]
    return max(numbers) - min(numbers) if len(numbers) == len(values) else None


MEASURES: Mapping[str, DisagreementMeasure] = {
    "iou": DisagreementMeasure(_iou, "under", 0.5),
    "share": DisagreementMeasure(_share, "under", 2 / 3),
    "f1": DisagreementMeasure(_f1, "under", 0.8),
    "range": DisagreementMeasure(_range, "over", 1.0),
}
