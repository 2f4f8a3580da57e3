"""What the practice model says to the pair builder of ValueGround: plans, instructions and verdicts as JSON.

A request is known by the title of its schema. What becomes of a pair hangs on its question: of ten six are accepted at
once, two after other instructions, one after a picture was drawn again, one after another plan. Weapons are never
drawn. A word in the question forces a case, for all models or for those whose name contains the source:

    [practice: replan]   [practice: never source=wren]

==============  =======================================================================================================
word            what happens
==============  =======================================================================================================
accept          the critic accepts at once
revise_edits    the critic asks once for another instruction for B
regenerate      the critic asks once that B is drawn again
replan          the critic asks once for another plan
never           the critic asks for other instructions, every time
refuse          no picture of the question is drawn
identical       the first instruction for B changes nothing
text            the critic accepts, and says that text is visible, once
loop            as `never`, and the editor repeats its instruction
contradict      the critic accepts and names an issue, once
invalid         the planner's first reply is no JSON
slow            every reply of the chat model takes a second; with another word what that one says, alone as accept
==============  =======================================================================================================
"""

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from .mock_images import DECLINED, UNCHANGED

WORD = re.compile(r"\[practice: *(\w+)(?: +source=([\w.:/-]+))?\]")
QUESTION = re.compile(r"^Survey question: (.*)$", re.MULTILINE)
ANSWER = re.compile(r"^Answer ([AB])(?: \(code (-?\d+)\))?: (.*)$", re.MULTILINE)
LEVEL = re.compile(r"^Plans made before this one: (\d+)", re.MULTILINE)
TITLE = re.compile(r'"title": ?"(pair_\w+)"')
SLOW = "slow"
NOT_DRAWN = re.compile(r"\bweapons?\b", re.IGNORECASE)
BY_DIGEST = ("accept",) * 6 + ("revise_edits",) * 2 + ("regenerate", "replan")
AXES = ("semantic", "contrast", "shortcut")
SCENES = (
    "Two people stand in front of a house", "Two neighbours meet at a market stall", "A family sits at a kitchen table",
)  # fmt: skip
GESTURES = (
    "holds out a basket", "turns towards the door", "opens both hands", "points to the house", "spreads a cloth",
    "waters a plant", "lifts a lantern", "carries a chair", "folds a blanket", "closes the gate", "sweeps the step",
    "sets down a bowl",
)  # fmt: skip
INSTRUCTED = "Change one figure so that it now {gesture}"
SEEN = "one figure {gesture}"
Reply = Mapping[str, Any]


class PairAnswers:
    """`first_pictures`: by what is judged, those of the first verdict, which tell a picture that was drawn again."""

    def __init__(self) -> None:
        self.first_pictures: dict[str, str] = {}

    def reply(self, model: str, text: str, pictures: str) -> str | None:
        """The content of a reply; None for a request that is not of the builder. `pictures`: a digest of those sent."""
        title = TITLE.search(text)
        say = SAY.get(title[1]) if title else None
        question = QUESTION.search(text)
        if say is None or question is None:
            return None
        case = case_of(question[1], model)
        if case == "invalid" and say is _plan and "could not be used" not in text:
            return "Here is my plan, in words."
        if say is _verdict:
            return json.dumps(_verdict(text, case, is_new=self._is_new(model, text, pictures)))
        return json.dumps(say(text, case))

    def _is_new(self, model: str, text: str, pictures: str) -> bool:
        """Whether these pictures differ from the first ones of the same plan and instructions."""
        plan = re.findall(r"^(?:Survey question: |Instructions: |\{).*$", text, re.MULTILINE)
        key = hashlib.sha256("\n".join([model, *plan[:3], *_instructions(text)]).encode()).hexdigest()
        return self.first_pictures.setdefault(key, pictures) != pictures


def case_of(question: str, model: str) -> str:
    """The word of the question that is meant for this model, else what the question's digest says.

    >>> case_of("Is it so? [practice: never source=wren] [practice: text]", "practice-heron")
    'text'
    >>> case_of("Is it so? [practice: slow] [practice: replan]", "practice-heron")
    'replan'
    """
    words = [(word, source) for word, source in WORD.findall(question) if word != SLOW]
    of_source = [word for word, source in words if source and source in model]
    of_all = [word for word, source in words if not source]
    plain = WORD.sub("", question).strip()
    digest = hashlib.sha256(plain.encode()).digest()[0]
    otherwise = "accept" if is_slow(question, model) else BY_DIGEST[digest % len(BY_DIGEST)]
    if NOT_DRAWN.search(plain):
        otherwise = "refuse"
    return next(iter(of_source + of_all), otherwise)


def is_slow(text: str, model: str) -> bool:
    """Whether a word in the text makes this model slow."""
    return any(word == SLOW and source in model for word, source in WORD.findall(text))


