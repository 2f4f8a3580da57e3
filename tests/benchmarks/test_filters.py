"""Filters of candidates: each kind at its limits, ends included; the order of candidates does not matter."""

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.images import perceptual_hash
from benchmarks.images.perceptual_hash import Fingerprint, hash_text
from benchmarks.rules.filters import (
    KINDS,
    Candidate,
    CandidatePicture,
    FilterError,
    FilterOutcome,
    FilterState,
    combine,
    judge_all,
    parse_filters,
)

EGYPT = {"origin": "Egypt", "concept": "tea", "condition": ""}


def sized(width: int, height: int, sha: str = "a", print_text: str = "") -> CandidatePicture:
    return CandidatePicture(width, height, sha, print_text)


def candidate(number: int = 1, *pictures: CandidatePicture, **values: Any) -> Candidate:
    return Candidate(number, values.pop("key", f"c{number}"), pictures=pictures, **{"values": EGYPT, **values})


def judge(kind: str, params: dict[str, Any], *candidates: Candidate) -> list[FilterOutcome]:
    [rule] = parse_filters([{"key": "it", "kind": kind, "params": params}])
    outcomes = judge_all([rule], candidates)
    return [outcomes[entry.id]["it"] for entry in candidates]


def states(kind: str, params: dict[str, Any], *candidates: Candidate) -> list[str]:
    return [outcome.state for outcome in judge(kind, params, *candidates)]


def test_every_kind_is_tested_here() -> None:
    tested = {"aspect", "shortest_side", "blocked_words", "fact", "same_picture", "near_duplicate", "not_in_base"}
    assert set(KINDS) == tested


@pytest.mark.parametrize(
    ("width", "height", "state", "reason"),
    [
        (100, 200, "kept", ""),
        (99, 200, "dropped", "too_narrow"),
        (200, 100, "kept", ""),
        (201, 100, "dropped", "too_wide"),
        (100, 100, "kept", ""),
    ],
)
def test_aspect_includes_both_ends(width: int, height: int, state: str, reason: str) -> None:
    [outcome] = judge("aspect", {}, candidate(1, sized(width, height)))
    assert (outcome.state, outcome.reason) == (state, reason)
    assert outcome.value == round(width / height, 4)


def test_aspect_reads_its_limits_as_they_are_written() -> None:
    params = {"least": 0.1, "most": 0.3}
    assert states("aspect", params, candidate(1, sized(1, 10)), candidate(2, sized(3, 10))) == ["kept", "kept"]
    assert states("aspect", params, candidate(1, sized(31, 100))) == ["dropped"]


def test_every_picture_of_an_item_must_pass() -> None:
    assert states("aspect", {}, candidate(1, sized(100, 100), sized(900, 100))) == ["dropped"]
    assert states("shortest_side", {}, candidate(1, sized(100, 100), sized(99, 300))) == ["dropped"]


@pytest.mark.parametrize(("side", "state"), [(100, "kept"), (99, "dropped"), (101, "kept")])
def test_shortest_side_includes_its_limit(side: int, state: str) -> None:
    for picture in (sized(side, 500), sized(500, side)):
        [outcome] = judge("shortest_side", {}, candidate(1, picture))
        assert (outcome.state, outcome.value, outcome.limit) == (state, side, 100)


@pytest.mark.parametrize("kind", ["aspect", "shortest_side", "same_picture", "near_duplicate"])
def test_a_candidate_without_a_picture_waits_for_it(kind: str) -> None:
    [outcome] = judge(kind, {}, candidate(1))
    assert (outcome.state, outcome.waits_for) == ("waiting", "picture")


@pytest.mark.parametrize(
    ("texts", "word"),
    [
        ({"alt": "A LOGO of tea"}, "logo"),
        ({"title": "Tea_Logos.png"}, "logo"),
        ({"file": "GROSSE STRASSE"}, "straße"),
        ({"source": "cafe\u0301"}, "CAFÉ"),
        ({"alt": "tea"}, None),
        ({"concept": "logo"}, None),  # not among the texts that are read by default
    ],
)
def test_blocked_words_ignore_case_and_name_the_word(texts: dict[str, str], word: str | None) -> None:
    [outcome] = judge("blocked_words", {"words": ["logo", "straße", "CAFÉ"]}, candidate(texts=texts))
    assert (outcome.state, outcome.value) == (("dropped", word) if word else ("kept", None))


