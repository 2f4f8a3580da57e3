"""A or B out of a reply that gives a letter, then a reason. The letter stands alone: "A person ..." is not A.

What counts, in this order: the whole reply; JSON; a letter that begins it; a letter that is stated ("Answer: B", "I choose
Image B", "Image B better matches"). Where two of them differ, none is taken.
"""

import re
from collections.abc import Mapping

from predictions.prompts.contract import Reply, UnparsedReply
from predictions.prompts.reply_text import (
    empty_reason,
    failure_reason,
    is_verdict_refusal,
    strip_reasoning,
    without_objects,
)
from predictions.prompts.scales import parse_code
from predictions.prompts.verdict_patterns import QUOTED
from predictions.prompts.verdicts import NO_VERDICT, TWO, VerdictScale, in_json, parse_bare_verdict

ALIKE = str.maketrans("\uff21\uff22\u0410\u0412\u0391\u0392\u24b6\u24b7", "ABABABAB")  # what looks like A or B
THING = r"(?:image|picture|photo|option|choice|answer|candidate)"
MARK = r"[*_`~\"'\u201c\u201d\u2018\u2019\[\](){}<>]*"
LETTER = rf"{MARK}(?:(?i:{THING})\s+)?{MARK}(?P<said>[ABab]){MARK}"
LONE = rf"{MARK}(?:(?:(?i:{THING})\s+{MARK}(?P<named>[ABab]))|(?P<said>[AB])){MARK}"
AFTER = r"(?=\s*(?:$|[\n.:;,)\-\u2013\u2014]|\(\s*(?i:image|picture|option)|\b(?:because|since|as\s+(?:it|the|they)|reason)\b))"
BEGINS = re.compile(rf"^[\s>#]*{LONE}{AFTER}", re.MULTILINE)
JOINED = r"(?:or|and|nor|to|no|actually|rather|wait|sorry|maybe|perhaps|possibly)\b"
SECOND = rf"{MARK}(?:(?i:image|picture|option)\s+)?{MARK}(?:[Bb]\b|A\b(?!\s+[a-z]))"
OTHER = (  # "A, or B", "A, but B is better": beside one letter the other
    rf"(?![\s,;(]{{0,4}}(?:/|,|;|\||-|\u2013|\.{{2,}}|\u2026|&|(?i:{JOINED}))[\s,;(]{{0,4}}(?:(?i:{JOINED})[\s,]{{0,3}}){{0,2}}{SECOND})"
    rf"(?!\s*[,;]?\s*but\s+{SECOND}\s+(?:is\s+(?:the\s+)?(?:better|best|closer|more)|fits|matches|suits)\b)"
)
STATED = re.compile(
    rf"\b(?i:(?:(?:final|my|the|correct|best)\s+){{0,4}}(?:answer|choice|selection|decision|verdict)(?:\s+is|\s+would\s+be)?\s*[:=\-\u2013\u2014]?\s*|"
    rf"(?:i|i['\u2019]d|i\s+would|we)\s+(?:choose|select|pick|go\s+with|chose|selected|answer|prefer)\s+){LETTER}(?![\w'\u2019])(?!\s*\?|\s*,\s*(?:if|unless)\b)"
)
MATCHES = re.compile(
    rf"\b(?i:image|picture|option|photo)\s+{MARK}(?P<said>[ABab]){MARK}\s+(?i:is\s+(?:the\s+)?(?:better|best|closer"
    r"|more\s+(?:accurate|aligned|appropriate|apt|consistent|fitting|relevant|representative|suitable|typical|in\s+line))\b"
    r"|(?:better|best|more\s+closely|more\s+accurately)\s+(?:match|fit|align|reflect|represent|suit|correspond|capture)\w*)"
    r"(?![^.!\n]{0,200}\?)"  # a question states nothing
)
LEADS = (
    r"(?i:(?:no|but|choose|actually|on\s+reflection|on\s+second\s+thoughts?|wait|rather|correction|so|thus|hence|therefore|instead|or|maybe"
    r"|perhaps|sorry|and)\b[\s,:\-\u2013\u2014]*){0,3}"
)
SENTENCE = re.compile(rf"[\s>#]*{LEADS}{LONE}[^\w?]*")
POINTS = re.compile(rf"(?:^|[.;]\s+|\n)\s*{LETTER}\s*[:\-\u2013\u2014]", re.MULTILINE)
NEITHER = re.compile(r"^\W*(?:neither|both|none|cannot\s+(?:decide|determine|say)|it\s+depends)\b", re.IGNORECASE)
SCALE = VerdictScale(
    ("A", "B"), names={f"{one} {letter}": letter for one in ("image", "picture", "option") for letter in "AB"}
)


