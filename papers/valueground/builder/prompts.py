"""What the builder asks of the planner, the editor, the critic and the image service. Pure.

The steps, their inputs and the form of their replies follow Appendix A of the ValueGround paper; the wording is ours. A
changed wording is a new version in VERSIONS: it is part of each request's key.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from papers.valueground.builder.schemas import CHECK, CRITIC, PLAN, REWRITE, instruct_schema, signals_schema
from papers.valueground.builder.states import SIDES
from predictions.prompts.contract import ImagePart, Message, Piece, Request, TextPart

VERSIONS: Mapping[str, str] = dict.fromkeys(
    ("rewrite", "plan", "check", "base", "instruct", "signals", "edit", "critic"), "1"
)
BANNED_CUES = (
    "letters", "numbers", "captions", "speech bubbles", "logos", "flags", "country names", "ticks", "crosses", "scores",
    "charts", "interface elements", "propaganda", "split screen", "exaggerated emotion",
)  # fmt: skip
STYLE = "Comic style, flat colours, clear outlines."
BASE_SUFFIX = (
    "One scene in one frame. No readable text, letters, numbers, captions, logos, flags, user interface or split screen. "
    "Calm, neutral faces."
)
EDIT_SUFFIX = (
    "Keep everything else exactly as it is: people, clothes, composition, light, colours and style. No text, no letters, "
    "no numbers, no user interface. Calm expressions."
)
MAX_TOKENS = 2048
MOST_PROMPT = 4000
REMARKS = {
    "no_issue": "You asked for a change but named no issue. Name each issue in its field, or accept.",
    "repeated": "Your instruction equals one that has failed. Write another one.",
}
_SYSTEM = {
    "rewrite": "You rewrite short survey answers as complete sentences. Reply with JSON only.",
    "plan": (
        "You plan a pair of pictures for a survey question. Both pictures show one shared scene; they differ only in what "
        "makes picture A mean answer A and picture B mean answer B. Each picture can be understood alone. Show everyday "
        "situations of ordinary people. Never show readable text, an interface, scores, propaganda, exaggerated emotion or "
        "a split screen. Reply with JSON only."
    ),
    "check": (
        "You check whether a plan for a pair of pictures shrinks its question. Say true where it does. object_presence: a "
        "norm became the presence or absence of an object. single_moment: a habit became a single moment. expert_scene: "
        "everyday importance became a scene of experts or offices. Reply with JSON only."
    ),
    "instruct": (
        "You write instructions for an image editor that changes a base picture. Each instruction makes one small, visible "
        "change that gives the picture its meaning, within the editable attributes. The locked attributes stay. Never ask "
        "for text, labels or logos. Reply with JSON only."
    ),
    "signals": (
        "You choose new visible signals for pictures of a plan. Each signal can be drawn in the shared scene, within the "
        "editable attributes. Never ask for text, labels or logos. Reply with JSON only."
    ),
    "critic": (
        "You are a strict critic of a pair of pictures for a survey question. Judge each picture against the two "
        "statements. For each side write a sentence for each axis that has an issue, and an empty text where there is none. "
        "semantic: the picture does not mean its statement, or fits the other one as well. contrast: the pictures differ "
        "in more, or in less, than what is meant. shortcut: text, symbols or emotion give the answer away. routing: accept "
        "where there is no issue; regenerate where a picture was drawn badly from a good instruction; revise_edits where an "
        "instruction has to change; replan where the scene cannot show the answers. targets: the sides with issues. "
        "text_visible: whether any readable text is seen. Reply with JSON only."
    ),
}


@dataclass(frozen=True)
class PairQuestion:
    """A question with its confirmed pair. `options`: label by code, in order; `a` and `b` as they are put to models,
    rewritten where they were short."""

    text: str
    options: Mapping[int, str]
    code_a: int
    code_b: int
    a: str
    b: str


@dataclass(frozen=True)
class PairPictures:
    """Pictures by their sha; `base` is empty where there is none."""

    a: str
    b: str
    base: str = ""
    shares: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class SafeText:
    """A text without banned cues, and what was removed."""

    text: str
    removed: tuple[str, ...] = ()


def rewrite_request(question: str, label: str) -> Request:
    text = (
        f"Survey question: {question}\nAnswer: {label}\n\n"
        "Rewrite the answer as one sentence that can be understood without the question. Do not add anything."
    )
    return _request("rewrite", REWRITE, text)


def plan_request(
    question: PairQuestion, *, banned_cues: Sequence[str], replan_level: int, failures: Sequence[str]
) -> Request:
    options = "\n".join(f"{code}: {label}" for code, label in question.options.items())
    text = (
        f"Survey question: {question.text}\nAll answers:\n{options}\n\n"
        f"Answer A (code {question.code_a}): {question.a}\nAnswer B (code {question.code_b}): {question.b}\n\n"
        f"Never show: {', '.join(banned_cues)}.\nPlans made before this one: {replan_level}.\n{_failures(failures)}\n"
        "Give endpoint_selection (these two codes), semantic_statement (each answer as a sentence of its own that keeps the "
        "key words of the question), and plan: style (comic), base_scene (shared by both), signals for a and b (what is "
        "seen in that picture alone), locked (what stays equal), editable (what may change), risks (what must not be seen)."
    )
    return _request("plan", PLAN, text)


def _failures(failures: Sequence[str]) -> str:
    if not failures:
        return "Failures of earlier plans: none.\n"
    return "Failures of earlier plans, which this plan must avoid:\n" + "".join(f"- {line}\n" for line in failures)


def check_request(question: PairQuestion, plan: Mapping[str, Any]) -> Request:
    text = f"Survey question: {question.text}\nAnswer A: {question.a}\nAnswer B: {question.b}\nPlan:\n{_json(plan)}"
    return _request("check", CHECK, text)


def instruct_request(
    question: PairQuestion, plan: Mapping[str, Any], *, base: str, instructions: Mapping[str, str],
    issues: Mapping[str, Any], targets: Sequence[str], comments: str = "", remark: str = "",
) -> Request:  # fmt: skip
    """Of the editor, who sees the base picture."""
    text = _revision_text(question, plan, instructions, issues, targets, comments, remark)
    pieces: list[Piece] = [TextPart(f"{text}\nBase picture:"), ImagePart(base)]
    return _request("instruct", instruct_schema(targets), *pieces)


def signals_request(
    question: PairQuestion, plan: Mapping[str, Any], *, issues: Mapping[str, Any], targets: Sequence[str],
    comments: str = "", remark: str = "",
) -> Request:  # fmt: skip
    """Of the planner, where there is no editor."""
    text = _revision_text(question, plan, {}, issues, targets, comments, remark)
    return _request("signals", signals_schema(targets), text)


def _revision_text(
    question: PairQuestion, plan: Mapping[str, Any], instructions: Mapping[str, str], issues: Mapping[str, Any],
    targets: Sequence[str], comments: str, remark: str,
) -> str:  # fmt: skip
    lines = [
        f"Survey question: {question.text}", f"Answer A: {question.a}", f"Answer B: {question.b}", "Plan:", _json(plan),
        f"Earlier instructions: {_json(instructions) if instructions else 'none'}",
        f"Issues: {_json(issues) if issues else 'none'}",
        f"Comments of reviewers: {comments or 'none'}",
        f"Write for: {', '.join(targets)}.",
    ]  # fmt: skip
    return "\n".join([*lines, REMARKS[remark]] if remark else lines)


def critic_request(
    question: PairQuestion, plan: Mapping[str, Any], pictures: PairPictures, *, instructions: Mapping[str, str],
    comments: str = "", remark: str = "",
) -> Request:  # fmt: skip
    shares = {name: f"{share:.1%}" for name, share in pictures.shares.items()}
    lines = [
        f"Survey question: {question.text}", "Statements:", _json(plan["semantic_statement"]), "Plan:",
        _json(plan["plan"]), f"Instructions: {_json(instructions) if instructions else 'none'}",
        f"Share of changed pixels: {_json(shares) if shares else 'not known'}",
        f"Comments of reviewers: {comments or 'none'}",
    ]  # fmt: skip
    text = "\n".join([*lines, REMARKS[remark]] if remark else lines)
    pieces: list[Piece] = [TextPart(text)]
    named = [("Base picture:", pictures.base), ("Picture A:", pictures.a), ("Picture B:", pictures.b)]
    for name, sha in named:
        pieces += [TextPart(name), ImagePart(sha)] if sha else []
    return _request("critic", CRITIC, *pieces)


def with_problem(request: Request, problem: str) -> Request:
    """The request again, with what was wrong with the last reply."""
    if not problem:
        return request
    text = f"Your last reply could not be used: {problem} Reply with JSON of the given form only."
    return replace(request, messages=(*request.messages, Message("user", (TextPart(text),))))


def _request(step: str, schema: Mapping[str, Any], *pieces: Piece | str) -> Request:
    parts = tuple(TextPart(piece) if isinstance(piece, str) else piece for piece in pieces)
    system = f"{_SYSTEM[step]}\nJSON schema: {json.dumps(schema, separators=(',', ':'))}"
    messages = (Message("system", (TextPart(system),)), Message("user", parts))
    return Request(messages=messages, ways=("schema", "text"), schema=schema, max_tokens=MAX_TOKENS)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def base_prompt(scene: Mapping[str, Any], banned_cues: Iterable[str]) -> SafeText:
    """The prompt of the base picture, from the plan alone."""
    return _picture_prompt(scene, [], banned_cues)


def side_prompt(scene: Mapping[str, Any], side: str, banned_cues: Iterable[str]) -> SafeText:
    """The prompt of one picture where there is no base: scene, locked attributes and the side's signals."""
    return _picture_prompt(scene, scene["signals"][side], banned_cues)


