"""The states of a build, and what follows from each step. Pure: a build is what its log of steps says.

`replay` turns the log into a `BuildProgress`; `next_actions` says which steps come next. Several actions do
not depend on each other: their results may come in any order. After a kill the same log gives the same actions.

=============  ==================================================  ==================================================
state          steps                                               then
=============  ==================================================  ==================================================
planning       rewrite (short answers), plan, check by code,       passed -> drawing_base; rejected -> routing
               check whether it shrinks the question
drawing_base   base: one picture; without an editor: each side     editor -> instructing, or editing where instructions
                                                                   stay; critic -> comparing; refused, or planner alone
                                                                   -> routing
instructing    instruct: an instruction for each target;           editing, without an editor drawing_base; the same
               without an editor: new signals                      instruction again -> once more, then routing
editing        edit: A and B in parallel, from the base            comparing; refused -> routing
comparing      compare: by code alone                              a fault -> routing; else criticising
criticising    critic                                              routing
routing        route: the safeguards decide (safeguards.py)        accept -> accepted; regenerate -> editing or
                                                                   drawing_base; revise_edits -> instructing; replan ->
                                                                   planning; ask_again -> criticising; rounds used up ->
                                                                   best_effort; three refusals -> refused
=============  ==================================================  ==================================================

`accepted`, `best_effort` and `refused` are ends. A build that is `failed`, `over_budget` or `stopped` keeps its log, so
it goes on where it was. A model that declines ends it as `refused`. Regenerate and revise_edits each add an edit round:
at most 3 plans, 9 verdicts and 21 pictures (27 where a new base picture is drawn).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

SIDES = ("a", "b")
AXES = ("semantic", "contrast", "shortcut")
WORKING = ("planning", "drawing_base", "instructing", "editing", "comparing", "criticising", "routing")
ENDED = ("accepted", "best_effort", "refused")
RESUMABLE = ("failed", "over_budget", "stopped")
CODE_KINDS = ("compare", "route")
TRIES = 3  # of a reply that is no valid JSON
REFUSALS = 3
CONFIGURATION_NAMES: Mapping[str, str] = {
    "planner": "Planner only",
    "planner_critic": "Planner+Critic",
    "planner_editor_critic": "Planner+Editor+Critic",
}
"""As the paper's tables name them."""

StepKind = Literal["rewrite", "plan", "check", "base", "instruct", "edit", "compare", "critic", "route"]
Output = Mapping[str, Any]


@dataclass(frozen=True)
class BuildRules:
    """What a plan and a build say of their course.

    Attributes:
        elliptic: sides whose answer says nothing without its question.
        comment: what people said of the revision before; empty in the first one.
        comment_sides: the sides that the comment is about.
        comment_replans: whether the comment asks for another plan.
    """

    configuration: str = "planner_editor_critic"
    edit_rounds: int = 2
    replans: int = 2
    regenerate: str = "side"
    replan_when_spent: bool = False
    collapse_check: bool = True
    elliptic: tuple[str, ...] = ()
    comment: str = ""
    comment_sides: tuple[str, ...] = SIDES
    comment_replans: bool = False

    @property
    def has_editor(self) -> bool:
        return self.configuration == "planner_editor_critic"

    @property
    def has_critic(self) -> bool:
        return self.configuration != "planner"


@dataclass(frozen=True)
class StepResult:
    """A settled step. `image`: the id of what it drew. `message`: what a service said of a refusal."""

    kind: str
    target: str = ""
    state: str = "done"
    output: Output = field(default_factory=dict)
    image: int | None = None
    message: str = ""


@dataclass(frozen=True)
class Action:
    """A step to take. `remark`: what the model is told besides; `problem`: why its last reply could not be read."""

    kind: StepKind
    target: str = ""
    remark: str = ""
    problem: str = ""

    @property
    def is_code(self) -> bool:
        return self.kind in CODE_KINDS or (self.kind == "check" and self.target == "code")


@dataclass(frozen=True)
class ContrastPair:
    """The newest two pictures of one plan, with what they came from."""

    plan: Output
    images: Mapping[str, int]
    base: int | None = None
    instructions: Mapping[str, str] = field(default_factory=dict)
    comparison: Output = field(default_factory=dict)


