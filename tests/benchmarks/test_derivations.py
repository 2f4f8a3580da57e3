"""Derivations: the same results give the same drafts, whatever their order; keys are deterministic."""

import itertools
import random
import re
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from benchmarks.rules.derivations import (
    Derivation,
    DerivationError,
    DerivationSource,
    ItemDraft,
    PictureRef,
    Result,
    pair,
)


def item(key: str, number: int = 0, stage: str = "one", **more: Any) -> DerivationSource:
    return DerivationSource(number or hash(key) % 1000, stage, key, images={"image": PictureRef(number)}, **more)


def result(key: str, rater: str = "R-a", number: int = 1, **more: Any) -> Result:
    source = item(key, number, more.pop("stage", "one"), **more.pop("item", {}))
    return Result(source, rater=rater, annotation=number, **more)


def derive(results: list[Result], kind: str, params: dict[str, Any], **more: Any) -> list[ItemDraft]:
    derivation = Derivation.from_json({"kind": kind, "from": ["one"], "params": params, **more})
    assert derivation is not None
    drafts = derivation.derive(results)
    shuffled = random.Random(1).sample(results, len(results))
    assert derivation.derive(shuffled) == drafts
    return drafts


def test_promote_makes_an_item_of_each_answer_where_it_uses_one() -> None:
    results = [
        result("p1", "R-b", 2, answers={"question": "Why?", "answer": "So"}),
        result("p1", "R-a", 1, answers={"question": "What?", "answer": "Tea"}, version=2),
    ]
    params = {"text": "question", "context": {"said": "answer", "from": "item.key"}}
    first_draft, two = derive(results, "promote", params)
    assert {first_draft.former, two.former} == {"p1/R-a", "p1/R-b"}
    assert all(re.fullmatch("p1~[0-9a-f]{6}", draft.key) for draft in (first_draft, two)) and first_draft.key != two.key
    first = next(draft for draft in (first_draft, two) if draft.former == "p1/R-a")
    assert (first.text, first.context, first.mark) == ("What?", {"said": "Tea", "from": "p1"}, "v2")
    assert first.sources == ((1, 1),) and first.images["image"].image == 1


def test_promote_makes_one_of_each_item_where_it_uses_none() -> None:
    results = [result("p1", f"R-{n}", 7, item={"text": "keyword"}) for n in range(3)]
    [draft] = derive(results, "promote", {})
    assert (draft.key, draft.text) == ("p1", "keyword")


def test_promote_takes_the_picture_that_was_brought_and_nothing_without_one() -> None:
    brought = result("k1", answers={"picture": {"sha": "x"}}, pictures={"picture": PictureRef(9, licence="CC0")})
    drafts = derive([brought, result("k2")], "promote", {"image": "picture", "text": "item.text"})
    assert [draft.images for draft in drafts] == [{"image": PictureRef(9, licence="CC0")}]


def test_promote_of_answers_leaves_out_sheets_that_do_not_pass() -> None:
    results = [result("p1", "R-a", answers={"q": "a"}), result("p1", "R-b", 2, answers={"q": "b"}, passes=False)]
    assert [draft.text for draft in derive(results, "promote", {"text": "q"})] == ["a"]


def test_join_waits_for_all_its_parts() -> None:
    """A question is kept when its pairs of both sources pass."""
    params = {
        "by": "item.context.question",
        "parts": "item.condition",
        "needs": ["s1", "s2"],
        "roles": {"a1": "s1.image", "a2": "s2.image"},
    }
    results_of_part = [
        result(f"Q1-{s}", "", n, item={"condition": s, "context": {"question": "Q1"}})
        for n, s in ((1, "s1"), (2, "s2"))
    ]
    half = result("Q2-s1", "", 3, item={"condition": "s1", "context": {"question": "Q2"}})
    [draft] = derive([*results_of_part, half], "join", params)
    assert draft.key == "Q1" and {role: p.image for role, p in draft.images.items()} == {"a1": 1, "a2": 2}
    assert {source for source, _annotation in draft.sources} == {1, 2}


def pair_results(*names: str) -> list[Result]:
    """Accepted pairs of a question and a source each, as "Q1/s1"."""
    return [
        result(name, "", n, item={"concept": name[:2], "condition": name[3:], "context": {"codes": [1, 4]}})
        for n, name in enumerate(names, start=1)
    ]


