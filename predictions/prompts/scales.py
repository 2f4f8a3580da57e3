"""How likely each code of a scale is, by the log-probabilities of the tokens in the code's place."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from predictions.prompts.contract import NO_LOGPROB, Question, Read, Reply, Token, Unread, Way
from predictions.prompts.reading import THOUGHT_BEGINS, ascii_digits, failed, nothing, proper, says_no
from predictions.prompts.verdicts import Scale, is_final, verdict, whole

AROUND = " \t\r\n\u2581\u0120\u010a\"'*_`([{"
BY_LETTER = 1  # a code of more signs may be several tokens, and its first be another's too


@dataclass(frozen=True)
class Spread:
    """`shares`: of each code, of what all codes have together; `covered`: what they have together, of all."""

    shares: Mapping[str, float]
    covered: float

    def notes(self) -> dict[str, Any]:
        return {"distribution": dict(self.shares), "covered": self.covered}


def spread_of(tokens: Sequence[Token], codes: Sequence[str]) -> Spread | None:
    """Over the first token that says anything. " 4", "4" and a full-width 4 are one code: their masses are added.

    None where no code is among the likeliest in that place.
    """
    token = next((one for one in _spoken(tokens) if _bare(one.text)), None)
    if token is None or not token.logprob > NO_LOGPROB:  # nan is not either
        return None
    top = dict(token.top)
    top.setdefault(token.text, token.logprob)
    mass = dict.fromkeys(codes, 0.0)
    for text, logprob in top.items():
        code = _bare(text)
        if code in mass and isinstance(logprob, (int, float)) and not math.isnan(logprob):
            mass[code] += math.exp(min(float(logprob), 0.0))
    covered = sum(mass.values())
    if covered <= 0:
        return None
    return Spread({code: one / covered for code, one in mass.items()}, min(covered, 1.0))


def _spoken(tokens: Sequence[Token]) -> Sequence[Token]:
    """The tokens after what was thought aloud."""
    said = ""
    for number, one in enumerate(tokens):
        said += one.text
        if said[-16:].rstrip().endswith("</think>") and THOUGHT_BEGINS.match(said):
            return tokens[number + 1 :]
        if len(said) > 7 and not THOUGHT_BEGINS.match(said):
            break
    return tokens


def _bare(text: str) -> str:
    return ascii_digits(text).strip(AROUND).rstrip(".:,;)]}" + AROUND)


def ways_for(codes: Sequence[str], *ways: Way) -> tuple[Way, ...]:
    """Of `ways`, those that can tell these codes apart."""
    short = all(len(code) <= BY_LETTER for code in codes)
    return tuple(way for way in ways if way != "logprobs" or short)


def read_code(reply: Reply, scale: Scale, least: float = 0.0) -> tuple[str, dict[str, Any]] | Unread:
    """The code a reply gives, and what is noted beside it. `least`: of the codes' mass, for "logprobs"."""
    gone = nothing(reply)
    if gone:
        return gone
    spread = spread_of(reply.tokens, scale.codes)
    text = proper(reply.text, scale.judged)
    found = verdict(text, scale)
    if reply.way == "logprobs":
        if isinstance(found, Unread) and (found.state == "out_of_range" or found.reason == "two_verdicts"):
            return replace(found, notes=spread.notes() if spread else {})  # "10" is no 1, though it begins with it
        by_mass = _by_tokens(reply, spread, least)
        stated = isinstance(found, str) and whole(text, scale) is None
        if stated and not isinstance(by_mass, Unread) and by_mass[0] != found:
            return Unread(
                "unparseable", "two_verdicts", by_mass[1]
            )  # "My score is 3": its first token is not the score's
        return by_mass
    if scale.last and reply.finish == "length" and not is_final(text):
        return Unread("unparseable", "cut_off")
    if isinstance(found, Unread):
        return failed(reply, found)
    alone = spread is not None and whole(text, scale) is not None
    return found, (spread.notes() if spread is not None and alone else {})


def _by_tokens(reply: Reply, spread: Spread | None, least: float) -> tuple[str, dict[str, Any]] | Unread:
    if not reply.tokens:
        return Unread("unparseable", "no_logprobs")
    if says_no(reply.text):
        return Unread("refused", "said_no")
    if spread is None:
        return failed(reply, Unread("unparseable", "no_number"))
    notes = spread.notes()
    if spread.covered < least:
        return Unread("unparseable", "little_mass", notes)
    best = max(spread.shares.values())
    likeliest = [code for code, share in spread.shares.items() if share == best]
    if len(likeliest) > 1:
        return Unread("unparseable", "two_verdicts", notes)
    return likeliest[0], notes


def single(question: Question, reply: Reply, scale: Scale, least: float = 0.0) -> Read | Unread:
    """The answer to a question with codes, as the sheet takes it."""
    found = read_code(reply, replace(scale, keys=(*scale.keys, question.key.casefold())), least)
    if isinstance(found, Unread):
        return found
    code, notes = found
    return Read({question.key: code}, {"way": reply.way, **notes})
