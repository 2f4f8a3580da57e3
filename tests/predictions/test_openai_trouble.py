"""Everything a server can do wrong ends in the right class of trouble, and no words tell a secret or the question."""

import logging
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import format_datetime

import pytest

from predictions.backends import failures
from predictions.backends.contract import CallError, Decoding
from predictions.backends.openai import OpenAI
from predictions.prompts.contract import Message, Request, TextPart
from tests.predictions import model_server
from tests.predictions.model_server import Act, Rule, Server

KEY = "sk-wohl-1234567890abcdefghij"
PATIENT, HURRIED = 30.0, 0.7  # seconds
QUESTION = "Does this wedding picture show a henna night in Cairo?"
ASKED = Request(messages=(Message("user", (TextPart(QUESTION),)),), max_tokens=64)


@pytest.fixture
def backend(scripted_server: Server) -> Iterator[OpenAI]:
    one = OpenAI(scripted_server.base_url, KEY, seconds=PATIENT)
    yield one
    one.close()


def call_error(backend: OpenAI) -> CallError:
    with pytest.raises(CallError) as failed:
        backend.answer(ASKED, "qwen", Decoding(), lambda sha: b"")
    return failed.value


TROUBLES = [
    (model_server.TOO_MANY, "rate_limit", 429),
    (model_server.STUMBLES, "transient", 500),
    (model_server.UNAVAILABLE, "transient", 503),
    (Act(status=408), "transient", 408),
    (Act(status=529), "transient", 529),
    (model_server.CUTS_BEFORE, "connection", None),
    (model_server.CUTS_MIDDLE, "connection", None),
    (Act(delay=1.5), "timeout", None),
    (Act(dribble=0.05), "timeout", None),
    (model_server.UNAUTHORISED, "not_allowed", 401),
    (Act(status=403), "not_allowed", 403),
    (Act(status=402), "not_allowed", 402),
    (model_server.BAD_REQUEST, "permanent", 400),
    (Act(status=404, error="no such model"), "permanent", 404),
    (Act(status=501), "permanent", 501),
    (model_server.REDIRECTS, "permanent", 302),
    (model_server.HUGE, "permanent", 200),
    (Act(raw="<html>Welcome to nginx</html>"), "transient", 200),
    (Act(raw='{"choices": []}'), "transient", 200),
    (Act(raw='{"choices": [{"message": "3"}]}'), "transient", 200),
    (Act(raw="[" * 100_000), "transient", 200),
    (Act(raw='{"error": {"code": 429, "message": "slow"}}'), "rate_limit", 200),
    (Act(raw='{"error": {"message": "upstream fell over"}}'), "transient", 200),
    (Act(status=429, raw='{"error": {"code": "insufficient_quota", "message": "pay"}}'), "not_allowed", 429),
]


@pytest.mark.parametrize(("act", "kind", "status"), TROUBLES, ids=lambda one: str(one)[:60])
def test_each_misbehaviour_has_its_class(
    scripted_server: Server, backend: OpenAI, act: Act, kind: str, status: int | None
) -> None:
    scripted_server.rules(Rule(act, numbers=(1,)))
    backend.wire.seconds = HURRIED if kind == "timeout" else PATIENT
    failed = call_error(backend)
    assert (failed.trouble, failed.status) == (kind, status)
    scripted_server.clear()
    scripted_server.rules()
    backend.wire.seconds = PATIENT
    assert backend.answer(ASKED, "qwen", Decoding(), lambda sha: b"").reply.text == "3", "the next one is well"


def test_time_is_counted_over_everything(scripted_server: Server, backend: OpenAI) -> None:
    scripted_server.rules(Rule(Act(dribble=0.05)))
    backend.wire.seconds = HURRIED
    begun = time.monotonic()
    call_error(backend)
    assert 0.5 < time.monotonic() - begun < 5, "each byte comes within the time, all of them do not"


def test_no_redirect_is_followed(scripted_server: Server, backend: OpenAI) -> None:
    scripted_server.rules(Rule(Act(status=307, headers={"Location": f"{scripted_server.base_url}/completions"})))
    call_error(backend)
    assert scripted_server.counts()["total"] == 1


def test_an_answer_that_is_too_long_is_given_up_before_it_has_come(scripted_server: Server, backend: OpenAI) -> None:
    scripted_server.rules(Rule(model_server.HUGE))
    assert "larger than 8 MB" in call_error(backend).words