def test_blocked_words_read_only_the_texts_that_are_chosen() -> None:
    params = {"words": ["logo"], "in": ["concept"]}
    assert states("blocked_words", params, candidate(texts={"concept": "Logo"})) == ["dropped"]
    assert states("blocked_words", params, candidate(texts={"alt": "Logo"})) == ["kept"]


@pytest.mark.parametrize(
    ("value", "state", "reason"),
    [
        (23, "kept", ""),
        (22.999999, "dropped", "too_low"),
        (30, "kept", ""),
        (30.5, "dropped", "too_high"),
        (None, "waiting", "no_fact"),
        ("23", "waiting", "not_a_number"),
        (True, "waiting", "not_a_number"),
        (float("nan"), "waiting", "not_a_number"),
    ],
)
def test_fact_includes_both_ends_and_waits_for_a_number(value: Any, state: str, reason: str) -> None:
    facts = {} if value is None else {"clip_score": value}
    [outcome] = judge("fact", {"key": "clip_score", "least": 23, "most": 30}, candidate(facts=facts))
    assert (outcome.state, outcome.reason) == (state, reason)
    assert outcome.waits_for == ("clip_score" if state == "waiting" else "")


def test_fact_of_zero_is_a_value_and_not_a_missing_one() -> None:
    assert states("fact", {"key": "objects", "least": 0}, candidate(facts={"objects": 0})) == ["kept"]
    assert states("fact", {"key": "objects", "least": 3}, candidate(facts={"objects": 0})) == ["dropped"]


def test_same_picture_keeps_the_first_by_rank_and_then_by_key() -> None:
    same = sized(10, 10, "x")
    rows = [
        candidate(1, same, key="z", rank=1.0),
        candidate(2, same, key="a", rank=2.0),
        candidate(3, same, key="b"),
        candidate(4, sized(10, 10, "y"), key="c"),
        candidate(5, same, key="d", values={**EGYPT, "origin": "Brazil"}),
    ]
    outcomes = judge("same_picture", {}, *rows)
    assert [outcome.state for outcome in outcomes] == ["kept", "dropped", "dropped", "kept", "kept"]
    assert [outcome.value for outcome in outcomes[1:3]] == [{"key": "z"}, {"key": "z"}]
    assert states("same_picture", {"within": []}, *rows) == ["kept", "dropped", "dropped", "kept", "dropped"]


def test_nothing_is_a_duplicate_of_a_candidate_that_an_earlier_filter_drops() -> None:
    rules = parse_filters([{"key": "side", "kind": "shortest_side"}, {"key": "same", "kind": "same_picture"}])
    small, large = sized(50, 50, "x"), sized(500, 500, "x")
    outcomes = judge_all(rules, [candidate(1, small, rank=1.0), candidate(2, large, rank=2.0)])
    assert {pk: combine(of.values()) for pk, of in outcomes.items()} == {1: "dropped", 2: "kept"}
    assert outcomes[1]["same"].state == "kept"  # so that the side alone drops it
    by_hand = {1: FilterState.KEPT}
    assert (
        judge_all(rules, [candidate(1, small, rank=1.0), candidate(2, large, rank=2.0)], by_hand)[2]["same"].state
        == "dropped"
    )


def test_a_candidate_dropped_by_hand_has_no_duplicates() -> None:
    rules = parse_filters([{"key": "same", "kind": "same_picture"}])
    pair = [candidate(1, sized(5, 5, "x")), candidate(2, sized(5, 5, "x"))]
    assert judge_all(rules, pair, {1: FilterState.DROPPED})[2]["same"].state == "kept"
    assert judge_all(rules, pair)[2]["same"].state == "dropped"


def print_of(bits: int, tone: float = 100.0) -> Fingerprint:
    """A hash whose first `bits` bits are set."""
    row = np.packbits(np.array([1] * bits + [0] * (255 - bits), np.uint8))
    return Fingerprint(row.reshape(1, -1), np.full(3, tone))


