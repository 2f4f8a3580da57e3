"""The practice model builds pairs as its words say, asked with the builder's own prompts, states and safeguards."""

import itertools
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from config.local.mock_builder import case_of
from config.local.mock_images import DECLINED, draw_scene, edit_scene
from config.local.mock_model import SLOW_SECONDS, chat_completion
from papers.valueground.builder import prompts, safeguards, schemas, states
from papers.valueground.builder.image_comparison import compare
from papers.valueground.builder.plan_checks import anchor_words, check_plan
from predictions.prompts.contract import ImagePart, Request, TextPart

_model_numbers = itertools.count(1)


@dataclass
class Practice:
    """A pair as the worker builds it, in memory alone. `pictures` by number; `asked`: the kinds of steps, in order."""

    question: str
    configuration: str = "planner_editor_critic"
    model: str = field(default_factory=lambda: f"practice-{next(_model_numbers)}")
    pictures: list[bytes] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    overrides: list[str] = field(default_factory=list)

    def build(self) -> states.BuildProgress:
        rules = states.BuildRules(configuration=self.configuration)
        progress = states.begin(rules)
        for _turn in range(200):
            actions = states.next_actions(progress, rules)
            if not actions:
                return progress
            for action in actions:
                self.asked.append(action.kind)
                progress = states.apply(progress, self.take(action, progress, rules), rules)
        raise AssertionError("the build never ends")

    def take(self, action: states.Action, progress: states.BuildProgress, rules: Any) -> states.StepResult:
        if action.kind == "route":
            decision = safeguards.decide(progress, rules)
            self.overrides += [decision.override] if decision.override else []
            return states.StepResult("route", output=decision.to_json())
        if action.kind == "compare":
            base = self.pictures[progress.base] if progress.base is not None else None
            a, b = (self.pictures[progress.images[side]] for side in "ab")
            result = compare(a, b, base)
            return states.StepResult("compare", output=result.to_json())
        if action.kind == "check" and action.target == "code":
            problems = check_plan(
                progress.plan, codes=(1, 4), labels=("Very", "Not at all"), anchors=anchor_words(self.question),
                banned_cues=prompts.BANNED_CUES,
            )  # fmt: skip
            output = {"problems": [{"code": problem.code, "text": problem.text} for problem in problems]}
            return states.StepResult("check", "code", output=output)
        if action.kind in ("base", "edit"):
            return self.draw(action, progress)
        return self.ask(action, self.request(action, progress, rules))

    def draw(self, action: states.Action, progress: states.BuildProgress) -> states.StepResult:
        scene, seed = progress.plan["plan"], len(self.pictures)
        if action.kind == "edit":
            assert progress.base is not None
            prompt = prompts.edit_prompt(progress.instructions[action.target])
            picture = edit_scene(self.pictures[progress.base], prompt, seed)
        else:
            safe = prompts.side_prompt(scene, action.target, []) if action.target else prompts.base_prompt(scene, [])
            if DECLINED in safe.text:
                return states.StepResult("base", action.target, "refused")
            picture = draw_scene(safe.text, seed)
        self.pictures.append(picture)
        return states.StepResult(action.kind, action.target, image=len(self.pictures) - 1)

    def request(self, action: states.Action, progress: states.BuildProgress, rules: Any) -> Request:
        question = prompts.PairQuestion(self.question, {1: "Very", 4: "Not at all"}, 1, 4, "Very", "Not at all")
        match action.kind:
            case "plan":
                request = prompts.plan_request(
                    question, banned_cues=prompts.BANNED_CUES, replan_level=progress.plan_round,
                    failures=progress.failures,
                )  # fmt: skip
            case "check":
                request = prompts.check_request(question, progress.plan)
            case "instruct" if rules.has_editor:
                request = prompts.instruct_request(
                    question, progress.plan, base=str(progress.base), instructions=progress.instructions,
                    issues=progress.issues, targets=progress.targets,
                )  # fmt: skip
            case "instruct":
                request = prompts.signals_request(
                    question, progress.plan, issues=progress.issues, targets=progress.targets
                )
            case _:
                base = "" if progress.base is None else str(progress.base)
                pair = prompts.PairPictures(str(progress.images["a"]), str(progress.images["b"]), base)
                request = prompts.critic_request(question, progress.plan, pair, instructions=progress.instructions)
        return prompts.with_problem(request, action.problem)

    def ask(self, action: states.Action, request: Request) -> states.StepResult:
        messages = [
            {"role": message.role, "content": [self.part(piece) for piece in message.pieces]}
            for message in request.messages
        ]
        reply = chat_completion({"model": self.model, "messages": messages})["choices"][0]["message"]["content"]
        try:
            output: Mapping[str, Any] = schemas.parse_reply(reply, request.schema)
        except schemas.InvalidReply as error:
            return states.StepResult(action.kind, action.target, "invalid", {"problem": str(error)})
        return states.StepResult(action.kind, action.target, output=output)

    def part(self, piece: TextPart | ImagePart) -> dict[str, Any]:
        if isinstance(piece, TextPart):
            return {"type": "text", "text": piece.text}
        return {"type": "image_url", "image_url": {"url": f"data:{piece.sha}"}}


