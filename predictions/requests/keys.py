"""The name under which a reply is kept: equal when, and only when, the same thing would be asked again."""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from predictions.backends.contract import Decoding
from predictions.backends.payloads import allowed_methods, max_tokens
from predictions.prompts.contract import AnswerMethod, ImagePart, Message, Request

Digest = Callable[[str], str]
"""SHA-256 of the bytes that are sent for an image's sha (preprocessing.digest_of)."""


@dataclass(frozen=True)
class RequestIdentity:
    """Who is asked, by what, and with what settings: the same for a whole run."""

    endpoint: int
    base_url: str
    model: str
    revision: str
    prompt: str
    prompt_version: str
    decoding: Decoding
    offers: tuple[str, ...] = ()


def answer_methods(request: Request, identity: RequestIdentity) -> tuple[AnswerMethod, ...]:
    """How the answer may be got, the best first; none if the endpoint offers none of the prompt's ways."""
    return allowed_methods(request, identity.decoding, identity.offers)


def sent_request_json(request: Request, digest: Digest) -> dict[str, Any]:
    """A request as it is kept with its reply: images by their sha and the digest of the bytes that were sent."""
    whole: dict[str, Any] = {
        "kind": request.kind,
        "messages": [_message(message, digest) for message in request.messages],
        "choices": list(request.choices),
        "schema": dict(request.schema),
        "continuation": request.continuation,
        "texts": list(request.texts),
        "image": {"sha": request.image, "sent": digest(request.image)} if request.image else None,
    }
    return {name: value for name, value in whole.items() if value}


def _message(message: Message, digest: Digest) -> dict[str, Any]:
    pieces: Sequence[dict[str, str]] = [
        {"image": piece.sha, "sent": digest(piece.sha)} if isinstance(piece, ImagePart) else {"text": piece.text}
        for piece in message.pieces
    ]
    return {"role": message.role, "pieces": pieces}


def request_key(request: Request, identity: RequestIdentity, *, repeat: int, part: int, digest: Digest) -> str:
    """The key of a request of a unit: its `part`, in its `repeat`. Reading and naming change nothing of it.

    The order of a schema's properties is kept, for a model writes them in that order. All ways that may be taken are
    in it, since a server that refuses one is asked in the next.
    """
    decoding = identity.decoding
    whole = {
        "endpoint": [identity.endpoint, identity.base_url.rstrip("/")],
        "model": [identity.model, identity.revision],
        "prompt": [identity.prompt, identity.prompt_version],
        "ways": answer_methods(request, identity),
        "decoding": [
            decoding.temperature,
            decoding.top_p,
            decoding.seed if "seed" in identity.offers else None,
            max_tokens(request, decoding),
        ],
        "request": sent_request_json(request, digest),
        "repeat": repeat,
        "part": part,
    }
    return json_digest(whole)


def json_digest(value: dict[str, Any]) -> str:
    """SHA-256 of the compact JSON of the value, in hexadecimal."""
    return hashlib.sha256(json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode()).hexdigest()