def test_join_makes_an_item_of_each_part_once_all_are_there() -> None:
    params = {
        "by": "item.concept",
        "parts": "item.condition",
        "needs": ["s1", "s2"],
        "each": "part",
        "context": {"codes": "item.context.codes", "labels": "item.context.labels"},
    }
    drafts = derive(pair_results("Q1/s1", "Q1/s2", "Q2/s1"), "join", params)
    assert [(draft.key, draft.condition, draft.images["image"].image) for draft in drafts] == [
        ("Q1/s1", "s1", 1), ("Q1/s2", "s2", 2),
    ]  # fmt: skip
    assert {draft.sources for draft in drafts} == {((1, 1), (2, 2))}, "with either of them both go"
    assert drafts[0].context == {"codes": [1, 4]}, "what no item says is left out"


def test_join_that_needs_any_part_takes_what_is_there() -> None:
    params = {"by": "item.concept", "parts": "item.condition", "needs": ["any"], "each": "part"}
    drafts = derive(pair_results("Q1/s1", "Q1/s2", "Q2/s1"), "join", params)
    assert [draft.key for draft in drafts] == ["Q1/s1", "Q1/s2", "Q2/s1"]
    assert [draft.sources for draft in drafts] == [((1, 1),), ((2, 2),), ((3, 3),)], "each stands by itself"


def test_join_gathers_the_answers_as_references() -> None:
    results = [result("q1", f"R-{n}", n + 1, answers={"answer": f"tea {n}"}) for n in range(3)]
    [draft] = derive(results, "join", {"by": "item.key", "least": 3, "context": {"references": "all.answer"}})
    assert draft.context == {"references": ["tea 0", "tea 1", "tea 2"]}
    assert derive(results[:2], "join", {"by": "item.key", "least": 3}) == []


def test_pair_puts_two_side_by_side_by_a_seed() -> None:
    words = [result(f"w{n}", "", n, item={"text": f"word {n}", "concept": "c"}) for n in range(1, 5)]
    params = {"by": "item.concept", "context": {"first": "a.item.text", "second": "b.item.text"}}
    drafts = derive(words, "pair", params, seed=3)
    assert len(drafts) == 6 and len({draft.key for draft in drafts}) == 6
    sides = [[draft.context["first"] for draft in derive(words, "pair", params, seed=n)] for n in range(4)]
    assert any(one != sides[0] for one in sides)
    near = {**params, "near": [["w2", "w1", 0.95]]}
    [draft] = derive(words, "pair", near, seed=3)
    assert draft.key == "w1+w2" and draft.context["similarity"] == 0.95


def words_with_answers(answers: int = 2) -> list[Result]:
    return [
        result(f"w{n}", f"R-{rater}", n, answers={"gloss": f"{n} {rater}"}, target="Egypt", item={"text": f"word {n}"})
        for n in range(1, 9)
        for rater in range(answers)
    ]


TEXTS = {"context": {"option_a": "a.item.text", "option_b": "b.item.text"}}


def test_eight_texts_with_two_answers_each_are_28_pairs_and_none_with_itself() -> None:
    drafts = derive(words_with_answers(), "pair", TEXTS)
    assert len(drafts) == 28 == len({draft.key for draft in drafts})
    pairs = {frozenset(draft.context.values()) for draft in drafts}
    assert len(pairs) == 28 and all(len(pair) == 2 for pair in pairs)
    assert all(re.fullmatch(r"w\d\+w\d", draft.key) for draft in drafts)
    assert all(len(draft.sources) == 2 for draft in drafts)


def test_pairs_of_answers_are_made_on_request_and_never_within_one_item() -> None:
    drafts = derive(words_with_answers(), "pair", {"per": "answer", "context": {"x": "a.gloss", "y": "b.gloss"}})
    assert len(drafts) == 28 * 4 == len({draft.key for draft in drafts})
    assert all(draft.context["x"].split()[0] != draft.context["y"].split()[0] for draft in drafts)


def test_two_targets_of_an_item_are_no_pair_and_make_no_pair_twice() -> None:
    results = [
        result(key, f"R-{target}", number, target=target, item={"text": key})
        for number, key in enumerate(("p", "q"), start=1)
        for target in ("Brazil", "Egypt")
    ]
    [draft] = derive(results, "pair", TEXTS)
    assert draft.key == "p+q"
    by_target = derive(results, "pair", {**TEXTS, "by": "unit.target", "origin": "a.unit.target"})
    assert sorted((draft.key, draft.origin) for draft in by_target) == [
        ("p/Brazil+q/Brazil", "Brazil"),
        ("p/Egypt+q/Egypt", "Egypt"),
    ]
    other = derive(results, "pair", {**TEXTS, "sides": "unit.target"})
    assert len(other) == 2, "each of the two with the other target"


