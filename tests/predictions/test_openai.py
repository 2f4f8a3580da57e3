"""The back end for OpenAI's protocol: what it sends, what it reads, and which way an answer was got."""

import json
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from predictions.backends import payloads
from predictions.backends.contract import CallError, Decoding
from predictions.backends.openai import OpenAI
from predictions.prompts.contract import NO_LOGPROB, ImagePart, Message, Request, TextPart, Token
from tests.predictions import model_server
from tests.predictions.model_server import OFFERS, Act, Rule, Server, logprob_of

JPEG = b"\xff\xd8\xff\xe0 not read by anybody"
SCHEMA = {
    "type": "object",
    "properties": {"relevance": {"type": "string", "enum": ["2", "3"]}},
    "required": ["relevance"],
    "additionalProperties": False,
}
RATING = Request(
    messages=(
        Message("system", (TextPart("You come from Cairo."),)),
        Message("user", (TextPart("How relevant is this picture to Egypt?"), ImagePart("a" * 64))),
    ),
    ways=("logprobs", "guided", "schema", "text"),
    choices=("1", "2", "3", "4", "5"),
    schema=SCHEMA,
)
Make = Callable[..., OpenAI]


def picture(sha: str) -> bytes:
    assert sha == "a" * 64
    return JPEG


@pytest.fixture
def backend(scripted_server: Server) -> Iterator[Make]:
    backends: list[OpenAI] = []

    def make(**more: Any) -> OpenAI:
        backends.append(OpenAI(scripted_server.base_url, "sk-quiet", **{"offers": OFFERS, "seconds": 30, **more}))
        return backends[-1]

    yield make
    for one in backends:
        one.close()


def test_the_messages_are_sent_as_they_are_with_the_image_in_them(scripted_server: Server, backend: Make) -> None:
    answered = backend().answer(RATING, "qwen", Decoding(temperature=0.2, top_p=0.9, seed=7), picture)
    [asked] = scripted_server.asked
    assert asked.body["messages"][0] == {"role": "system", "content": "You come from Cairo."}
    text, image = asked.body["messages"][1]["content"]
    assert text == {"type": "text", "text": "How relevant is this picture to Egypt?"}
    assert image["image_url"]["url"].startswith("data:image/jpeg;base64,") and asked.images == [JPEG]
    assert {asked.body[name] for name in ("temperature", "top_p", "seed", "model")} == {0.2, 0.9, 7, "qwen"}
    assert asked.headers["authorization"] == "Bearer sk-quiet"
    assert answered.status == 200 and answered.provider_id == "req-1"
    assert answered.tokens_in == 4 + 7 + 85 and answered.tokens_out == 1
    assert 0 < answered.seconds < 30 and answered.reply.model == "qwen"


def test_what_the_endpoint_does_not_offer_is_not_asked(scripted_server: Server, backend: Make) -> None:
    backend(offers=("images",)).answer(RATING, "qwen", Decoding(seed=7), picture)
    assert scripted_server.asked[0].way == "text" and "seed" not in scripted_server.asked[0].body
    with pytest.raises(CallError, match="takes no images"):
        backend(offers=("schema",)).answer(RATING, "qwen", Decoding(), picture)
    assert scripted_server.counts()["total"] == 1


def test_log_probabilities_come_with_the_likeliest_of_the_choices(scripted_server: Server, backend: Make) -> None:
    scripted_server.set(default=Act(text="4", top={"4": -0.2, "5": -1.9, " 4": -3.0}))
    reply = backend().answer(RATING, "qwen", Decoding(), picture).reply
    assert (reply.way, reply.text) == ("logprobs", "4")
    assert reply.tokens[0].logprob == -0.2 and reply.tokens[0].top == {"4": -0.2, "5": -1.9, " 4": -3.0}
    assert scripted_server.asked[0].body["top_logprobs"] == 20
    assert scripted_server.asked[0].body["max_tokens"] < 20, "one of five digits takes no essay"


