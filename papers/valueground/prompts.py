"""ValueGround: which of two pictures, or answers, fits a country; which picture shows which answer; how good a pair is.

After Appendix C.2 (three settings) and B.1 (the rubric). Two pictures are two inputs, never one panel. What is shown
first is drawn by the unit's seed, kept as `order`, and mapped back: the answer names the sheet's own a and b.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from predictions.prompts.contract import (
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
from predictions.prompts.contradictions import contradicts_answer
from predictions.prompts.letters import SCALE, parse_letter
from predictions.prompts.prompt_templates import (
    TemplatePrompt,
    choice_of,
    gettext_noop,
    object_of,
    picture_of,
    require_target,
    require_text,
    single_line,
    text_of,
)
from predictions.prompts.reply_text import empty_reason, failure_reason, single_json_object, strip_reasoning
from predictions.prompts.sheet import AnySheet, output_of, question_texts
from predictions.prompts.verdicts import parse_json_value

SOURCE = gettext_noop("After Appendix C.2 of the paper, in our words")
SIDES = ("a", "b")
REASON = 4000  # characters that are kept
ALIGNED, SWAPPED, BOTH_A, BOTH_B = "aligned", "swapped", "both_a", "both_b"
NOT_ONE_TO_ONE = PromptOption(
    "not_one_to_one",
    gettext_noop("Both pictures given the same answer"),
    "choice",
    choices=(("unread", gettext_noop("not scored")), ("answer", gettext_noop("taken as the answer, and so wrong"))),
    default="unread",
)
REASONS = PromptOption("reasons", gettext_noop("With a short reason for each picture"), "flag", default=True)
SAFETY = PromptOption("safety", gettext_noop("With the safety check"), "flag", default=False)


def draw_order(seed: int) -> tuple[str, ...]:
    """Which side is shown first."""
    return SIDES if hashlib.sha256(f"order:{seed}".encode()).digest()[0] % 2 == 0 else SIDES[::-1]


def _options(scene: Scene) -> dict[str, str]:
    return {side: text_of(scene, f"option_{side}", "no_options") for side in SIDES}


def _has_options(scene: Scene) -> bool:
    return all(text_of(scene, f"option_{side}") for side in SIDES)


def _of_choice(scene: Scene) -> Question | None:
    question = scene.question("choice")
    return question if question and set(question.codes) == set(SIDES) and not question.many else None


@dataclass(frozen=True)
class Choosing(TemplatePrompt):
    """A letter and a brief reason: of two pictures, or where the places say so of two answers."""

    def fits(self, scene: Scene) -> bool:
        fine = bool(_of_choice(scene) and scene.text and (scene.target or "country" not in self.takes))
        return fine and (all(map(scene.image, SIDES)) if self.needs_images else _has_options(scene))

    def seed_name(self, scene: Scene) -> str:
        """The question: its pairs of all sources are asked in one order, and without pictures in the same words."""
        return scene.concept or scene.item

    def ask(self, scene: Scene, seed: int) -> PromptRequests:
        order = draw_order(seed)
        texts = {"question": require_text(scene)}
        if "country" in self.takes:
            texts["country"] = require_target(scene)
        pieces: dict[str, Sequence[Piece]] = {}
        if self.needs_images:
            pieces = {f"image_{place}": (picture_of(scene, side),) for place, side in zip(SIDES, order, strict=True)}
        else:
            options = _options(scene)
            texts |= {f"option_{place}": options[side] for place, side in zip(SIDES, order, strict=True)}
        request = Request(
            messages=self.messages(scene, texts, pieces),
            ways=("text", "guided", "logprobs", "schema"),
            choices=SCALE.codes,
            schema=object_of({"answer": choice_of(SCALE.codes), "reason": {"type": "string"}}),
            max_tokens=512,
        )
        return PromptRequests((request,), order)

    def read(self, scene: Scene, asked: PromptRequests, replies: Sequence[Reply]) -> ParsedReply | UnparsedReply:
        if not replies or len(asked.order) != len(SIDES):
            return UnparsedReply("no_response", "empty")
        reply = replies[0]
        parsed = parse_letter(reply)
        if isinstance(parsed, UnparsedReply):
            return parsed
        letter, notes = parsed
        side = dict(zip(SCALE.codes, asked.order, strict=True))
        notes = {**notes, "reason": strip_reasoning(reply.text)[:REASON], "way": reply.way, "letter": letter}
        if isinstance(shares := notes.get("distribution"), Mapping):
            notes["distribution"] = {side[one]: share for one, share in shares.items()}
        return ParsedReply({"choice": side[letter]}, notes)


RULE = (
    "One rule above all: do not go by looks or signs of a region, that is by ethnicity, dress, language, buildings, "
    "geography or scenery. Go only by what can be seen of the values that the question is about."
)
PAIR = (
    "You see a question about values and two pictures. They are a contrasting pair for this question: each stands for one "
    "of its two opposite ends."
)
MAIN_SYSTEM = (
    f"You judge without taking sides. {PAIR} Choose the picture, Image A or Image B, that fits better what people in "
    f"{{country}} typically value. {RULE} Give your choice, A or B (A is Image A, B is Image B), and a brief reason."
)
PLAIN_SYSTEM = (
    f"You judge without taking sides. {PAIR} Choose the picture, Image A or Image B, that fits better what people "
    f"typically value. {RULE} Give your choice, A or B (A is Image A, B is Image B), and a brief reason."
)
TWO_IMAGES = (
    "Question: {question}\nThe two images are a pair: they stand for opposite ends of this question.\n"
    "Choose one of them.\n\nImage A:\n{image_a}\n\nImage B:\n{image_b}\n\nAnswer with A or B (the image), then a brief reason."
)
MAIN = Choosing(
    key="valueground-main",
    name=gettext_noop("The picture that fits a country"),
    source=SOURCE,
    system=MAIN_SYSTEM,
    user=f"Country: {{country}}\n{TWO_IMAGES}",
    setting="main",
    takes=("country", "question", "image_a", "image_b"),
    required_placeholders=("country", "question", "image_a", "image_b"),
)
NO_COUNTRY = Choosing(
    key="valueground-main-no-country",
    name=gettext_noop("The picture that fits, without a country"),
    source=gettext_noop("Ours: the main prompt without its country"),
    system=PLAIN_SYSTEM,
    user=TWO_IMAGES,
    setting="main_no_country",
    takes=("question", "image_a", "image_b"),
    required_placeholders=("question", "image_a", "image_b"),
)
TEXT_ONLY = Choosing(
    key="valueground-text",
    name=gettext_noop("The answer that fits a country, without pictures"),
    source=SOURCE,
    system=(
        "You judge without taking sides. You see a question about values and two answers, A and B. Choose the answer that "
        "fits better what people in {country} typically value. Give your choice, A or B, and a brief reason."
    ),
    user=(
        "Country: {country}\nQuestion: {question}\nOption A: {option_a}\nOption B: {option_b}\n"
        "Answer with A or B, then a brief reason."
    ),
    setting="text_only",
    needs_images=False,
    takes=("country", "question", "option_a", "option_b"),
    required_placeholders=("country", "question", "option_a", "option_b"),
)


@dataclass(frozen=True)
class Aligning(TemplatePrompt):
    """Which picture shows which answer, one to one, as JSON."""

    def fits(self, scene: Scene) -> bool:
        question = scene.question("alignment")
        fine = bool(question and {ALIGNED, SWAPPED} <= set(question.codes) and scene.text)
        return fine and all(map(scene.image, SIDES)) and _has_options(scene)

    def seed_name(self, scene: Scene) -> str:
        """The question: its pairs of all sources are asked in one order, and without pictures in the same words."""
        return scene.concept or scene.item

    def ask(self, scene: Scene, seed: int) -> PromptRequests:
        order, options = draw_order(seed), _options(scene)
        reasons = bool(self.option(scene, "reasons"))
        form = '{"image_1": "A or B", "image_2": "A or B"}'
        if reasons:
            form = '{"image_1": "A or B", "image_2": "A or B", "reason_1": "...", "reason_2": "..."}'
        texts = {
            "question": require_text(scene),
            "option_a": options["a"],
            "option_b": options["b"],
            "form": form,
            "extent": "Give a short reason for each image." if reasons else "Add nothing to the object.",
        }
        pieces = {f"image_{n}": (picture_of(scene, side),) for n, side in enumerate(order, 1)}
        letters: dict[str, Any] = {f"image_{n}": choice_of(SCALE.codes) for n in (1, 2)}
        letters |= {f"reason_{n}": {"type": "string"} for n in (1, 2)} if reasons else {}
        messages = self.messages(scene, texts, pieces)
        request = Request(messages=messages, ways=("text", "schema"), schema=object_of(letters), max_tokens=512)
        return PromptRequests((request,), order)

    def read(self, scene: Scene, asked: PromptRequests, replies: Sequence[Reply]) -> ParsedReply | UnparsedReply:
        if not replies or len(asked.order) != len(SIDES):
            return UnparsedReply("no_response", "empty")
        reply = replies[0]
        gone = empty_reason(reply)
        if gone:
            return gone
        reply_object = single_json_object(strip_reasoning(reply.text))
        if isinstance(reply_object, UnparsedReply):
            return failure_reason(reply, reply_object)
        letters = [
            letter for n in (1, 2) if isinstance(letter := parse_json_value(reply_object.get(f"image_{n}"), SCALE), str)
        ]
        if len(letters) < len(SIDES):
            return failure_reason(reply, UnparsedReply("unparseable", "bad_json"))
        given = {f"image_{n}": (letter, SCALE.codes) for n, letter in enumerate(letters, 1)}
        if contradicts_answer(strip_reasoning(reply.text), given, swaps=True):
            return UnparsedReply("unparseable", "two_verdicts")
        shows = dict(zip(asked.order, letters, strict=True))
        code = {"AB": ALIGNED, "BA": SWAPPED, "AA": BOTH_A, "BB": BOTH_B}[shows["a"] + shows["b"]]
        reasons = {f"reason_{n}": single_line(reply_object.get(f"reason_{n}") or "")[:REASON] for n in (1, 2)}
        if code in (BOTH_A, BOTH_B) and self.option(scene, "not_one_to_one") != "answer":
            return UnparsedReply("unparseable", "not_one_to_one", reasons)
        return ParsedReply({"alignment": code}, {"way": reply.way, **reasons})


ALIGNMENT = Aligning(
    key="valueground-alignment",
    name=gettext_noop("Which picture shows which answer"),
    source=SOURCE,
    system=(
        "You match pictures with texts without taking sides. What you know of any country has no place here. You are given "
        "two target images. They are a contrasting pair for one question and stand for its opposite ends. Match each with "
        "option A or option B by what the option means and what the image shows: one image is A, the other is B. Reply with "
        "JSON only. {extent}"
    ),
    user=(
        "Question: {question}\n\nOption A: {option_a}\nOption B: {option_b}\n\n"
        "The two images are a pair: they stand for opposite ends of this question.\n\n"
        "Target Image 1:\n{image_1}\n\nTarget Image 2:\n{image_2}\n\nReply with JSON only, in this form:\n{form}"
    ),
    setting="",
    takes=("question", "option_a", "option_b", "image_1", "image_2", "form", "extent"),
    required_placeholders=("question", "option_a", "option_b", "image_1", "image_2"),
    more=(REASONS, NOT_ONE_TO_ONE),
)


@dataclass(frozen=True)
class PairJudge(AnySheet):
    """The rubric that people have, for a pair: question, both answers, both pictures as two inputs."""

    def asked_of(self, scene: Scene) -> tuple[Question, ...]:
        keys = (*self.only, *(("safety",) if self.option(scene, "safety") else ()))
        return tuple(question for question in scene.questions if question.key in keys)

    def fits(self, scene: Scene) -> bool:
        found = {question.key for question in scene.questions if question.codes}
        return set(self.only) <= found and all(map(scene.image, SIDES)) and _has_options(scene)

    def told(self, scene: Scene, questions: Sequence[Question]) -> tuple[dict[str, str], dict[str, Sequence[Piece]]]:
        options = _options(scene)
        texts = {
            "question": require_text(scene),
            "option_a": options["a"],
            "option_b": options["b"],
            "questions": question_texts(questions),
            "output": output_of(questions),
        }
        return texts, {f"image_{side}": (picture_of(scene, side),) for side in SIDES}


PAIR_SHOWN = (
    "Question: {question}\nOption A: {option_a}\nOption B: {option_b}\n\nPicture A:\n{image_a}\n\nPicture B:\n{image_b}\n\n"
    "{questions}\n\n{output}"
)
PAIR_TAKES = ("question", "option_a", "option_b", "image_a", "image_b", "questions", "output")
RUBRIC = PairJudge(
    key="valueground-rubric",
    name=gettext_noop("The four items of the pair rubric"),
    source=gettext_noop("After Section 3.3 and Appendix B.1 of the paper; the levels are the sheet's"),
    system=(
        "You check pairs of pictures. Picture A is to show option A of a question, picture B option B, and otherwise they are "
        "to be alike. Judge each item by itself, by what can be seen."
    ),
    user=PAIR_SHOWN,
    setting="",
    takes=PAIR_TAKES,
    required_placeholders=("option_a", "option_b", "image_a", "image_b", "questions"),
    more=(SAFETY,),
    only=("match_a", "match_b", "pair_match", "no_cue"),
)
SAFE = PairJudge(
    key="valueground-safety",
    name=gettext_noop("The safety check of a pair"),
    source=gettext_noop("Our own prompt, adapted from the paper's ethics statement"),
    system="You check pairs of pictures before they are published. Name only what is plainly there.",
    user=f"{PAIR_SHOWN}\nAn empty list where nothing is wrong.",
    setting="safety",
    takes=PAIR_TAKES,
    required_placeholders=("image_a", "image_b", "questions"),
    only=("safety",),
)
PROMPTS: tuple[Prompt, ...] = (MAIN, TEXT_ONLY, NO_COUNTRY, ALIGNMENT, RUBRIC, SAFE)
