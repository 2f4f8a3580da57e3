"""What is common to all reading: whether anything came, what is the reply proper, and JSON in it. Never raises."""

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from predictions.prompts.contract import Reply, UnparsedReply

READING_VERSION = 3
"""Of the rules by which replies are read, those of this whole folder; kept with every reading. A reply that is read
otherwise than before makes a new version: tests/predictions/prompts/test_reading_version.py holds the two together."""
LONGEST = 20_000  # characters that are read, the last ones
STARTS = 100  # braces that are tried
UNSEEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
FENCE = re.compile(r"^[ \t]*(?:```|~~~)[\w+-]*[ \t]*$", re.MULTILINE)
THOUGHT = re.compile(r"<(?P<ends>/)?(?P<name>think|thinking|reasoning|analysis)>", re.IGNORECASE)
THOUGHT_ENDS = re.compile(r"^.*</(?:think|thinking|reasoning)>", re.DOTALL | re.IGNORECASE)
THOUGHT_BEGINS = re.compile(r"^\s*<(?:think|thinking|reasoning|analysis)>", re.IGNORECASE)
OPENS_WITH_VERDICT = re.compile(  # "1. It shows" is a list, "5</think>" a thought
    r"^\W*(?:\d{1,4}\b(?!\.\s|\s*<)|\{|(?-i:[AB]\b(?!\s*<|\s+[a-z]))"
    r"|(?:(?:the|my|final|overall)\s+){0,2}(?:score|rating|answer|verdict|choice)\b[\s*_`]*(?:[:=]|is\b\W*(?:\d|[AB]\b)))",
    re.IGNORECASE,
)
BLANKS = re.compile(r"\s{9,}")  # models run on with white space; no more of it says no more
SIGNS = re.compile(r"\W{80,}")  # nor of signs
MORE = re.compile(r"\n\s{0,20}(?:Question|Q)\s{0,20}:")
WIDE = {ord(one): other for one, other in zip("\uff1d\uff1a\uff0f\uff0e\u2212\uff0d\ufe63", "=:/.---", strict=True)}
VOWELS = re.compile(r"[\u064b-\u0652\u0640]")  # signs and stretching of Arabic
SORRY = re.compile(
    r"""^\W*(?:(?:unfortunately|regrettably)\W{1,3})?(?:
    (?:i\s?['\u2019]?\s?a?m\s+|we\s+are\s+|my\s+apolog\w*|i\s+apolog\w*)?(?:very\s+|so\s+)?(?:sorry|apologi[sz]e)\b(?!\s+for\s+the\s+loss)
    |(?:as\s+an?\s+(?:ai|language\s+model)\b.{0,60}?)?i\s*(?:can\s?not|can['\u2019]?t|won['\u2019]?t|will\s+not|must\s+decline|decline\s+to
       |am\s+(?:not\s+able|unable)\s+to|['\u2019]m\s+(?:not\s+able|unable)\s+to|do\s+not\s+feel\s+comfortable|am\s+not\s+comfortable)\b
       .{0,40}?\b(?:assist|help|comply|provide|give|answer|rate|judge|choose|compare|decide|identify|evaluate|assess|score|pick|select|discuss|engage|fulfil+|do\s+that|process|rating|with|to)\b
    |unable\s+to\s+(?:assist|help|comply|answer|provide|process)
    |lo\s+siento\b|desculpe\b|sinto\s+muito\b|d\u00e9sol\u00e9e?\b|je\s+ne\s+peux\s+pas\b|no\s+puedo\b|n\u00e3o\s+posso\b|es\s+tut\s+mir\s+leid
    |\u0639\u0630\u0631\u0627|\u0622\u0633\u0641|\u0644\u0627\s+\u0623\u0633\u062a\u0637\u064a\u0639|\u0644\u0627\s+\u064a\u0645\u0643\u0646\u0646\u064a
    |\u5bf9\u4e0d\u8d77|\u62b1\u6b49|\u6211\u65e0\u6cd5|\u7533\u3057\u8a33|\u12ed\u1245\u122d\u1273
    )""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)


CANNOT_TELL = re.compile(  # which verdict; in an answer in free words it is an answer
    r"^\W*(?:as\s+an?\s+(?:ai|language\s+model)\b.{0,60}?)?(?:i|we)\s*(?:can\s?not|can['\u2019]?t|am\s+unable\s+to)\s+(?:say|tell|determine)\b",
    re.IGNORECASE,
)


def empty_reason(reply: Reply) -> UnparsedReply | None:
    """Why a reply has no answer, before anything is read of it."""
    if reply.finish == "content_filter":
        return UnparsedReply("refused", "content_filter")
    if reply.refusal.strip():
        return UnparsedReply("refused", "said_no")
    return None if reply.text.strip() or reply.tokens else UnparsedReply("no_response", "empty")


def strip_reasoning(text: str, openings: Sequence[str] = ()) -> str:
    """The reply itself: without what a model thinks aloud in tags, marks of code, and signs nobody sees.

    `openings`: texts of others in the prompt, whose own tags end no thought. Nor does a tag end one where the reply begins
    with a verdict: then what is before it counts too.
    """
    text = BLANKS.sub(lambda run: "\n\n" if "\n" in run[0] else " ", UNSEEN.sub("", text[-LONGEST:]))
    text = SIGNS.sub(lambda run: f"{run[0][:20]}\n{run[0][-20:]}", text)
    if "</" in text:
        for one in openings:
            if "</" in one and len(re.findall(r"\w", THOUGHT.sub("", one))) >= 8:
                text = text.replace(one.strip(), " ")
        text = _strip_thinking_tags(text)
        text = text if OPENS_WITH_VERDICT.match(text) else THOUGHT_ENDS.sub("", text)
    if THOUGHT_BEGINS.match(text):
        return ""
    return FENCE.sub("", text).strip()


def _strip_thinking_tags(text: str) -> str:
    """Without what stands between tags of thought; a tag without its other half stays."""
    text_left, at, name, began = "", 0, "", 0
    ends = {match["name"].casefold(): match.start() for match in THOUGHT.finditer(text) if match["ends"]}
    for tag in THOUGHT.finditer(text):
        tag_name = tag["name"].casefold()
        if not name and not tag["ends"] and ends.get(tag_name, -1) > tag.start():
            name, began = tag_name, tag.start()
        elif tag["ends"] and tag_name == name:
            text_left, at, name = text_left + text[at:began], tag.end(), ""
    return text_left + text[at:]


def first_turn(reply: Reply) -> Reply:
    """Without further questions that a model goes on to make up and answer, as base models do."""
    kept = MORE.split(reply.text, maxsplit=1)[0]
    return reply if kept == reply.text or not kept.strip() else replace(reply, text=kept, finish="stop")


def is_refusal(text: str) -> bool:
    """Whether a model declines in words."""
    return bool(SORRY.match(VOWELS.sub("", text[:400])))


def is_verdict_refusal(text: str) -> bool:
    """The same, of a verdict: "I cannot say" is a refusal to give one."""
    return is_refusal(text) or bool(CANNOT_TELL.match(text[:400]))


def failure_reason(reply: Reply, unread: UnparsedReply) -> UnparsedReply:
    """The better reason, where a reply could not be read: it was cut off, or it declines."""
    text = strip_reasoning(reply.text)
    if unread.state == "unparseable" and is_verdict_refusal(text):
        return UnparsedReply("refused", "said_no", unread.notes)
    if unread.state == "unparseable" and (reply.finish == "length" or not text):
        return UnparsedReply(
            "unparseable", "cut_off" if reply.finish == "length" or reply.text.strip() else "empty", unread.notes
        )
    return unread


def ascii_digits(text: str) -> str:
    """Digits of any script as 0 to 9, and full-width signs as plain ones; the length stays."""
    return "".join(str(unicodedata.decimal(one, one)) if ord(one) > 127 else one for one in text).translate(WIDE)


class _DuplicateKey(ValueError):
    """A key that says two things."""


def _unique_members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for key, value in pairs:
        if key in members and members[key] != value:
            raise _DuplicateKey(key)
        members[key] = value
    return members


def _refuse(_constant: str) -> Any:
    raise ValueError("not a number")


_DECODER = json.JSONDecoder(object_pairs_hook=_unique_members, parse_constant=_refuse)


def json_objects(text: str, begins: str = "{") -> list[Any] | UnparsedReply:
    """The JSON objects (or arrays) in a text, one after the other, each whole."""
    try:
        return [value for value, _at, _end in _iter_json(text, begins)]
    except _DuplicateKey:
        return UnparsedReply("unparseable", "two_verdicts")


def without_objects(text: str) -> str:
    """What is said outside of JSON objects."""
    text_left, last = "", 0
    try:
        for _value, at, end in _iter_json(text, "{"):
            text_left, last = f"{text_left}{text[last:at]}\n", end
    except _DuplicateKey:
        return text
    return text_left + text[last:]


def after_objects(text: str) -> str:
    """What is said after the last JSON object; all of a text without one."""
    try:
        ends = [end for _value, _at, end in _iter_json(text, "{")]
    except _DuplicateKey:
        return ""
    return text[ends[-1] :] if ends else text


def _iter_json(text: str, begins: str) -> Iterator[tuple[Any, int, int]]:
    """Each with its place. Raises _Twice."""
    at, tried = text.find(begins), 0
    while at >= 0 and tried < STARTS:
        tried, end = tried + 1, at + 1
        try:
            value, end = _DECODER.raw_decode(text, at)
        except _DuplicateKey:
            raise
        except (ValueError, RecursionError):
            pass
        else:
            yield value, at, end
        at = text.find(begins, end)


def single_json_object(text: str) -> Mapping[str, Any] | UnparsedReply:
    """The one JSON object of a reply. The same said twice is said once; two different ones are none."""
    objects = json_objects(text)
    if isinstance(objects, UnparsedReply):
        return objects
    if not objects:
        return UnparsedReply("unparseable", "bad_json")
    if any(one != objects[0] for one in objects):
        return UnparsedReply("unparseable", "two_verdicts")
    value: Mapping[str, Any] = objects[0]
    return value
