"""A build goes from state to state as its log says, within its rounds, and the same in any order of parallel steps."""

from typing import Any

import pytest

from papers.valueground.builder import states
from papers.valueground.builder.states import Action, BuildProgress, BuildRules, StepResult
from tests.papers.valueground.builder.build_script import CONTRAST, PLAN, SEMANTIC, overrides, play, verdict


def verdicts(*critic_says: Any) -> Any:
    """The critic says these one after the other, the last one for ever."""
    return lambda action, progress, n: critic_says[min(n, len(critic_says) - 1)] if action.kind == "critic" else None


def test_a_pair_that_the_critic_accepts_takes_one_plan_and_three_pictures() -> None:
    progress, steps, counts = play(verdicts(verdict()), BuildRules(elliptic=("b",)))
    kinds = [(step.kind, step.target) for step in steps]
    assert kinds == [
        *(("rewrite", "b"), ("plan", ""), ("check", "code"), ("check", "collapse"), ("base", ""), ("instruct", "")),
        *(("edit", "a"), ("edit", "b"), ("compare", ""), ("critic", ""), ("route", "")),
    ]
    assert progress.state == "accepted" and progress.pair and set(progress.pair.images) == {"a", "b"}
    assert counts["plan"] == counts["critic"] == 1


def test_a_side_that_failed_is_changed_and_the_other_stays_byte_for_byte() -> None:
    critic_says = (verdict("revise_edits", b=CONTRAST), verdict("regenerate", a=CONTRAST), verdict())
    progress, steps, counts = play(verdicts(*critic_says))
    edits = [step.target for step in steps if step.kind == "edit"]
    assert progress.state == "accepted" and edits == ["a", "b", "b", "a"] and counts["base"] == 1
    assert counts["instruct"] == 2, "regenerate takes the same instruction again"
    assert progress.edit_round == 2


def test_a_new_base_picture_redraws_both_sides_with_the_same_instructions() -> None:
    progress, _steps, counts = play(
        verdicts(verdict("regenerate", a=CONTRAST), verdict()), BuildRules(regenerate="base")
    )
    assert progress.state == "accepted" and (counts["base"], counts["instruct"], counts["edit"]) == (2, 1, 4)


def test_a_replan_tells_the_planner_what_failed_and_starts_its_edit_rounds_at_zero() -> None:
    planned: list[BuildProgress] = []

    def script(action: Action, progress: BuildProgress, n: int) -> Any:
        planned.extend([progress] if action.kind == "plan" else [])
        return (
            verdict("replan", a=SEMANTIC)
            if action.kind == "critic" and not n
            else verdicts(verdict())(action, progress, n)
        )

    progress, _steps, _counts = play(script)
    assert progress.state == "accepted" and (progress.plan_round, progress.edit_round) == (1, 0)
    assert planned[0].failures == () and planned[1].failures == ("Picture A, semantic: It fits both answers.",)


@pytest.mark.parametrize(("regenerate", "pictures"), [("side", 21), ("base", 27)])
def test_a_build_that_never_succeeds_ends_within_three_plans_nine_verdicts_and_its_pictures(
    regenerate: str, pictures: int
) -> None:
    def script(action: Action, progress: BuildProgress, n: int) -> Any:
        if action.kind == "critic":
            return verdict("replan" if n % 3 == 2 else "regenerate", a=CONTRAST, b=CONTRAST)
        return None

    progress, _steps, counts = play(script, BuildRules(regenerate=regenerate))
    assert progress.state == "best_effort" and progress.reason == "replans_spent"
    assert (counts["plan"], counts["critic"], counts["base"] + counts["edit"]) == (3, 9, pictures)
    assert progress.pair and len(progress.notes) >= 18, "best effort keeps the newest pair and every note"


def test_edit_rounds_that_are_used_up_are_best_effort_or_another_plan() -> None:
    never = verdicts(verdict("regenerate", a=CONTRAST))
    progress, _steps, counts = play(never)
    assert (progress.state, progress.reason, counts["plan"]) == ("best_effort", "edit_rounds_spent", 1)
    progress, _steps, counts = play(never, BuildRules(replan_when_spent=True))
    assert progress.state == "best_effort" and (counts["plan"], counts["critic"]) == (3, 9)


def test_a_rejected_plan_goes_back_with_its_reasons() -> None:
    def script(action: Action, progress: BuildProgress, n: int) -> Any:
        if action.target == "code" and not n:
            return {"problems": [{"code": "no_anchor", "text": "No key word."}]}
        if action.target == "collapse" and n == 2:
            return {"object_presence": True, "single_moment": False, "expert_scene": False, "reason": "Only an object."}
        return verdicts(verdict())(action, progress, n)

    progress, steps, counts = play(script)
    assert progress.state == "accepted" and progress.plan_round == 2 and counts["base"] == 1
    assert overrides(steps) == ["plan_rejected", "plan_rejected", ""]
    assert progress.failures == ("No key word.", "Only an object.")