@pytest.mark.parametrize(
    ("offered", "way", "text"),
    [
        (("guided", "schema"), "guided", "1"),
        (("schema",), "schema", '{"relevance": "2"}'),
        ((), "text", "3"),
    ],
)
def test_a_way_that_the_server_refuses_gives_place_to_the_next(
    scripted_server: Server, backend: Make, offered: tuple[str, ...], way: str, text: str
) -> None:
    scripted_server.set(offers=(*offered, "images"))
    client = backend()
    first = client.answer(RATING, "qwen", Decoding(), picture)
    assert (first.reply.way, first.reply.text) == (way, text)
    asked = scripted_server.counts()["total"]
    assert client.answer(RATING, "qwen", Decoding(), picture).reply.way == way
    assert scripted_server.counts()["total"] == asked + 1, "what was refused once is not tried again"
    client.answer(RATING, "another model", Decoding(), picture)
    assert scripted_server.counts()["total"] == 2 * asked + 1, "another model may take what this one does not"


def test_log_probabilities_that_are_passed_over_in_silence_are_a_refusal_and_paid_for(
    scripted_server: Server, backend: Make
) -> None:
    silent = Act(raw=json.dumps({"choices": [{"message": {"content": "4"}}], "usage": {"prompt_tokens": 50}}))
    scripted_server.rules(Rule(silent, way="logprobs"))
    answered = backend().answer(RATING, "qwen", Decoding(), picture)
    assert answered.reply.way == "guided" and scripted_server.counts()["by_way"] == {"logprobs": 1, "guided": 1}
    assert answered.tokens_in == 50 + 96


def test_a_run_that_wants_one_way_gets_no_other(scripted_server: Server, backend: Make) -> None:
    scripted_server.set(offers=("schema", "images"))
    with pytest.raises(CallError) as failed:
        backend().answer(RATING, "qwen", Decoding(ways=("logprobs",)), picture)
    assert failed.value.trouble == "permanent" and "logprobs is not supported" in failed.value.words
    assert scripted_server.counts()["by_way"] == {"logprobs": 1}


def test_an_endpoint_that_offers_none_of_the_ways_is_not_asked(scripted_server: Server, backend: Make) -> None:
    with pytest.raises(CallError, match="offers none of the ways"):
        backend(offers=("images",)).answer(RATING, "qwen", Decoding(ways=("schema",)), picture)
    assert scripted_server.counts()["total"] == 0


def test_a_refused_way_is_only_one_that_the_server_names(scripted_server: Server, backend: Make) -> None:
    scripted_server.set(default=model_server.BAD_REQUEST)
    with pytest.raises(CallError, match="maximum context length"):
        backend().answer(RATING, "qwen", Decoding(), picture)
    assert scripted_server.counts()["total"] == 1


def test_guided_choice_is_named_as_vllm_names_it_now_and_did_before(scripted_server: Server, backend: Make) -> None:
    backend(offers=("guided", "images")).answer(RATING, "qwen", Decoding(), picture)
    body = scripted_server.asked[0].body
    assert body["guided_choice"] == body["structured_outputs"]["choice"] == ["1", "2", "3", "4", "5"]


def test_a_schema_is_strict_and_keeps_the_order_of_its_properties(scripted_server: Server, backend: Make) -> None:
    schema = {"type": "object", "properties": {"reason": {"type": "string"}, "answer": {"type": "string"}}}
    request = Request(messages=RATING.messages, ways=("schema",), schema=schema)
    backend().answer(request, "qwen", Decoding(), picture)
    form = scripted_server.asked[0].body["response_format"]
    assert form["type"] == "json_schema" and form["json_schema"]["strict"] is True
    assert list(form["json_schema"]["schema"]["properties"]) == ["reason", "answer"]


def test_fewer_log_probabilities_are_asked_where_twenty_are_too_many(scripted_server: Server, backend: Make) -> None:
    def five(asked: model_server.ReceivedRequest) -> Act | None:
        return Act(status=400, error="top_logprobs must be at most 5") if asked.body["top_logprobs"] > 5 else None

    scripted_server.answer_by(five)
    one = backend()
    assert [one.answer(RATING, "m", Decoding(), picture).reply.way for _ in range(2)] == ["logprobs"] * 2
    assert [asked.body["top_logprobs"] for asked in scripted_server.asked] == [20, 5, 5]


