from dataclasses import dataclass
from typing import Literal, Protocol

from annotation.fields.contract import Shown


@dataclass(frozen=True)
class Part:
    """One piece of a message to a model. An image is named by its sha; the back end fetches the bytes."""

    type: Literal["text", "image"]
    text: str = ""
    sha: str = ""


class Display(Protocol):
    """`template` draws `shown` for a person; `to_messages` says the same to a model.

    `script` and `style` are files under static/ that the sheet page loads for this display; empty for none.
    """

    key: str
    roles: tuple[str, ...]
    needs_text: bool
    template: str
    script: str
    style: str

    def to_messages(self, shown: Shown) -> list[Part]: ...


def lacks(display: Display, shown: Shown) -> list[str]:
    """What the display needs and the item does not have; empty when it can be shown."""
    missing = [role for role in display.roles if shown.image(role) is None]
    return missing + (["text"] if display.needs_text and not shown.text.strip() else [])
