"""Two pictures or two texts side by side, with the question and what each picture stands for."""

from dataclasses import dataclass

from django.utils.translation import gettext_lazy as _

from annotation.displays.contract import DisplayDefaults, MessagePart, words
from annotation.displays.layout import PLAIN, Layout
from annotation.fields.contract import Shown, ShownImage


@dataclass(frozen=True)
class PairSide:
    """One of the two: its picture if it has one, and its text."""

    role: str
    image: ShownImage | None
    text: str


def sides_of(shown: Shown) -> list[PairSide]:
    """Both sides; none where neither has a picture or a text."""
    roles = PairDisplay.roles
    sides = [PairSide(role, shown.image(role), str(shown.context.get(f"option_{role}") or "")) for role in roles]
    return sides if any(side.image or side.text for side in sides) else []


class PairDisplay(DisplayDefaults):
    key = "pair"
    roles: tuple[str, ...] = ("a", "b")
    texts: tuple[str, ...] = ("option_a", "option_b")
    needs_text = True
    template = "annotation/displays/pair.html"
    tools = "annotation/displays/pair_tools.html"
    script = "js/displays/pair.js"
    style = "css/pair.css"
    keys = (("B", _("hold to show B over A")), ("X", _("swap sides")))

    def to_messages(self, shown: Shown, layout: Layout = PLAIN) -> list[MessagePart]:
        parts = words(shown.text)
        for role in self.roles:
            parts += words(f"{role.upper()}: {shown.context.get(f'option_{role}') or ''}")
            image = shown.image(role)
            parts += [MessagePart("image", sha=image.sha)] if image else []
        return parts


class BarePairDisplay(PairDisplay):
    """The question and the pictures, without the words they stand for. A side without a picture shows its text."""

    key = "bare-pair"
    texts = ()
    template = "annotation/displays/bare_pair.html"

    def to_messages(self, shown: Shown, layout: Layout = PLAIN) -> list[MessagePart]:
        parts = words(shown.text)
        for role in self.roles:
            image = shown.image(role)
            text = "" if shown.images else str(shown.context.get(f"option_{role}") or "")
            parts += (
                [*words(role.upper()), MessagePart("image", sha=image.sha)]
                if image
                else words(f"{role.upper()}: {text}" if text else "")
            )
        return parts


DISPLAY = PairDisplay()
BARE = BarePairDisplay()
