"""The builder's prompts say what they must, and change only with their version."""

import hashlib
import json
from typing import Any

import pytest

from papers.valueground.builder import prompts, schemas
from papers.valueground.builder.plan_checks import check_plan
from papers.valueground.builder.prompts import PairPictures, PairQuestion
from papers.valueground.builder.schemas import InvalidReply, parse_reply
from predictions.prompts.contract import Request, TextPart
from predictions.requests.serialization import image_shas
from tests.papers.valueground.builder.build_script import NO_ISSUE, PLAN, verdict

QUESTION = PairQuestion(
    "How important is family in your life?", {1: "Very important", 2: "Rather", 4: "Not at all"}, 1, 4,
    "Very important", "Not at all important",
)  # fmt: skip
SCENE: Any = PLAN["plan"]
ISSUES = {"b": {**NO_ISSUE, "contrast": "The lamp moved."}}


def text_of(request: Request) -> str:
    pieces = [piece for message in request.messages for piece in message.pieces]
    return "\n".join(piece.text for piece in pieces if isinstance(piece, TextPart))


REQUESTS = {
    "rewrite": prompts.rewrite_request("Is it mentioned?", "Mentioned"),
    "plan": prompts.plan_request(QUESTION, banned_cues=["flags"], replan_level=1, failures=["The lamp moved."]),
    "check": prompts.check_request(QUESTION, PLAN),
    "instruct": prompts.instruct_request(
        QUESTION, PLAN, base="s0", instructions={"b": "Open it"}, issues=ISSUES, targets=["b"], comments="Angry."
    ),
    "signals": prompts.signals_request(QUESTION, PLAN, issues=ISSUES, targets=["b"], comments="Angry."),
    "critic": prompts.critic_request(
        QUESTION,
        PLAN,
        PairPictures("sa", "sb", "s0", {"base_a": 0.0412}),
        instructions={"a": "Close"},
        comments="Angry.",
    ),
}
GOLDEN = {
    "rewrite": ("1", "c398db8cc943"),
    "plan": ("1", "c0d2dcabba3b"),
    "check": ("1", "a025d53232f1"),
    "instruct": ("1", "6191b4ad5b39"),
    "signals": ("1", "5f4678cf23d2"),
    "critic": ("1", "04f3a655a19d"),
}


@pytest.mark.parametrize("step", list(REQUESTS))
def test_a_changed_wording_is_a_new_version(step: str) -> None:
    """After a change on purpose: raise VERSIONS[step], and put the new digest here."""
    digest = hashlib.sha256(text_of(REQUESTS[step]).encode()).hexdigest()[:12]
    assert (prompts.VERSIONS[step], digest) == GOLDEN[step]


@pytest.mark.parametrize(
    ("step", "parts"),
    [
        ("rewrite", ["Is it mentioned?", "Mentioned"]),
        ("plan", [QUESTION.text, "2: Rather", "code 4", "show: flags", "before this one: 1", "- The lamp moved."]),
        ("check", [QUESTION.text, SCENE["base_scene"], "expert_scene"]),
        ("instruct", [QUESTION.text, PLAN["semantic_statement"]["a"], "Open it", "lamp moved.", "Angry.", "for: b"]),
        ("signals", [QUESTION.text, "turns away", "The lamp moved.", "Angry.", "for: b"]),
        ("critic", [QUESTION.text, PLAN["semantic_statement"]["b"], SCENE["base_scene"], "Close", "4.1%", "Angry."]),
    ],
)  # fmt: skip
def test_a_prompt_carries_all_that_its_step_is_given(step: str, parts: list[str]) -> None:
    assert [part for part in parts if part not in text_of(REQUESTS[step])] == []
    assert REQUESTS[step].schema["additionalProperties"] is False


def test_pictures_go_to_the_editor_and_the_critic_in_order() -> None:
    assert image_shas(REQUESTS["instruct"]) == ["s0"] and image_shas(REQUESTS["critic"]) == ["s0", "sa", "sb"]
    without = prompts.critic_request(QUESTION, PLAN, PairPictures("sa", "sb"), instructions={})
    assert image_shas(without) == ["sa", "sb"]