@dataclass(frozen=True)
class BuildProgress:
    """Where a build is.

    Attributes:
        labels: rewritten answers by side.
        plan: the planner's whole output; empty until there is one.
        checks: which checks of the plan were passed.
        problems: why the plan was rejected.
        targets: the sides that are instructed or drawn now.
        drawn: the targets that have their picture, or its refusal.
        tried: by side, instructions that failed.
        repeats: how often the editor repeated an instruction that had failed.
        refusal: what the image service said of the picture that it refused last; "refused" where it said nothing.
        refusals: pictures that were refused, in all.
        issues: of the last decision, by side and axis.
        failures: what the next plan is to avoid.
        notes: everything that went wrong, for best effort.
        pair: the newest complete pair.
        invalid: unreadable replies to the present action; `problem` says what was wrong with the last one.
        has_new_image: whether this revision drew anything.
    """

    state: str = "planning"
    plan_round: int = 0
    edit_round: int = 0
    reason: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    plan: Output = field(default_factory=dict)
    checks: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    base: int | None = None
    images: Mapping[str, int] = field(default_factory=dict)
    instructions: Mapping[str, str] = field(default_factory=dict)
    targets: tuple[str, ...] = SIDES
    drawn: tuple[str, ...] = ()
    tried: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    repeats: int = 0
    refusal: str = ""
    refusals: int = 0
    comparison: Output = field(default_factory=dict)
    verdict: Output = field(default_factory=dict)
    asked_again: bool = False
    issues: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    failures: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    pair: ContrastPair | None = None
    invalid: int = 0
    problem: str = ""
    has_new_image: bool = False

    @property
    def has_ended(self) -> bool:
        return self.state in ENDED


def begin(rules: BuildRules, former: BuildProgress | None = None) -> BuildProgress:
    """A first revision plans. A later one begins with the critic, who sees the pair and the comment; where there is no
    critic, no complete pair, or the comment asks for it, with a plan."""
    if former is None:
        return BuildProgress()
    labels = former.labels
    pair = former.pair
    if pair is None or rules.comment_replans or not rules.has_critic:
        return BuildProgress(labels=labels, failures=(*former.failures, rules.comment), pair=pair)
    return BuildProgress(
        state="criticising", labels=labels, plan=pair.plan, checks=("code", "collapse"), base=pair.base,
        images=pair.images, instructions=pair.instructions, comparison=pair.comparison, failures=former.failures,
        pair=pair,
    )  # fmt: skip


def replay(results: Iterable[StepResult], rules: BuildRules, former: BuildProgress | None = None) -> BuildProgress:
    progress = begin(rules, former)
    for result in results:
        progress = apply(progress, result, rules)
    return progress


def next_actions(progress: BuildProgress, rules: BuildRules) -> tuple[Action, ...]:
    """The steps that can be taken now; none where the build has ended."""
    match progress.state:
        case "planning":
            actions: tuple[Action, ...] = (_planning_action(progress, rules),)
        case "drawing_base" if rules.has_editor:
            actions = (Action("base"),)
        case "drawing_base":
            actions = tuple(Action("base", side) for side in _undrawn(progress))
        case "editing":
            actions = tuple(Action("edit", side) for side in _undrawn(progress))
        case "instructing":
            actions = (Action("instruct", remark="repeated" if progress.repeats else ""),)
        case "comparing":
            actions = (Action("compare"),)
        case "criticising":
            actions = (Action("critic", remark="no_issue" if progress.asked_again else ""),)
        case "routing":
            actions = (Action("route"),)
        case _:
            return ()
    return tuple(replace(action, problem=progress.problem) for action in actions)


def _undrawn(progress: BuildProgress) -> tuple[str, ...]:
    return tuple(side for side in progress.targets if side not in progress.drawn)


def _planning_action(progress: BuildProgress, rules: BuildRules) -> Action:
    unwritten = [side for side in rules.elliptic if side not in progress.labels]
    if unwritten:
        return Action("rewrite", unwritten[0])
    if not progress.plan:
        return Action("plan")
    return Action("check", "collapse" if "code" in progress.checks else "code")


def apply(progress: BuildProgress, result: StepResult, rules: BuildRules) -> BuildProgress:
    """What is so after a step."""
    if result.state == "invalid":
        return replace(progress, invalid=progress.invalid + 1, problem=str(result.output.get("problem", "")))
    progress = replace(progress, invalid=0, problem="")
    if result.state == "failed":
        return progress
    if result.state == "declined":
        return replace(progress, state="refused", reason="declined")
    match result.kind:
        case "rewrite":
            labels = {**progress.labels, result.target: str(result.output["statement"])}
            return replace(progress, labels=labels)
        case "plan":
            return replace(progress, plan=result.output, checks=(), problems=())
        case "check":
            return _after_check(progress, result, rules)
        case "base" | "edit":
            return _after_picture(progress, result, rules)
        case "instruct":
            return _after_instructions(progress, result.output, rules)
        case "compare":
            state = "routing" if result.output.get("fault") else "criticising"
            return _with_pair(replace(progress, comparison=result.output, verdict={}, asked_again=False, state=state))
        case "critic":
            return replace(progress, verdict=result.output, state="routing")
        case _:
            return _after_route(progress, result.output, rules)


