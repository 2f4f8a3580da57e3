"""Two pictures side by side, with the question and what each stands for."""

from django.utils.translation import gettext_lazy as _

from annotation.displays.contract import Part, Plain, words
from annotation.displays.layout import PLAIN, Layout
from annotation.fields.contract import Shown


class PairDisplay(Plain):
    key = "pair"
    roles: tuple[str, ...] = ("a", "b")
    texts: tuple[str, ...] = ("option_a", "option_b")
    needs_text = True
    template = "annotation/displays/pair.html"
    tools = "annotation/displays/pair_tools.html"
    script = "js/displays/pair.js"
    style = "css/pair.css"
    keys = (("B", _("hold it: B over A")), ("X", _("swap sides")))

    def to_messages(self, shown: Shown, layout: Layout = PLAIN) -> list[Part]:
        parts = words(shown.text)
        for role in self.roles:
            parts += words(f"{role.upper()}: {shown.context.get(f'option_{role}') or ''}")
            image = shown.image(role)
            parts += [Part("image", sha=image.sha)] if image else []
        return parts


class BarePairDisplay(PairDisplay):
    """The question and the pictures, without the words they stand for: these would be told."""

    key = "bare-pair"
    texts = ()
    template = "annotation/displays/bare_pair.html"

    def to_messages(self, shown: Shown, layout: Layout = PLAIN) -> list[Part]:
        parts = words(shown.text)
        for role in self.roles:
            image = shown.image(role)
            parts += [*words(role.upper()), Part("image", sha=image.sha)] if image else []
        return parts


DISPLAY = PairDisplay()
BARE = BarePairDisplay()
