"""GlobalRG, cultural visual grounding: one box round what a word of a culture names.

The paper prints no prompt: ours. The scale of a model's numbers is declared with the run; pixels are those of the picture
as it is sent, whose size the prompt tells.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from predictions.prompts.boxes import ORDERS, BoxScale, box_scale, parse_boxes
from predictions.prompts.contract import (
    MissingInput,
    ParsedReply,
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
    gettext_noop,
    object_of,
    picture_of,
    single_line,
)
from predictions.prompts.reply_text import empty_reason, failure_reason, strip_reasoning

OURS = gettext_noop("Our own prompt (the paper prints none)")
LONGEST = 1024
SCALE = PromptOption(
    "scale",
    gettext_noop("Scale of the model's numbers"),
    "choice",
    choices=(
        ("1000", gettext_noop("0 to 1000")),
        ("1", gettext_noop("0 to 1")),
        ("100", gettext_noop("0 to 100")),
        ("1024", gettext_noop("0 to 1024 (<loc> tokens)")),
        ("pixels", gettext_noop("pixels of the picture as it is sent")),
        ("patches", gettext_noop("cells of a grid (patch indexes)")),
    ),
    default="1000",
    help=gettext_noop("It is never guessed: look it up for the model."),
)
ORDER = PromptOption(
    "order",
    gettext_noop("Order of the numbers"),
    "choice",
    choices=(
        ("xyxy", gettext_noop("left, top, right, bottom")),
        ("yxyx", gettext_noop("top, left, bottom, right")),
        ("xywh", gettext_noop("left, top, width, height")),
        ("cxcywh", gettext_noop("middle across, middle down, width, height")),
    ),
    default="xyxy",
)
GRID = PromptOption("grid", gettext_noop("Cells on a side of the grid"), "number", default=32)
PADDED = PromptOption(
    "padded", gettext_noop("The model sees the picture in the middle of a square"), "flag", default=False
)
SENT = PromptOption(
    "longest",
    gettext_noop("Longest side of the picture as it is sent, in pixels"),
    "number",
    default=LONGEST,
    help=gettext_noop("Only for pixels: what the endpoint's pictures are made smaller to."),
)
BEST = "best_scored"
PARTS: Mapping[str, str] = {
    "xyxy": "left, top, right, bottom",
    "yxyx": "top, left, bottom, right",
    "xywh": "left, top, width, height",
    "cxcywh": "middle across, middle down, width, height",
}
UNITS: Mapping[str, str] = {
    "1": "as fractions from 0 to 1 of its width and height",
    "100": "as whole numbers from 0 to 100, hundredths of its width and height",
    "1000": "as whole numbers from 0 to 1000, thousandths of its width and height",
    "1024": "as whole numbers from 0 to 1024, parts of its width and height",
    "pixels": "in pixels; the picture is {width} pixels wide and {height} pixels high",
    "patches": "as the indexes of its first and its last patch",
}


def _question(scene: Scene) -> Question | None:
    """The question that asks for a box; none where each box needs a label, which these prompts do not ask for."""
    question = scene.question("box")
    if question is None or question.codes:
        return None
    label = question.schema.get("items", {}).get("properties", {}).get("label", {})
    return None if "enum" in label else question


def _word(scene: Scene) -> str:
    """What to look for: the item's concept, as it is written."""
    word = single_line(scene.concept or scene.context.get("concept") or scene.text)
    if not word:
        raise MissingInput("no_concept")
    return word


def _answer(boxes: Sequence[tuple[float, float, float, float]]) -> list[list[float]]:
    return [list(box) for box in boxes]


