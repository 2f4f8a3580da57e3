"""What groupings of several people say of each picture, and the items that come of the pictures that stay."""

import random
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from benchmarks.rules.derivations import Derivation, DerivationError, DerivationSource, PictureRef, Result
from benchmarks.rules.derivations.grouping_votes import PictureVote, count_votes
from benchmarks.rules.derivations.registry import KINDS

ORIGINALS = {
    name: DerivationSource(n, "images", f"photo-{n}", "market", "Brazil", "", "", {"rank": n}, {"image": PictureRef(n)})
    for n, name in enumerate(("p1", "p2", "p3", "p4"), start=1)
}
PICTURES = {name: PictureRef(n) for n, name in enumerate(ORIGINALS, start=1)}
SHEET = DerivationSource(9, "sheets", "Brazil", "market", "Brazil", images=PICTURES, parts=ORIGINALS)


def grouping(text: str, dropped: str = "", unsure: str = "") -> Mapping[str, Any]:
    """Groups separated by |; what is kept is the first of each, or all with a +: "p1 p2|p3"."""
    groups = []
    for part in text.split("|") if text else ():
        names = part.replace("+", "").split()
        groups.append({"images": names, "kept": names if "+" in part else names[:1]})
    return {"groups": groups, "dropped": dropped.split(), "unsure": unsure.split()}


def states(*groupings: Mapping[str, Any]) -> dict[str, str]:
    return {name: vote.reason or str(vote.state) for name, vote in count_votes(groupings).items()}


def test_one_person_keeps_drops_and_is_not_sure() -> None:
    votes = count_votes([grouping("p1 p2|p3+ p5", dropped="p4", unsure="p6")])
    assert votes["p2"].repeats == "p1" and votes["p4"] == PictureVote(votes["p2"].state), "p4 repeats no picture"
    assert {name: str(vote.state) for name, vote in votes.items()} == {
        "p1": "stays", "p2": "dropped", "p3": "stays", "p4": "dropped", "p5": "stays", "p6": "waits",
    }  # fmt: skip


def test_the_majority_decides_each_picture_and_a_tie_waits() -> None:
    together, apart = grouping("p1 p2"), grouping("p1|p2")
    assert states(together, apart) == {"p1": "stays", "p2": "tie"}
    assert states(together, apart, together) == {"p1": "stays", "p2": "dropped"}
    assert states(grouping("p1", unsure="p2"), apart) == {"p1": "stays", "p2": "unsure"}
    assert states(grouping("p1", unsure="p2"), apart, apart) == {"p1": "stays", "p2": "stays"}


def test_of_what_looks_alike_one_picture_is_left_or_all_wait() -> None:
    """Each of three people keeps another one of three pictures, so two of three drop each."""
    three = [grouping("p1 p2 p3"), grouping("p2 p1 p3"), grouping("p3 p1 p2")]
    assert states(*three) == dict.fromkeys(("p1", "p2", "p3"), "none_left")
    assert count_votes([*three[:2], grouping("p2 p3 p1")])["p1"].repeats == "p2"


def results(*groupings: Mapping[str, Any], sheet: DerivationSource = SHEET) -> list[Result]:
    return [
        Result(sheet, rater=f"R-{n}", annotation=n, answers={"groups": answer}, submitted=float(n))
        for n, answer in enumerate(groupings, start=1)
    ]


def derive(rows: list[Result]) -> list[tuple[str, Any]]:
    derivation = Derivation.from_json({"kind": "ungroup", "from": ["sheets"]})
    assert derivation is not None
    drafts = derivation.derive(rows)
    assert derivation.derive(random.Random(1).sample(rows, len(rows))) == drafts
    return [(draft.key, draft) for draft in drafts]


def test_a_picture_that_stays_is_the_item_that_it_was() -> None:
    drafts = dict(derive(results(grouping("p1 p2|p3|p4"))))
    assert sorted(drafts) == ["photo-1", "photo-3", "photo-4"]
    draft, original = drafts["photo-3"], ORIGINALS["p3"]
    assert (draft.concept, draft.origin, draft.context, draft.images) == (
        original.concept, original.origin, original.context, original.images,
    )  # fmt: skip
    assert draft.sources == ((9, 1),), "it goes when the answer goes"


def test_nothing_comes_of_a_sheet_that_waits_or_of_a_picture_whose_item_is_gone() -> None:
    rows = results(grouping("p1|p2|p3|p4"))
    assert derive([replace(row, complete=False) for row in rows]) == []
    gone = replace(SHEET, parts={name: item for name, item in ORIGINALS.items() if name != "p2"})
    assert [key for key, _draft in derive(results(grouping("p1|p2|p3|p4"), sheet=gone))] == [
        "photo-1", "photo-3", "photo-4",
    ]  # fmt: skip


def test_the_last_answer_of_a_person_counts() -> None:
    first, second = results(grouping("p1 p2"), grouping("p1|p2"))
    assert len(derive([first, replace(second, rater=first.rater)])) == 2


def test_pictures_of_a_sheet_that_was_imported_are_named_after_it() -> None:
    told = {"pictures": {"p1": {"key": "a.jpg", "title": "Feira"}}}
    [(key, draft)] = derive(results(grouping("p1 p2"), sheet=replace(SHEET, parts=None, context=told)))
    assert (key, draft.concept, draft.context) == ("Brazil/p1", "market", {"title": "Feira"})


def test_one_grouping_with_not_sure_is_in_dispute_and_so_is_a_tie_however_alike_the_groups_are() -> None:
    params = {"between": [{"stage": "sheets", "field": "groups"}], "measure": "f1", "under": 0.1}
    disagree = Derivation.from_json({"kind": "disagree", "from": ["sheets"], "params": params})
    assert disagree is not None
    sure, unsure = grouping("p1 p2 p3|p4"), grouping("p1 p2 p3", unsure="p4")
    assert disagree.derive(results(sure)) == []
    [draft] = disagree.derive(results(unsure))
    assert (draft.context["answers"], draft.context["numbers"]) == ([unsure], ["1"])
    assert len(disagree.derive(results(sure, grouping("p2 p1 p3|p4")))) == 1, "the same groups, another one kept"
    assert disagree.derive(results(sure, sure)) == []


def test_only_the_field_is_a_setting() -> None:
    KINDS["ungroup"].check({"field": "alike"})
    for params in ({"field": ""}, {"field": 3}, {"by": "item.concept"}):
        with pytest.raises(DerivationError):
            KINDS["ungroup"].check(params)
