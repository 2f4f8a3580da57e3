"""What code checks of a plan before anything is drawn. Pure. Each problem has a code, and a sentence for the planner.

==================  =================================================================================================
code                problem
==================  =================================================================================================
endpoints           the plan takes other options than the confirmed pair
short_statement     a statement of fewer than four words
same_statements     both statements are the same
only_label          a statement is the answer's label
no_anchor           no content word of the question is in statements or scene
banned_cue          scene, signals or attributes contain a banned cue
split_screen        several frames in one picture
locked_overlap      an attribute is locked and editable at once
no_locked           nothing is locked, or nothing may change
==================  =================================================================================================
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from papers.valueground.builder.states import SIDES, fold

LEAST_WORDS = 4
_WORD = re.compile(r"[^\W\d_]{3,}")
_SPLIT = re.compile(r"split[- ]screen|side[- ]by[- ]side|two panels?|two frames?|left half|right half", re.IGNORECASE)
STOP_WORDS = frozenset(
    """
    about above according all also and any are been being both but can could did does each either every for from had has
    have her him his how into its just kind less let
    like many may might more most much must never not now often one only
    other ought our out over people please rather same say she should some such tell than that the their them then there
    these they thing things think this those through too under upon use used very was way were what when where whether
    which while who whom whose why will with would you your following
    statement statements question answer agree disagree important
    """.split()  # noqa: SIM905
)


@dataclass(frozen=True)
class PlanProblem:
    """`text`: for the planner's next try."""

    code: str
    text: str


def check_plan(
    output: Mapping[str, Any], *, codes: tuple[int, int], labels: tuple[str, str], anchors: Collection[str],
    banned_cues: Iterable[str],
) -> list[PlanProblem]:  # fmt: skip
    """The problems of a plan; none where it may be drawn. `codes` and `labels` are those of the confirmed pair."""
    scene, statements = output["plan"], output["semantic_statement"]
    drawn = drawn_text(scene)
    return [
        *_endpoint_problems(output["endpoint_selection"], codes),
        *_statement_problems(statements, labels),
        *_anchor_problems([*statements.values(), scene["base_scene"]], anchors),
        *_cue_problems(drawn, banned_cues),
        *_attribute_problems(scene["locked"], scene["editable"]),
    ]


def drawn_text(scene: Mapping[str, Any]) -> str:
    """All of a plan that says what is to be seen."""
    signals = [signal for side in SIDES for signal in scene["signals"][side]]
    return "\n".join([scene["base_scene"], *signals, *scene["locked"], *scene["editable"]])


def _endpoint_problems(selection: Mapping[str, int], codes: tuple[int, int]) -> Iterator[PlanProblem]:
    if (selection["a"], selection["b"]) != codes:
        yield PlanProblem("endpoints", f"endpoint_selection must be a = {codes[0]} and b = {codes[1]}.")


def _statement_problems(statements: Mapping[str, str], labels: tuple[str, str]) -> Iterator[PlanProblem]:
    for side, label in zip(SIDES, labels, strict=True):
        if len(statements[side].split()) < LEAST_WORDS:
            yield PlanProblem("short_statement", f"Statement {side} must be a sentence of at least four words.")
        if fold(statements[side]) == fold(label):
            yield PlanProblem("only_label", f"Statement {side} only repeats the answer.")
    if fold(statements["a"]) == fold(statements["b"]):
        yield PlanProblem("same_statements", "Both statements are the same.")


def anchor_words(question: str) -> set[str]:
    """The content words of a question.

    >>> sorted(anchor_words("How important is family in your life?"))
    ['family', 'life']
    """
    return {word for word in map(str.casefold, _WORD.findall(question)) if word not in STOP_WORDS}


def _anchor_problems(texts: Iterable[str], anchors: Collection[str]) -> Iterator[PlanProblem]:
    words = {word.casefold() for text in texts for word in _WORD.findall(text)}
    stems = [anchor.casefold()[: max(4, len(anchor) - 2)] for anchor in anchors]
    if stems and not any(word.startswith(stem) for word in words for stem in stems):
        listed = ", ".join(sorted(anchors))
        yield PlanProblem("no_anchor", f"Statements and scene keep no key word of the question ({listed}).")


def _cue_problems(drawn: str, banned_cues: Iterable[str]) -> Iterator[PlanProblem]:
    if cues := find_cues(drawn, banned_cues):
        yield PlanProblem("banned_cue", f"The plan shows what must not be seen: {', '.join(cues)}.")
    if _SPLIT.search(drawn):
        yield PlanProblem("split_screen", "Each picture is one scene in one frame.")


def find_cues(text: str, banned_cues: Iterable[str]) -> list[str]:
    """The banned cues that a text names as whole words.

    >>> find_cues("A flag on a Flagpole", ["flags", "flag", "pole"])
    ['flag']
    """
    return [cue for cue in banned_cues if re.search(rf"(?<!\w){re.escape(cue)}(?!\w)", text, re.IGNORECASE)]


def _attribute_problems(locked: Iterable[str], editable: Iterable[str]) -> Iterator[PlanProblem]:
    fixed, free = {fold(text) for text in locked} - {""}, {fold(text) for text in editable} - {""}
    if not fixed or not free:
        yield PlanProblem("no_locked", "Name at least one locked and one editable attribute.")
    if both := sorted(fixed & free):
        yield PlanProblem("locked_overlap", f"Locked and editable at once: {', '.join(both)}.")
