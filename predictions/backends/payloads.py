"""What is sent to a server that speaks the OpenAI protocol, and what is read from it. No network, no state."""

import base64
from collections.abc import Mapping, Sequence
from typing import Any

from predictions.backends.contract import Decoding, Pictures
from predictions.prompts.contract import NO_LOGPROB, AnswerMethod, ImagePart, Message, Reply, Request, TextPart, Token

MOST_TOP = 20  # the most that OpenAI and vLLM give; FEWER_TOP where a server refuses that many
FEWER_TOP = 5
MOST_TOKENS = 100_000_000  # of one answer; so many, some times over, are still a number in the database
LOWEST = NO_LOGPROB
ROUNDED = 1e-3  # a probability of one may come as a little more; more than that is none
MAGIC = ((b"\x89PNG", "image/png"), (b"GIF8", "image/gif"), (b"RIFF", "image/webp"))


class MalformedResponse(Exception):
    """The server's envelope is not what the protocol says. Nothing of it is in the message."""


def allowed_methods(request: Request, decoding: Decoding, offers: Sequence[str]) -> tuple[AnswerMethod, ...]:
    """How an answer may be got, the best first: the prompt's ways that the endpoint offers and the run lets.

    Text is offered by every endpoint. "logprobs" and "guided" need choices, "schema" needs a schema.
    """
    has: dict[str, bool] = {"logprobs": bool(request.choices), "guided": bool(request.choices)}
    has |= {"schema": bool(request.schema), "text": True}
    return tuple(
        way
        for way in request.ways
        if has[way] and (way == "text" or way in offers) and (not decoding.ways or way in decoding.ways)
    )


def max_tokens(request: Request, decoding: Decoding) -> int:
    return decoding.max_tokens or request.max_tokens


def kind_of(data: bytes) -> str:
    """Of an image, for its header."""
    return next((kind for magic, kind in MAGIC if data.startswith(magic)), "image/jpeg")


def data_url(data: bytes) -> str:
    return f"data:{kind_of(data)};base64,{base64.b64encode(data).decode()}"


def messages_of(messages: Sequence[Message], pictures: Pictures) -> list[dict[str, Any]]:
    return [{"role": message.role, "content": _content(message, pictures)} for message in messages]


def _content(message: Message, pictures: Pictures) -> str | list[dict[str, Any]]:
    """Plain text where there is no image: some servers' templates take nothing else."""
    if not any(isinstance(piece, ImagePart) for piece in message.pieces):
        return "".join(piece.text for piece in message.pieces if isinstance(piece, TextPart))
    return [
        {"type": "text", "text": piece.text}
        if isinstance(piece, TextPart)
        else {"type": "image_url", "image_url": {"url": data_url(pictures(piece.sha))}}
        for piece in message.pieces
    ]


def has_pictures(request: Request) -> bool:
    return any(isinstance(piece, ImagePart) for message in request.messages for piece in message.pieces)


def decoding_parameters(decoding: Decoding, offers: Sequence[str]) -> dict[str, Any]:
    body: dict[str, Any] = {"temperature": decoding.temperature}
    if decoding.top_p is not None:
        body["top_p"] = decoding.top_p
    if decoding.seed is not None and "seed" in offers:
        body["seed"] = decoding.seed
    return body


def method_parameters(way: AnswerMethod, request: Request, tokens: int, top: int) -> dict[str, Any]:
    """What a chat's body says besides, and how many tokens it may take.

    Guided choice is named as vLLM names it now and as it did before 0.12; either ignores the other's name.
    """
    if way == "logprobs":
        longest = max(len(choice.encode()) for choice in request.choices)
        return {"logprobs": True, "top_logprobs": top, "max_tokens": min(tokens, longest + 8)}
    if way == "guided":
        choices = list(request.choices)
        return {"structured_outputs": {"choice": choices}, "guided_choice": choices, "max_tokens": tokens}
    if way == "schema":
        schema = {"name": request.schema.get("title", "answer"), "strict": True, "schema": request.schema}
        return {"response_format": {"type": "json_schema", "json_schema": schema}, "max_tokens": tokens}
    return {"max_tokens": tokens}


NAMES: dict[AnswerMethod, tuple[str, ...]] = {
    "logprobs": ("logprobs",),
    "guided": ("guided", "structured_outputs", "structured output"),
    "schema": ("response_format", "json_schema", "json schema", "structured output", "structured_outputs"),
}


def is_method_error(words: str, way: AnswerMethod) -> bool:
    """Whether a refusal is about the way of asking."""
    return any(name in words.lower() for name in NAMES.get(way, ()))


