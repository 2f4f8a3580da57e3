"""How likely each code of a scale is, by the log-probabilities of the tokens in the code's place."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from predictions.prompts.contract import NO_LOGPROB, AnswerMethod, ParsedReply, Question, Reply, Token, UnparsedReply
from predictions.prompts.reply_text import (
    THOUGHT_BEGINS,
    ascii_digits,
    empty_reason,
    failure_reason,
    is_refusal,
    strip_reasoning,
)
from predictions.prompts.verdicts import VerdictScale, is_final, parse_bare_verdict, parse_verdict

AROUND = " \t\r\n\u2581\u0120\u010a\"'*_`([{"
BY_LETTER = 1  # a code of more signs may be several tokens, and its first be another's too


@dataclass(frozen=True)
class CodeDistribution:
    """`shares`: of each code, of what all codes have together; `mass`: what they have together, of all."""

    shares: Mapping[str, float]
    mass: float

    def notes(self) -> dict[str, Any]:
        return {"distribution": dict(self.shares), "covered": self.mass}


def code_distribution(tokens: Sequence[Token], codes: Sequence[str]) -> CodeDistribution | None:
    """Over the first token that says anything. " 4", "4" and a full-width 4 are one code: their masses are added.

    None where no code is among the likeliest in that place.
    """
    token = next((answer_token for answer_token in _answer_tokens(tokens) if _strip_marks(answer_token.text)), None)
    if token is None or not token.logprob > NO_LOGPROB:  # nan is not either
        return None
    top = dict(token.top)
    top.setdefault(token.text, token.logprob)
    mass = dict.fromkeys(codes, 0.0)
    for text, logprob in top.items():
        code = _strip_marks(text)
        if code in mass and isinstance(logprob, (int, float)) and not math.isnan(logprob):
            mass[code] += math.exp(min(float(logprob), 0.0))
    covered = sum(mass.values())
    if covered <= 0:
        return None
    return CodeDistribution({code: answer_token / covered for code, answer_token in mass.items()}, min(covered, 1.0))


def _answer_tokens(tokens: Sequence[Token]) -> Sequence[Token]:
    """The tokens after what was thought aloud."""
    text_so_far = ""
    for number, token in enumerate(tokens):
        text_so_far += token.text
        if text_so_far[-16:].rstrip().endswith("</think>") and THOUGHT_BEGINS.match(text_so_far):
            return tokens[number + 1 :]
        if len(text_so_far) > 7 and not THOUGHT_BEGINS.match(text_so_far):
            break
    return tokens


def _strip_marks(text: str) -> str:
    return ascii_digits(text).strip(AROUND).rstrip(".:,;)]}" + AROUND)


def methods_for(codes: Sequence[str], *ways: AnswerMethod) -> tuple[AnswerMethod, ...]:
    """Of `ways`, those that can tell these codes apart."""
    short = all(len(code) <= BY_LETTER for code in codes)
    return tuple(way for way in ways if way != "logprobs" or short)


def parse_code(reply: Reply, scale: VerdictScale, least: float = 0.0) -> tuple[str, dict[str, Any]] | UnparsedReply:
    """The code a reply gives, and what is noted beside it. `least`: of the codes' mass, for "logprobs"."""
    gone = empty_reason(reply)
    if gone:
        return gone
    spread = code_distribution(reply.tokens, scale.codes)
    text = strip_reasoning(reply.text, scale.judged)
    verdict = parse_verdict(text, scale)
    if reply.way == "logprobs":
        if isinstance(verdict, UnparsedReply) and (verdict.state == "out_of_range" or verdict.reason == "two_verdicts"):
            return replace(verdict, notes=spread.notes() if spread else {})  # "10" is no 1, though it begins with it
        by_mass = _by_tokens(reply, spread, least)
        stated = isinstance(verdict, str) and parse_bare_verdict(text, scale) is None
        if stated and not isinstance(by_mass, UnparsedReply) and by_mass[0] != verdict:
            return UnparsedReply(
                "unparseable", "two_verdicts", by_mass[1]
            )  # "My score is 3": its first token is not the score's
        return by_mass
    if scale.last and reply.finish == "length" and not is_final(text):
        return UnparsedReply("unparseable", "cut_off")
    if isinstance(verdict, UnparsedReply):
        return failure_reason(reply, verdict)
    alone = spread is not None and parse_bare_verdict(text, scale) is not None
    return verdict, (spread.notes() if spread is not None and alone else {})


def _by_tokens(
    reply: Reply, spread: CodeDistribution | None, least: float
) -> tuple[str, dict[str, Any]] | UnparsedReply:
    if not reply.tokens:
        return UnparsedReply("unparseable", "no_logprobs")
    if is_refusal(reply.text):
        return UnparsedReply("refused", "said_no")
    if spread is None:
        return failure_reason(reply, UnparsedReply("unparseable", "no_number"))
    notes = spread.notes()
    if spread.mass < least:
        return UnparsedReply("unparseable", "little_mass", notes)
    best = max(spread.shares.values())
    likeliest = [code for code, share in spread.shares.items() if share == best]
    if len(likeliest) > 1:
        return UnparsedReply("unparseable", "two_verdicts", notes)
    return likeliest[0], notes


def parse_single_field(
    question: Question, reply: Reply, scale: VerdictScale, least: float = 0.0
) -> ParsedReply | UnparsedReply:
    """The answer to a question with codes, as the sheet takes it."""
    parsed = parse_code(reply, replace(scale, keys=(*scale.keys, question.key.casefold())), least)
    if isinstance(parsed, UnparsedReply):
        return parsed
    code, notes = parsed
    return ParsedReply({question.key: code}, {"way": reply.way, **notes})
