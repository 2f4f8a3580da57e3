from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from annotation.displays.layout import PLAIN, Layout
from annotation.fields.contract import Shown
from benchmarks.rules.displays import context_columns


@dataclass(frozen=True)
class MessagePart:
    """One piece of a message to a model. An image is named by its sha; the back end fetches the bytes."""

    type: Literal["text", "image"]
    text: str = ""
    sha: str = ""


class Display(Protocol):
    """Draws `shown` for a person, and says the same to a model.

    `template` lies on the stage, `aside` at the head of the panel, `tools` in the strip under the stage; empty for
    none. They take `shown` and `said` (a `Said`). `roles`: the pictures it needs; `texts`: what it needs of the item's
    context. `shows`: its template draws what the layout shows, else the panel does. `script` and `style` are files
    under static/ that the sheet page loads; empty for none. `keys`: what its keys do, as (key, words).
    """

    @property
    def key(self) -> str: ...
    @property
    def roles(self) -> tuple[str, ...]: ...
    @property
    def texts(self) -> tuple[str, ...]: ...
    @property
    def needs_text(self) -> bool: ...
    @property
    def template(self) -> str: ...
    @property
    def aside(self) -> str: ...
    @property
    def tools(self) -> str: ...
    @property
    def shows(self) -> bool: ...
    @property
    def script(self) -> str: ...
    @property
    def style(self) -> str: ...
    @property
    def keys(self) -> Sequence[tuple[str, Any]]: ...

    def to_messages(self, shown: Shown, layout: Layout = PLAIN) -> list[MessagePart]:
        """The same to a model. What is folded for a person is left out, for nobody opens it."""
        ...


class DisplayDefaults:
    """What most displays do not have. A display may inherit it."""

    roles: tuple[str, ...] = ("image",)
    texts: tuple[str, ...] = ()
    needs_text = False
    aside = ""
    tools = ""
    shows = False
    script = ""
    style = ""
    keys: Sequence[tuple[str, Any]] = ()


@dataclass(frozen=True)
class Required:
    """What an item must have to be shown: roles of pictures, its text, keys of its context."""

    roles: tuple[str, ...]
    text: bool
    context: tuple[str, ...]


def required(display: Display, pictures: str) -> Required:
    """What a display needs where an item has so many `pictures`: see benchmarks.models.Stage.Pictures.

    Two texts can stand where two pictures would. Then the text above them is not needed.
    """
    if pictures not in ("none", "optional"):
        return Required(display.roles, display.needs_text, display.texts)
    paired = len(display.roles) > 1
    return Required((), display.needs_text and not paired, context_columns(display.key, pictures))


def words(*texts: str) -> list[MessagePart]:
    return [MessagePart("text", text=text) for text in texts if text.strip()]


def pictures(shown: Shown, roles: tuple[str, ...]) -> list[MessagePart]:
    return [MessagePart("image", sha=image.sha) for image in shown.images if image.role in roles]
