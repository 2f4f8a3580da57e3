"""What becomes of a readable reply at the sheet: none of several is an answer, silence is not."""

from typing import Any

import pytest

from annotation.fields.contract import Shown
from annotation.sheets.sheet import Sheet
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
