"""What a prompt is, what is sent, and what comes back. Pure: no Django, no project code."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

Role = Literal["system", "user", "assistant"]
AnswerMethod = Literal["logprobs", "guided", "schema", "text"]
Kind = Literal["chat", "continuation", "probe", "grounding"]
NO_LOGPROB = -9999.0  # of what a server gave no log-probability, or minus infinity, which no database keeps
GOT: Mapping[str, str] = {"continuation": "likelihood", "probe": "similarity", "grounding": "boxes"}


def answer_method(kind: str, way: str) -> str:
    """What kept answers are named by: the way of a chat; of another kind of request what it measures, for "logprobs"
    are those of codes."""
    return GOT.get(kind, way)


@dataclass(frozen=True)
class Question:
    """A field of the sheet in words. `codes`: what may be chosen, in order; empty where anything may be said. `many`:
    several of them may be. `asked_if`: {"field": another's key, "in": its codes} where it is asked only then."""

    key: str
    words: str
    schema: Mapping[str, Any]
    codes: tuple[str, ...] = ()
    required: bool = True
    many: bool = False
    asked_if: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class SceneImage:
    """An image as it is shown: upright, in pixels."""

    role: str
    sha: str
    width: int
    height: int


@dataclass(frozen=True)
class TextPart:
    text: str


@dataclass(frozen=True)
class ImagePart:
    """The back end fetches the bytes by `sha`."""

    sha: str


Piece = TextPart | ImagePart


@dataclass(frozen=True)
class Scene:
    """All a prompt may use. `target`: the culture asked about, as it is written (never title-cased). `questions`: the
    sheet's. `options`: of the run (examples, article, entities, scale of boxes, system prompt, ...), see each prompt.
    `parts`: all that the display shows, in its order. `instructions`: what people read before they begin.
    """

    item: str
    target: str = ""
    text: str = ""
    concept: str = ""
    origin: str = ""
    condition: str = ""
    context: Mapping[str, Any] = field(default_factory=dict)
    images: tuple[SceneImage, ...] = ()
    questions: tuple[Question, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    parts: tuple[Piece, ...] = ()
    instructions: str = ""

    def image(self, role: str) -> SceneImage | None:
        return next((image for image in self.images if image.role == role), None)

    def question(self, key: str) -> Question | None:
        return next((question for question in self.questions if question.key == key), None)


@dataclass(frozen=True)
class Message:
    role: Role
    pieces: tuple[Piece, ...]


@dataclass(frozen=True)
class Request:
    """One request. `chat`: messages. `continuation`: the log-probability of `continuation` after the messages.
    `probe`: the similarity of the image with each of `texts`. `grounding`: boxes of `texts[0]` in the image.

    `ways`: how an answer may be got, the best first; the endpoint takes the first that it offers. `choices`: the whole
    reply is one of them (for "guided" and "logprobs"). `schema`: of a JSON reply (for "schema").
    """

    kind: Kind = "chat"
    messages: tuple[Message, ...] = ()
    ways: tuple[AnswerMethod, ...] = ("text",)
    choices: tuple[str, ...] = ()
    schema: Mapping[str, Any] = field(default_factory=dict)
    continuation: str = ""
    texts: tuple[str, ...] = ()
    image: str = ""
    max_tokens: int = 512


@dataclass(frozen=True)
class PromptRequests:
    """What a unit is asked: one request, or several that are read together. `order`: as shown, of what was shuffled."""

    requests: tuple[Request, ...]
    order: tuple[str, ...] = ()


@dataclass(frozen=True)
class Token:
    """`top`: the likeliest in its place, with their log-probabilities (natural logarithm)."""

    text: str
    logprob: float
    top: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class DetectedBox:
    """A box of a detector, as fractions of the image: left, top, right, bottom."""

    label: str
    score: float
    box: tuple[float, float, float, float]


@dataclass(frozen=True)
class Reply:
    """What came back, exactly. `finish`: "stop", "length", "content_filter", ... `refusal`: the provider's own words.
    `way`: how it was asked. `similarities`: one for each text of a probe."""

    text: str = ""
    finish: str = ""
    refusal: str = ""
    way: AnswerMethod = "text"
    tokens: tuple[Token, ...] = ()
    similarities: tuple[float, ...] = ()
    boxes: tuple[DetectedBox, ...] = ()
    model: str = ""


@dataclass(frozen=True)
class ParsedReply:
    """A readable reply: raw answers by field, for the sheet's `parse`. `notes` are kept with the answer: the
    distribution over the codes, reasons given, the log-likelihood, which way was taken."""

    answers: Mapping[str, Any]
    notes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class UnparsedReply:
    """No value. `state` is the call's, `reason` a code: "empty", "two_verdicts", "no_number", "bad_json", "cut_off",
    "no_box", "several_boxes", "not_one_to_one", "outside_scale", "content_filter", "said_no", ..."""

    state: Literal["no_response", "refused", "unparseable", "out_of_range"]
    reason: str
    notes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class PromptOption:
    """What a researcher may set for a run. `kind`: "choice" (of `choices`), "number", "text", "run" (a linking run),
    "base" (a knowledge base), "examples" (items of the stage, never tested), "concepts" (a text, at first all concepts of the
    stage's items where its sheet offers none)."""

    key: str
    label: str
    kind: Literal["choice", "number", "text", "run", "base", "examples", "flag", "concepts"] = "text"
    choices: tuple[tuple[str, str], ...] = ()
    default: Any = ""
    help: str = ""


class MissingInput(ValueError):
    """The scene has not what the prompt needs; `code` is the call's reason, such as "no_article", "no_image"."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class Prompt(Protocol):
    """`key` and `version` stay with every answer; a changed wording is a new version. `setting`: what the model rater
    is called by in the tables ("main", "vlm", ""). `kinds`: which endpoint kinds can be asked. `source`: where the
    wording comes from ("Figure 8 of the paper", "ours"). `fits(scene)`: whether the sheet and display are its own."""

    @property
    def key(self) -> str: ...
    @property
    def version(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def setting(self) -> str: ...
    @property
    def source(self) -> str: ...
    @property
    def kind(self) -> Kind: ...
    @property
    def options(self) -> Sequence[PromptOption]: ...
    @property
    def needs_images(self) -> bool: ...

    def fits(self, scene: Scene) -> bool: ...

    def ask(self, scene: Scene, seed: int) -> PromptRequests:
        """Raises MissingInput. `seed` is of this unit: the same scene and seed give the same messages."""
        ...

    def read(self, scene: Scene, asked: PromptRequests, replies: Sequence[Reply]) -> ParsedReply | UnparsedReply:
        """Never raises on what a model says."""
        ...
