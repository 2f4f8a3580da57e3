"""One verdict out of a reply in words: a number of a scale, or one of a few words. Never two read as one.

What counts, in this order; the first that is there decides:
1. the whole reply is a code (signs and marks around it do not matter);
2. a JSON object holds it under a known key, and nothing outside says otherwise;
3. it is stated as final: "Final score: 4"; what is said otherwise before that is reasoning, after that a contradiction;
4. it is stated: "rating=4", "Score: 4";
5. the first or the last line is a code alone; unless `reasoned`, also the beginning: "4 - Relevant: ...";
6. unless `reasoned`, a sentence states it ("I would give it a 4") and no other number is in the reply.
"4/5" and "4 out of 5" are 4 where 5 is the scale's greatest code. What is quoted, or stands between our tags, is
not said by the model; nor is what the judged text itself says. What is denied, asked or only supposed ("I would not say
rating=2", "rating=2?") is not stated, a bound ("at least 4") is no point, and a number that is taken back ("2, no, 1")
is two.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from predictions.prompts.contract import UnparsedReply
from predictions.prompts.reply_text import ascii_digits, json_objects, without_objects
from predictions.prompts.verdict_patterns import (
    AFTERTHOUGHT,
    AROUND,
    BARE,
    BOUND,
    BOXED,
    BY_SCALE,
    DENIED,
    FINAL,
    IS,
    JUDGING,
    LOOSE,
    MARKS,
    NAMES,
    NEGATED,
    NUMBER,
    OF,
    ON_A_SCALE,
    PARTS,
    QUOTED,
    SCALE,
    SHORTLY,
    SPELLED,
    SUPPOSED,
    SURE,
    TAG_NAMES,
    TAGGED,
    TAKEN_BACK,
    THEREFORE,
    VERDICT_NUMBER,
)

KEYS = ("score", "rating", "answer", "verdict", "final_score", "choice", "label", "relevance")


@dataclass(frozen=True)
class VerdictScale:
    """What may be said. `names`: other words for a code, when they are the whole reply. `keys`: of a JSON reply.

    `judged`: texts of others in the prompt; what they say does not count when the reply repeats it. `stated`: what a
    verdict is called when it is stated. `last`: the verdict comes after the reasons, so a reply that was cut off has none.
    """

    codes: tuple[str, ...]
    names: Mapping[str, str] | None = None
    keys: tuple[str, ...] = KEYS
    judged: tuple[str, ...] = ()
    reasoned: bool = False
    stated: str = NAMES
    last: bool = False

    @property
    def numeric(self) -> bool:
        return all(re.fullmatch(r"-?\d+", code) for code in self.codes)

    @property
    def top(self) -> str:
        return max(self.codes, key=int) if self.numeric else ""


NEAR = 200  # characters before a statement that may deny or suppose it
NO_VERDICT = UnparsedReply("unparseable", "no_verdict")
TWO = UnparsedReply("unparseable", "two_verdicts")
OUTSIDE = UnparsedReply("out_of_range", "outside_scale")


def parse_verdict(text: str, scale: VerdictScale) -> str | UnparsedReply:
    """The code that a reply gives. `text` is the reply proper."""
    text = TAGGED.sub(r"\n\1: \2\n", BOXED.sub(r"\nFinal answer: \1\n", ascii_digits(text)))
    text = _in_digits(text, scale)
    verdict = parse_bare_verdict(text, scale)
    if verdict is not None:
        return verdict
    own = _strip_quoted_input(text, scale)
    json_verdict, rest = in_json(own, scale), without_objects(own)
    rest = QUOTED.sub(partial(_quotation, scale), own if json_verdict is None else rest)
    verdict = _number(rest, scale) if scale.numeric else _word(rest, scale)
    if json_verdict is None:
        return verdict
    sure = [*_later(rest, scale), *_bare_numbers(rest, scale)] if scale.numeric else []
    others = [*sure, *([] if isinstance(verdict, UnparsedReply) and verdict != TWO else [verdict])]
    return _agreed_verdict([json_verdict, *others])


def is_final(text: str) -> bool:
    """Whether a reply states a score as final."""
    return bool(re.search(rf"{FINAL}(?:{NAMES}){IS}{MARKS}\d", ascii_digits(text), re.IGNORECASE))


def parse_bare_verdict(text: str, scale: VerdictScale) -> str | UnparsedReply | None:
    """A reply that is a code and nothing else."""
    bare = text.strip(AROUND)
    names = {
        **(scale.names or {}),
        **({} if not scale.numeric else {k: v for k, v in SPELLED.items() if v in scale.codes}),
    }
    for code in scale.codes:
        if bare.casefold() == code.casefold():
            return code
    for name, code in names.items():
        if bare.casefold() == name.casefold():
            return code
    if not scale.numeric:  # "Type / Name" is type_name
        folded = [code for code in scale.codes if len(code) > 1 and _normalise(code) == _normalise(bare)]
        if len(folded) == 1:
            return folded[0]
    number = _bare_numbers(text, scale) if scale.numeric else []
    return number[0] if number else None


def _normalise(text: str) -> str:
    return " ".join(re.split(r"[\s_/-]+", text.casefold()))


def _bare_numbers(text: str, scale: VerdictScale) -> list[str | UnparsedReply]:
    """A text that is a number and nothing else: "4", "4/5", "4/5 stars"."""
    text = re.sub(r"(?i)(?<=\d)[ \t]+(?:stars?|points?)[\s.!*]*\Z", "", text)
    match = re.fullmatch(VERDICT_NUMBER, text.strip().strip(AROUND.replace(".", "")))
    return [_parse_statement(match, scale)] if match else []


def _in_digits(text: str, scale: VerdictScale) -> str:
    """With digits for words beside a number ("4 or five", "four out of 5"), and for the word that ends the reply as its
    verdict: "Final score: four", "Rating: Relevant". Without the scale that is named before the number."""
    words = {name.casefold(): code for name, code in (scale.names or {}).items()}
    if scale.numeric:
        names = "|".join(SPELLED)
        joining = r"[\s,(]*(?:or|to|out\s+of|-|\u2013)\s*"
        text = re.sub(
            rf"(?i)\b({names})(?={joining}(?:\d|(?:{names})\b))", lambda one: SPELLED[one[0].casefold()], text
        )
        text = re.sub(rf"(?i)(?<=\d)({joining})({names})\b", lambda one: one[1] + SPELLED[one[2].casefold()], text)
        text = ON_A_SCALE.sub(lambda one: "" if _code(one["top"], scale) == scale.top else one[0], text)
        words |= {word: code for word, code in SPELLED.items() if code in scale.codes}
    known = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
    ends = rf"\b(?:{scale.stated})[\s*_`]*[:=]{MARKS}({known})[\s.!*_`\"')\]]*\Z"
    match = re.search(ends, text[-200:], re.IGNORECASE) if words else None
    if not match:
        return text
    at = max(0, len(text) - 200)
    return text[: at + match.start(1)] + words[match[1].casefold()] + text[at + match.end(1) :]


def in_json(text: str, scale: VerdictScale) -> str | UnparsedReply | None:
    """The code in a JSON object of the reply; None where there is no such object."""
    objects = json_objects(text)
    if isinstance(objects, UnparsedReply):
        return objects
    verdicts: list[str | UnparsedReply] = []
    for one in objects:
        keys = [key for key in (one if isinstance(one, Mapping) else {}) if str(key).casefold() in scale.keys]
        verdicts += [parse_json_value(one[key], scale) for key in keys]
    if not verdicts:
        return None
    return verdicts[0] if all(one == verdicts[0] for one in verdicts) else TWO


def parse_json_value(raw: Any, scale: VerdictScale) -> str | UnparsedReply:
    """A JSON value as a code."""
    if isinstance(raw, bool) or not isinstance(raw, (str, int, float)):
        return UnparsedReply("unparseable", "bad_json")
    text = ascii_digits(raw.strip()) if isinstance(raw, str) else repr(raw)
    found = parse_bare_verdict(text, scale)
    return OUTSIDE if found is None else found


def _strip_quoted_input(text: str, scale: VerdictScale) -> str:
    """Without what the model only repeats: the judged texts, and what stands between our tags."""
    for one in scale.judged:
        inner = ascii_digits(one.strip())
        if not _has_own_words(inner):
            continue  # it is what a verdict looks like: nobody can tell one from the other, and leaving out would favour it
        if inner and (re.search(rf"\b(?:{NAMES}){IS}", inner, re.IGNORECASE) or len(inner) > 20):
            text = re.sub(rf"(?<!\w){re.escape(inner)}(?![\w%]|[.,]\d)", " ", text)
    for name in TAG_NAMES:
        text = _strip_tags(text, name)
    return text


def _has_own_words(text: str) -> bool:
    """Whether a text has any word that a judge would not use of any other."""
    return any(one not in JUDGING for one in re.findall(r"[^\W\d_]+(?:['\u2019]\w+)?", text.casefold()))


def _strip_tags(text: str, name: str) -> str:
    """Without what stands between tags of that name."""
    low = text.casefold()
    if len(low) != len(text):
        low = text
    text_left, at = "", 0
    while (begins := low.find(f"<{name}>", at)) >= 0 and (ends := low.find(f"</{name}>", begins)) >= 0:
        text_left, at = f"{text_left}{text[at:begins]} ", ends + len(name) + 3
    return text_left + text[at:]


def _quotation(scale: VerdictScale, match: re.Match[str]) -> str:
    """A quotation that is nothing but a number keeps it: score: "4". So does one that is nothing but a verdict, as prompts
    ask for, unless a judged text says it."""
    bare = match[0].strip(AROUND)
    if re.fullmatch(rf"(?:{scale.stated}){IS}\s*{NUMBER}", bare, re.IGNORECASE):
        return " " if any(bare.casefold() in ascii_digits(one).casefold() for one in scale.judged) else f" {bare} "
    return bare if re.fullmatch(rf"{NUMBER}|[A-Za-z]", bare) else " "


def _parse_statement(match: re.Match[str], scale: VerdictScale) -> str | UnparsedReply:
    """What one statement says: 4, 4.0, 4/5; not 3-4, 4.5, 8/10."""
    value, of, other = match["said"], match["of"], match["other"]
    rest = match.string[match.end() : match.end() + 80]
    if PARTS.match(rest):
        return TWO
    if (named := BY_SCALE.match(rest)) and _code(named["top"], scale) != scale.top:
        return OUTSIDE
    if match["share"]:
        return OUTSIDE
    if other and _code(other, scale) != _code(value, scale):
        return TWO
    if of and _code(of, scale) != scale.top:
        return OUTSIDE
    return _code(value, scale) or OUTSIDE


def _code(number: str, scale: VerdictScale) -> str:
    """A number as a code of the scale; empty when it is none."""
    match = re.fullmatch(r"\+?(-?\d{1,6})(?:[.,]0{1,2})?", number)
    code = str(int(match[1])) if match else ""
    return code if code in scale.codes else ""


def _number(text: str, scale: VerdictScale) -> str | UnparsedReply:
    explicit = re.compile(rf"(?:\b(?:{scale.stated}){OF}{IS}|{SHORTLY}){VERDICT_NUMBER}", re.IGNORECASE)
    final = re.compile(rf"{FINAL}(?:{scale.stated}){OF}(?:{IS}|{BARE}){VERDICT_NUMBER}", re.IGNORECASE)
    stated, last = list(_statements(explicit, text)), list(_statements(final, text))
    begins = [] if scale.reasoned else _number_at_start(text, scale)
    if last:
        rest = text[last[0].end() :]
        after = [match for match in stated if match.start("said") > last[0].end()]
        return _agreed_verdict(
            [
                *(_parse_statement(match, scale) for match in (*last, *after)),
                *_numbers_on_own_line(f"-\n{rest}", scale),
                *_later(rest, scale),
            ]
        )
    if stated:
        rest = text[stated[-1].end() :]
        verdicts = [_parse_statement(match, scale) for match in stated]
        sure = [] if scale.reasoned else _explicit_verdicts(text, scale)
        return _agreed_verdict([*verdicts, *_numbers_on_own_line(text, scale), *begins, *sure, *_later(rest, scale)])
    loose = list(_numbers_in_sentences(text, scale))
    verdicts = [*_numbers_on_own_line(text, scale), *begins]
    if verdicts:
        head = re.match(VERDICT_NUMBER, text)
        verdicts += _later(text[head.end() :], scale) if head else []
        return _agreed_verdict(
            [*verdicts, *([] if scale.reasoned else (_code(match, scale) or OUTSIDE for match in loose))]
        )
    if scale.reasoned or not loose:
        return NO_VERDICT if re.search(r"\d", text) else UnparsedReply("unparseable", "no_number")
    others = set(re.findall(NUMBER, _without_scales(text, scale)))
    if len(others) > 1:
        return UnparsedReply("unparseable", "several_numbers")
    return _agreed_verdict([_code(match, scale) or OUTSIDE for match in loose])


def _explicit_verdicts(text: str, scale: VerdictScale) -> list[str | UnparsedReply]:
    """Verdicts of plain sentences, which contradict what is stated otherwise: "I give it a 2"."""
    matches = [match for match in SURE.finditer(text) if not NEGATED.search(match[0])]
    return [code for match in matches if (code := _code(match["said"], scale))]


def _later(rest: str, scale: VerdictScale) -> list[str | UnparsedReply]:
    """Verdicts after one that was stated: other sentences, and what takes it back."""
    back = (
        _code(match["said"], scale)
        for match in TAKEN_BACK.finditer(rest)
        if not NEGATED.search(match[0][len(match["lead"]) :])
    )
    last = AFTERTHOUGHT.fullmatch(re.split(r"[.!?\n]", rest.strip(AROUND))[-1])
    return [
        *_explicit_verdicts(rest, scale),
        *(code for code in (*back, _code(last["said"], scale) if last else "") if code),
    ]


def is_asserted(match: re.Match[str], text: str) -> bool:
    """Whether a statement is one: not denied, not asked, not only supposed."""
    before = re.split(r"[.!?;\n]", text[max(0, match.start() - NEAR) : match.start()])[-1]
    if DENIED.search(before[-100:]) or re.match(r"[\s*_`\"')]*\?", text[match.end() : match.end() + 20]):
        return False
    supposed = list(SUPPOSED.finditer(before))
    return not supposed or bool(THEREFORE.search(before, supposed[-1].end()))


def _statements(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """A number on a later line than its name is a verdict only if it is alone there; else it begins a list."""
    for match in pattern.finditer(text):
        rest = text[match.end() :].partition("\n")[0]
        if not is_asserted(match, text):
            continue
        if "\n" not in text[match.start() : match.start("said")] or not rest.strip(AROUND):
            yield match


def _agreed_verdict(verdicts: Sequence[str | UnparsedReply]) -> str | UnparsedReply:
    return verdicts[0] if all(one == verdicts[0] for one in verdicts) else TWO


def _numbers_in_sentences(text: str, scale: VerdictScale) -> Iterator[str]:
    """Numbers that a sentence states, unless it says what they are not, asks, or goes by another scale."""
    if any(one["least"] in "01" and _code(one["top"], scale) != scale.top for one in SCALE.finditer(text)):
        return
    text = SCALE.sub(" ", text)
    for match in LOOSE.finditer(text):
        if not is_asserted(match, text) or re.match(r"[^.!\n]{0,20}\?", text[match.end() : match.end() + 24]):
            continue
        sentence = re.split(r"[.!?\n]", text[max(0, match.start() - NEAR) : match.start()])[-1] + match[0]
        if not NEGATED.search(sentence) and not BOUND.search(sentence[: -len(match["said"])]):
            yield match["said"]


def _without_scales(text: str, scale: VerdictScale) -> str:
    """Without mentions of the scale itself: "1 to 5", "out of 5"."""
    text = SCALE.sub(" ", text)
    return re.sub(rf"(?:/|\bout of)\s*{re.escape(scale.top)}\b", " ", text)


def _numbers_on_own_line(text: str, scale: VerdictScale) -> list[str | UnparsedReply]:
    """Numbers that are the whole of the first or the last line."""
    lines = [one.strip(AROUND) for one in text.splitlines() if one.strip(AROUND)]
    matches = [re.fullmatch(VERDICT_NUMBER, one) for one in (lines[0], lines[-1])] if len(lines) > 1 else []
    return [_parse_statement(match, scale) for match in matches if match]


def _number_at_start(text: str, scale: VerdictScale) -> list[str | UnparsedReply]:
    """A number that begins the reply and is set off from what follows; the first point of a list is none."""
    head = re.match(rf"{VERDICT_NUMBER}{MARKS}(?=$|[\n.:;,)=\u2013\u2014-](?:\s|$|\*)|(?<=\())", text)
    if not head:
        return []
    points = re.findall(rf"^{MARKS}({NUMBER})[.):]\s", text, re.MULTILINE)
    return [] if len(set(points)) > 1 else [_parse_statement(head, scale)]


def _word(text: str, scale: VerdictScale) -> str | UnparsedReply:
    """Codes that are words, or single letters: stated, alone on the first or last line, or at the beginning of a reply
    that goes on to say why and names no other."""
    codes = "|".join(re.escape(code) for code in sorted(scale.codes, key=len, reverse=True))
    end = rf"(?![\w-])(?!\s*(?:/|or|and)\s*(?:{codes})\b)(?!\s+than\b)"
    final = re.compile(rf"{FINAL}(?:{scale.stated}){IS}{MARKS}(?P<said>{codes}){end}", re.IGNORECASE)
    stated = re.compile(rf"\b(?:{scale.stated}){IS}{MARKS}(?P<said>{codes}){end}", re.IGNORECASE)
    known = {code.casefold(): code for code in scale.codes}
    last = [match for match in final.finditer(text) if is_asserted(match, text)]
    every = [match for match in stated.finditer(text) if is_asserted(match, text)]
    matches = [*last, *(match for match in every if not last or match.start("said") > last[0].end())]
    if matches:
        return _agreed_verdict([known[match["said"].casefold()] for match in matches])
    lines = [match.strip(AROUND).casefold() for match in text.splitlines() if match.strip(AROUND)]
    alone = [known[match] for match in (lines[:1] + lines[-1:]) if match in known]
    if alone:
        return _agreed_verdict(alone)
    head = re.match(
        rf"{MARKS}(?P<said>{codes}){MARKS}(?:[.:;,]|\s[-\u2013\u2014]|\s+(?:because|since|as)\b)", text, re.IGNORECASE
    )
    named = {known[match.casefold()] for match in re.findall(rf"(?<![\w-])(?:{codes})(?![\w-])", text, re.IGNORECASE)}
    if head and len(named) == 1 and all(len(code) > 1 for code in scale.codes) and not NEGATED.search(text[:NEAR]):
        return known[head["said"].casefold()]
    return UnparsedReply("unparseable", "no_choice")