def test_pairs_that_show_one_text_twice_are_left_out_on_request() -> None:
    results = [result(key, item={"text": text}) for key, text in zip("pqrs", ("Tea", "Tea", "", ""), strict=True)]
    assert len(derive(results, "pair", TEXTS)) == 6
    unequal = {**TEXTS, "different_texts": True}
    keys = {draft.key for draft in derive(results, "pair", unequal)}
    assert keys == {"p+r", "p+s", "q+r", "q+s", "r+s"}, "two without a text show no text twice"
    left_out: list[Any] = []
    assert len(list(pair.choose_pairs(results, {**unequal, "most": 2}, 0, left_out))) == 2
    assert [{side.name for side in both} for both in left_out] == [{"p", "q"}], "no pair of the limit is lost to it"
    mixed = {"context": {"option_a": "a.item.text", "option_b": "b.item.key"}, "different_texts": True}
    same = [result("p", item={"text": "q"}), result("q", item={"text": "p"})]
    assert derive(same, "pair", mixed) == [], "whichever is drawn as A, both sides show its key"
    with pytest.raises(DerivationError, match="different_texts"):
        derive(results, "pair", {**TEXTS, "different_texts": "yes"})


def test_a_pair_needs_no_text_above_it() -> None:
    [draft] = derive([result(key, item={"text": key}) for key in "pq"], "pair", {**TEXTS, "text": "none"})
    assert draft.text == "" and sorted(draft.context.values()) == ["p", "q"]


def test_an_item_that_is_passed_on_keeps_its_key_for_any_number_of_targets() -> None:
    results = [result("p1", target=target, item={"text": "tea"}) for target in ("Brazil", "Egypt")]
    assert {draft.key for draft in derive(results, "promote", {})} == {"p1"}
    told = derive(results, "promote", {"origin": "unit.target"})
    assert sorted(draft.key for draft in told) == ["p1/Brazil", "p1/Egypt"]


def test_items_of_two_stages_that_share_a_key_are_two_items() -> None:
    found, made = result("001", "", 1), result("001", "", 2, stage="two", item={"text": "made"})
    results = [found, made, result("002", "", 3, stage="two")]
    for kind, params in (("promote", {}), ("sample", {"n": 9})):
        drafts = derive(results, kind, params)
        assert sorted(draft.sources for draft in drafts) == [((1, 1),), ((2, 2),), ((3, 3),)], kind
    pairs = derive(results, "pair", {})
    assert [{source for source, _annotation in draft.sources} for draft in pairs] == [{1, 2}, {1, 3}, {2, 3}]
    [sheet] = derive([replace(row, item=replace(row.item, concept="rice")) for row in results], "cluster", {})
    assert {source for source, _annotation in sheet.sources} == {1, 2, 3}
    assert [row["key"] for row in sheet.context["pictures"].values()] == ["001", "001", "002"]
    assert [picture.image for picture in sheet.images.values()] == [1, 2, 3]


def test_which_of_two_items_with_one_key_is_a_is_drawn() -> None:
    first = {
        next(iter(draft.images.values())).image
        for seed in range(20)
        for draft in derive([result("001", "", 1), result("001", "", 2, stage="two")], "pair", {}, seed=seed)
    }
    assert first == {1, 2}


def test_cluster_keeps_look_alikes_on_one_sheet() -> None:
    pictures = [result(f"p{n}", "", n + 1, item={"concept": "train"}) for n in range(5)]
    params = {"groups": [["p3", "p1"]], "near": {"p3": [["p1", 0.9]]}, "most": 3}
    first_sheet, two = derive(pictures, "cluster", params)
    assert (first_sheet.key, two.key) == ("train/1", "train/2")
    assert first_sheet.context["groups"] == [["p001", "p002"]] and first_sheet.context["near"] == {
        "p001": [["p002", 0.9]]
    }
    assert [first_sheet.context["pictures"][role]["key"] for role in ("p001", "p002", "p003")] == ["p3", "p1", "p0"]
    assert len(two.images) == 2


