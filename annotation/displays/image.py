"""One picture, whole, on the stage."""

from annotation.displays.contract import DisplayDefaults, MessagePart, pictures, words
from annotation.displays.layout import PLAIN, Layout
from annotation.fields.contract import Shown


class ImageDisplay(DisplayDefaults):
    key = "image"
    template = "annotation/displays/image.html"
    style = "css/words.css"

    def to_messages(self, shown: Shown, layout: Layout = PLAIN) -> list[MessagePart]:
        return [*pictures(shown, self.roles), *words(shown.text)]


DISPLAY = ImageDisplay()
