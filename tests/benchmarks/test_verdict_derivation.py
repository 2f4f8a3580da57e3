"""The derivation of items to judge from the answers of models and people."""

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.rules.derivations import Derivation, DerivationError, DerivationSource, ItemDraft, PictureRef, Result
from benchmarks.rules.derivations.verdicts import slug

BOTH = {"field": "answer", "people": "leave_one_out"}


def derive(results: Sequence[Result], **params: Any) -> list[ItemDraft]:
    derivation = Derivation.from_json(
        {"kind": "verdicts", "from": ["answers"], "params": {"field": "answer", **params}}
    )
    assert derivation is not None
    return derivation.derive(results)


def question(number: int = 1, **context: Any) -> DerivationSource:
    context = {"asker_answer": "Diya", "facet": "rituals"} | context
    images = {"image": PictureRef(50 + number)}
    return DerivationSource(
        number, "answers", f"q{number}", "Diwali", "India", "natural", "What are these?", context, images
    )


def person(name: str, text: str, number: int, of: DerivationSource | None = None, **more: Any) -> Result:
    more = {"submitted": float(number)} | more
    return Result(
        of or question(), target="India", rater=f"R-{name}", annotation=number, answers={"answer": text}, **more
    )


def model(name: str, text: str, number: int, of: DerivationSource | None = None, **more: Any) -> Result:
    more = {"kind": "model", "rater_name": name, "setting": "vlm", "run": 7} | more
    return person(name, text, number, of, **more)


def people(of: DerivationSource | None = None, first: int = 1) -> list[Result]:
    return [
        person(name, text, first + n, of)
        for n, (name, text) in enumerate([("a", "Diya"), ("b", "Lamps"), ("c", "Diya")])
    ]


def test_two_runs_and_three_people_at_three_questions_make_six_and_nine_items() -> None:
    results = []
    for number in (1, 2, 3):
        of = question(number)
        results += people(of, 10 * number)
        results += [model("Model A", "Diyas", 10 * number + 5, of), model("B", "Cups", 10 * number + 6, of, run=8)]
    drafts = derive(results, people="leave_one_out")
    assert len([draft for draft in drafts if "/m/" in draft.key]) == 6
    assert len([draft for draft in drafts if "/p~" in draft.key]) == 9
    assert len({draft.key for draft in drafts}) == 15


def test_questions_of_two_stages_that_share_a_key_lend_each_other_no_references() -> None:
    other = replace(question(), id=2, stage="others")
    results = [*people(), model("A", "Diyas", 4), person("d", "Cups", 11, other), model("B", "Jars", 15, other)]
    references = {draft.context["candidate_by"]: draft.context["references"] for draft in derive(results)}
    assert references == {"A": ["Diya", "Diya", "Lamps", "Diya"], "B": ["Diya", "Cups"]}


def test_an_item_holds_the_question_the_candidate_and_references_in_order_of_submission() -> None:
    [draft] = derive([*people(), model("Model A", " Diyas ", 4)], carry=["facet"])
    assert draft.key == "q1/m/model-a-vlm"
    assert (draft.text, draft.concept, draft.origin, draft.images) == ("What are these?", "Diwali", "India", {})
    assert draft.context == {
        "facet": "rituals", "question": "q1", "candidate": "Diyas", "candidate_by": "Model A", "setting": "vlm",
        "run": 7, "references": ["Diya", "Diya", "Lamps", "Diya"],
    }  # fmt: skip
    assert draft.roles == {
        (1, None): "item", (1, 4): "candidate", (1, 1): "reference", (1, 2): "reference", (1, 3): "reference",
    }  # fmt: skip
    assert set(draft.sources) == set(draft.roles)


def test_a_persons_answer_is_judged_against_the_others_and_never_its_own() -> None:
    drafts = derive(people(), people="leave_one_out", references="people")
    by_candidate = {
        next(link[1] for link, role in draft.roles.items() if role == "candidate"): draft for draft in drafts
    }
    assert {number: draft.context["references"] for number, draft in by_candidate.items()} == {
        1: ["Lamps", "Diya"], 2: ["Diya", "Diya"], 3: ["Diya", "Lamps"],
    }  # fmt: skip
    for number, draft in by_candidate.items():
        assert (1, number) not in {link for link, role in draft.roles.items() if role == "reference"}
        assert draft.context["candidate_by"] == "human" and draft.context["run"] is None