def _after_check(progress: BuildProgress, result: StepResult, rules: BuildRules) -> BuildProgress:
    if result.target == "code":
        problems = tuple(str(problem["text"]) for problem in result.output.get("problems", ()))
    else:
        shrinks = collapses(result.output)
        problems = (str(result.output.get("reason") or "The plan shrinks the question."),) if shrinks else ()
    checks = (*progress.checks, result.target)
    if problems:
        return replace(progress, checks=checks, problems=problems, state="routing")
    if result.target == "code" and rules.collapse_check:
        return replace(progress, checks=checks)
    return replace(progress, checks=checks, state="drawing_base", targets=SIDES, drawn=())


def collapses(output: Output) -> bool:
    """Whether the check says that a plan shrinks the question."""
    return any(output.get(name) for name in ("object_presence", "single_moment", "expert_scene"))


def _after_picture(progress: BuildProgress, result: StepResult, rules: BuildRules) -> BuildProgress:
    progress = replace(progress, has_new_image=progress.has_new_image or result.image is not None)
    if result.state == "refused":
        message = result.message or "refused"
        progress = replace(progress, refusal=message, refusals=progress.refusals + 1)
    if result.kind == "base" and not result.target:
        if result.state == "refused":
            return replace(progress, state="routing")
        waiting = any(side not in progress.instructions for side in SIDES)
        state = "instructing" if waiting else "editing"
        return replace(progress, base=result.image, targets=SIDES, drawn=(), state=state)
    images = dict(progress.images)
    if result.image is not None:
        images[result.target] = result.image
    progress = replace(progress, images=images, drawn=tuple(sorted({*progress.drawn, result.target})))
    if _undrawn(progress):
        return progress
    if progress.refusal or not rules.has_critic:
        return replace(_with_pair(progress), state="routing")
    return replace(_with_pair(progress), state="comparing")


def _with_pair(progress: BuildProgress) -> BuildProgress:
    """Keep the pair, where both of its pictures are there."""
    if any(side not in progress.images for side in SIDES) or progress.refusal:
        return progress
    pair = ContrastPair(progress.plan, progress.images, progress.base, progress.instructions, progress.comparison)
    return replace(progress, pair=pair)


def _after_instructions(progress: BuildProgress, output: Output, rules: BuildRules) -> BuildProgress:
    instructions = {side: instruction_text(output[side]) for side in progress.targets}
    failed = [side for side, text in instructions.items() if fold(text) in map(fold, progress.tried.get(side, ()))]
    if failed:
        state = "instructing" if not progress.repeats else "routing"
        return replace(progress, repeats=progress.repeats + 1, state=state)
    progress = replace(progress, instructions={**progress.instructions, **instructions}, repeats=0, drawn=())
    if rules.has_editor:
        return replace(progress, state="editing")
    plan = dict(progress.plan)
    scene = dict(plan["plan"])
    scene["signals"] = {**scene["signals"], **{side: output[side]["signals"] for side in progress.targets}}
    plan["plan"] = scene
    return replace(progress, plan=plan, state="drawing_base")


def instruction_text(written: Output) -> str:
    """What the editor, or without one the planner, wrote for a side."""
    if "signals" in written:
        return "; ".join(str(signal) for signal in written["signals"])
    return str(written.get("instruction", ""))


def fold(text: str) -> str:
    """Text without what does not change its meaning: case, spaces, a final stop."""
    return " ".join(text.casefold().split()).rstrip(".!")


def _after_route(progress: BuildProgress, output: Output, rules: BuildRules) -> BuildProgress:
    route, reason = str(output["route"]), str(output.get("reason", ""))
    issues = output.get("issues") or {}
    notes = (*progress.notes, *(str(note) for note in output.get("notes", ())))
    progress = replace(progress, issues=issues, notes=notes, repeats=0, refusal="")
    targets = tuple(str(side) for side in output.get("targets", ())) or SIDES
    match route:
        case "accept":
            return replace(progress, state="accepted", reason=reason)
        case "best_effort" | "refused":
            return replace(progress, state=route, reason=reason)
        case "ask_again":
            return replace(progress, state="criticising", asked_again=True)
        case "replan":
            return BuildProgress(
                plan_round=progress.plan_round + 1, labels=progress.labels, refusals=progress.refusals,
                failures=notes, notes=notes, pair=progress.pair, has_new_image=progress.has_new_image,
            )  # fmt: skip
    progress = replace(
        progress, edit_round=progress.edit_round + 1, targets=targets, drawn=(), verdict={}, asked_again=False
    )
    if route == "regenerate" and rules.has_editor and rules.regenerate == "base":
        return replace(progress, state="drawing_base", targets=SIDES, base=None, images={})
    if route == "regenerate":
        return replace(progress, state="editing" if rules.has_editor else "drawing_base")
    tried = dict(progress.tried)
    for side in targets:
        tried[side] = (*tried.get(side, ()), _current_instruction(progress, side, rules))
    return replace(progress, tried=tried, state="instructing")


def _current_instruction(progress: BuildProgress, side: str, rules: BuildRules) -> str:
    if rules.has_editor:
        return progress.instructions.get(side, "")
    return "; ".join(progress.plan["plan"]["signals"][side])