CASES = [
    ("accept", "accepted", 0, 0, []),
    ("revise_edits", "accepted", 0, 1, []),
    ("regenerate", "accepted", 0, 1, []),
    ("replan", "accepted", 1, 0, []),
    ("never", "best_effort", 0, 2, ["edit_rounds_spent"]),
    ("refuse", "refused", 2, 0, ["image_refused"] * 3),
    ("identical", "accepted", 0, 1, ["identical"]),
    ("text", "accepted", 0, 1, ["text_visible"]),
    ("loop", "best_effort", 2, 1, ["repeated_instruction"] * 2 + ["replans_spent"]),
    ("contradict", "accepted", 0, 1, ["accept_issue"]),
    ("invalid", "accepted", 0, 0, []),
]


@pytest.mark.parametrize(("word", "state", "plans", "edits", "overrides"), CASES)
def test_a_word_forces_a_case(word: str, state: str, plans: int, edits: int, overrides: list[str]) -> None:
    practice = Practice(f"How important is family in your life? [practice: {word}]")
    progress = practice.build()
    assert (progress.state, progress.plan_round, progress.edit_round) == (state, plans, edits), practice.asked
    assert practice.overrides == overrides


def test_a_slow_model_takes_its_time_for_each_reply(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr("config.local.mock_model.time.sleep", waits.append)
    practice = Practice("How important is family in your life? [practice: slow]")
    assert practice.build().state == "accepted"
    assert practice.asked.count("critic") == 1 and waits == [SLOW_SECONDS] * 4, "plan, check, instructions, critic"
    Practice("How important is family in your life? [practice: slow source=wren] [practice: accept]").build()
    assert len(waits) == 4, "another source is not slow"


@pytest.mark.parametrize("configuration", ["planner", "planner_critic"])
def test_pairs_without_an_editor_are_built_too(configuration: str) -> None:
    practice = Practice("How important is family in your life? [practice: revise_edits]", configuration)
    progress = practice.build()
    expected = ("best_effort", 0) if configuration == "planner" else ("accepted", 1)
    assert (progress.state, progress.edit_round) == expected and progress.pair is not None


def test_a_word_may_be_for_one_source_and_without_one_the_question_decides() -> None:
    question = "Is family important? [practice: never source=wren] [practice: accept source=heron]"
    assert (case_of(question, "practice-wren"), case_of(question, "practice-heron")) == ("never", "accept")
    shares = Counter(case_of(f"Is thing {number} important?", "m") for number in range(1000))
    expected = {"accept": 600, "revise_edits": 200, "regenerate": 100, "replan": 100}
    assert shares.keys() == expected.keys()
    assert all(abs(shares[case] - expected[case]) < 60 for case in expected)


def test_an_edit_changes_one_region_of_the_picture() -> None:
    base = draw_scene("A house")
    for seed in range(20):
        edited = edit_scene(base, "Change one figure", seed)
        assert 0.02 <= compare(base, edited).shares["a_b"] <= 0.10


def test_who_asks_something_else_gets_no_plan() -> None:
    asked = {"model": "m", "messages": [{"role": "user", "content": 'Survey question: x\n{"title":"answer"}'}]}
    content = chat_completion(asked)["choices"][0]["message"]["content"]
    assert content is None or "endpoint_selection" not in content
    letters = {"model": "m", "messages": [{"role": "user", "content": "Answer with A or B, then a brief reason."}]}
    assert chat_completion(letters)["choices"][0]["message"]["content"][:2] in ("A.", "B.")
