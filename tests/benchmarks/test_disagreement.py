"""The derivation of items to settle from answers that are too far apart."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import permutations
from typing import Any

import pytest

from benchmarks.rules.derivations import Derivation, DerivationError, DerivationSource, ItemDraft, Result

ITEM = DerivationSource(1, "rate", "a", "dish", "India", "", "A dish", {"facet": "food"})


def derive(*answers: Any, results: list[Result] | None = None, **params: Any) -> list[ItemDraft]:
    params = {"between": [{"stage": "rate", "field": "code"}], "measure": "share"} | params
    stages = [row["stage"] for row in params["between"]]
    derivation = Derivation.from_json({"kind": "disagree", "from": stages, "params": params})
    assert derivation is not None
    return derivation.derive(answered(*answers) if results is None else results)


def answered(*answers: Any, item: DerivationSource = ITEM, first: int = 1) -> list[Result]:
    return [
        Result(item, "India", rater=f"R-{n}", annotation=n, answers={"code": value}, submitted=float(n))
        for n, value in enumerate(answers, start=first)
    ]


@pytest.mark.parametrize(
    ("measure", "near", "apart", "measured"),
    [
        ("share", ("a", "a", "b"), ("a", "b"), 0.5),  # 2/3 is not under 2/3
        ("share", (["a", "b"], ["b", "a"]), (["a"], ["a", "b"]), 0.5),
        ("range", (1, 2), ("1", 3), 2.0),
        ("iou", (0.5, 1.0), (0.49, 1.0), 0.49),
        ("f1", ("1 2 3|4", "1 2 3|4"), ("1 2 3|4", "1 2|3 4"), 0.4),  # A = 3, B = 2, n11 = 1: 2 / 5
        ("f1", ("1|2", "1|2"), ("1|2", "1 2"), 0.0),
    ],
)
def test_answers_at_the_limit_agree_and_those_beyond_it_are_in_dispute(
    measure: str, near: tuple[Any, ...], apart: tuple[Any, ...], measured: float
) -> None:
    shape = {"iou": box, "f1": grouping}.get(measure, lambda value: value)
    assert derive(*map(shape, near), measure=measure) == []
    [draft] = derive(*map(shape, apart), measure=measure)
    assert draft.context["agreement"] == measured and draft.key == "a/code"
    assert sorted(map(str, draft.context["answers"])) == sorted(str(shape(value)) for value in apart)


@pytest.mark.parametrize(
    ("measure", "values", "measured"),
    [
        ("iou", (0.4, 1.0, 0.8), 0.4),  # of the pairs 0.4, 0.5 and 0.8
        ("f1", ("1 2 3|4", "1 2 3|4", "1 2|3 4"), 0.4),
        ("range", (1, 2, 3), 2.0),
        ("share", ("a", "b", "b", "c"), 0.5),
    ],
)
def test_of_several_answers_the_two_that_are_farthest_apart_count(
    measure: str, values: tuple[Any, ...], measured: float
) -> None:
    shape = {"iou": box, "f1": grouping}.get(measure, lambda value: value)
    for order in permutations(values):
        [draft] = derive(*map(shape, order), measure=measure)
        assert draft.context["agreement"] == measured and len(draft.sources) == len(values)


def box(width: float) -> list[dict[str, float]]:
    return [{"x0": 0, "y0": 0, "x1": width, "y1": 1}]


def test_boxes_of_different_labels_are_in_dispute_unless_labels_are_ignored() -> None:
    lamp, stall = ([{**box(1)[0], "label": label}] for label in ("lamp", "stall"))
    assert derive(lamp, lamp, measure="iou") == []
    [draft] = derive(lamp, stall, measure="iou")
    assert draft.context["agreement"] == 0.0
    assert sorted(answer[0]["label"] for answer in draft.context["answers"]) == ["lamp", "stall"]
    assert derive(lamp, stall, measure="iou", labels="ignore") == []
    for wrong in ({"measure": "share", "labels": "ignore"}, {"measure": "iou", "labels": "never"}):
        with pytest.raises(DerivationError, match="labels"):
            derive(**wrong)


def grouping(text: str) -> Mapping[str, Any]:
    groups = [{"images": part.split(), "kept": part.split()[:1]} for part in text.split("|")]
    return {"groups": groups, "dropped": [], "unsure": []}


def test_a_limit_of_one_s_own_takes_the_place_of_the_usual_one() -> None:
    assert derive("a", "b", under=0.5) == []
    assert len(derive("a", "a", "b", under=0.7)) == 1
    assert derive(1, 3, measure="range", over=2) == []


def test_there_is_no_dispute_while_an_answer_is_missing() -> None:
    results = answered("a", "b")
    assert derive(results=[replace(result, complete=False) for result in results]) == []
    assert derive("a") == [] and derive() == []
    assert derive(1, "none", measure="range") == []  # no range where a code is no number


def test_one_person_s_two_answers_and_a_model_s_are_no_dispute() -> None:
    first, second = answered("a", "b")
    assert derive(results=[first, replace(second, rater=first.rater)]) == []
    assert derive(results=[first, replace(second, kind="model")]) == []


def test_stages_are_compared_by_the_items_that_are_made_of_each_other() -> None:
    between = [{"stage": "rate", "field": "code"}, {"stage": "check", "field": "code"}]
    verified = DerivationSource(2, "check", "a~1", made_of=frozenset({1, 9}))
    other = replace(verified, id=3, made_of=frozenset({9}))
    first = answered("a")
    [draft] = derive(results=first + answered("b", item=verified, first=5), between=between, carry=["facet"])
    assert set(draft.sources) == {(1, 1), (2, 5)} and set(draft.roles.values()) == {"candidate"}
    assert (draft.text, draft.origin, draft.context["facet"]) == ("A dish", "India", "food")
    assert derive(results=first + answered("b", item=other, first=5), between=between) == []
    assert derive(results=answered("a", "b"), between=between) == []  # the second stage gave no answer


def test_the_order_of_the_answers_is_the_same_whoever_comes_first() -> None:
    results = answered("a", "b", "c")
    [draft] = derive(results=results)
    [again] = derive(results=results[::-1])
    assert draft == again and draft.context["numbers"] == ["1", "2", "3"]


@pytest.mark.parametrize(
    ("params", "path"),
    [
        ({"between": []}, "params.between"),
        ({"between": [{"stage": "rate"}]}, "params.between[0]"),
        ({"between": [{"stage": "rate", "field": "a"}, {"stage": "rate", "field": "b"}]}, "params.between"),
        ({"measure": "kappa"}, "params.measure"),
        ({"over": 1}, "params.over"),
        ({"under": 2}, "params.under"),
        ({"carry": ["answers"]}, "params.carry"),
        ({"more": 1}, "params.more"),
    ],
)
def test_params_that_say_nothing_are_refused_with_their_place(params: Mapping[str, Any], path: str) -> None:
    whole = {"between": [{"stage": "rate", "field": "code"}], "measure": "share", **params}
    with pytest.raises(DerivationError) as refused:
        Derivation.from_json({"kind": "disagree", "from": ["rate"], "params": whole})
    assert refused.value.path == path


def test_the_stages_of_the_params_are_those_that_items_come_from() -> None:
    params = {"between": [{"stage": "rate", "field": "code"}], "measure": "share"}
    with pytest.raises(DerivationError, match="must be the stages of params: rate"):
        Derivation.from_json({"kind": "disagree", "from": ["other"], "params": params})
