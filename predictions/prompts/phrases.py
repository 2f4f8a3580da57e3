"""A short text out of a reply: what a model answers in its own words."""

import json
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
    "__": "__",
    "_": "_",
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
    text = _strip_quotes(_without_lead(phrase or _strip_quotes(text), (*LED, *keys)))
    return text or (
        UnparsedReply("unparseable", "cut_off") if reply.text.strip() else UnparsedReply("no_response", "empty")
    )


def _without_lead(text: str, names: Sequence[str]) -> str:
    """Without "Answer:" and its own signs: those of what follows, as in "Answer: **tea**", stay with that."""
    words = "|".join(re.escape(name) for name in names if name)
    lead = re.compile(
        rf"^[\s#]*(?P<mark>[*_]{{0,3}})\s*(?:final\s+)?(?:{words})\s*(?P<closed>(?P=mark))?\s*[:\uff1a]"
        r"(?P<late>(?P=mark))?\s*",
        re.IGNORECASE,
    )
    return lead.sub(lambda match: "" if match["closed"] or match["late"] else match["mark"], text, count=1)


def _in_json(text: str, keys: Sequence[str]) -> str | UnparsedReply:
    """What an object says under one of these keys; empty where there is none, so that the text itself is the phrase."""
    if not text.startswith("{"):
        return ""
    objects = json_objects(text)
    if isinstance(objects, UnparsedReply):
        return objects
    known = {key.casefold() for key in keys}
    rows = [row for row in objects if isinstance(row, dict)]
    values = [row[key] for row in rows for key in row if key.casefold() in known]
    phrases = {_plain_text(value) for value in values if value is None or isinstance(value, str | int | float)}
    if len(phrases) > 1:
        return UnparsedReply("unparseable", "two_verdicts")
    return UnparsedReply("unparseable", "missing_answer") if phrases == {""} else next(iter(phrases), "")


def _plain_text(value: str | float | None) -> str:
    return "" if value is None else value.strip() if isinstance(value, str) else json.dumps(value)


def _strip_quotes(text: str) -> str:
    text = text.strip()
    for begins, ends in QUOTES.items():
        inner = text[len(begins) : -len(ends)]
        if len(text) > len(begins + ends) and text.startswith(begins) and text.endswith(ends) and begins not in inner:
            return inner.strip()
    return text