def text_prompt(messages: Sequence[Message]) -> str:
    """For servers' completions: the messages' texts, an empty line between them; one message is as it is."""
    texts = ["".join(piece.text for piece in message.pieces if isinstance(piece, TextPart)) for message in messages]
    return "\n\n".join(texts)


def clean(text: Any, most: int | None = None) -> str:
    """Text that a database keeps: without NUL and without halves of letters."""
    if not isinstance(text, str):
        return ""
    whole: str = text[:most].replace("\0", "\ufffd")
    return whole if whole.isascii() else whole.encode("utf-8", "replace").decode()


def reply_of(body: Mapping[str, Any], way: AnswerMethod) -> Reply:
    """The first choice of a chat's answer. Raises MalformedResponse."""
    choice = _first_choice(body)
    message = choice.get("message")
    if not isinstance(message, Mapping):
        raise MalformedResponse
    return Reply(
        text=_message_text(message.get("content")),
        finish=clean(choice.get("finish_reason"), 40),
        refusal=clean(message.get("refusal"), 2000),
        way=way,
        tokens=_tokens(choice.get("logprobs")),
        model=clean(body.get("model"), 200),
    )


def _first_choice(body: Mapping[str, Any]) -> Mapping[str, Any]:
    choices = body.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], Mapping):
        raise MalformedResponse
    return choices[0]


def _message_text(content: Any) -> str:
    """Text, or a list of pieces of which some are text."""
    if isinstance(content, list):
        return "".join(clean(piece.get("text")) for piece in content if isinstance(piece, Mapping))
    return clean(content)


def _tokens(logprobs: Any) -> tuple[Token, ...]:
    content = logprobs.get("content") if isinstance(logprobs, Mapping) else None
    if not isinstance(content, list):
        return ()
    return tuple(
        Token(clean(one.get("token")), _number(one.get("logprob")), _top(one.get("top_logprobs")))
        for one in content
        if isinstance(one, Mapping)
    )


def _top(listed: Any) -> dict[str, float]:
    """Different tokens may read the same: the likelier one stands for them."""
    top: dict[str, float] = {}
    for one in listed if isinstance(listed, list) else ():
        if isinstance(one, Mapping):
            text, value = clean(one.get("token")), _number(one.get("logprob"))
            top[text] = max(value, top.get(text, LOWEST))
    return top


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not value <= ROUNDED:  # nan is not
        return LOWEST
    return float(max(LOWEST, min(0.0, value)))  # whole numbers of JSON may be too large to be made one before


def usage_of(body: Mapping[str, Any]) -> tuple[int | None, int | None]:
    """Tokens in and out, as the server counted them; None where that is no number of tokens."""
    usage = body.get("usage")
    if not isinstance(usage, Mapping):
        return None, None
    usage_values = [usage.get(name, usage.get(other)) for name, other in (
        ("prompt_tokens", "input_tokens"), ("completion_tokens", "output_tokens"),
    )]  # fmt: skip
    counts = [one if type(one) is int and 0 <= one <= MOST_TOKENS else None for one in usage_values]
    return counts[0], counts[1]


def echoed_tokens(body: Mapping[str, Any]) -> list[Token]:
    """Of a completion that repeats its prompt. Raises MalformedResponse."""
    logprobs = _first_choice(body).get("logprobs")
    if not isinstance(logprobs, Mapping):
        raise MalformedResponse
    texts, values = logprobs.get("tokens"), logprobs.get("token_logprobs")
    if not isinstance(texts, list) or not isinstance(values, list) or len(texts) != len(values):
        raise MalformedResponse
    return [Token(clean(text), _number(value)) for text, value in zip(texts, values, strict=True)]


def prompt_tokens(body: Mapping[str, Any]) -> list[Token]:
    """Of a chat's prompt, as vLLM gives them: for each place, the token that stands there among the likeliest.

    Raises MalformedResponse.
    """
    listed = body.get("prompt_logprobs")
    if not isinstance(listed, list):
        raise MalformedResponse
    tokens: list[Token] = []
    for place in listed:
        if isinstance(place, Mapping) and place and isinstance(first := next(iter(place.values())), Mapping):
            tokens.append(Token(clean(first.get("decoded_token")), _number(first.get("logprob"))))
        else:
            tokens.append(Token("", LOWEST))  # the first has none
    return tokens


def trailing_tokens(tokens: Sequence[Token], text: str) -> tuple[Token, ...]:
    """The tokens at the end that spell the text; none if no number of them does. One that begins before it counts."""
    tail = ""
    for start in range(len(tokens) - 1, -1, -1):
        tail = tokens[start].text + tail
        if tail.rstrip().endswith(text.strip()) and len(tail.strip()) >= len(text.strip()):
            return tuple(tokens[start:])
        if len(tail) > 2 * len(text) + 80:
            break
    return ()
