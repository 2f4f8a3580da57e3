"""What holds for every prompt: it fits its own sheet, says exactly what it said, and its answers pass the sheet."""

import json
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predictions.prompts import registry
from predictions.prompts.contract import (
    DetectedBox,
    ImagePart,
    ParsedReply,
    PromptRequests,
    Reply,
    TextPart,
    Token,
    UnparsedReply,
)
from tests.predictions.prompts.cases import CASES, GOLDEN, IDS, Case, requests_json

KINDS = ("chat", "probe", "continuation", "grounding")
CHATS = [one for one in CASES if one.prompt.kind == "chat"]
every = pytest.mark.parametrize("case", CASES, ids=IDS)


def replies_to(one: Case, asked: PromptRequests) -> list[Reply]:
    return [one.good] * len(asked.requests)


def test_there_is_a_case_for_every_prompt() -> None:
    assert sorted(IDS) == sorted(one.key for one in registry.PROMPTS)


@every
def test_it_is_offered_for_its_own_sheet_before_the_general_one(case: Case) -> None:
    offered = [prompt.key for prompt in registry.prompts_for(case.scene(), KINDS)]
    assert case.key in offered
    assert offered[-1] == "sheet"
    assert case.prompt.kind not in KINDS or case.key not in [
        prompt.key
        for prompt in registry.prompts_for(case.scene(), [kind for kind in KINDS if kind != case.prompt.kind])
    ]


@every
def test_the_same_unit_and_seed_are_asked_the_same(case: Case) -> None:
    assert case.asked(seed=7) == case.asked(seed=7)


@every
def test_a_wording_that_changes_gets_a_new_version(case: Case) -> None:
    """To accept a new version: EMIC_GOLDEN=write. It never writes over what an older version said."""
    path = GOLDEN / f"{case.key}-{case.prompt.version}.json"
    now = requests_json(case.asked(seed=1))
    if not path.exists() and os.environ.get("EMIC_GOLDEN") == "write":
        path.write_text(json.dumps(now, indent=1, ensure_ascii=False) + "\n", "utf-8")
    assert path.exists(), f"{path.name} is not there: a new version is written by EMIC_GOLDEN=write"
    assert now == json.loads(path.read_text("utf-8")), f"{case.key} says something else: give it a new version"


@every
def test_its_answers_pass_the_sheet_that_people_have(case: Case) -> None:
    read = case.read(*replies_to(case, case.asked()))
    assert isinstance(read, ParsedReply), read
    assert read.answers == case.answers
    parsed = case.parsed(read)
    assert not parsed.errors
    assert set(parsed.answers) == set(case.answers)


@every
def test_pictures_go_only_to_prompts_that_need_them(case: Case) -> None:
    pieces = [piece for request in case.asked().requests for message in request.messages for piece in message.pieces]
    pictured = any(isinstance(piece, ImagePart) for piece in pieces) or any(r.image for r in case.asked().requests)
    assert pictured == case.prompt.needs_images or case.key == "sheet"
    assert not any(isinstance(piece, TextPart) and not piece.text.strip() for piece in pieces)


@every
def test_nothing_the_endpoint_withholds_becomes_a_value(case: Case) -> None:
    for reply, state, reason in (
        (Reply("", finish="stop"), "no_response", "empty"),
        (Reply(case.good.text, finish="content_filter"), "refused", "content_filter"),
        (Reply(case.good.text, finish="stop", refusal="I will not."), "refused", "said_no"),
    ):
        if case.prompt.kind != "chat" and state == "refused":
            continue
        parsed_reply = case.read(*[reply] * 2)
        assert isinstance(parsed_reply, UnparsedReply)
        if case.prompt.kind == "chat":
            assert (parsed_reply.state, parsed_reply.reason) == (state, reason)


@pytest.mark.parametrize("case", CHATS, ids=[one.key for one in CHATS])
@pytest.mark.parametrize(
    "words",
    [
        "I'm sorry, but I can't assist with that request.",
        "I cannot help with identifying people in images.",
        "As an AI language model, I am unable to provide a rating for this.",
        "Lo siento, no puedo ayudar con eso.",
        "عذرًا، لا أستطيع المساعدة في ذلك.",
        "对不起，我无法回答这个问题。",
    ],
    ids=["english", "plain", "ai", "spanish", "arabic", "chinese"],
)
def test_a_refusal_in_words_is_a_refusal(case: Case, words: str) -> None:
    found = case.read(Reply(words, finish="stop"))
    assert isinstance(found, UnparsedReply)
    assert (found.state, found.reason) == ("refused", "said_no")


FRAGMENTS = [
    "rating=1",
    "rating=2",
    "Final Score: 4",
    "4",
    "٤",
    "5/5",
    "A",
    "B",
    "Image A",
    "{",
    "}",
    "[",
    "]",
    '"',
    "'",
    "\n",
    " ",
    '{"score": 4}',
    '{"image_1":"A","image_2":"B"}',
    "<loc0001>",
    "<patch_index_0044>",
    "<think>",
    "</think>",
    "```json",
    "<candidate>",
    "</candidate>",
    "[0.1, 0.2, 0.3, 0.4]",
    "(1,2),(3,4)",
    "1e999",
    "-",
    "NaN",
    "null",
    "\\boxed{3}",
    "\x00",
    '{"labels": ["market"]}',
    "9" * 400,
    "𝟜",
    "²",
    "½",
    "\ud800",
    "> ",
    "1. ",
    "out of 5",
    " or ",
    "neither",
    "answer is",
]
TEXTS = st.one_of(st.text(max_size=300), st.lists(st.sampled_from(FRAGMENTS), max_size=12).map("".join))
NUMBERS = st.floats() | st.sampled_from([0.0, -1.0, 1.0])
REPLIES = st.builds(
    Reply,
    text=TEXTS,
    finish=st.sampled_from(["stop", "length", "", "content_filter"]),
    refusal=st.sampled_from(["", "", "", "no"]),
    way=st.sampled_from(["text", "schema", "guided", "logprobs"]),
    tokens=st.lists(
        st.builds(Token, text=TEXTS, logprob=NUMBERS, top=st.dictionaries(TEXTS, NUMBERS, max_size=4)), max_size=3
    ).map(tuple),
    similarities=st.lists(NUMBERS, max_size=6).map(tuple),
    boxes=st.lists(
        st.builds(DetectedBox, label=TEXTS, score=NUMBERS, box=st.tuples(NUMBERS, NUMBERS, NUMBERS, NUMBERS)),
        max_size=3,
    ).map(tuple),
)


@every
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_no_reply_whatever_breaks_a_reader(case: Case, data: st.DataObject) -> None:
    scene, asked = _SCENES[case.key]
    replies = data.draw(st.lists(REPLIES, max_size=3))
    parsed_reply = case.prompt.read(scene, asked, replies)
    if isinstance(parsed_reply, ParsedReply):
        case.parsed(parsed_reply)
        json.dumps(dict(parsed_reply.answers))
    else:
        assert parsed_reply.reason and len(parsed_reply.reason) <= 40


_SCENES = {one.key: (one.scene(), one.asked()) for one in CASES}
