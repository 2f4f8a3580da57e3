"""What becomes of a readable reply at the sheet: none of several is an answer, silence is not."""

from typing import Any

import pytest

from annotation.fields.contract import Shown
from annotation.sheets.sheet import Sheet
from predictions.models.calls import INCOMPLETE
from predictions.prompts.contract import ParsedReply, PromptRequests, Reply, Scene
from predictions.services.runs.engine.reply_parsing import parse_replies
from tests.predictions.request_helpers import Plainly

SHEET = Sheet.from_json(
    {
        "fields": [
            {
                "key": "wrong", "kind": "choice", "version": 1, "label": {"en": "What is wrong?"}, "required": False,
                "config": {"many": True, "options": [{"code": c, "label": {"en": c}} for c in ("text", "person")]},
            }
        ]
    }
)  # fmt: skip


@pytest.mark.parametrize(
    ("raw", "state"),
    [([], "answered"), (["text"], "answered"), ("", "no_response"), (["a bird"], "out_of_range")],
)
def test_none_of_these_is_an_answer_and_silence_is_not(raw: Any, state: str) -> None:
    class Says(Plainly):
        def read(self, *_args: Any) -> ParsedReply:
            return ParsedReply({"wrong": raw})

    assert parse_replies(Says(), SHEET, Scene("i"), Shown(1), PromptRequests(()), [Reply(text="x")]).state == state


def test_an_answer_to_a_question_that_followed_from_an_unreadable_one_is_left_out() -> None:
    def ask(key: str, kind: str = "choice", **more: Any) -> dict[str, Any]:
        return {"key": key, "kind": kind, "version": 1, "label": {"en": key}, "required": False, "config": {}} | more

    options = [{"code": code, "label": {"en": code}} for code in ("text", "person")]
    sheet = Sheet.from_json(
        {
            "fields": [
                ask("wrong", config={"many": True, "most": 1, "options": options}),
                ask("why", "text", show_if={"field": "wrong", "in": ["text"]}),
                ask("likely", config={"options": options}),
            ]
        }
    )

    class Says(Plainly):
        def read(self, *_args: Any) -> ParsedReply:
            return ParsedReply({"wrong": ["text", "person"], "why": "It is blurred.", "likely": "person"})

    result = parse_replies(Says(), sheet, Scene("i"), Shown(1), PromptRequests(()), [Reply(text="x")])
    assert (result.state, result.reason) == ("answered", INCOMPLETE)
    assert result.parsed is not None and result.parsed.answers == {"likely": "person"}
    assert [code.field for code in result.parsed.codes] == ["likely"]
