"""How a prompt is written: a template with named places, and texts of others fenced so that they cannot pose as ours.

A place is {small_letters}; every other brace is a brace. What is put in is never looked at for places again.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from predictions.prompts.contract import ImagePart, Kind, Message, MissingInput, Piece, PromptOption, Scene, TextPart

PLACE = re.compile(r"\{([a-z][a-z0-9_]*)\}")
BREAKS = re.compile(r"[\s\x00-\x1f\x7f\u0085\u2028\u2029]+")
THOUGHTS = re.compile(
    r"<(?=\s*/?\s*(?:think|thinking|reasoning|analysis)\b)", re.IGNORECASE
)  # repeated, they would cut
UNSEEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]")


def gettext_noop(text: str) -> str:
    """Marks a text for the catalogues; pages translate it."""
    return text


def single_line(text: Any) -> str:
    """A text of others on one line: it cannot begin a line of its own, as our labels do."""
    return THOUGHTS.sub("\u2039", BREAKS.sub(" ", UNSEEN.sub("", str(text)))).strip()


def fence(name: str, text: Any) -> str:
    """A text of others between tags. A tag of that name inside it is made harmless, so that it cannot end the fence."""
    inner = re.sub(rf"<(?=\s*/?\s*{re.escape(name)}\b)", "\u2039", UNSEEN.sub("", str(text)), flags=re.IGNORECASE)
    inner = THOUGHTS.sub("\u2039", inner)
    return f"<{name}>\n{inner.strip()}\n</{name}>"


def placeholders(template: str) -> set[str]:
    return set(PLACE.findall(template))


def fill_template(template: str, texts: Mapping[str, str], pieces: Mapping[str, Sequence[Piece]]) -> tuple[Piece, ...]:
    """A message's pieces: places are filled with a text, or with pieces. Raises MissingInput for a place that is neither."""
    found_pieces: list[Piece] = []
    for number, part in enumerate(PLACE.split(template)):
        if number % 2 == 0:
            found_pieces.append(TextPart(part))
        elif part in texts:
            found_pieces.append(TextPart(texts[part]))
        elif part in pieces:
            found_pieces += [
                TextPart(f"\n\n{piece.text}\n\n") if isinstance(piece, TextPart) else piece for piece in pieces[part]
            ]
        else:
            raise MissingInput("bad_wording")
    return _join_pieces(found_pieces)


def _join_pieces(pieces: Sequence[Piece]) -> tuple[Piece, ...]:
    """Words between two pictures are one piece, without space around it, and never more than one empty line in it."""
    joined: list[Piece] = []
    words = ""
    for piece in (*pieces, None):
        if isinstance(piece, TextPart):
            words += piece.text
            continue
        words = re.sub(r"\n{3,}", "\n\n", words).strip()
        joined += [*((TextPart(words),) if words else ()), *((piece,) if piece else ())]
        words = ""
    return tuple(joined)


@dataclass(frozen=True)
class OptionProblem:
    """An option that cannot be used: `place` is what it is about."""

    option: str
    code: str
    place: str = ""


WORDING = PromptOption(
    "wording",
    gettext_noop("Your own wording"),
    "text",
    help=gettext_noop(
        "Replaces the default wording, with the same placeholders in braces. It becomes part of the prompt's version."
    ),
)
SYSTEM = PromptOption(
    "system", gettext_noop("Your own system prompt"), "text", help=gettext_noop("Replaces the default wording.")
)


@dataclass(frozen=True)
class TemplatePrompt:
    """What prompts have in common. `user` and `system` are templates; `required_placeholders`: places a wording cannot do without."""

    key: str
    name: str
    source: str
    user: str
    system: str = ""
    version: str = "1"
    setting: str = ""
    kind: Kind = "chat"
    needs_images: bool = True
    takes: tuple[str, ...] = ()
    required_placeholders: tuple[str, ...] = ()
    more: tuple[PromptOption, ...] = ()

    @property
    def options(self) -> tuple[PromptOption, ...]:
        return (*self.more, WORDING, SYSTEM) if self.user else self.more

    def option(self, scene: Scene, key: str) -> Any:
        """As it was set, else its default."""
        found = scene.options.get(key)
        if found is not None and found != "":
            return found
        return next((option.default for option in self.options if option.key == key), "")

    def messages(
        self, scene: Scene, texts: Mapping[str, str], pieces: Mapping[str, Sequence[Piece]] | None = None
    ) -> tuple[Message, ...]:
        """Ours, or the researcher's wording, with a unit's own words in it."""
        user, system = (
            str(scene.options.get(key) or own) for key, own in (("wording", self.user), ("system", self.system))
        )
        head = fill_template(system, texts, {})
        return (
            *((Message("system", head),) if head else ()),
            Message("user", fill_template(user, texts, pieces or {})),
        )

    def seed_name(self, scene: Scene) -> str:
        """What the seed of a unit comes from, beside the run's seed and the target: items of one name share all that
        is drawn for them."""
        return scene.item

    def problems(self, options: Mapping[str, Any]) -> list[OptionProblem]:
        """What keeps these options from being used."""
        known, problems_found = set(self.takes), []
        user = str(options.get("wording") or "")
        for key in ("wording", "system"):
            text = str(options.get(key) or "")
            problems_found += [OptionProblem(key, "blank")] if text and not single_line(text) else []
            problems_found += [OptionProblem(key, "unknown_place", one) for one in sorted(placeholders(text) - known)]
        if single_line(user):
            problems_found += [
                OptionProblem("wording", "missing_place", required_placeholder)
                for required_placeholder in self.required_placeholders
                if required_placeholder not in placeholders(user)
            ]
        return problems_found


def digest(options: Mapping[str, Any]) -> str:
    """Of a researcher's own wording, in eight hexadecimal digits; empty where it is ours."""
    own = [str(options.get(key) or "") for key in ("wording", "system")]
    return hashlib.sha256("\x1f".join(own).encode()).hexdigest()[:8] if any(one.strip() for one in own) else ""


def picture_of(scene: Scene, role: str = "image") -> ImagePart:
    """The picture of that role; where there is but one, it is "image". Raises MissingInput."""
    image = scene.image(role) or (scene.images[0] if role == "image" and len(scene.images) == 1 else None)
    if image is None:
        raise MissingInput("no_image")
    return ImagePart(image.sha)


def text_of(scene: Scene, key: str, code: str = "") -> str:
    """A text of the item's context, on one line. Raises MissingInput when it is not there, with `code` if given."""
    text = single_line(scene.context.get(key) or "")
    if not text and code:
        raise MissingInput(code)
    return text


def require_text(scene: Scene) -> str:
    if not scene.text.strip():
        raise MissingInput("no_text")
    return single_line(scene.text)


def require_target(scene: Scene) -> str:
    if not scene.target.strip():
        raise MissingInput("no_target")
    return single_line(scene.target)


def split_texts(value: Any) -> tuple[str, ...]:
    """Texts out of a list, or out of one text that parts them with "|" or lines."""
    rows = re.split(r"[|\n]", value) if isinstance(value, str) else value if isinstance(value, (list, tuple)) else ()
    return tuple(found for row in rows if isinstance(row, (str, int, float)) and (found := single_line(row)))


def choice_of(codes: Sequence[str]) -> dict[str, Any]:
    """The JSON schema of one of these."""
    return {"type": "string", "enum": list(codes)}


def object_of(properties: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON schema of an object with all of these, and nothing else."""
    required = list(properties)
    return {"type": "object", "properties": dict(properties), "required": required, "additionalProperties": False}