def test_a_server_that_knows_max_tokens_by_its_newer_name_is_asked_by_it(
    scripted_server: Server, backend: Make
) -> None:
    refusal = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
    scripted_server.answer_by(lambda asked: Act(status=400, error=refusal) if "max_tokens" in asked.body else None)
    one = backend(offers=("images",))
    assert [one.answer(RATING, "m", Decoding(max_tokens=9), picture).reply.text for _ in range(2)] == ["3", "3"]
    assert [asked.body.get("max_completion_tokens") for asked in scripted_server.asked] == [None, 9, 9]


@pytest.mark.parametrize("with_image", [False, True])
def test_a_continuation_is_scored_token_by_token(scripted_server: Server, backend: Make, with_image: bool) -> None:
    pieces = (TextPart("The capital of Egypt is"), *([ImagePart("a" * 64)] if with_image else []))
    request = Request(kind="continuation", messages=(Message("user", pieces),), continuation=" Cairo the great")
    reply = backend().answer(request, "qwen", Decoding(), picture).reply
    words = ["", " Cairo", " the", " great"] if with_image else [" Cairo", " the", " great"]
    assert [token.text for token in reply.tokens if token.text] == [word for word in words if word]
    assert [token.logprob for token in reply.tokens if token.text] == [logprob_of(word) for word in words if word]
    assert (reply.text, reply.way) == (" Cairo the great", "logprobs")
    body = scripted_server.asked[0].body
    if with_image:
        assert body["messages"][-1] == {"role": "assistant", "content": " Cairo the great"}
        assert body["continue_final_message"] is True and body["add_generation_prompt"] is False
    else:
        assert body["prompt"] == "The capital of Egypt is Cairo the great" and body["echo"] is True


def test_a_continuation_of_broken_letters_is_counted_instead_of_spelled(scripted_server: Server, backend: Make) -> None:
    def parts(asked: model_server.ReceivedRequest) -> Act:
        if not asked.body.get("echo"):
            return Act(
                raw=json.dumps({"choices": [{"text": "x"}], "usage": {"prompt_tokens": 3, "completion_tokens": 1}})
            )
        tokens = ["ዋና", " ከ", "ተማ", "\ufffd", "\ufffd", "\ufffd"]
        logprobs = {"tokens": tokens, "token_logprobs": [None, -1, -2, -0.1, -0.2, -0.3]}
        return Act(raw=json.dumps({"choices": [{"text": "", "logprobs": logprobs}], "usage": {"prompt_tokens": 6}}))

    scripted_server.answer_by(parts)
    request = Request(kind="continuation", messages=(Message("user", (TextPart("ዋና ከተማ"),)),), continuation=" አዲስ")
    answered = backend().answer(request, "qwen", Decoding(), picture)
    assert [token.logprob for token in answered.reply.tokens] == [-0.1, -0.2, -0.3]
    assert (answered.tokens_in, answered.tokens_out) == (9, 1), "both requests were paid for"


def test_a_continuation_is_not_asked_of_who_does_not_offer_it(scripted_server: Server, backend: Make) -> None:
    request = Request(kind="continuation", messages=RATING.messages, continuation="x")
    with pytest.raises(CallError, match="no log-probabilities"):
        backend(offers=("images", "logprobs")).answer(request, "qwen", Decoding(), picture)
    assert scripted_server.counts()["total"] == 0


def test_text_that_a_database_cannot_keep_is_made_keepable(scripted_server: Server, backend: Make) -> None:
    token = {"token": "\0", "logprob": float("-inf"), "top_logprobs": [{"token": "x", "logprob": float("nan")}]}
    odd = {"choices": [{"message": {"content": "a\0b \ud800 ሰላም"}, "logprobs": {"content": [token]}}]}
    scripted_server.set(default=Act(raw=json.dumps(odd)))
    reply = backend().answer(RATING, "qwen", Decoding(), picture).reply
    assert reply.text == "a\ufffdb ? ሰላም"
    assert reply.tokens[0].logprob == -9999.0 and reply.tokens[0].top == {"x": -9999.0}


