"""CAIRE without a written answer: probe texts for encoders, and the likelihood of a culture's name.

Probe (section 4.3): the image beside "This image is {level} to {culture}" for each level's name; the nearest wins. The
cosines are kept as they came, for a sigmoid of them lies near one half and hides what they say.

Likelihood (Appendix B.1): L = -log P(culture | article, picture, "This text is relevant to"); low is relevant. The base rate
L0 is of the same words without article and picture. L^ = L - lambda * max(L0, T): the paper's text calls T a cap, its
formula has max, a floor: both are offered. Not printed, and so options that are kept with the run: lambda, T, sum or mean
over tokens, and the cut below which a picture counts as relevant.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from papers.caire.prompts.levels import BASE, LETTERS, LINKS, base_problems, level_names, link_context, scale_question
from predictions.prompts.contract import (
    NO_LOGPROB,
    Message,
    MissingInput,
    ParsedReply,
    Piece,
    Prompt,
    PromptOption,
    PromptRequests,
    Question,
    Reply,
    Request,
    Scene,
    UnparsedReply,
)
from predictions.prompts.prompt_templates import (
    OptionProblem,
    TemplatePrompt,
    fence,
    fill_template,
    gettext_noop,
    picture_of,
    require_target,
)
from predictions.prompts.reply_text import empty_reason

PROBE = "This image is {level} to {target}"
ROUNDED = 1e-3  # a log-probability above 0 is none, but one of 0 may be sent so
STEM = "This text is relevant to"
LAMBDA = PromptOption("lambda", gettext_noop("Weight of the base rate (lambda)"), "number", default=0)
LIMIT = PromptOption("limit", gettext_noop("Limit of the base rate (T)"), "number", default=0)
BOUND = PromptOption(
    "bound",
    gettext_noop("What T is"),
    "choice",
    choices=(
        ("floor", gettext_noop("a floor, as the formula has it: the greater of the two")),
        ("cap", gettext_noop("a cap, as the text has it: the smaller of the two")),
    ),
    default="floor",
)
OVER = PromptOption(
    "over",
    gettext_noop("Over the tokens of the name"),
    "choice",
    choices=(("sum", gettext_noop("sum")), ("mean", gettext_noop("mean"))),
    default="sum",
)
CUT = PromptOption(
    "cut",
    gettext_noop("Cut"),
    "number",
    help=gettext_noop("At or below it the picture counts as relevant: the highest level, else the lowest."),
)


def number(value: Any) -> float | None:
    """A number as an option has it; None where there is none."""
    if isinstance(value, bool) or value is None or value == "":
        return None
    try:
        parsed = float(value)
    except (TypeError, ValueError):
        return None
    return parsed if math.isfinite(parsed) else None


@dataclass(frozen=True)
class Probing(TemplatePrompt):
    """The level whose sentence is nearest to the picture. `user` is the sentence."""

    def _names(self, scene: Scene) -> tuple[Question, dict[str, str]]:
        question = scale_question(scene)
        names = level_names(question) if question else {}
        if question is None or len(names) != len(question.codes):
            raise MissingInput("no_question")
        return question, names

    def fits(self, scene: Scene) -> bool:
        return bool(scale_question(scene) and scene.target and scene.images)

    def ask(self, scene: Scene, seed: int) -> PromptRequests:
        _question, names = self._names(scene)
        template = str(scene.options.get("wording") or self.user)
        target = require_target(scene)
        texts = [_sentence(template, {"level": name.lower(), "target": target}) for name in names]
        return PromptRequests((Request(kind="probe", texts=tuple(texts), image=picture_of(scene).sha),))

    def read(self, scene: Scene, asked: PromptRequests, replies: Sequence[Reply]) -> ParsedReply | UnparsedReply:
        try:
            question, names = self._names(scene)
        except MissingInput as lacking:
            return UnparsedReply("unparseable", lacking.code)
        cosines = replies[0].similarities if replies else ()
        if not cosines:
            return UnparsedReply("no_response", "empty")
        if len(cosines) != len(names) or not all(map(math.isfinite, cosines)):
            return UnparsedReply("unparseable", "no_number")
        best = [code for code, one in zip(names.values(), cosines, strict=True) if one == max(cosines)]
        notes = {"cosines": dict(zip(names.values(), cosines, strict=True))}
        if len(best) > 1:
            return UnparsedReply("unparseable", "two_verdicts", notes)
        return ParsedReply({question.key: best[0]}, notes)


def _sentence(template: str, texts: Mapping[str, str]) -> str:
    return " ".join(piece.text for piece in fill_template(template, texts, {}) if hasattr(piece, "text"))


PROBING = Probing(
    key="caire-probe",
    name=gettext_noop("The nearest of five sentences (encoders)"),
    source=gettext_noop("Section 4.3 of the paper"),
    user=PROBE,
    setting="cosine",
    kind="probe",
    takes=("level", "target"),
    required_placeholders=("level", "target"),
)


@dataclass(frozen=True)
class Likelihood(TemplatePrompt):
    """How likely the culture's name is after the article and the picture, less its base rate. `gold`: the article is
    that of the picture's right entry."""

    gold: bool = False

    def fits(self, scene: Scene) -> bool:
        return bool(scale_question(scene) and scene.target and (scene.images or not self.needs_images))

    def problems(self, options: Mapping[str, Any]) -> list[OptionProblem]:
        wrong = [OptionProblem("cut", "no_cut")] if number(options.get("cut")) is None else []
        return [*super().problems(options), *wrong, *base_problems(self.gold, options)]

    def ask(self, scene: Scene, seed: int) -> PromptRequests:
        known, target = link_context(scene), require_target(scene)
        article = str(known.get("article") or "").strip()
        if not article:
            raise MissingInput("no_gold_article" if self.gold else "no_article")
        if number(self.option(scene, "cut")) is None:
            raise MissingInput("no_cut")
        most = number(self.option(scene, "article_letters")) or LETTERS.default
        texts = {"article": fence("article", article[: max(1, int(most))])}
        pieces: dict[str, Sequence[Piece]] = {"image": (picture_of(scene),)} if self.needs_images else {}
        base = Message("user", fill_template(STEM, {}, {}))
        asked = [self.messages(scene, texts, pieces), (base,)]
        return PromptRequests(
            tuple(Request(kind="continuation", messages=messages, continuation=f" {target}") for messages in asked)
        )

    def read(self, scene: Scene, asked: PromptRequests, replies: Sequence[Reply]) -> ParsedReply | UnparsedReply:
        question, cut = scale_question(scene), number(self.option(scene, "cut"))
        if question is None or cut is None or len(replies) < 2:
            return UnparsedReply("no_response", "empty")
        mean = self.option(scene, "over") == "mean"
        first, base = (_loss(reply, mean) for reply in replies[:2])
        if isinstance(first, UnparsedReply) or isinstance(base, UnparsedReply):
            return first if isinstance(first, UnparsedReply) else base  # type: ignore[return-value]
        if len({tuple(token.text.strip() for token in reply.tokens) for reply in replies[:2]}) > 1:
            return UnparsedReply("unparseable", "other_tokens", {"loss": first, "base_loss": base})
        weight, limit = (number(self.option(scene, key)) or 0.0 for key in ("lambda", "limit"))
        bound = str(self.option(scene, "bound"))
        corrected = first - weight * (min if bound == "cap" else max)(base, limit)
        code = question.codes[-1] if corrected <= cut else question.codes[0]
        notes = {
            "loss": first,
            "base_loss": base,
            "corrected_loss": corrected,
            "tokens": len(replies[0].tokens),
            "lambda": weight,
            "limit": limit,
            "bound": bound,
            "over": "mean" if mean else "sum",
            "cut": cut,
        }
        return ParsedReply({question.key: code}, notes)


