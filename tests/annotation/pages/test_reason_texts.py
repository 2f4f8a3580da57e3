"""There are words for every reason and every state, and none of them blames."""

from typing import get_args

import pytest

from annotation.models import Annotation, Assignment
from annotation.pages.history import CHANGE, LISTED
from annotation.pages.home import pace
from annotation.pages.status_text import NOTHING, no_work_text, not_counted_note, state_chip, time_zone_for
from annotation.queries.gate import Reason
from people.models import User


@pytest.mark.parametrize("reason", get_args(Reason))
def test_every_reason_for_nothing_has_words(reason: str) -> None:
    why = no_work_text(reason, None, time_zone_for(User(), None))
    assert why.title.endswith(".") and why.advice.endswith(".")
    assert "!" not in why.title + why.advice


def test_there_are_no_words_for_reasons_that_do_not_exist() -> None:
    assert set(NOTHING) == set(get_args(Reason))


@pytest.mark.parametrize("state", Assignment.State.values)
def test_every_state_is_a_dot_and_a_word(state: str) -> None:
    chip = state_chip(Assignment(state=state), None)
    assert chip.words and chip.style in {"ok", "wait", "back", "no", "hollow"}


def test_only_what_is_not_reviewed_can_be_changed() -> None:
    assert {state for state in LISTED if state in CHANGE} == {"submitted", "returned", "skipped"}


def test_an_excluded_persons_answer_says_no_more_than_that_it_is_not_counted() -> None:
    live = Annotation(counted=False, uncounted_because="excluded")
    assert state_chip(Assignment(state="submitted"), live).words == "Not counted"
    assert not_counted_note(live) == ""


def test_a_pace_is_told_only_when_it_is_known() -> None:
    assert pace([10, None]) == ""
    assert pace([0.2, 0.2, 0.2]) == ""
    assert pace([10, 14, 90, None]) == "14 s"