@pytest.mark.parametrize("logprobs", [(-0.2, -3.0), (-3.0, -0.2)])
def test_of_tokens_that_read_the_same_the_likelier_one_stands(
    scripted_server: Server, backend: Make, logprobs: tuple[float, float]
) -> None:
    top = [
        {"token": "4", "logprob": logprobs[0]},
        {"token": "5", "logprob": -1.9},
        {"token": "4", "logprob": logprobs[1]},
    ]
    token = {"token": "4", "logprob": -0.2, "top_logprobs": top}
    body = {"choices": [{"message": {"content": "4"}, "logprobs": {"content": [token]}}]}
    scripted_server.set(default=Act(raw=json.dumps(body)))
    reply = backend().answer(RATING, "qwen", Decoding(), picture).reply
    assert reply.tokens[0].top == {"4": -0.2, "5": -1.9}


def test_content_in_pieces_and_unknown_usage_are_read(scripted_server: Server, backend: Make) -> None:
    pieces = [{"type": "text", "text": "one "}, {"type": "image"}, {"type": "text", "text": "two"}]
    body = {"choices": [{"message": {"content": pieces}}], "usage": {"prompt_tokens": -4, "completion_tokens": "many"}}
    scripted_server.set(default=Act(raw=json.dumps(body)))
    answered = backend(offers=("images",)).answer(RATING, "qwen", Decoding(), picture)
    assert answered.reply.text == "one two" and (answered.tokens_in, answered.tokens_out) == (None, None)


@pytest.mark.parametrize(
    ("usage", "counts"),
    [
        ({"prompt_tokens": 50, "completion_tokens": 0}, (50, 0)),
        ({"input_tokens": 0, "output_tokens": 7}, (0, 7)),
        ({"prompt_tokens": 5, "input_tokens": 6, "output_tokens": 7}, (5, 7)),
        ({"prompt_tokens": payloads.MOST_TOKENS, "completion_tokens": payloads.MOST_TOKENS + 1}, (10**8, None)),
        ({"prompt_tokens": True, "completion_tokens": 3.0}, (None, None)),
        ({"completion_tokens": 3}, (None, 3)),
    ],
)
def test_tokens_are_counted_by_either_name_and_none_is_not_zero(
    usage: dict[str, Any], counts: tuple[int | None, int | None]
) -> None:
    assert payloads.usage_of({"usage": usage}) == counts


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        (-0.5, -0.5), (0, 0.0), (0.001, 0.0), (0.002, NO_LOGPROB), (1, NO_LOGPROB), (-(10**400), NO_LOGPROB),
        (True, NO_LOGPROB), ("-0.5", NO_LOGPROB), (None, NO_LOGPROB),
    ],
)  # fmt: skip
def test_a_log_probability_is_a_number_up_to_zero_and_may_be_rounded_up(sent: Any, read: float) -> None:
    logprobs = {"tokens": ["a"], "token_logprobs": [sent]}
    assert payloads.echoed_tokens({"choices": [{"logprobs": logprobs}]}) == [Token("a", read)]


def test_the_last_tokens_spell_a_continuation_also_before_a_templates_blanks() -> None:
    tokens = [Token(text, -1.0) for text in ("Where? ", "Japan", ".", " Ja", "pan ", "\n" * 11)]
    assert payloads.trailing_tokens(tokens, " Japan") == tuple(tokens[3:])
    assert payloads.trailing_tokens(tokens[:5], "Japan ") == tuple(tokens[3:5])
    assert payloads.trailing_tokens(tokens, "pan") == tuple(tokens[4:])
    assert payloads.trailing_tokens(tokens[:2], "an") == (tokens[1],), "one that begins before it counts"
    assert payloads.trailing_tokens(tokens, "China") == () == payloads.trailing_tokens([], "Japan")


def test_sixty_four_threads_share_one_back_end_and_its_lines(scripted_server: Server, backend: Make) -> None:
    scripted_server.set(default=Act(delay=0.3))
    client, texts = backend(offers=("images",)), []

    def ask() -> None:
        texts.append(client.answer(RATING, "qwen", Decoding(), picture).reply.text)

    threads = [threading.Thread(target=ask) for _ in range(64)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert texts == ["3"] * 64
    assert scripted_server.counts()["most_in_flight"] > 32