def _loss(reply: Reply, mean: bool) -> float | UnparsedReply:
    """Minus the log-probability of the continuation, whose tokens the reply holds."""
    if not reply.tokens:
        return empty_reason(reply) or UnparsedReply("unparseable", "no_logprobs")
    logprobs = [token.logprob for token in reply.tokens]
    if not all(isinstance(token, (int, float)) and NO_LOGPROB < token <= ROUNDED for token in logprobs):
        return UnparsedReply("unparseable", "no_logprobs")
    total = -math.fsum(logprobs)
    return total / len(logprobs) if mean else total


MORE = (LINKS, LETTERS, LAMBDA, LIMIT, BOUND, OVER, CUT)
LIKELIHOOD = Likelihood(
    key="caire-likelihood",
    name=gettext_noop("Likelihood of the culture's name"),
    source=gettext_noop("Appendix B.1 of the paper"),
    user=f"{{image}}\n\n{{article}}\n\n{STEM}",
    setting="log_probabilities",
    kind="continuation",
    takes=("image", "article"),
    required_placeholders=("article",),
    more=MORE,
)
LIKELIHOOD_TEXT = Likelihood(
    key="caire-likelihood-text",
    name=gettext_noop("Likelihood of the culture's name, without the picture"),
    source=gettext_noop("Appendix B.1 of the paper"),
    user=f"{{article}}\n\n{STEM}",
    setting="log_probabilities_text",
    kind="continuation",
    needs_images=False,
    takes=("article",),
    required_placeholders=("article",),
    more=MORE,
)
LIKELIHOOD_GOLD = Likelihood(
    key="caire-likelihood-gold",
    name=gettext_noop("Likelihood of the culture's name, with the right article"),
    source=gettext_noop("Appendix B.1 of the paper"),
    user=LIKELIHOOD.user,
    setting="gold_context_log_probabilities",
    kind="continuation",
    takes=("image", "article"),
    required_placeholders=("article",),
    more=(BASE, *MORE[1:]),
    gold=True,
)
PROMPTS: tuple[Prompt, ...] = (PROBING, LIKELIHOOD, LIKELIHOOD_TEXT, LIKELIHOOD_GOLD)