def test_nobody_there(backend: OpenAI) -> None:
    nobody = OpenAI("http://127.0.0.1:9", seconds=1)
    assert call_error(nobody).trouble == "connection"
    no_name = OpenAI("http://nobody.invalid", seconds=1)
    assert call_error(no_name).trouble == "connection"


READABLE = [
    (model_server.PROSE, "stop"),
    (model_server.BROKEN_JSON, "stop"),
    (model_server.OUT_OF_RANGE, "stop"),
    (model_server.TWO_VERDICTS, "stop"),
    (model_server.IMITATES_DELIMITER, "stop"),
    (model_server.EMPTY, "stop"),
    (model_server.CUT_OFF, "length"),
    (model_server.FILTERED, "content_filter"),
]


@pytest.mark.parametrize(("act", "finish"), READABLE, ids=lambda one: str(one)[:60])
def test_whatever_a_model_says_is_handed_on_as_it_is(
    scripted_server: Server, backend: OpenAI, act: Act, finish: str
) -> None:
    """Reading is the prompt's; the back end never repairs, guesses or fails."""
    scripted_server.rules(Rule(act))
    reply = backend.answer(ASKED, "qwen", Decoding(), lambda sha: b"").reply
    assert (reply.text, reply.finish, reply.refusal) == (act.text, finish, "")


def test_a_refusal_is_an_answer_in_the_models_own_words(scripted_server: Server, backend: OpenAI) -> None:
    scripted_server.rules(Rule(model_server.REFUSES))
    reply = backend.answer(ASKED, "qwen", Decoding(), lambda sha: b"").reply
    assert (reply.text, reply.refusal) == ("", "I cannot help with that.")


def test_a_question_that_a_filter_keeps_from_the_model_is_a_refusal_too(
    scripted_server: Server, backend: OpenAI
) -> None:
    scripted_server.rules(Rule(Act(status=400, raw='{"error": {"code": "content_filter", "message": "no"}}')))
    answered = backend.answer(ASKED, "qwen", Decoding(), lambda sha: b"")
    assert (answered.reply.finish, answered.reply.text, answered.status) == ("content_filter", "", 400)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "7"}, 7.0),
        ({"Retry-After": "1.5"}, 1.5),
        ({"retry-after-ms": "250", "Retry-After": "1"}, 0.25),
        ({"Retry-After": "999999999"}, 3600.0),
        ({"Retry-After": "soon"}, None),
        ({}, None),
    ],
)
def test_when_to_ask_again_is_read_in_seconds(
    scripted_server: Server, backend: OpenAI, headers: dict[str, str], seconds: float | None
) -> None:
    scripted_server.rules(Rule(Act(status=429, headers=headers)))
    assert call_error(backend).retry_after == seconds


def test_when_to_ask_again_is_read_from_a_date() -> None:
    at = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
    later = format_datetime(at.replace(minute=2), usegmt=True)
    assert failures.retry_after({"retry-after": later}, at) == 120.0
    assert failures.retry_after({"retry-after": later}, at.replace(hour=13)) == 0.0


TELLING = [
    f"Incorrect API key provided: {KEY}",
    f"Incorrect API key provided: {KEY[:12]}********{KEY[-4:]}",
    f"Bearer {KEY} is not known",
    f"Cannot answer: {QUESTION}",
    f"context: ...{QUESTION[10:44].upper()}...",
    f"key {KEY} and text {QUESTION}",
]


@pytest.mark.parametrize("words", TELLING)
@pytest.mark.parametrize("status", [400, 401, 429, 500])
def test_words_of_an_error_tell_neither_the_key_nor_the_question(
    scripted_server: Server, backend: OpenAI, words: str, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    scripted_server.rules(Rule(Act(status=status, error=words)))
    failed = call_error(backend)
    everything = f"{failed.words} {failed!r} {failed} {failed.__cause__!r} {caplog.text} {backend!r} {backend.wire!r}"
    assert KEY not in everything and KEY[3:11] not in everything
    assert "henna" not in everything.lower()
    assert failed.words, "but something is said"


def test_words_that_help_are_kept(scripted_server: Server, backend: OpenAI) -> None:
    scripted_server.rules(Rule(model_server.BAD_REQUEST))
    assert call_error(backend).words.endswith("This model's maximum context length is 10 tokens")
