"""Names that people merged: which one stays, and how items and what is made of them take it."""

import random
from dataclasses import replace
from typing import Any

import pytest

from benchmarks.rules.derivations import Derivation, DerivationError, DerivationSource, ItemDraft, PictureRef, Result
from benchmarks.rules.derivations.renaming import Rename, merged_names, rename_items, with_found_names

RENAME = Rename("concept", "merges")


def merge(first: str, second: str, *stays: str, passes: bool = True) -> list[Result]:
    """A pair of words whose merge is accepted, with an answer for each name in `stays`."""
    pair = DerivationSource(
        hash((first, second)) % 999, "merges", f"{first}+{second}", context={"first": first, "second": second}
    )
    return [
        Result(pair, rater=f"R-{n}", annotation=n, answers={"name": name}, passes=passes)
        for n, name in enumerate(stays)
    ]


def names(*merges: list[Result]) -> dict[str, str]:
    results = [result for merged in merges for result in merged]
    stays = merged_names(results, RENAME)
    assert merged_names(random.Random(2).sample(results, len(results)), RENAME) == stays
    return dict(stays)


def test_the_name_that_most_people_choose_stays() -> None:
    assert names(merge("railway", "train", "second", "second")) == {"railway": "train"}
    assert names(merge("train", "railway", "first", "second", "first")) == {"railway": "train"}


def test_of_equal_votes_the_first_by_key_stays() -> None:
    assert names(merge("train", "railway", "first", "second")) == {"train": "railway"}


def test_being_the_same_passes_on() -> None:
    chain = merge("a", "b", "second", "second"), merge("b", "c", "first", "first")
    assert names(*chain) == {"a": "b", "c": "b"}
    assert names(*chain, merge("x", "y", "first")) == {"a": "b", "c": "b", "y": "x"}


def test_an_answer_that_the_rule_does_not_accept_has_no_vote() -> None:
    pair = merge("railway", "train", "second")
    assert names(pair + merge("railway", "train", "first", "first", passes=False)) == {"railway": "train"}


def items(*concepts: str, **more: Any) -> list[Result]:
    return [
        Result(DerivationSource(n, "images", f"i{n}", concept, "Brazil", images={"image": PictureRef(n)}, **more))
        for n, concept in enumerate(concepts, start=1)
    ]


def derive(results: list[Result], kind: str, **params: Any) -> list[Any]:
    rename = {"rename": {"field": "concept", "by": "merges"}}
    derivation = Derivation.from_json({"kind": kind, "from": ["images"], "of": "items", "params": {**params, **rename}})
    assert derivation is not None and derivation.rename == RENAME
    return derivation.derive(rename_items(results, RENAME, {"railway": "train"}))


def test_an_item_takes_the_name_that_stays_and_keeps_the_one_it_had() -> None:
    railway, train = derive(items("railway", "train"), "promote")
    assert (railway.concept, railway.context) == ("train", {"concept_as_found": "railway"})
    assert (train.concept, train.context) == ("train", {})


def test_pictures_of_merged_words_lie_on_one_sheet_of_their_country() -> None:
    drafts = derive(items("railway", "train", "tea"), "cluster", by=["item.concept", "item.origin"])
    assert {draft.key: len(draft.images) for draft in drafts} == {"train/Brazil": 2, "tea/Brazil": 1}
    sheet = next(draft for draft in drafts if draft.concept == "train")
    assert sheet.context["concept_as_found"] == ["railway", "train"]


def test_a_picture_of_a_sheet_has_its_own_name_and_not_those_of_the_others() -> None:
    railway, train = (result.item for result in rename_items(items("railway", "train"), RENAME, {"railway": "train"}))
    sheet = replace(train, id=9, context={"concept_as_found": ["railway", "train"]}, parts={"a": railway, "b": train})
    drafts = [ItemDraft(key="train", sources=((9, None),), concept="train", context=dict(train.context))]
    [draft] = with_found_names(drafts, [Result(item=sheet)], RENAME)
    assert draft.context == {}
    [draft] = with_found_names(drafts, [Result(item=replace(sheet, parts=None))], RENAME)
    assert draft.context == {"concept_as_found": ["railway", "train"]}, "a list stays one"


def test_what_a_name_in_the_context_says_can_be_renamed_too() -> None:
    rename = Rename("context.label", "merges")
    [result] = rename_items(items("x", context={"label": "railway"}), rename, {"railway": "train"})
    assert result.item.context == {"label": "train", "label_as_found": "railway"}


@pytest.mark.parametrize(
    ("rename", "path"),
    [
        ({"field": "concept"}, "by"),
        ({"by": "merges", "field": "origin"}, "field"),
        ({"by": "merges", "names": ["a"]}, "names"),
        ({"by": "merges", "stays": ""}, "stays"),
        ({"by": "merges", "other": 1}, ""),
    ],
)
def test_a_faulty_setting_is_named(rename: Any, path: str) -> None:
    with pytest.raises(DerivationError, match=f"params.rename{'.' + path if path else ''}"):
        Derivation.from_json({"kind": "promote", "from": ["images"], "params": {"rename": rename}})