def _plain_question(text: str) -> str:
    match = QUESTION.search(text)
    return WORD.sub("", match[1] if match else "").strip().rstrip("?.! ")


def _answers(text: str) -> dict[str, tuple[int, str]]:
    """Code and text of both answers; a request that gives no codes has 0."""
    return {side.lower(): (int(code or 0), answer) for side, code, answer in ANSWER.findall(text)}


def _rewrite(text: str, _case: str) -> Reply:
    answer = re.search(r"^Answer: (.*)$", text, re.MULTILINE)
    return {"statement": f"To “{_plain_question(text)}” they answer: {answer[1] if answer else ''}"}


def _plan(text: str, case: str) -> Reply:
    answers, level = _answers(text), LEVEL.search(text)
    scene = SCENES[int(level[1] if level else 0) % len(SCENES)]
    subject = _plain_question(text)
    return {
        "endpoint_selection": {side: answers[side][0] for side in "ab"},
        "semantic_statement": {side: f"Asked “{subject}”, most people say: {answers[side][1]}" for side in "ab"},
        "plan": {
            "style": "comic",
            "base_scene": f"{scene} {DECLINED}" if case == "refuse" else scene,
            "signals": {side: [SEEN.format(gesture=GESTURES[n])] for n, side in enumerate("ab")},
            "locked": ["both figures", "the house", "the light"],
            "editable": ["the hands", "what is carried"],
            "risks": ["sad faces"],
        },
    }


def _check(_text: str, _case: str) -> Reply:
    return {"object_presence": False, "single_moment": False, "expert_scene": False, "reason": ""}


def _sides(text: str) -> list[str]:
    match = re.search(r"^Write for: (.*)\.$", text, re.MULTILINE)
    return match[1].split(", ") if match else ["a", "b"]


def _next_gesture(text: str, side: str, pattern: str, case: str) -> str:
    """The gesture of this side after the last one that was asked for; A and B take turns in the list."""
    own = GESTURES["ab".index(side) :: 2]
    places = [place for place, gesture in enumerate(own) if pattern.format(gesture=gesture) in text]
    return own[0] if case == "loop" else own[(max(places, default=-1) + 1) % len(own)]


def _instruct(text: str, case: str) -> Reply:
    instructions = {}
    for side in _sides(text):
        gesture = _next_gesture(text, side, INSTRUCTED, case)
        instruction = INSTRUCTED.format(gesture=gesture)
        is_first = gesture == GESTURES["ab".index(side)]
        if case == "identical" and side == "b" and is_first:
            instruction += f" {UNCHANGED}"
        instructions[side] = {"instruction": instruction}
    return instructions


def _signals(text: str, case: str) -> Reply:
    return {side: {"signals": [SEEN.format(gesture=_next_gesture(text, side, SEEN, case))]} for side in _sides(text)}


def _instructions(text: str) -> list[str]:
    """The gestures that a critic is told of, of the instructions or of the plan."""
    match = re.search(r"^Instructions: (.*)$", text, re.MULTILINE)
    instructions = match[1] if match else "none"
    pattern, searched = (SEEN, text) if instructions == "none" else (INSTRUCTED, instructions)
    return [gesture for gesture in GESTURES if pattern.format(gesture=gesture) in searched]


def _verdict(text: str, case: str, *, is_new: bool) -> Reply:
    """The critic's: it changes its mind once what it asked for was done."""
    is_first_plan = SCENES[0] in text
    was_revised = set(_instructions(text)) != set(GESTURES[:2])
    if case == "replan" and is_first_plan:
        return _judged("replan", "semantic", "The picture fits the other statement as well.")
    if case == "regenerate" and not is_new:
        return _judged("regenerate", "contrast", "The picture was drawn badly.")
    if case in ("never", "loop") or (case == "revise_edits" and not was_revised):
        return _judged("revise_edits", "contrast", "The difference is hard to see.")
    if case == "contradict" and not was_revised:
        return _judged("accept", "contrast", "More differs than what is meant.")
    return _judged("accept", text_visible=case == "text" and not was_revised)


def _judged(routing: str, axis: str = "", issue: str = "", *, text_visible: bool = False) -> Reply:
    """With an issue of picture B, or with none."""
    issues = {side: dict.fromkeys(AXES, "") for side in "ab"}
    if axis:
        issues["b"][axis] = issue
    return {"issues": issues, "routing": routing, "targets": ["b"] if axis else [], "text_visible": text_visible}


SAY: dict[str, Callable[..., Reply]] = {
    "pair_rewrite": _rewrite, "pair_plan": _plan, "pair_check": _check, "pair_instruct": _instruct,
    "pair_signals": _signals, "pair_critic": _verdict,
}  # fmt: skip
