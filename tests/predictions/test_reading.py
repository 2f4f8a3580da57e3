"""What becomes of a readable reply at the sheet: none of several is an answer, silence is not."""

from dataclasses import replace
from typing import Any

import pytest

from annotation.fields.contract import Shown
from annotation.sheets.sheet import Sheet
from predictions.models.calls import INCOMPLETE
from predictions.prompts.contract import ParsedReply, PromptRequests, Question, Reply, Scene, UnparsedReply
from predictions.prompts.sheet import parse_json_reply, reply_schema
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


ANIMALS = Question("animals", "", {"type": "array"}, codes=("cat", "dog", "hen"), many=True)
WHY = Question("why", "", {"type": "string"}, asked_if={"field": "animals", "in": ["cat"]})


@pytest.mark.parametrize(
    ("raw", "answers"),
    [
        ('["cat", "hen"]', ["cat", "hen"]),
        ('"cat|hen"', ["cat", "hen"]),
        ("[]", []),
        ("null", []),
        ('"cat, hen"', "outside_scale"),
        ('["cat", "cow"]', "outside_scale"),
        ("3", "bad_json"),
    ],
)
def test_several_codes_come_in_a_list_or_between_bars_and_null_is_none_of_them(raw: str, answers: Any) -> None:
    parsed = parse_json_reply(Reply(f'{{"animals": {raw}}}'), [ANIMALS])
    assert (parsed.reason if isinstance(parsed, UnparsedReply) else parsed.answers["animals"]) == answers


def test_a_question_that_is_asked_only_then_may_be_null_in_the_schema_and_is_no_gap_where_it_lacks() -> None:
    animal = replace(ANIMALS, codes=("cat", "dog"), schema={"type": "string"}, many=False)
    schema = reply_schema([animal, WHY])["properties"]
    assert schema["animals"] == {"type": "string"} and {"type": "null"} in schema["why"]["anyOf"]
    for text in ('{"animals": "dog"}', '{"animals": "cat"}', '{"animals": "cat", "why": ""}'):
        parsed = parse_json_reply(Reply(text), [animal, WHY])
        assert isinstance(parsed, ParsedReply) and "incomplete" not in parsed.notes and "why" not in parsed.answers
    stray = parse_json_reply(Reply('{"animals": "dog", "why": "Ears"}'), [animal, WHY])
    assert isinstance(stray, ParsedReply) and stray.answers == {"animals": "dog"}


def test_an_unreadable_answer_to_a_question_that_may_be_left_out_is_noted_and_silence_is_not() -> None:
    animal = replace(ANIMALS, codes=("cat", "dog"), schema={"type": "string"}, many=False)
    size = Question("size", "", {"type": "string"}, codes=("small", "large"), required=False)
    follows = replace(size, required=True, asked_if={"field": "animals", "in": ["cat"]})
    for question in (size, follows):
        for member, incomplete in (
            (', "size": "huge"', {"size": "outside_scale"}),
            (', "size": ["small"]', {"size": "bad_json"}),
            (', "size": "small"', {}),
            (', "size": null', {}),
            ("", {}),
        ):
            parsed = parse_json_reply(Reply(f'{{"animals": "cat"{member}}}'), [animal, question])
            assert isinstance(parsed, ParsedReply) and parsed.answers["animals"] == "cat"
            assert parsed.notes.get("incomplete", {}) == incomplete
