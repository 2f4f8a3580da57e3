"""Which kind of trouble a server's answer is, and what may be said of it: no secret, and nothing of what was asked."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpcore
from django.views.decorators.debug import sensitive_variables

from predictions.backends.connections import AddressRefused
from predictions.backends.contract import CallError, Trouble
from predictions.prompts.contract import Request, TextPart

LONGEST_WAIT = 3600.0
MOST_WORDS = 300
KEYS = re.compile(r"\b(?:sk|pk|key|gsk|hf|xai|AIza)[-_][\w*.-]{4,}|\bBearer\s+\S+|\S{40,}")
NUMBER = re.compile(r"[0-9]{1,12}(?:\.[0-9]{0,12})?")
FILTERS = ("content_filter", "content_policy_violation", "moderation_blocked")
WORDS = {
    "private": "The address leads into a private network that this site does not ask.",
    "in_clear": "The secret would travel unencrypted: use an address that begins with https.",
    "connection": "The connection could not be made or broke.",
    "timeout": "No answer came within {seconds:g} seconds.",
    "too_large": "The answer was larger than {most} MB and was given up.",
    "moved": "The server sends us to another address. Give the endpoint that address itself.",
    "not_json": "The server answered something that is not of the OpenAI protocol.",
    "no_credit": "The account at the server has no credit left.",
    "not_allowed": "The server does not let us in: the secret is missing, wrong, or not for this model.",
    "rate_limit": "The server asks us to slow down.",
    "transient": "The server stumbled (status {status}).",
    "permanent": "The server does not take this request (status {status}).",
}


def from_connection_error(error: Exception, seconds: float) -> CallError:
    """From a failure of the connection."""
    if isinstance(error, AddressRefused):
        return CallError("not_allowed", WORDS[str(error)])
    if isinstance(error, httpcore.TimeoutException) and not isinstance(error, httpcore.ConnectTimeout):
        return CallError("timeout", WORDS["timeout"].format(seconds=seconds))
    return CallError("connection", WORDS["connection"])


def classify_status(status: int, code: str) -> tuple[Trouble, str]:
    """The class of a status that is not 200, and whose words fit it."""
    if status == 429:
        return ("not_allowed", "no_credit") if code == "insufficient_quota" else ("rate_limit", "rate_limit")
    if status == 402:
        return "not_allowed", "no_credit"
    if status in (401, 403, 407):
        return "not_allowed", "not_allowed"
    if 300 <= status < 400:
        return "permanent", "moved"
    if status in (408, 409, 425) or (status >= 500 and status not in (501, 505)):
        return "transient", "transient"
    return "permanent", "permanent"


def parse_error_body(body: Any) -> tuple[str, str]:
    """Code and words of an error's body, in the shapes that servers have: {"error": {...}}, {"message": ...}, ..."""
    details = body.get("error", body) if isinstance(body, Mapping) else {}
    if isinstance(details, str):
        return "", details
    if not isinstance(details, Mapping):
        return "", ""
    code = details.get("code") or details.get("type") or ""
    words = " ".join(str(details[name]) for name in ("message", "detail", "param") if details.get(name))
    return str(code), words


def is_content_filter(code: str) -> bool:
    """Whether the server would not hear the question at all: a refusal, not a failure."""
    return code in FILTERS


def retry_after(headers: Mapping[str, str], at: datetime | None = None) -> float | None:
    """Seconds to wait, from a number or a date; None if the server does not say."""
    if NUMBER.fullmatch(exact := headers.get("retry-after-ms", "").strip()):
        return min(LONGEST_WAIT, float(exact) / 1000)
    header = headers.get("retry-after", "").strip()
    if NUMBER.fullmatch(header):
        return min(LONGEST_WAIT, float(header))
    try:
        until = parsedate_to_datetime(header)
    except (TypeError, ValueError, OverflowError):
        return None
    until = until if until.tzinfo else until.replace(tzinfo=UTC)
    return min(LONGEST_WAIT, max(0.0, (until - (at or datetime.now(UTC))).total_seconds()))


@sensitive_variables()
def redact(words: str, secret: str, asked: Sequence[str]) -> str:
    """A server's own words, shortened; nothing where they repeat what was asked, and keys blotted out."""
    words = " ".join(words.replace("\0", "").split())
    if secret:
        words = words.replace(secret, "[…]")
    words = KEYS.sub("[…]", words)[:MOST_WORDS].encode("utf-8", "replace").decode()
    return "" if _repeats(words.lower(), [" ".join(text.lower().split()) for text in asked]) else words


def _repeats(words: str, asked: Sequence[str], window: int = 20) -> bool:
    if any(3 < len(text) <= window and text in words for text in asked):
        return True
    pieces = {words[start : start + window] for start in range(max(0, len(words) - window + 1))}
    return any(piece in text for text in asked if len(text) > window for piece in pieces)


def request_texts(request: Request) -> list[str]:
    """Everything that was written in a request."""
    texts = [piece.text for message in request.messages for piece in message.pieces if isinstance(piece, TextPart)]
    return [*texts, request.continuation, *request.texts]
