"""Every safeguard decides as declared, under its code; nothing else overrides the critic."""

from typing import Any

import pytest

from papers.valueground.builder import safeguards
from papers.valueground.builder.safeguards import from_comparison, from_verdict
from papers.valueground.builder.states import BuildProgress, BuildRules
from papers.valueground.builder.texts import OVERRIDES
from tests.papers.valueground.builder.build_script import CONTRAST, SEMANTIC, verdict


@pytest.mark.parametrize(
    ("verdict_", "more", "route", "targets", "override"),
    [
        (verdict(), {}, "accept", (), ""),
        (verdict(a=SEMANTIC), {}, "replan", ("a",), "accept_semantic"),
        (verdict(b=CONTRAST), {}, "revise_edits", ("b",), "accept_issue"),
        (verdict(text_visible=True), {}, "revise_edits", ("a", "b"), "text_visible"),
        (verdict(text_visible=True, a=SEMANTIC), {}, "replan", ("a",), "accept_semantic"),
        (verdict(), {"comment_sides": ("b",)}, "revise_edits", ("b",), "comment_open"),
        (verdict("regenerate", b=CONTRAST), {}, "regenerate", ("b",), ""),
        (verdict("regenerate", b=CONTRAST, targets=["a"]), {}, "regenerate", ("b",), "targets_corrected"),
        (verdict("revise_edits", b=CONTRAST, targets=[]), {}, "revise_edits", ("b",), "targets_corrected"),
        (verdict("replan", b=SEMANTIC, targets=[]), {}, "replan", ("b",), ""),
        (verdict("replan"), {}, "ask_again", (), "no_issue"),
        (verdict("regenerate", targets=["a"]), {"asked_again": True}, "revise_edits", ("a", "b"), "no_issue_twice"),
        (verdict("revise_edits", a={"semantic": "  "}), {}, "ask_again", (), "no_issue"),
    ],
)
def test_a_verdict_is_followed_unless_it_contradicts_itself(
    verdict_: Any, more: Any, route: str, targets: tuple[str, ...], override: str
) -> None:
    decision = from_verdict(verdict_, **more)
    assert (decision.route, decision.targets, decision.override) == (route, targets, override)
    assert decision.asked == verdict_["routing"]


def test_pictures_at_fault_are_decided_by_code() -> None:
    same = from_comparison({"fault": "identical", "sides": ["b"], "what": "B equal to the base picture"})
    assert (same.route, same.targets, same.override) == ("revise_edits", ("b",), "identical")
    assert same.issues["b"]["contrast"] and not same.issues["a"]["contrast"]
    size = from_comparison({"fault": "size_differs", "sides": ["a"]})
    assert (size.route, size.targets, size.override) == ("regenerate", ("a",), "size_differs")


@pytest.mark.parametrize(
    ("progress", "route", "override"),
    [
        (BuildProgress(problems=("No key word.",)), "replan", "plan_rejected"),
        (BuildProgress(problems=("No key word.",), plan_round=2), "best_effort", "replans_spent"),
        (BuildProgress(refusal="No.", refusals=1), "replan", "image_refused"),
        (BuildProgress(refusal="No.", refusals=3), "refused", "image_refused"),
        (BuildProgress(repeats=2), "replan", "repeated_instruction"),
        (BuildProgress(verdict=verdict("regenerate", a=CONTRAST), edit_round=2), "best_effort", "edit_rounds_spent"),
        (BuildProgress(verdict=verdict(), edit_round=2), "accept", ""),
    ],
)
def test_what_went_wrong_before_the_critic_is_decided_first(progress: BuildProgress, route: str, override: str) -> None:
    decision = safeguards.decide(progress, BuildRules())
    assert (decision.route, decision.override) == (route, override)


def test_every_code_has_a_sentence_and_an_entry_in_the_table() -> None:
    assert set(OVERRIDES) == set(safeguards.OVERRIDES)
    assert all(code in (safeguards.__doc__ or "") for code in safeguards.OVERRIDES)
