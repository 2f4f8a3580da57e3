"""What a verdict is allowed to decide. Pure. Each case has a code, which the log keeps as the step's `override`.

=======================  ============================================================================================
code                     rule
=======================  ============================================================================================
accept_semantic          accept with a semantic issue: plan again
accept_issue             accept with another issue: new instructions for the sides with issues
text_visible             accept although text is visible: new instructions, with a shortcut issue
comment_open             accept while no picture has changed since a person's comment: new instructions
no_issue                 another route without any issue: the critic is asked once more
no_issue_twice           again without an issue: new instructions for both sides
targets_corrected        the targets are not the sides with issues: those are taken
identical                A = B, or a side = base: contrast issue, new instructions; the critic is not asked
size_differs             a picture has another size than the base: contrast issue, drawn again
repeated_instruction     the editor wrote a failed instruction twice: plan again
image_refused            the image service refused: plan again, three times: the build is refused
plan_rejected            the plan failed its checks: plan again
no_critic                there is no critic: the pair is judged in review alone
edit_rounds_spent        no edit round is left: best effort, or plan again where the plan says so
replans_spent            no plan is left: best effort
=======================  ============================================================================================
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from papers.valueground.builder.states import AXES, REFUSALS, SIDES, BuildProgress, BuildRules

OVERRIDES = (
    "accept_semantic", "accept_issue", "text_visible", "comment_open", "no_issue", "no_issue_twice",
    "targets_corrected", "identical", "size_differs", "repeated_instruction", "image_refused", "plan_rejected",
    "no_critic", "edit_rounds_spent", "replans_spent",
)  # fmt: skip
IDENTICAL = "The picture shows no difference: {what}."
SIZE_DIFFERS = "The picture has another size than the base picture."
TEXT_VISIBLE = "Readable text is visible."
REFUSED = "The image service refused a picture of this plan: {message}"
REPEATED = "The editor repeated an instruction that had failed."
Issues = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True)
class RouteDecision:
    """Where a build goes. `route`: accept, regenerate, revise_edits, replan, ask_again, best_effort or refused.
    `asked`: the critic's own route; `notes`: what the next plan is to avoid."""

    route: str
    targets: tuple[str, ...] = ()
    issues: Issues = field(default_factory=dict)
    override: str = ""
    asked: str = ""
    reason: str = ""
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """As the log keeps it."""
        return {
            "route": self.route, "targets": list(self.targets), "asked": self.asked, "reason": self.reason,
            "notes": list(self.notes), "issues": {side: dict(axes) for side, axes in self.issues.items()},
        }  # fmt: skip


def decide(progress: BuildProgress, rules: BuildRules) -> RouteDecision:
    """Where the build goes from `routing`."""
    return _within_rounds(_wanted(progress, rules), progress, rules)


def _wanted(progress: BuildProgress, rules: BuildRules) -> RouteDecision:
    if progress.problems:
        return RouteDecision("replan", override="plan_rejected", notes=progress.problems)
    if progress.refusal:
        note = REFUSED.format(message=progress.refusal)
        route = "refused" if progress.refusals >= REFUSALS else "replan"
        return RouteDecision(route, override="image_refused", reason="image_refused", notes=(note,))
    if progress.repeats > 1:
        return RouteDecision(
            "replan", override="repeated_instruction", notes=(REPEATED, *issue_lines(progress.issues)),
            issues=progress.issues,
        )  # fmt: skip
    if not rules.has_critic:
        return RouteDecision("best_effort", override="no_critic", reason="no_critic")
    if progress.comparison.get("fault"):
        return from_comparison(progress.comparison)
    comment_sides = rules.comment_sides if rules.comment and not progress.has_new_image else ()
    decision = from_verdict(progress.verdict, asked_again=progress.asked_again, comment_sides=comment_sides)
    comments = (rules.comment,) if comment_sides else ()
    return replace(decision, notes=(*comments, *issue_lines(decision.issues)))


def from_comparison(comparison: Mapping[str, Any]) -> RouteDecision:
    """The decision for pictures that code finds at fault."""
    sides = tuple(side for side in SIDES if side in comparison["sides"])
    is_same = comparison["fault"] == "identical"
    text = IDENTICAL.format(what=comparison.get("what", "")) if is_same else SIZE_DIFFERS
    issues = {side: {**dict.fromkeys(AXES, ""), "contrast": text if side in sides else ""} for side in SIDES}
    route = "revise_edits" if is_same else "regenerate"
    return RouteDecision(route, sides, issues, str(comparison["fault"]), notes=issue_lines(issues))


def from_verdict(
    verdict: Mapping[str, Any], *, asked_again: bool = False, comment_sides: tuple[str, ...] = ()
) -> RouteDecision:
    """The decision for what the critic said. `comment_sides`: those of a comment that nothing was done about yet."""
    issues = clean_issues(verdict.get("issues", {}))
    faulty = tuple(side for side in SIDES if any(issues[side].values()))
    asked = str(verdict.get("routing", ""))
    decision = RouteDecision(asked, faulty, issues, asked=asked)
    if asked == "accept":
        return _accepted(decision, text_visible=bool(verdict.get("text_visible")), comment_sides=comment_sides)
    if not faulty and not asked_again:
        return replace(decision, route="ask_again", override="no_issue")
    if not faulty:
        return replace(decision, route="revise_edits", targets=SIDES, override="no_issue_twice")
    if asked != "replan" and set(verdict.get("targets", ())) != set(faulty):
        return replace(decision, override="targets_corrected")
    return decision


def _accepted(decision: RouteDecision, *, text_visible: bool, comment_sides: tuple[str, ...]) -> RouteDecision:
    if any(axes["semantic"] for axes in decision.issues.values()):
        return replace(decision, route="replan", override="accept_semantic")
    if decision.targets:
        return replace(decision, route="revise_edits", override="accept_issue")
    if text_visible:
        issues = {side: {**axes, "shortcut": TEXT_VISIBLE} for side, axes in decision.issues.items()}
        return replace(decision, route="revise_edits", targets=SIDES, issues=issues, override="text_visible")
    if comment_sides:
        return replace(decision, route="revise_edits", targets=comment_sides, override="comment_open")
    return decision


def _within_rounds(decision: RouteDecision, progress: BuildProgress, rules: BuildRules) -> RouteDecision:
    """The decision, or what the rounds that are left allow."""
    has_plan = progress.plan_round < rules.replans
    if decision.route in ("regenerate", "revise_edits") and progress.edit_round >= rules.edit_rounds:
        if rules.replan_when_spent and has_plan:
            return replace(decision, route="replan", override="edit_rounds_spent", reason="edit_rounds_spent")
        return replace(decision, route="best_effort", override="edit_rounds_spent", reason="edit_rounds_spent")
    if decision.route == "replan" and not has_plan:
        return replace(decision, route="best_effort", override="replans_spent", reason="replans_spent")
    return decision


def clean_issues(issues: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Every side and axis, an empty text where there is no issue."""
    cleaned: dict[str, dict[str, str]] = {}
    for side in SIDES:
        axes = issues.get(side) or {}
        cleaned[side] = {axis: " ".join(str(axes.get(axis) or "").split()) for axis in AXES}
    return cleaned


def issue_lines(issues: Issues) -> tuple[str, ...]:
    """One line for each issue, as the planner reads it."""
    lines: Iterable[tuple[str, str, str]] = (
        (side, axis, issues[side].get(axis, "")) for side in SIDES if side in issues for axis in AXES
    )
    return tuple(f"Picture {side.upper()}, {axis}: {text}" for side, axis, text in lines if text)
