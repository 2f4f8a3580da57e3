"""A short text out of a reply: what a model answers in its own words."""

import re
from collections.abc import Sequence

from predictions.prompts.contract import Reply, UnparsedReply
from predictions.prompts.reply_text import empty_reason, first_turn, is_refusal, json_objects, strip_reasoning

LED = ("answer", "response", "title", "name", "entity")
QUOTES = {
    '"': '"',
    "'": "'",
    "\u201c": "\u201d",
    "\u2018": "\u2019",
    "\u00ab": "\u00bb",
    "`": "`",
    "**": "**",
    "*": "*",
}


def parse_phrase(replies: Sequence[Reply], keys: Sequence[str] = ("answer",)) -> str | UnparsedReply:
    """The text of the first reply, without "Answer:", or a key, before it and quotation marks around it."""
    if not replies:
        return UnparsedReply("no_response", "empty")
    reply = first_turn(replies[0])
    gone = empty_reason(reply)
    if gone:
        return gone
    text = strip_reasoning(reply.text)
    if is_refusal(text):
        return UnparsedReply("refused", "said_no")
    if reply.finish == "length":
        return UnparsedReply("unparseable", "cut_off")
    phrase = _in_json(text, keys)
    if isinstance(phrase, UnparsedReply):
        return phrase
    names = "|".join(re.escape(one) for one in (*LED, *keys) if one)
    led = rf"^[\s*_#]*(?:final\s+)?(?:{names})[\s*_]*[:\uff1a][\s*_]*"
    text = _strip_quotes(re.sub(led, "", phrase or text, count=1, flags=re.IGNORECASE))
    return text or (
        UnparsedReply("unparseable", "cut_off") if reply.text.strip() else UnparsedReply("no_response", "empty")
    )


def _in_json(text: str, keys: Sequence[str]) -> str | UnparsedReply:
    if not text.startswith("{"):
        return ""
    objects = json_objects(text)
    if isinstance(objects, UnparsedReply):
        return objects
    phrases = {one[key] for one in objects for key in keys if isinstance(one, dict) and isinstance(one.get(key), str)}
    return UnparsedReply("unparseable", "two_verdicts") if len(phrases) > 1 else next(iter(phrases), "")


def _strip_quotes(text: str) -> str:
    text = text.strip()
    for begins, ends in QUOTES.items():
        inner = text[len(begins) : -len(ends)]
        if len(text) > len(begins + ends) and text.startswith(begins) and text.endswith(ends) and begins not in inner:
            return inner.strip()
    return text
