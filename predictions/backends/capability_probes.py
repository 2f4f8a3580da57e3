"""Whether a server answers, which models it names, and which ways of asking it really keeps to."""

import io
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from PIL import Image

from predictions.backends import payloads
from predictions.backends.contract import CallError, Decoding
from predictions.backends.openai import OpenAI
from predictions.backends.payloads import MalformedResponse
from predictions.prompts.contract import ImagePart, Message, Reply, Request, TextPart

MOST_MODELS = 500
BIRDS = ("kestrel", "plover")  # which nobody answers unasked
SUM = "What is two plus two?"
BIRD = {
    "type": "object",
    "properties": {"bird": {"type": "string", "enum": list(BIRDS)}},
    "required": ["bird"],
    "additionalProperties": False,
}
SHORT = Decoding(max_tokens=32)


def list_models(backend: OpenAI) -> tuple[str, ...] | None:
    """As the server names them; None where it answers but keeps no list. Raises CallError."""
    response = backend.wire.send("GET", "/models")
    if response.status in (404, 405, 501):
        return None
    if response.status != 200:
        raise backend.wire.error(response)
    try:
        listed = response.body().get("data")
    except MalformedResponse:
        raise backend.wire.unreadable(response) from None
    rows = listed if isinstance(listed, list) else []
    names = [payloads.clean(row.get("id"), 200) for row in rows if isinstance(row, dict)]
    return tuple(sorted(name for name in names if name)[:MOST_MODELS])


def _messages(text: str) -> tuple[Message, ...]:
    return (Message("user", (TextPart(text),)),)


def _is_bird(reply: Reply) -> bool:
    try:
        return json.loads(reply.text).get("bird") in BIRDS
    except (ValueError, AttributeError, RecursionError):
        return False


@dataclass(frozen=True)
class CapabilityProbe:
    """A question and whether the reply shows that the way was kept to; what is only taken in silence is not offered."""

    request: Request
    kept: Callable[[Reply], bool]
    decoding: Decoding = SHORT


def _trials() -> dict[str, CapabilityProbe]:
    red = Message("user", (TextPart("Which colour is this?"), ImagePart("red")))
    counted = Request(kind="continuation", messages=_messages("Two and two is"), continuation=" four")
    return {
        "images": CapabilityProbe(Request(messages=(red,)), lambda reply: True),
        "schema": CapabilityProbe(Request(messages=_messages(SUM), ways=("schema",), schema=BIRD), _is_bird),
        "guided": CapabilityProbe(
            Request(messages=_messages(SUM), ways=("guided",), choices=BIRDS),
            lambda reply: reply.text.strip() in BIRDS,
        ),
        "logprobs": CapabilityProbe(
            Request(messages=_messages("One or two?"), ways=("logprobs",), choices=("1", "2")),
            lambda reply: bool(reply.tokens and len(reply.tokens[0].top) > 1),
        ),
        "continuation": CapabilityProbe(
            counted, lambda reply: all(token.logprob > payloads.LOWEST for token in reply.tokens)
        ),
        "seed": CapabilityProbe(Request(messages=_messages(SUM)), lambda reply: True, Decoding(seed=1, max_tokens=32)),
    }


@cache
def _red() -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (64, 64), (200, 30, 30)).save(out, "PNG")
    return out.getvalue()


def supported_methods(backend: OpenAI, model: str, seconds: float) -> Sequence[str]:
    """Which of the ways the model keeps to, by a tiny question for each, within about `seconds` in all.

    Raises CallError where plain text fails, or the server is too slow for all of them.
    """
    until = time.monotonic() + seconds
    ask = Request(messages=_messages(SUM), max_tokens=32)
    backend.answer(ask, model, Decoding(), lambda sha: _red())
    offered = []
    for name, trial in _trials().items():
        if time.monotonic() > until:
            raise CallError("timeout", "The server answers, but too slowly for trying everything out. Try again later.")
        if _works(backend, model, trial):
            offered.append(name)
    return offered


def _works(backend: OpenAI, model: str, trial: CapabilityProbe) -> bool:
    """Raises CallError where the server cannot be asked just now."""
    try:
        return trial.kept(backend.answer(trial.request, model, trial.decoding, lambda sha: _red()).reply)
    except CallError as error:
        if error.trouble in ("permanent", "transient"):
            return False  # servers that stumble over what they do not know answer 500
        raise