def test_who_wrote_the_question_is_not_judged_against_their_own_answer() -> None:
    writer, *others = people()
    drafts = derive([replace(writer, owns=True), *others], people="leave_one_out")
    references = {
        draft.context["candidate"]: draft.context["references"]
        for draft in drafts
        if draft.roles[(1, 1)] == "candidate"
    }
    assert references == {"Diya": ["Lamps", "Diya"]}


@given(st.permutations(range(5)))
def test_the_order_of_results_does_not_matter(order: list[int]) -> None:
    results = [*people(), model("A", "Diyas", 4), model("B", "Cups", 5)]
    assert derive([results[place] for place in order], people="leave_one_out") == derive(
        results, people="leave_one_out"
    )


@pytest.mark.parametrize(
    ("params", "keys"),
    [
        ({}, ["q1/m/a-vlm"]),
        ({"people": "leave_one_out", "least": 4}, ["q1/m/a-vlm"]),
        ({"references": "none"}, ["q1/m/a-vlm"]),
    ],
)
def test_models_alone_are_judged_where_people_are_not_or_are_too_few(params: dict[str, Any], keys: list[str]) -> None:
    drafts = derive([*people(), model("A", "Diyas", 4)], **params)
    assert [draft.key for draft in drafts] == keys
    assert ("references" in drafts[0].context) == (params.get("references") != "none")


def test_without_references_the_item_depends_on_question_and_candidate_alone() -> None:
    [draft] = derive([*people(), model("A", "Diyas", 4)], references="none", pictures="item")
    assert draft.roles == {(1, None): "item", (1, 4): "candidate"}
    assert draft.images == {"image": PictureRef(51)}
    assert derive([person("a", "Diya", 1, question(asker_answer="")), model("A", "x", 2)], references="people") != []
    assert derive([model("A", "x", 2)], references="people") == [], "there is nothing to judge it by"


def test_an_incomplete_question_waits_unless_it_need_not() -> None:
    results = [replace(result, complete=False) for result in (*people(), model("A", "Diyas", 4))]
    assert derive(results, people="leave_one_out") == []
    assert len(derive(results, people="leave_one_out", when="now")) == 4


def test_an_empty_answer_is_no_candidate_and_no_reference() -> None:
    drafts = derive([*people(), person("d", "  ", 8), model("A", "", 9)], people="leave_one_out")
    assert len(drafts) == 3 and all("" not in draft.context["references"] for draft in drafts)


def test_repeats_are_judged_only_where_they_are_asked_for() -> None:
    results = [*people(), model("A", "x", 4), model("A", "y", 5, repeat=1)]
    assert [draft.key for draft in derive(results)] == ["q1/m/a-vlm"]
    assert [draft.key for draft in derive(results, repeats="all")] == ["q1/m/a-vlm", "q1/m/a-vlm-r2"]


def test_two_models_of_one_slug_have_keys_of_their_own() -> None:
    results = [*people(), model("GPT-4o", "x", 4), model("gpt 4o", "y", 5, run=8)]
    drafts = derive(results)
    assert len({draft.key for draft in drafts}) == 2
    for draft in drafts:
        head, _tilde, mark = draft.key.partition("~")
        assert (head, len(mark), draft.former) == ("q1/m/gpt-4o-vlm", 4, "q1/m/gpt-4o-vlm")


def test_a_person_who_answered_in_two_campaigns_has_one_answer() -> None:
    drafts = derive([*people(), person("a", "Oil lamps", 9)], people="leave_one_out")
    assert sorted(draft.context["candidate"] for draft in drafts) == ["Diya", "Lamps", "Oil lamps"]


def test_another_target_is_another_question() -> None:
    drafts = derive([*people(), model("A", "x", 4), replace(person("b", "Lamp", 5), target="Nepal"),
                     replace(model("A", "y", 6), target="Nepal")])  # fmt: skip
    assert [draft.key for draft in drafts] == ["q1/m/a-vlm", "q1/nepal/m/a-vlm"]


