"""One picture, whole, on the stage."""

from annotation.displays.contract import Part, Plain, pictures, words
from annotation.displays.layout import PLAIN, Layout
from annotation.fields.contract import Shown


class ImageDisplay(Plain):
    key = "image"
    template = "annotation/displays/image.html"
    style = "css/words.css"

    def to_messages(self, shown: Shown, layout: Layout = PLAIN) -> list[Part]:
        return [*pictures(shown, self.roles), *words(shown.text)]


DISPLAY = ImageDisplay()
