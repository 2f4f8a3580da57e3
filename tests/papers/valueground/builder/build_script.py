"""A build played without database or network: a script says what each step answers."""

from collections import Counter
from collections.abc import Callable
from typing import Any

from papers.valueground.builder import safeguards, states
from papers.valueground.builder.states import Action, BuildProgress, BuildRules, StepResult

NO_ISSUE = {"semantic": "", "contrast": "", "shortcut": ""}
PLAN = {
    "endpoint_selection": {"a": 1, "b": 4},
    "semantic_statement": {
        "a": "Family is what matters most in life.",
        "b": "Family is of no importance at all in life.",
    },
    "plan": {
        "style": "comic",
        "base_scene": "A person at a kitchen table beside a ringing telephone, a family photo on the wall",
        "signals": {"a": ["the person picks up the telephone"], "b": ["the person turns away from the telephone"]},
        "locked": ["kitchen", "clothes"],
        "editable": ["the person's hands"],
        "risks": ["tears"],
    },
}


def verdict(routing: str = "accept", text_visible: bool = False, targets: Any = None, **issues: Any) -> dict[str, Any]:
    """What a critic says. `issues`: by side, {axis: text}."""
    sides = {side: {**NO_ISSUE, **issues.get(side, {})} for side in states.SIDES}
    named = [side for side in states.SIDES if issues.get(side)] if targets is None else targets
    return {"issues": sides, "routing": routing, "targets": named, "text_visible": text_visible}


CONTRAST = {"contrast": "The lamp moved."}
SEMANTIC = {"semantic": "It fits both answers."}
Script = Callable[[Action, BuildProgress, int], Any]


def default_output(action: Action, progress: BuildProgress, n: int) -> Any:
    """An answer that leads on, whatever is asked; `n`: how often this kind of step was taken before."""
    match action.kind:
        case "rewrite":
            return {"statement": f"A sentence for {action.target}"}
        case "plan":
            return PLAN
        case "check" if action.target == "code":
            return {"problems": []}
        case "check":
            return {"object_presence": False, "single_moment": False, "expert_scene": False, "reason": ""}
        case "instruct":
            return {
                side: {
                    "instruction": f"Change {n} of {side} after {len(progress.tried)}",
                    "signals": [f"{side} {n} after {len(progress.tried)}"],
                }
                for side in progress.targets
            }
        case "compare":
            return {"shares": {}, "fault": "", "sides": [], "what": ""}
        case _:
            return {}


def play(script: Script, rules: BuildRules | None = None, former: BuildProgress | None = None) -> Any:
    """The last progress, the steps, and how often each kind was taken. A script's StepResult is taken as it is."""
    rules = rules or BuildRules()
    progress, steps, counts = states.begin(rules, former), [], Counter[str]()
    while actions := states.next_actions(progress, rules):
        for action in actions:
            answer = script(action, progress, counts[action.kind])
            if action.kind == "route":
                decision = safeguards.decide(progress, rules)
                answer = {**decision.to_json(), "override": decision.override}
            elif answer is None:
                answer = default_output(action, progress, counts[action.kind])
            counts[action.kind] += 1
            image = sum(counts.values()) if action.kind in ("base", "edit") else None
            step = (
                answer
                if isinstance(answer, StepResult)
                else StepResult(action.kind, action.target, "done", answer, image)
            )
            steps.append(step)
            assert len(steps) < 500, "the build never ends"
        for step in steps[-len(actions) :]:
            progress = states.apply(progress, step, rules)
        assert states.replay(steps, rules, former) == progress, "the log alone says where the build is"
    return progress, steps, counts


def overrides(steps: list[StepResult]) -> list[str]:
    return [str(step.output["override"]) for step in steps if step.kind == "route"]