def parse_letter(reply: Reply) -> tuple[str, Mapping[str, object]] | UnparsedReply:
    """A or B, and what is noted beside it: the distribution over both where there is one."""
    if reply.way in ("logprobs", "guided"):
        return parse_code(reply, SCALE)
    gone = empty_reason(reply)
    if gone:
        return gone
    found = letter(strip_reasoning(reply.text))
    return failure_reason(reply, found) if isinstance(found, UnparsedReply) else (found, {})


def letter(text: str) -> str | UnparsedReply:
    """`text` is the reply proper."""
    text = text.translate(ALIKE)
    verdict = parse_bare_verdict(text, SCALE)
    if verdict is not None:
        return verdict
    verdict = in_json(text, SCALE)
    if verdict is not None:
        rest = without_objects(text)
        outside = letter(rest) if rest.strip() else verdict
        return verdict if outside in (verdict, NO_VERDICT) else TWO
    if NEITHER.match(text):
        return NO_VERDICT
    text = QUOTED.sub(lambda match: match[0] if len(match[0]) <= 12 else " ", text)
    letters = [match["said"].upper() for match in (*_unambiguous(STATED, text), *_unambiguous(MATCHES, text))]
    letters += _sentences(text, lines=is_verdict_refusal(text))
    first = BEGINS.match(text)
    if first and len({match["said"].upper() for match in POINTS.finditer(text)}) > 1:
        first = None  # each picture is described after its letter
    if first and re.match(OTHER, text[first.end() :]):
        letters = [(first["said"] or first["named"]).upper(), *letters]
    elif first:
        return TWO
    if not letters:
        return NO_VERDICT
    return letters[0] if len(set(letters)) == 1 else TWO


def _sentences(text: str, lines: bool) -> list[str]:
    """Letters that are a sentence or a line of their own, "No, B." among them; `lines`: only a line, as after words that
    decline."""
    parts = text.split("\n") if lines else re.split(r"(?<=[.!?;])\s+|\n|\.{2,}|\u2026", text)
    matches = [SENTENCE.fullmatch(part.strip()) for part in parts if len(part.strip()) < 80]
    return [(match["said"] or match["named"]).upper() for match in matches if match]


def _unambiguous(pattern: re.Pattern[str], text: str) -> list[re.Match[str]]:
    """Statements of one letter: "A or B" is none; nor is "A person", whose A is an article."""
    return [
        match
        for match in pattern.finditer(text)
        if (re.match(OTHER, text[match.end() :]) or _is_preferred(match, text))
        and (
            pattern is MATCHES
            or match["said"] in "bB"
            or _is_alone(text[match.end() :])
            or _is_named(match)
            or _is_preferred(match, text)
        )
    ]


def _is_preferred(match: re.Match[str], text: str) -> bool:
    """ "I prefer A to B"."""
    return "prefer" in match[0].casefold() and bool(
        re.match(r"\s+(?:to|over)\s+(?:(?i:image)\s+)?[AB]\b", text[match.end() :])
    )


def _is_alone(rest: str) -> bool:
    return not re.match(r"[ \t]+[a-z]", rest) or bool(re.match(AFTER, rest))


def _is_named(match: re.Match[str]) -> bool:
    """Whether the letter follows "Image" or the like, and so is no article."""
    return bool(re.search(rf"(?i:{THING})\s+{MARK}[ABab]{MARK}$", match[0])) and not re.search(
        rf"(?i:answer|choice)\s+{MARK}a{MARK}$", match[0]
    )
