"""What a model says beside its JSON object. Reasons are welcome; what takes the object back, or states another answer to
one of its keys, makes two verdicts of one."""

import re
from collections.abc import Mapping, Sequence

from predictions.prompts.reply_text import after_objects, ascii_digits, without_objects
from predictions.prompts.verdict_patterns import MARKS
from predictions.prompts.verdicts import is_asserted

STATES = (
    r"[\s*_`\"')]*(?:={1,3}|:|->|\u2192|\b(?:is|are|(?:should|would|must|ought\s+to)\s+(?:rather\s+)?be|becomes|shows|matches|fits"
    r"|goes\s+(?:to|with)|corresponds\s+to|belongs\s+to)\b\s*:?)(?:\s*\b(?:option|answer|text|code|now|rather|really|actually)\b)*"
)
SECOND_THOUGHT = re.compile(
    r"(?:^|[.!?;\n])[\s*_]*(?:(?:but|no|oh|hmm+|well|and)\b[\s,.:\-\u2013\u2014]*)*"
    r"(?:actually|correction|corrected|on\s+(?:reflection|second\s+thoughts?)|wait|sorry|scratch\s+that|i\s+was\s+wrong"
    r"|my\s+mistake|i\s+(?:made|meant)\b|i\s+take\s+(?:that|it)\s+back|make\s+that)\b",
    re.IGNORECASE,
)
SWAPPED = re.compile(
    r"\b(?:swap(?:ped)?|revers(?:e|ed)|vice\s+versa|(?:the\s+)?other\s+way\s+(?:a)?round)\b", re.IGNORECASE
)
SUPPOSES = re.compile(r"\b(?:if|not|no|never|nor|neither|were|would|had|unless|cannot)\b|n['\u2019]t\b", re.IGNORECASE)


def contradicts_answer(text: str, answers: Mapping[str, tuple[str, Sequence[str]]], swaps: bool = False) -> bool:
    """Whether words beside the object in `text`, the reply proper, say otherwise. `answers`: to each key the code that was
    read, and all codes. `swaps`: the codes are places of things that may be swapped."""
    outside, after = ascii_digits(without_objects(text)), after_objects(text)
    if not outside.strip():
        return False
    if SECOND_THOUGHT.search(after):
        return True
    sentences = re.split(r"[.!?;\n]", after) if swaps else ()
    if any(SWAPPED.search(sentence) and not SUPPOSES.search(sentence) for sentence in sentences):
        return True
    return any(_is_contradicted(outside, key, code, codes) for key, (code, codes) in answers.items())


def _is_contradicted(text: str, key: str, code: str, codes: Sequence[str]) -> bool:
    """Whether another code is stated under this key. A letter must be a capital one that begins no words: "Image 1 is a
    picture"."""
    name = r"[\s_]*".join(map(re.escape, key.split("_")))
    for other in (one for one in codes if one != code):
        letter = len(other) == 1 and other.isalpha()
        bare = rf"(?-i:{re.escape(other)})(?!\s+[a-z])" if letter else re.escape(other)
        stated = re.compile(rf"(?<!\w){name}{STATES}{MARKS}{bare}(?![\w'\u2019/-]|[.,]\d)", re.IGNORECASE)
        if any(is_asserted(match, text) for match in stated.finditer(text)):
            return True
    return False