@dataclass(frozen=True)
class Grounding(TemplatePrompt):
    """One box, in the notation the model has."""

    def fits(self, scene: Scene) -> bool:
        return bool(_question(scene) and scene.images and (scene.concept or scene.context.get("concept") or scene.text))

    def problems(self, options: Mapping[str, Any]) -> list[OptionProblem]:
        wrong = [
            OptionProblem(prompt_option.key, "not_a_choice")
            for prompt_option in (SCALE, ORDER)
            if options.get(prompt_option.key) not in (None, "")
            and options[prompt_option.key] not in [code for code, _name in prompt_option.choices]
        ]
        return [*super().problems(options), *wrong]

    def sent(self, scene: Scene) -> tuple[int, int]:
        """Width and height of the picture as it is sent."""
        image = scene.image("image") or (scene.images[0] if scene.images else None)
        if image is None or min(image.width, image.height) < 1:
            raise MissingInput("no_image")
        longest = self.option(scene, "longest")
        most = int(longest) if isinstance(longest, (int, float)) and longest >= 1 else LONGEST
        share = min(1.0, most / max(image.width, image.height))
        return max(1, round(image.width * share)), max(1, round(image.height * share))

    def frame(self, scene: Scene) -> BoxScale:
        """What the run's options declare. Raises MissingInput for what is no scale or order."""
        grid = self.option(scene, "grid")
        try:
            return box_scale(
                str(self.option(scene, "scale")),
                str(self.option(scene, "order")),
                self.sent(scene),
                grid=int(grid) if isinstance(grid, (int, float)) and 1 <= grid <= 1000 else 32,
                padded=bool(self.option(scene, "padded")),
            )
        except ValueError:
            raise MissingInput("no_scale") from None

    def ask(self, scene: Scene, seed: int) -> PromptRequests:
        self.frame(scene)
        width, height = self.sent(scene)
        scale, order = str(self.option(scene, "scale")), str(self.option(scene, "order"))
        texts = {
            "concept": _word(scene),
            "target": single_line(scene.target),
            "parts": PARTS[order],
            "units": UNITS[scale].format(width=width, height=height),
            "width": str(width),
            "height": str(height),
        }
        messages = self.messages(scene, texts, {"image": (picture_of(scene),)})
        side = {"type": "number"}
        schema = object_of({"box": {"type": "array", "items": side, "minItems": 4, "maxItems": 4}})
        return PromptRequests((Request(messages=messages, ways=("text", "schema"), schema=schema, max_tokens=128),))

    def read(self, scene: Scene, asked: PromptRequests, replies: Sequence[Reply]) -> ParsedReply | UnparsedReply:
        question = _question(scene)
        if question is None or not replies:
            return UnparsedReply("no_response", "empty")
        reply = replies[0]
        gone = empty_reason(reply)
        if gone:
            return gone
        try:
            frame = self.frame(scene)
        except MissingInput as lacking:
            return UnparsedReply("unparseable", lacking.code)
        scale = str(self.option(scene, "scale"))
        boxes = parse_boxes(strip_reasoning(reply.text), frame, patches=scale == "patches")
        if isinstance(boxes, UnparsedReply):
            return failure_reason(reply, boxes)
        most = question.schema.get("maxItems", 1)
        if len(boxes) > (most if isinstance(most, int) else 1):
            return UnparsedReply("unparseable", "several_boxes", {"found": len(boxes)})
        declared = {"scale": scale, "order": frame.order, "padded": frame.padded}
        return ParsedReply({question.key: _answer(boxes)}, {"way": reply.way, **declared})


GROUNDING = Grounding(
    key="globalrg-grounding",
    name=gettext_noop("One box round what a word names"),
    source=OURS,
    system="You find things in pictures.",
    user=(
        "{image}\n\nFind this in the picture and draw one box close round it: {concept}\n"
        "If there are several, choose the one that shows best. Write the four numbers of the box in this order: {parts}; "
        "{units}. Write them as [n, n, n, n] and nothing else."
    ),
    takes=("image", "concept", "target", "parts", "units", "width", "height"),
    required_placeholders=("image", "concept"),
    more=(SCALE, ORDER, PADDED, GRID, SENT),
)


@dataclass(frozen=True)
class Detecting(TemplatePrompt):
    """The box that a detector scores best for the word."""

    def fits(self, scene: Scene) -> bool:
        return bool(_question(scene) and scene.images and (scene.concept or scene.context.get("concept") or scene.text))

    def ask(self, scene: Scene, seed: int) -> PromptRequests:
        return PromptRequests((Request(kind="grounding", texts=(_word(scene),), image=picture_of(scene).sha),))

    def read(self, scene: Scene, asked: PromptRequests, replies: Sequence[Reply]) -> ParsedReply | UnparsedReply:
        question = _question(scene)
        if question is None or not replies:
            return UnparsedReply("no_response", "empty")
        boxes = [box for box in replies[0].boxes if box.score == box.score]
        if not boxes:
            return UnparsedReply("unparseable", "no_box")
        best = min(boxes, key=lambda detected_box: (-detected_box.score, detected_box.box))
        inside = tuple(min(max(float(side), 0.0), 1.0) for side in best.box)
        return ParsedReply(
            {question.key: [list(inside)]},
            {"rule": BEST, "score": best.score, "label": best.label, "found": len(boxes)},
        )


DETECTOR = Detecting(
    key="globalrg-detector",
    name=gettext_noop("The box a detector scores best"),
    source=gettext_noop("The paper's rule for Grounding DINO, as far as it says: the best scored"),
    user="",
    kind="grounding",
)
PROMPTS: tuple[Prompt, ...] = (GROUNDING, DETECTOR)
assert set(PARTS) == set(ORDERS)
