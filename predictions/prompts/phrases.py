"""A short text out of a reply: what a model answers in its own words."""

import re
from collections.abc import Sequence

from predictions.prompts.contract import Reply, Unread
from predictions.prompts.reading import nothing, objects, own_part, proper, says_no

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


def phrase_of(replies: Sequence[Reply], keys: Sequence[str] = ("answer",)) -> str | Unread:
    """The text of the first reply, without "Answer:", or a key, before it and quotation marks around it."""
    if not replies:
        return Unread("no_response", "empty")
    reply = own_part(replies[0])
    gone = nothing(reply)
    if gone:
        return gone
    text = proper(reply.text)
    if says_no(text):
        return Unread("refused", "said_no")
    if reply.finish == "length":
        return Unread("unparseable", "cut_off")
    found = _in_json(text, keys)
    if isinstance(found, Unread):
        return found
    names = "|".join(re.escape(one) for one in (*LED, *keys) if one)
    led = rf"^[\s*_#]*(?:final\s+)?(?:{names})[\s*_]*[:\uff1a][\s*_]*"
    text = _bare(re.sub(led, "", found or text, count=1, flags=re.IGNORECASE))
    return text or (Unread("unparseable", "cut_off") if reply.text.strip() else Unread("no_response", "empty"))


def _in_json(text: str, keys: Sequence[str]) -> str | Unread:
    if not text.startswith("{"):
        return ""
    found = objects(text)
    if isinstance(found, Unread):
        return found
    said = {one[key] for one in found for key in keys if isinstance(one, dict) and isinstance(one.get(key), str)}
    return Unread("unparseable", "two_verdicts") if len(said) > 1 else next(iter(said), "")


def _bare(text: str) -> str:
    text = text.strip()
    for begins, ends in QUOTES.items():
        inner = text[len(begins) : -len(ends)]
        if len(text) > len(begins + ends) and text.startswith(begins) and text.endswith(ends) and begins not in inner:
            return inner.strip()
    return text