def test_sample_draws_by_weight_and_a_new_item_moves_at_most_one_out() -> None:
    pool = [result(f"i{n:03}", "", n, item={"context": {"score": 1 + 20 * (n % 2)}}) for n in range(1, 201)]
    params = {"n": 40, "weight": "item.context.score"}
    drawn = {draft.key for draft in derive(pool, "sample", params, seed=1)}
    assert len(drawn) == 40 and sum(int(key[1:]) % 2 for key in drawn) >= 34
    more = {
        draft.key
        for draft in derive([*pool, result("new", "", 999, item={"context": {"score": 500}})], "sample", params, seed=1)
    }
    assert len(drawn - more) <= 1
    assert drawn != {draft.key for draft in derive(pool, "sample", params, seed=2)}


def pool(count: int, **facts: Any) -> list[Result]:
    """Candidates of two countries and three concepts, ranked as their searches had them; an import leaves texts."""
    return [
        result(f"i{n:03}", "", n + 1, item={
            "concept": ("tea", "bread", "market")[n % 3], "facts": {name: value(n) for name, value in facts.items()},
            "context": {"country": ("Egypt", "Brazil")[n % 2], "rank": str(count - n)},
        })
        for n in range(count)
    ]  # fmt: skip


def drawn(results: list[Result], n: int, **params: Any) -> list[str]:
    return [draft.key for draft in derive(results, "sample", {"n": n, **params}, seed=3)]


def test_sample_draws_n_of_each_group_of_several_fields() -> None:
    fields = ["item.context.country", "item.concept"]
    candidates = [*pool(60), result("nowhere", "", 99, item={"concept": "tea"})]
    groups = Counter((int(key[1:]) % 2, int(key[1:]) % 3) for key in drawn(candidates, 4, by=fields))
    assert groups == dict.fromkeys(((a, b) for a in range(2) for b in range(3)), 4), "without a country: of no group"
    assert drawn(candidates, 4, by=["item.concept"]) == drawn(candidates, 4, by="item.concept")


@pytest.mark.parametrize("params", [
    {}, {"by": ["item.context.country", "item.concept"]}, {"weight": "item.facts.score"},
    {"strata": {"fact": "score", "bins": 4}}, {"order": {"field": "item.context.rank"}},
])  # fmt: skip
def test_a_larger_n_only_adds(params: dict[str, Any]) -> None:
    candidates = pool(120, score=lambda n: n % 7)
    draws = [set(drawn(candidates, n, **params)) for n in range(1, 14)]
    assert all(less < more for less, more in itertools.pairwise(draws))


def test_an_order_takes_the_first_by_number_and_not_by_text() -> None:
    order = {"field": "item.context.rank"}
    candidates = [*pool(12), result("unranked", "", 99, item={"context": {"country": "Egypt", "rank": "first"}})]
    assert set(drawn(candidates, 3, order=order)) == {"i011", "i010", "i009"}, "1, 2, 3; as texts 10 would be second"
    assert set(drawn(candidates, 2, order={**order, "descending": True})) == {"i000", "i001"}
    assert set(drawn(candidates, 1, order=order, by=["item.context.country"])) == {"i011", "i010"}
    assert "unranked" in drawn(candidates, 13, order=order) and "unranked" not in drawn(candidates, 12, order=order)