def test_refused_pictures_lead_to_new_plans_and_the_third_ends_the_build() -> None:
    def script(action: Action, progress: BuildProgress, n: int) -> Any:
        return StepResult("base", state="refused", message="Not allowed.") if action.kind == "base" else None

    progress, steps, counts = play(script)
    assert (progress.state, progress.reason) == ("refused", "image_refused") and counts["base"] == 3
    assert overrides(steps) == ["image_refused"] * 3 and progress.pair is None


def test_a_refused_edit_waits_for_the_other_side_and_never_mixes_pairs() -> None:
    def script(action: Action, progress: BuildProgress, n: int) -> Any:
        if action.kind == "edit" and action.target == "b" and n < 2:
            return StepResult("edit", "b", "refused", message="No.")
        return verdicts(verdict())(action, progress, n)

    progress, _steps, counts = play(script)
    assert progress.state == "accepted" and counts["edit"] == 4 and progress.plan_round == 1


def test_parallel_edits_may_come_in_any_order() -> None:
    progress, steps, _counts = play(verdicts(verdict()))
    first = next(n for n, step in enumerate(steps) if step.kind == "edit")
    steps[first], steps[first + 1] = steps[first + 1], steps[first]
    assert states.replay(steps, BuildRules()) == progress
    half_way = states.replay(steps[: first + 1], BuildRules())
    assert states.next_actions(half_way, BuildRules()) == (Action("edit", "a"),), "a kill between them loses neither"


def test_an_instruction_that_failed_is_refused_twice_then_planned_again() -> None:
    def script(action: Action, progress: BuildProgress, n: int) -> Any:
        if action.kind == "instruct" and not progress.plan_round:
            return {side: {"instruction": "Open the  DOOR."} for side in progress.targets}
        critic_says = verdict("revise_edits", b=CONTRAST) if not progress.plan_round else verdict()
        return critic_says if action.kind == "critic" else None

    progress, steps, counts = play(script)
    assert progress.state == "accepted" and progress.plan_round == 1 and counts["instruct"] == 4
    assert "repeated_instruction" in overrides(steps)


def test_an_unreadable_reply_is_asked_again_with_its_fault_and_a_failed_step_changes_nothing() -> None:
    problems: list[str] = []

    def script(action: Action, progress: BuildProgress, n: int) -> Any:
        if action.kind == "plan":
            problems.append(action.problem)
            if n < 3:
                return StepResult("plan", state="invalid" if n < 2 else "failed", output={"problem": f"fault {n}"})
        return verdicts(verdict())(action, progress, n)

    progress, _steps, _counts = play(script)
    assert progress.state == "accepted" and problems == ["", "fault 0", "fault 1", ""]


def test_a_model_that_declines_ends_the_build() -> None:
    decline = lambda action, progress, n: StepResult("plan", state="declined") if action.kind == "plan" else None  # noqa: E731
    progress, _steps, _counts = play(decline)
    assert (progress.state, progress.reason) == ("refused", "declined")


def test_the_planner_alone_draws_two_pictures_that_only_people_judge() -> None:
    progress, steps, counts = play(verdicts(verdict()), BuildRules(configuration="planner"))
    assert (progress.state, progress.reason) == ("best_effort", "no_critic")
    assert [(step.kind, step.target) for step in steps if step.image] == [("base", "a"), ("base", "b")]
    assert not counts["critic"] and not counts["compare"] and not counts["edit"]


def test_planner_and_critic_get_new_signals_for_the_side_that_failed() -> None:
    critic_says = (verdict("revise_edits", b=CONTRAST), verdict("regenerate", a=CONTRAST), verdict())
    progress, steps, counts = play(verdicts(*critic_says), BuildRules(configuration="planner_critic"))
    assert progress.state == "accepted" and counts["instruct"] == 1 and not counts["edit"]
    assert [step.target for step in steps if step.kind == "base"] == ["a", "b", "b", "a"]
    assert progress.plan["plan"]["signals"] == {"a": PLAN["plan"]["signals"]["a"], "b": ["b 0 after 1"]}


def test_a_comment_begins_with_the_critic_and_an_accept_before_any_change_does_not_count() -> None:
    former, steps, _counts = play(verdicts(verdict()))
    rules = BuildRules(comment="The man looks angry.", comment_sides=("b",))
    progress, steps, _counts = play(verdicts(verdict()), rules, former)
    assert [step.kind for step in steps] == ["critic", "route", "instruct", "edit", "compare", "critic", "route"]
    assert overrides(steps) == ["comment_open", ""] and progress.state == "accepted"
    assert progress.pair.images["a"] == former.pair.images["a"]
    again, steps, _counts = play(
        verdicts(verdict()), BuildRules(comment="Plan it anew.", comment_replans=True), progress
    )
    assert steps[0].kind == "plan" and again.state == "accepted"