@pytest.mark.parametrize(("first", "second"), [(0, 12), (0, 13), (40, 60), (0, 255), (7, 7)])
def test_similarity_is_that_of_the_perceptual_hash(first: int, second: int) -> None:
    prints = [print_of(first), print_of(second, 110.0)]
    expected = float(perceptual_hash.similarities(prints, whole=True)[0, 1])
    pair = [candidate(n, sized(9, 9, str(n), hash_text(each))) for n, each in enumerate(prints)]
    if expected > 0:
        assert states("near_duplicate", {"least": expected * 0.999999}, *pair) == ["kept", "dropped"]
        [_first, outcome] = judge("near_duplicate", {"least": expected * 0.9}, *pair)
        assert outcome.value == {"key": "c0", "similarity": pytest.approx(expected, abs=1e-4)}
    assert states("near_duplicate", {"least": min(1, expected + 1e-6)}, *pair) == (["kept", "kept"])


def test_near_duplicate_includes_its_limit_and_needs_the_hash() -> None:
    same = [candidate(n, sized(9, 9, str(n), hash_text(print_of(3)))) for n in (1, 2)]
    assert states("near_duplicate", {"least": 1}, *same) == ["kept", "dropped"]
    [first, second] = judge("near_duplicate", {}, same[0], candidate(2, sized(9, 9)))
    assert (first.state, second.state, second.waits_for) == ("kept", "waiting", "perceptual_hash")


def test_a_chain_of_similar_pictures_loses_only_what_is_similar_to_a_kept_one() -> None:
    facts = [{"s": [["c2", 0.95]]}, {"s": [["c1", 0.95], ["c3", 0.95]]}, {"s": {"c2": 0.95}}, {"s": []}, {}]
    rows = [candidate(n, key=f"c{n}", facts=each) for n, each in enumerate(facts, start=1)]
    outcomes = judge("near_duplicate", {"fact": "s", "least": 0.95}, *rows)
    assert [outcome.state for outcome in outcomes] == ["kept", "dropped", "kept", "kept", "waiting"]
    assert outcomes[1].value == {"key": "c1", "similarity": 0.95} and outcomes[4].waits_for == "s"
    assert states("near_duplicate", {"fact": "s", "least": 0.951}, *rows) == ["kept"] * 4 + ["waiting"]


@pytest.mark.parametrize(
    ("value", "state"),
    [
        (0.94, "kept"),
        (0.95, "dropped"),
        (1, "dropped"),
        ({"similarity": 0.96, "entry": "Q7"}, "dropped"),
        (None, "waiting"),
        ("same", "waiting"),
    ],
)
def test_not_in_base_drops_at_the_limit_and_above(value: Any, state: str) -> None:
    facts = {} if value is None else {"in_base:food": value}
    [outcome] = judge("not_in_base", {"fact": "in_base:food"}, candidate(facts=facts))
    assert outcome.state == state
    if isinstance(value, dict):
        assert outcome.value == {"similarity": 0.96, "entry": "Q7"}


def test_dropped_wins_over_waiting_and_a_person_over_both() -> None:
    keeps, waits, drops = (FilterOutcome(state) for state in ("kept", "waiting", "dropped"))  # type: ignore[arg-type]
    assert combine([keeps, waits, drops]) == "dropped"
    assert combine([keeps, waits]) == "waiting"
    assert combine([keeps]) == "kept"
    assert combine([]) is None
    assert combine([drops], FilterState.KEPT) == "kept" and combine([], FilterState.DROPPED) == "dropped"