def test_picture_prompts_are_derived_from_the_plan_alone() -> None:
    base = prompts.base_prompt({**SCENE, "base_scene": "A street with flags"}, prompts.BANNED_CUES)
    assert base.removed == ("flags",)
    assert base.text == (
        "Comic style, flat colours, clear outlines. A street with. Always: kitchen; clothes. Must not be seen: tears. "
        + prompts.BASE_SUFFIX
    )
    side = prompts.side_prompt(SCENE, "b", prompts.BANNED_CUES)
    assert "Visible: the person turns away from the telephone." in side.text and side.removed == ()
    assert prompts.edit_prompt("Open the door") == f"Open the door. {prompts.EDIT_SUFFIX}"


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        ("no JSON", "not valid JSON"),
        ("[]", "must be an object"),
        ("{}", "lacks statement"),
        ('{"statement": 3}', "statement must be a string"),
        ('{"statement": "yes", "more": 1}', "must not have more"),
    ],
)
def test_a_reply_of_another_form_is_named(reply: str, problem: str) -> None:
    with pytest.raises(InvalidReply, match=problem):
        parse_reply(reply, schemas.REWRITE)


def test_a_reply_of_the_form_is_read_also_from_a_fence() -> None:
    assert parse_reply(f"```json\n{json.dumps(PLAN)}\n```", schemas.PLAN) == PLAN
    assert parse_reply(json.dumps(verdict()), schemas.CRITIC)["routing"] == "accept"
    with pytest.raises(InvalidReply, match="routing must be one of"):
        parse_reply(json.dumps({**verdict(), "routing": "maybe"}), schemas.CRITIC)
    with pytest.raises(InvalidReply, match="must not have a"):
        parse_reply('{"a": {"instruction": "x"}, "b": {"instruction": "x"}}', schemas.instruct_schema(["b"]))


def changed(path: str, value: Any) -> dict[str, Any]:
    """The sample plan with another value at a dotted path."""
    plan = json.loads(json.dumps(PLAN))
    *outer, last = path.split(".")
    part = plan
    for name in outer:
        part = part[name]
    part[last] = value
    return dict(plan)


@pytest.mark.parametrize(
    ("path", "value", "codes"),
    [
        ("plan.style", "comic", []),
        ("endpoint_selection.b", 2, ["endpoints"]),
        ("semantic_statement.a", "Family matters", ["short_statement"]),
        ("semantic_statement.b", PLAN["semantic_statement"]["a"].upper(), ["same_statements"]),
        ("semantic_statement.b", "Not at all important, really.", []),
        ("plan.signals.a", ["a flag", "two flags"], ["banned_cue"]),
        ("plan.base_scene", "A split-screen of a family", ["split_screen"]),
        ("plan.editable", ["Kitchen"], ["locked_overlap"]),
        ("plan.locked", [" "], ["no_locked"]),
    ],
)
def test_a_plan_is_checked_by_code(path: str, value: Any, codes: list[str]) -> None:
    labels = (QUESTION.a, QUESTION.b)
    anchors = ["family", "life"]
    problems = check_plan(
        changed(path, value), codes=(1, 4), labels=labels, anchors=anchors, banned_cues=prompts.BANNED_CUES
    )
    assert [problem.code for problem in problems] == codes


def test_a_plan_that_loses_the_question_or_repeats_the_label_is_rejected() -> None:
    plan = changed("semantic_statement", {"a": "Something matters very much here.", "b": "It does not matter at all."})
    plan["plan"]["base_scene"] = "A person in a kitchen"
    problems = check_plan(
        plan, codes=(1, 4), labels=("It does.", "It does not matter at all"), anchors=["family"], banned_cues=[]
    )
    assert [problem.code for problem in problems] == ["only_label", "no_anchor"]