def test_strata_spread_a_draw_over_bins_of_equally_many_candidates() -> None:
    """Scores are low for most: bins of equal width would hold nearly all candidates in the first one."""
    candidates = [*pool(40, score=lambda n: n**3), result("waits", "", 99)]
    strata = {"fact": "score", "bins": 4}
    bins = Counter(int(key[1:]) // 10 for key in drawn(candidates, 10, strata=strata))
    assert bins == {0: 3, 1: 3, 2: 2, 3: 2} and "waits" not in drawn(candidates, 99, strata=strata)
    assert len(drawn(candidates, 99, strata=strata)) == 40, "a bin that is used up is passed over"
    equal = pool(40, score=lambda n: 7)
    assert len(drawn(equal, 10, strata=strata)) == 10, "equal values share a bin"


def test_a_long_key_is_cut_and_still_its_own() -> None:
    one, two = derive([result("k" * 300 + end, answers={"q": "x"}) for end in "ab"], "promote", {"text": "q"})
    assert len(one.key) <= 190 and one.key != two.key


@pytest.mark.parametrize(
    ("data", "path"),
    [
        ({"kind": "merge", "from": ["a"]}, "kind"),
        ({"kind": "promote", "from": []}, "from"),
        ({"kind": "promote", "from": ["a"], "params": {"txt": "q"}}, "params.txt"),
        ({"kind": "promote", "from": ["a"], "params": {"text": "item.nothing"}}, "params.text"),
        ({"kind": "join", "from": ["a"], "params": {}}, "params.by"),
        ({"kind": "join", "from": ["a"], "params": {"by": "item.concept", "each": "item"}}, "params.each"),
        ({"kind": "join", "from": ["a"], "params": {"by": "item.concept", "needs": 2}}, "params.needs"),
        ({"kind": "sample", "from": ["a"], "params": {"n": 0}}, "params.n"),
        ({"kind": "sample", "from": ["a"], "params": {"n": 10**20}}, "params.n"),
        ({"kind": "sample", "from": ["a"], "params": {"n": 1, "by": ["item.nothing"]}}, "params.by"),
        ({"kind": "sample", "from": ["a"], "params": {"n": 1, "by": 3}}, "params.by"),
        ({"kind": "sample", "from": ["a"], "params": {"n": 1, "order": {}}}, "params.order.field"),
        (
            {"kind": "sample", "from": ["a"], "params": {"n": 1, "order": {"field": "item.key"}, "weight": "item.key"}},
            "params.weight",
        ),
        ({"kind": "sample", "from": ["a"], "params": {"n": 1, "strata": {"bins": 4}}}, "params.strata.fact"),
        ({"kind": "sample", "from": ["a"], "params": {"n": 1, "strata": {"fact": "s"}}}, "params.strata.bins"),
        (
            {"kind": "sample", "from": ["a"], "params": {"n": 1, "strata": {"fact": "s", "bins": 1}}},
            "params.strata.bins",
        ),
        ({"kind": "pair", "from": ["a"], "params": {"context": {"x": "item.text"}}}, "params.context.x"),
    ],
)
def test_a_derivation_written_wrongly_says_where(data: dict[str, Any], path: str) -> None:
    with pytest.raises(DerivationError) as error:
        Derivation.from_json(data)
    assert error.value.path == path
    assert Derivation.from_json({}) is None


DISPUTED = {"measure": "share", "between": [{"stage": "a", "field": "good"}]}


@pytest.mark.parametrize(
    ("kind", "params"),
    [("verdicts", {"field": "answer"}), ("disagree", DISPUTED), ("ungroup", {})],
)
def test_items_made_of_answers_alone_are_made_of_answers_whatever_is_set(kind: str, params: dict[str, Any]) -> None:
    for of in ("results", "items", "kept"):
        derivation = Derivation.from_json({"kind": kind, "from": ["a"], "of": of, "params": params})
        assert derivation is not None and derivation.of == "results"
    with pytest.raises(DerivationError, match="results, items or kept"):
        Derivation.from_json({"kind": kind, "from": ["a"], "of": "anything", "params": params})
    drawn = Derivation.from_json({"kind": "sample", "from": ["a"], "of": "kept", "params": {"n": 1}})
    assert drawn is not None and drawn.of == "kept"


def test_pairs_by_vectors_are_those_at_or_over_the_least_similarity() -> None:
    vectors = {"p": [1, 0], "q": [0.8, 0.6], "r": [3, 4], "s": None, "t": [1, 0, 0], "u": [0, 0]}
    facts = {key: {"facts": {"v": vector} if vector else {}} for key, vector in vectors.items()}
    results = [result(key, number=n, item=more) for n, (key, more) in enumerate(facts.items(), start=1)]
    similar = {"fact": "v", "least": 0.8}
    alike = {draft.key: draft.context["similarity"] for draft in derive(results, "pair", {"similar": similar})}
    assert alike == {"p+q": 0.8, "q+r": 0.96}, "p and r have 0.6; vectors of other lengths and none are like nothing"
    both = {"similar": similar, "near": [["q", "p"], ["p", "r"]]}
    assert [draft.key for draft in derive(results, "pair", both)] == ["p+q"]
    for faulty, path in (({"least": 0.9}, "fact"), ({"fact": "v", "least": 2}, "least"), ({"fact": "v"}, "least")):
        with pytest.raises(DerivationError, match=f"params.similar.{path}"):
            derive(results, "pair", {"similar": faulty})