@pytest.mark.parametrize(
    ("params", "path"),
    [
        ({"field": ""}, "params.field"),
        ({"people": "all"}, "params.people"),
        ({"people": "leave_one_out", "references": "none"}, "params.people"),
        ({"least": 1}, "params.least"),
        ({"when": "later"}, "params.when"),
        ({"runs": "all"}, "params.runs"),
        ({"runs": {"settings": "vlm"}}, "params.runs.settings"),
        ({"carry": "facet"}, "params.carry"),
        ({"carry": ["candidate"]}, "params.carry"),
        ({"n": 3}, "params.n"),
    ],
)
def test_wrong_params_are_refused_with_their_place(params: dict[str, Any], path: str) -> None:
    with pytest.raises(DerivationError) as refused:
        derive([], **params)
    assert refused.value.path == path


def test_slugs_are_of_letters_digits_and_hyphens() -> None:
    texts = ["GPT-4o (mini)", "Québec", "日本", ""]
    assert [slug(text) for text in texts] == ["gpt-4o-mini", "quebec", "", ""]
    assert all(one != two for one, two in itertools.combinations([slug(text) for text in texts[:3]], 2))


def box(width: float) -> list[dict[str, float]]:
    """Inside the gold box, or that itself: their IoU is its width."""
    return [{"x0": 0.0, "y0": 0.0, "x1": width, "y1": 1.0}]


def boxed(name: str, width: float | None, number: int | None, **more: Any) -> Result:
    answers = {} if width is None else {"box": box(width)}
    return Result(question(), target="India", rater=f"R-{name}", annotation=number, answers=answers, **more)


def wrong_boxes(*results: Result, no_answer: bool = True) -> list[ItemDraft]:
    where = {"measure": "iou", "at_most": 0.5, "no_answer": no_answer}
    return derive(results, field="box", references="none", where=where)


def test_boxes_at_the_limit_are_listed_and_those_above_it_are_not() -> None:
    gold = boxed("Ana", 1.0, 1)
    widths = {"far": 0.2, "limit": 0.5, "near": 0.51, "same": 1.0}
    models = [
        boxed(name, width, 10 + n, kind="model", rater_name=name) for n, (name, width) in enumerate(widths.items())
    ]
    drafts = wrong_boxes(gold, *models)
    assert [(draft.context["candidate_by"], draft.context["agreement"]) for draft in drafts] == [
        ("far", 0.2),
        ("limit", 0.5),
    ]
    assert drafts[0].context["gold"] == box(1.0) and drafts[0].context["candidate"] == box(0.2)
    assert drafts[0].roles == {(1, None): "item", (1, 10): "candidate", (1, 1): "reference"}


def test_a_call_without_an_answer_is_listed_where_that_is_asked_for() -> None:
    gold = boxed("Ana", 1.0, 1)
    empty = boxed("M", None, None, kind="model", rater_name="M", run=7, unanswered=True)
    [draft] = wrong_boxes(gold, empty)
    assert (draft.context["candidate"], draft.context["agreement"], draft.context["run"]) == (None, None, 7)
    assert draft.sources == ((1, None), (1, 1))
    assert wrong_boxes(gold, empty, no_answer=False) == []
    assert wrong_boxes(empty) == [], "without a gold box nothing can be said of it"


@pytest.mark.parametrize(
    ("where", "path"),
    [
        ({"measure": "iou"}, "where.at_most"),
        ({"measure": "near", "at_most": 0.5}, "where.measure"),
        ({"measure": "iou", "at_most": 1.5}, "where.at_most"),
        ({"measure": "iou", "at_most": 0.5, "no_answer": 1}, "where.no_answer"),
        ({"measure": "iou", "at_most": 0.5, "other": 1}, "params.where"),
        ("iou <= 0.5", "params.where"),
    ],
)
def test_a_comparison_that_is_written_wrongly_is_refused(where: Any, path: str) -> None:
    with pytest.raises(DerivationError, match=path):
        derive([], where=where)
    with pytest.raises(DerivationError, match="people"):
        derive([], people="leave_one_out", where={"measure": "equal", "at_most": 0})