BAD: list[tuple[Any, str]] = [
    ({}, "filters"),
    ([3], "filters.0"),
    ([{"key": "By Hand", "kind": "aspect"}], "filters.0.key"),
    ([{"key": "by_hand", "kind": "aspect"}], "filters.0.key"),
    ([{"key": "a", "kind": "aspect"}, {"key": "a", "kind": "aspect"}], "filters.1.key"),
    ([{"key": "a", "kind": "magic"}], "filters.0.kind"),
    ([{"key": "a", "kind": ["aspect"]}], "filters.0.kind"),
    ([{"key": "a", "kind": "aspect", "extra": 1}], "filters.0.extra"),
    ([{"key": "a", "kind": "aspect", "params": []}], "filters.0.params"),
    ([{"key": "a", "kind": "aspect", "params": {"least": 3}}], "filters.0.params.most"),
    ([{"key": "a", "kind": "aspect", "params": {"least": 0}}], "filters.0.params.least"),
    ([{"key": "a", "kind": "aspect", "params": {"wide": 0}}], "filters.0.params.wide"),
    ([{"key": "a", "kind": "shortest_side", "params": {"least": True}}], "filters.0.params.least"),
    ([{"key": "a", "kind": "blocked_words", "params": {"words": []}}], "filters.0.params.words"),
    ([{"key": "a", "kind": "blocked_words", "params": {"words": [" "]}}], "filters.0.params.words"),
    ([{"key": "a", "kind": "blocked_words", "params": {"words": ["x"], "in": ["z"]}}], "filters.0.params.in"),
    ([{"key": "a", "kind": "fact", "params": {"key": "x"}}], "filters.0.params.least"),
    ([{"key": "a", "kind": "fact", "params": {"least": 1}}], "filters.0.params.key"),
    ([{"key": "a", "kind": "fact", "params": {"key": "x", "least": float("inf")}}], "filters.0.params.least"),
    ([{"key": "a", "kind": "fact", "params": {"key": "x", "least": 2, "most": 1}}], "filters.0.params.most"),
    ([{"key": "a", "kind": "same_picture", "params": {"within": ["key"]}}], "filters.0.params.within"),
    ([{"key": "a", "kind": "near_duplicate", "params": {"least": 0}}], "filters.0.params.least"),
    ([{"key": "a", "kind": "near_duplicate", "params": {"fact": 3}}], "filters.0.params.fact"),
    ([{"key": "a", "kind": "not_in_base", "params": {"similarity": 1}}], "filters.0.params.fact"),
    ([{"key": f"a{n}", "kind": "aspect"} for n in range(31)], "filters"),
]


@pytest.mark.parametrize(("data", "path"), BAD)
def test_a_filter_that_is_not_valid_is_refused_with_its_path(data: Any, path: str) -> None:
    with pytest.raises(FilterError) as refused:
        parse_filters(data)
    assert refused.value.path == path


ALL = [
    {"key": "aspect", "kind": "aspect", "params": {}},
    {"key": "same", "kind": "same_picture", "params": {}},
    {"key": "near", "kind": "near_duplicate", "params": {"least": 0.9, "within": ["origin"]}},
    {"key": "score", "kind": "fact", "params": {"key": "score", "least": 2}},
    {"key": "like", "kind": "near_duplicate", "params": {"fact": "like", "within": []}},
]


@st.composite
def populations(draw: st.DrawFn) -> list[Candidate]:
    rows = []
    for number in range(draw(st.integers(0, 9))):
        bits = draw(st.sampled_from([0, 5, 12, 25]))
        picture = sized(draw(st.sampled_from([50, 100])), 40, draw(st.sampled_from("xyz")), hash_text(print_of(bits)))
        facts: dict[str, Any] = {"score": draw(st.sampled_from([1, 2, None]))}
        facts["like"] = [[f"c{draw(st.integers(0, 8))}", 0.93]]
        rank = draw(st.sampled_from([None, 1.0, 2.0]))
        values = {"origin": draw(st.sampled_from(["E", "B"])), "concept": draw(st.sampled_from(["t", "u"]))}
        rows.append(candidate(number, picture, rank=rank, values=values, facts=facts))
    return rows


@given(populations(), st.integers(0, 10**6))
def test_the_order_of_candidates_changes_nothing(rows: list[Candidate], seed: int) -> None:
    rules = parse_filters(ALL)
    by_hand = {rows[0].id: FilterState.DROPPED} if rows else {}
    shuffled = random.Random(seed).sample(rows, len(rows))
    assert judge_all(rules, shuffled, by_hand) == judge_all(rules, rows, by_hand)
