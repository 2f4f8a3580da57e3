"""From replies to answers: the prompt reads, the sheet parses. What is not readable has a code, and never a value."""

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from annotation.fields.contract import Shown
from annotation.sheets.sheet import ParsedSheet, Sheet
from predictions.models.calls import INCOMPLETE
from predictions.prompts.contract import Prompt, PromptRequests, Reply, Scene, UnparsedReply, answer_method
from predictions.prompts.reply_text import READING_VERSION
from predictions.requests.serialization import storable

log = logging.getLogger(__name__)
OUTSIDE = {"not_an_option": "outside_scale", "box_outside": "outside_image"}
# What people may draw, and on which pictures: a model's box is measured, not mended.
GATES = frozenset({"box_too_large", "box_too_small", "too_few_found"})


@dataclass(frozen=True)
class ParseResult:
    """`state` is the call's; `parsed` only where it is answered. `reason` of an answer: INCOMPLETE where a question of
    the sheet has no readable answer; `notes` then say why, by field ("incomplete"). `how`: what the answer is named by.
    `notes` hold the version of the rules that read it, as "reading"."""

    state: str
    reason: str = ""
    notes: Mapping[str, Any] = field(default_factory=dict)
    parsed: ParsedSheet | None = None
    how: str = ""


def parse_replies(
    prompt: Prompt, sheet: Sheet, scene: Scene, shown: Shown, asked: PromptRequests, replies: Sequence[Reply]
) -> ParseResult:
    parse_result = _parse_replies(prompt, sheet, scene, shown, asked, replies)
    how = answer_method(asked.requests[0].kind if asked.requests else "chat", replies[0].way) if replies else ""
    return replace(parse_result, notes={**parse_result.notes, "reading": READING_VERSION}, how=how)


def _parse_replies(
    prompt: Prompt, sheet: Sheet, scene: Scene, shown: Shown, asked: PromptRequests, replies: Sequence[Reply]
) -> ParseResult:
    try:
        parsed_reply = prompt.read(scene, asked, replies)
    except Exception:
        log.exception("prompt %s could not read a reply", prompt.key)
        return ParseResult("failed", "fault")
    if isinstance(parsed_reply, UnparsedReply):
        return ParseResult(parsed_reply.state, parsed_reply.reason[:40] or "empty", storable(dict(parsed_reply.notes)))
    notes = storable(dict(parsed_reply.notes))
    parsed = sheet.parse(storable(dict(parsed_reply.answers)), shown, partial=True)
    parsed.warnings.clear()  # a remark is for a person to confirm
    problems = {
        key: [
            answer_problem.code
            for answer_problem in many
            if key not in parsed.answers or answer_problem.code not in GATES
        ]
        for key, many in parsed.errors.items()
    }
    problems = {key: codes for key, codes in problems.items() if codes}
    incomplete = dict(notes.pop("incomplete", None) or {})
    if problems:
        notes = {**notes, "sheet": problems}
        codes = [code for many in problems.values() for code in many]
        parsed = _without_problems(parsed, sheet, problems)
        if not parsed.answers:
            outside = all(code in OUTSIDE for code in codes)
            return ParseResult(*("out_of_range", OUTSIDE[codes[0]]) if outside else ("unparseable", "sheet"), notes)
        incomplete |= {key: OUTSIDE.get(many[0], many[0]) for key, many in problems.items()}
    has_empty_choice = any(value == [] for value in parsed_reply.answers.values())  # "none of these" is an answer
    if not parsed.answers and not has_empty_choice:
        return ParseResult("no_response", "empty", notes)
    if incomplete:
        return ParseResult("answered", INCOMPLETE, {**notes, "incomplete": incomplete}, parsed)
    return ParseResult("answered", "", notes, parsed)


def _without_problems(parsed: ParsedSheet, sheet: Sheet, problems: Collection[str]) -> ParsedSheet:
    """The readable fields alone: not those with problems, nor those asked because of one of them. Nothing, where the
    problem is of the whole sheet."""
    if not set(problems) <= {one.key for one in sheet.fields}:
        return ParsedSheet()
    gone = set(problems)
    for one in sheet.fields:
        if one.show_if and one.show_if.field in gone:
            gone.add(one.key)
    answers = {key: answer for key, answer in parsed.answers.items() if key not in gone}
    return ParsedSheet(answers=answers, codes=[code for code in parsed.codes if code.field not in gone])