def _picture_prompt(scene: Mapping[str, Any], signals: Sequence[str], banned_cues: Iterable[str]) -> SafeText:
    described = [_sentence(scene["base_scene"]), _listed("Always", scene["locked"]), _listed("Visible", signals)]
    safe = sanitise(" ".join(filter(None, described)), banned_cues)
    parts = [STYLE, safe.text, _listed("Must not be seen", scene["risks"]), BASE_SUFFIX]
    return SafeText(" ".join(filter(None, parts))[:MOST_PROMPT], safe.removed)


def edit_prompt(instruction: str) -> str:
    """A sanitised instruction with the fixed suffix."""
    return f"{_sentence(instruction)} {EDIT_SUFFIX}"[:MOST_PROMPT]


def sanitise(text: str, banned_cues: Iterable[str]) -> SafeText:
    """Without banned cues.

    >>> sanitise("She holds flags.", ["flags"])
    SafeText(text='She holds.', removed=('flags',))
    """
    removed = []
    for cue in banned_cues:
        text, n = re.subn(rf"\s*(?<!\w){re.escape(cue)}(?!\w)", "", text, flags=re.IGNORECASE)
        removed += [cue] if n else []
    return SafeText(" ".join(text.split()), tuple(removed))


def _listed(head: str, parts: Sequence[str]) -> str:
    listed = "; ".join(part.strip().rstrip(".") for part in parts if part.strip())
    return f"{head}: {listed}." if listed else ""


def _sentence(text: str) -> str:
    stripped = " ".join(text.split())
    return stripped if not stripped or stripped[-1] in ".!?" else f"{stripped}."


def alternative_text(statements: Mapping[str, str], side: str) -> str:
    """For people who do not see a picture: what it stands for."""
    return " ".join(statements[side].split()) if side in SIDES else ""
